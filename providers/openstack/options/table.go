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

// Index is the content of index.json in tables.zip. It lists the tables.
type Index struct {
	// Services are the services whose files have tables, by name.
	Services []Service `json:"services"`
	// Plugins are the plugins of keystoneauth, by their names in auth_type, with their options
	// and former names. A group for an authentication accepts the options of its plugin.
	Plugins map[string]map[string][]string `json:"plugins"`
	// Connections are the options of keystoneauth's sessions and adapters. Services read them
	// from groups, but do not list all of them there.
	Connections []string `json:"connections"`
}

// Service is a service that reads config files in the format of oslo.config.
type Service struct {
	Name  string   `json:"name"`
	Files []string `json:"files"` // patterns of file names, for path.Match
	// Releases maps each release with a table to the distributions in the table: the service's
	// own ones, and the libraries that they need.
	Releases map[string][]string `json:"releases"`
}

// Distribution is the content of DISTRIBUTION.json in tables.zip: the options that one Python
// distribution declares, in all releases.
type Distribution struct {
	// Versions are the examined versions, by the release that they represent. A release with
	// several versions is between them; see doc.go.
	Versions map[string][]string `json:"versions"`
	Options  []Option            `json:"options"`
	// Written are names of options in the source code that no namespace lists. Their groups are
	// unknown.
	Written []string `json:"written,omitempty"`
	// WrittenGroups are names of groups in the source code that no namespace lists.
	WrittenGroups []string `json:"written_groups,omitempty"`
}

// Option is one option. An empty field is unknown, or sets no limit.
type Option struct {
	Group    string   `json:"g"` // "DEFAULT", or in lower case
	Name     string   `json:"n"`
	Dashed   bool     `json:"d,omitempty"`  // may be written with dashes for the underscores
	Releases []string `json:"in,omitempty"` // none: all releases of the distribution
	// Type is oslo.config's name of the type without "value": "integer", "host address".
	Type    string   `json:"t,omitempty"`
	Min     *float64 `json:"min,omitempty"`
	Max     *float64 `json:"max,omitempty"`
	Choices []string `json:"c,omitempty"`
	Former  []Name   `json:"f,omitempty"`
	// Removal is set if the option is going to be removed. It is the reason if that is short,
	// or else "-".
	Removal string `json:"r,omitempty"`
}

// Name is the full name of an option.
type Name struct {
	Group string `json:"g,omitempty"` // empty: the group of the current option
	Name  string `json:"n"`
}

//go:embed tables.zip
var archive []byte

// readArchive opens the tables; entries are unpacked one by one.
var readArchive = sync.OnceValue(func() *zip.Reader {
	reader, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		panic(err) // the archive is embedded
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

// tables has the data that a check has decoded so far.
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

// of returns the table for a file with that name, or nil if there is none.
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

// table has the options of all files of a service, in one release.
type table struct {
	service string
	groups  map[string]group
	former  map[Name]Name     // maps a former name to the current one
	written map[string]bool   // options that may be in any group
	nearest map[string]string // hints found so far

	connections map[string]bool // options that may be in any group but DEFAULT
}

// group has the options of one group, by name.
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

// merged returns the properties on which two distributions with the same option agree.
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

// groupName returns the name of a group as oslo.config looks it up.
func groupName(section string) string {
	if strings.EqualFold(section, "DEFAULT") {
		return "DEFAULT"
	}
	return strings.ToLower(section)
}

// find returns the option that a group has under this current name, or nil.
func (g group) find(name string) *Option {
	if o := g[name]; o != nil {
		return o
	}
	if o := g[strings.ReplaceAll(name, "-", "_")]; o != nil && o.Dashed {
		return o
	}
	return nil
}
