package options

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
)

// Index is index.json in tables.zip: which tables there are.
type Index struct {
	// Services are the ones whose files have tables, by name.
	Services []Service `json:"services"`
	// Plugins are keystoneauth's, by the name that auth_type has, each with its options
	// and their former names. A group for an authentication takes those of its plugin.
	Plugins map[string]map[string][]string `json:"plugins"`
	// Connections are the options of keystoneauth's sessions and adapters. Services read
	// them from groups of which they do not list all that is in them.
	Connections []string `json:"connections"`
}

// Service is one that reads config files in the form of oslo.config.
type Service struct {
	Name  string   `json:"name"`
	Files []string `json:"files"` // patterns of the names of its files, as path.Match has them
	// Releases are those that have a table, and the distributions that it is made of:
	// the service's own, and the libraries that they need.
	Releases map[string][]string `json:"releases"`
}

// Distribution is DISTRIBUTION.json in tables.zip: what one Python distribution
// declares, in all releases.
type Distribution struct {
	// Versions are those that were asked, by the release that they speak for. Where a
	// release has several, it is between them; see doc.go.
	Versions map[string][]string `json:"versions"`
	Options  []Option            `json:"options"`
	// Written are names of options that stand in the source, but that no namespace
	// lists: nobody can say in which group they are.
	Written []string `json:"written,omitempty"`
	// WrittenGroups are such groups.
	WrittenGroups []string `json:"written_groups,omitempty"`
}

// Option is one option. What is empty is not known, or does not limit it.
type Option struct {
	Group    string   `json:"g"` // "DEFAULT", or in lower case
	Name     string   `json:"n"`
	Dashed   bool     `json:"d,omitempty"`  // may be written with dashes for the underscores
	Releases []string `json:"in,omitempty"` // none: all that the distribution has
	// Type is oslo.config's name of the type without "value": "integer", "host address".
	Type    string   `json:"t,omitempty"`
	Min     *float64 `json:"min,omitempty"`
	Max     *float64 `json:"max,omitempty"`
	Choices []string `json:"c,omitempty"`
	Former  []Name   `json:"f,omitempty"`
	// Removal is set where the option is going to be removed: the reason, if it is short,
	// else "-".
	Removal string `json:"r,omitempty"`
}

// Name is the full name of an option.
type Name struct {
	Group string `json:"g,omitempty"` // empty: that of the option which now has the value
	Name  string `json:"n"`
}

//go:embed tables.zip
var archive []byte

// readArchive opens the tables; entries are unpacked one by one.
var readArchive = sync.OnceValue(func() *zip.Reader {
	reader, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		panic(err) // the archive is embedded: it is as it was made
	}
	return reader
})

func readEntry[T any](name string) T {
	var out T
	file, err := readArchive().Open(name)
	if err == nil {
		err = json.NewDecoder(file).Decode(&out)
	}
	if err != nil {
		panic(fmt.Sprintf("the embedded tables of options: %s: %v", name, err))
	}
	return out
}

// tables holds what a check has decoded so far.
type tables struct {
	index         Index
	plugins       plugins
	distributions map[string]*Distribution
	services      map[string]*table // by service and release
}

func newTables() *tables {
	index := readEntry[Index]("index.json")
	return &tables{
		index:         index,
		plugins:       newPlugins(index.Plugins),
		distributions: map[string]*Distribution{},
		services:      map[string]*table{},
	}
}

// of gives the table for a file of that name; nil: there is none.
func (t *tables) of(file, release string) *table {
	for i := range t.index.Services {
		s := &t.index.Services[i]
		matches := func(pattern string) bool {
			ok, err := path.Match(pattern, path.Base(file))
			return ok && err == nil
		}
		if _, known := s.Releases[release]; !known || !slices.ContainsFunc(s.Files, matches) {
			continue
		}
		key := s.Name + " " + release
		if t.services[key] == nil {
			t.services[key] = t.read(s, release)
		}
		return t.services[key]
	}
	return nil
}

func (t *tables) read(s *Service, release string) *table {
	out := &table{
		service: s.Name,
		groups:  map[string]group{},
		former:  map[Name]Name{},
		written: map[string]bool{},
		nearest: map[string]string{},

		connections: map[string]bool{},
	}
	for _, name := range s.Releases[release] {
		d := t.distributions[name]
		if d == nil {
			read := readEntry[Distribution](name + ".json")
			d = &read
			t.distributions[name] = d
		}
		out.add(d, release)
	}
	for _, name := range t.index.Connections {
		out.connections[name] = true
	}
	return out
}

// table is what all files of a service may hold, in one release.
type table struct {
	service string
	groups  map[string]group
	former  map[Name]Name     // from a former name to the one of now
	written map[string]bool   // options that may be in any group
	nearest map[string]string // hints that were worked out

	connections map[string]bool // options that may be in any group but DEFAULT
}

// group is the options of one group, by name.
type group map[string]*Option

func (t *table) add(d *Distribution, release string) {
	for i := range d.Options {
		o := &d.Options[i]
		if len(o.Releases) > 0 && !slices.Contains(o.Releases, release) {
			continue
		}
		t.group(o.Group)[o.Name] = merged(t.groups[o.Group][o.Name], o)
		for _, f := range o.Former {
			if f.Group == "" {
				f.Group = o.Group
			}
			t.former[f] = Name{o.Group, o.Name}
		}
	}
	for _, name := range d.Written {
		t.written[name] = true
	}
	for _, name := range d.WrittenGroups {
		t.group(name)
	}
}

func (t *table) group(name string) group {
	g := t.groups[name]
	if g == nil {
		g = group{}
		t.groups[name] = g
	}
	return g
}

// merged is what two distributions that share an option agree on.
func merged(a, b *Option) *Option {
	if a == nil || a == b {
		return b
	}
	out := *b
	if a.Type != b.Type || !slices.Equal(a.Choices, b.Choices) || !same(a.Min, b.Min) || !same(a.Max, b.Max) {
		out.Type, out.Choices, out.Min, out.Max = "", nil, nil, nil
	}
	if a.Removal == "" {
		out.Removal = ""
	}
	return &out
}

func same(a, b *float64) bool { return a == b || a != nil && b != nil && *a == *b }

// groupName is the name of a group as oslo.config looks it up.
func groupName(section string) string {
	if strings.EqualFold(section, "DEFAULT") {
		return "DEFAULT"
	}
	return strings.ToLower(section)
}

// find gives an option that a group has under its present name; nil: it has none.
func (g group) find(name string) *Option {
	if o := g[name]; o != nil {
		return o
	}
	if o := g[strings.ReplaceAll(name, "-", "_")]; o != nil && o.Dashed {
		return o
	}
	return nil
}
