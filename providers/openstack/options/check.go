package options

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/configs"
)

// Check warns about options that services do not have, that are deprecated, or that do not
// accept their value. It does not check values of the built-in catalogue.
func Check(config *configs.Config) hcl.Diagnostics {
	return withoutCatalogue(newChecker(config).check(config))
}

// CheckPart is Check for a configuration with errors, where services may be missing.
func CheckPart(config *configs.Config) hcl.Diagnostics {
	c := newChecker(config)
	c.part = true
	return withoutCatalogue(c.check(config))
}

// CheckAll is Check with the values of the built-in catalogue.
func CheckAll(config *configs.Config) hcl.Diagnostics { return newChecker(config).check(config) }

func withoutCatalogue(diags hcl.Diagnostics) hcl.Diagnostics {
	return slices.DeleteFunc(diags, func(d *hcl.Diagnostic) bool {
		return strings.HasPrefix(d.Subject.Filename, configs.CatalogueDir)
	})
}

func newChecker(config *configs.Config) *checker {
	return &checker{release: config.Cloud.Release, tables: newTables(), verdicts: map[place]*verdict{}}
}

func (c *checker) check(config *configs.Config) hcl.Diagnostics {
	for i := range config.Services {
		for j := range config.Services[i].Configs {
			c.file(&config.Services[i], &config.Services[i].Configs[j])
		}
	}
	return c.diagnostics()
}

type checker struct {
	release  string
	tables   *tables
	part     bool // there may be more files than the checked ones
	verdicts map[place]*verdict
	order    []place
}

// place is the position of a value. One value may be used in many files: in the files of all
// instances of a service, or in all files that match a pattern.
type place struct {
	rng          hcl.Range
	section, key string
}

// verdict has the problems of a value. missing counts only if none of the files with the value
// has the option.
type verdict struct {
	found   bool                   // a table has the option
	known   bool                   // a table has it, or nothing can be said
	missing func() *hcl.Diagnostic // warning from the first file without the option
	group   bool                   // the whole group does not exist
	other   hcl.Diagnostics
}

// file checks the options of one file.
func (c *checker) file(s *configs.Service, f *configs.ConfigFile) {
	if f.Format != "ini" {
		return
	}
	r := &reading{table: c.tables.of(f.Name, c.release), tables: c.tables, release: c.release, service: s, file: f}
	for i := range f.Options {
		o := &f.Options[i]
		at := place{o.Origin.Range, o.Section, o.Key}
		v := c.verdicts[at]
		if v == nil {
			v = &verdict{}
			c.verdicts[at] = v
			c.order = append(c.order, at)
		}
		if r.table == nil || c.part && forMany(o.Origin) {
			v.known = true // the check cannot tell
		}
		if r.table == nil {
			continue
		}
		r.option(o, v)
	}
}

// forMany reports whether a value is for the files of several services, some of which may not
// have the option: values from the cloud's defaults and from the config directory.
func forMany(o configs.Origin) bool { return o.Layer == "cloud" || o.Layer == "directory" }

// diagnostics returns the diagnostics of all values, each once. For a group that does not exist
// it returns only the first one.
func (c *checker) diagnostics() hcl.Diagnostics {
	var out hcl.Diagnostics
	groups := map[*hcl.Diagnostic]bool{}
	for _, at := range c.order {
		v := c.verdicts[at]
		out = append(out, v.other...)
		if missing := v.lacks(); missing != nil {
			groups[missing] = v.group
			out = append(out, missing)
		}
	}
	slices.SortStableFunc(out, func(a, b *hcl.Diagnostic) int {
		return cmp.Or(
			cmp.Compare(a.Subject.Filename, b.Subject.Filename),
			cmp.Compare(a.Subject.Start.Byte, b.Subject.Start.Byte),
		)
	})
	told := map[string]bool{}
	out = slices.DeleteFunc(out, func(d *hcl.Diagnostic) bool {
		key := d.Subject.Filename + "\n" + d.Summary
		again := groups[d] && told[key]
		told[key] = told[key] || groups[d]
		return again
	})
	return slices.CompactFunc(out, func(a, b *hcl.Diagnostic) bool {
		return a.Summary == b.Summary && a.Detail == b.Detail && *a.Subject == *b.Subject
	})
}

// reading is the check of one file against the table of its service.
type reading struct {
	table   *table
	tables  *tables
	release string
	service *configs.Service
	file    *configs.ConfigFile
	// dynamic has the groups that exist because an option in the service's files names them;
	// nil until dynamicGroups computes them.
	dynamic map[string][]string
	// unclear: some options are unknown; see unknown.
	unclear bool
	// auth are the plugins that groups in the service's files choose; nil until authPlugin
	// computes them.
	auth map[string]string
}

// options returns the options of all files of the service that use the table.
func (r *reading) options() iter.Seq[*configs.Option] {
	return func(yield func(*configs.Option) bool) {
		for i := range r.service.Configs {
			f := &r.service.Configs[i]
			if f.Format != "ini" || r.tables.of(f.Name, r.release) != r.table {
				continue
			}
			for j := range f.Options {
				if !yield(&f.Options[j]) {
					return
				}
			}
		}
	}
}

func warning(at hcl.Range, summary, detail string) *hcl.Diagnostic {
	return &hcl.Diagnostic{Severity: hcl.DiagWarning, Summary: summary, Detail: detail, Subject: &at}
}

// warn returns a warning about an option. now is its current name; zero: it has none.
func (r *reading) warn(kind Kind, o *configs.Option, now Name, at hcl.Range, summary, detail string) *hcl.Diagnostic {
	d := warning(at, summary, detail)
	d.Extra = Change{
		Kind: kind, Option: Name{o.Section, o.Key}, Now: now,
		Service: r.table.service, File: r.file.Name, At: at, Detail: detail,
	}
	return d
}

// reads returns the beginning of a sentence about the service.
func (r *reading) reads() string { return r.table.service + " " + r.release }

// option checks one option.
func (r *reading) option(o *configs.Option, v *verdict) {
	section := groupName(o.Section)
	g, known := r.table.groups[section]
	if r.has(o, v, section, g) {
		v.found, v.known = true, true
		return
	}
	if known {
		if len(g) == 0 { // a group that only the source code names
			v.known = true
			return
		}
		v.miss(false, func() *hcl.Diagnostic { return r.noOption(o, g, []string{section}) })
		return
	}
	takes, dynamic := r.dynamicGroups()[section]
	switch {
	case dynamic && len(takes) == 0, r.ofPlugin(o, section), !dynamic && r.unknown():
		v.known = true
	case dynamic:
		all := group{}
		for _, name := range takes {
			maps.Copy(all, r.table.groups[name])
		}
		if r.has(o, v, section, all, takes...) {
			v.found, v.known = true, true
			return
		}
		v.miss(false, func() *hcl.Diagnostic { return r.noOption(o, all, append([]string{section}, takes...)) })
	case r.nearGroup(section) == "" && r.mayBePlugins(section):
		v.known = true
	default:
		v.miss(true, func() *hcl.Diagnostic { return r.noGroup(o, section) })
	}
}

// lacks returns the warning that no file has the option; nil: a file has it, or may have it.
func (v *verdict) lacks() *hcl.Diagnostic {
	if v.known || v.missing == nil {
		return nil
	}
	return v.missing()
}

func (v *verdict) miss(group bool, missing func() *hcl.Diagnostic) {
	if v.missing == nil {
		v.missing, v.group = missing, group
	}
}

// has reports whether an option exists, and adds its other problems to the verdict. takes are
// groups whose options this group accepts too, under their former names as well.
func (r *reading) has(o *configs.Option, v *verdict, section string, g group, takes ...string) bool {
	if found := g.find(o.Key); found != nil {
		if found.Removal != "" {
			v.other = append(v.other, r.removal(o, found))
		}
		r.value(o, v, found)
		return true
	}
	for _, name := range append([]string{section}, takes...) {
		now, ok := r.table.former[Name{name, o.Key}]
		if !ok {
			continue
		}
		group := now.Group
		if slices.Contains(takes, group) {
			group = o.Section
		}
		v.other = append(v.other, r.renamed(o, Name{group, now.Name}))
		r.value(o, v, r.table.groups[now.Group][now.Name])
		return true
	}
	if r.authMethod(section, o.Key) {
		return true
	}
	key := strings.ReplaceAll(o.Key, "-", "_")
	if g.takesPlugins() || g != nil && (r.authenticates(section) || r.unknown()) {
		if now, ok := r.ofAuth(section, key); ok {
			if now != key {
				v.other = append(v.other, r.renamed(o, Name{Name: now}))
			}
			return true
		}
	}
	return r.table.written[key] || g != nil && section != "DEFAULT" && r.table.connections[key]
}

// authenticates reports whether the file itself shows that a group is for an authentication.
// Some services list none of the options of such a group.
func (r *reading) authenticates(section string) bool {
	return slices.ContainsFunc(r.file.Options, func(o configs.Option) bool {
		return (o.Key == "auth_type" || o.Key == "auth_section") && groupName(o.Section) == section
	})
}

// takesPlugins reports whether keystoneauth's plugins read their options from the group. Some
// services list the options of the usual plugins without the option that chooses the plugin.
func (g group) takesPlugins() bool {
	return g["auth_type"] != nil || g["auth_section"] != nil || g["auth_url"] != nil
}

func (r *reading) renamed(o *configs.Option, now Name) *hcl.Diagnostic {
	return r.warn(Renamed, o, now, o.Origin.KeyRange(), fmt.Sprintf("[%s] %s is deprecated", o.Section, o.Key),
		fmt.Sprintf("It is now %s. %s still reads the former name, later releases may not.", now, r.reads()))
}

func (r *reading) removal(o *configs.Option, found *Option) *hcl.Diagnostic {
	detail := fmt.Sprintf("It is going to be removed. %s still reads it, later releases may not.", r.reads())
	if found.Removal != "-" {
		detail += " The reason: " + strings.TrimSuffix(found.Removal, ".") + "."
	}
	return r.warn(Deprecated, o, Name{}, o.Origin.KeyRange(), fmt.Sprintf("[%s] %s is deprecated", o.Section, o.Key), detail)
}

// value checks the value of an option.
func (r *reading) value(o *configs.Option, v *verdict, found *Option) {
	if found == nil {
		return
	}
	if len(o.Values) > 1 && found.Type != "" { // options with several values have no type in the tables
		v.other = append(v.other, warning(o.Origin.KeyRange(), fmt.Sprintf("[%s] %s has %d values", o.Section, o.Key, len(o.Values)),
			"The service reads only the last one."))
	}
	for _, text := range o.Values {
		if len(text.Refs()) > 0 || len(text.Deferred()) > 0 {
			continue // not known yet
		}
		value := text.Literal()
		wanted := found.unsuitable(value)
		if wanted == "" {
			continue
		}
		given := fmt.Sprintf("this is %q.", value)
		if text.Secret() {
			given = "the value that is given is not."
		}
		v.other = append(v.other, r.warn(Unsuitable, o, Name{}, o.Origin.Range, fmt.Sprintf("Unsuitable value for [%s] %s", o.Section, o.Key),
			fmt.Sprintf("%s only takes %s, and %s", r.reads(), wanted, given)))
	}
}

// noOption returns the warning that a group does not have an option. groups are the name of the group
// and of those whose options it accepts.
func (r *reading) noOption(o *configs.Option, g group, groups []string) *hcl.Diagnostic {
	section := groups[0]
	gone, now := r.gone(o.Key, groups...)
	hint := cmp.Or(gone, r.elsewhere(o.Key, section))
	if gone == "" && !strings.HasSuffix(hint, " has it.") {
		hint = cmp.Or(r.table.near(section+" "+o.Key, func() string {
			names := slices.Collect(maps.Keys(g))
			if g.takesPlugins() {
				names = append(names, r.authOptions(section)...)
			}
			return words.DidYouMean(o.Key, names)
		}), hint)
	}
	return r.warn(Removed, o, now, o.Origin.KeyRange(), fmt.Sprintf("No option %q in [%s]", o.Key, o.Section),
		fmt.Sprintf("%s reads no such option from %s, and would ignore it.%s", r.reads(), r.file.Name, hint))
}

// elsewhere returns a hint with the groups that have an option, unless there are many.
func (r *reading) elsewhere(key, section string) string {
	var groups []string
	for name, g := range r.table.groups {
		if name != section && g.find(key) != nil {
			groups = append(groups, "["+name+"]")
		}
	}
	slices.Sort(groups)
	switch {
	case len(groups) == 1:
		return fmt.Sprintf(" %s has it.", groups[0])
	case len(groups) > 1 && len(groups) <= 4:
		return fmt.Sprintf(" %s and %s have it.", strings.Join(groups[:len(groups)-1], ", "), groups[len(groups)-1])
	}
	return ""
}

// noGroup returns the warning that a group does not exist.
func (r *reading) noGroup(o *configs.Option, section string) *hcl.Diagnostic {
	gone, now := r.gone(o.Key, section)
	hint := cmp.Or(gone, r.nearGroup(section))
	if hint == "" {
		if hint = r.elsewhere(o.Key, section); hint != "" {
			hint = fmt.Sprintf(" As for %q,%s", o.Key, hint)
		}
	}
	return r.warn(Removed, o, now, o.Origin.SectionRange(), fmt.Sprintf("No group [%s] in %s", o.Section, r.file.Name),
		fmt.Sprintf("%s reads no such group, and would ignore it.%s", r.reads(), hint))
}

// nearGroup returns a question with the group that was probably meant, or an empty text. For a
// group like "handler:mine" it only compares the part after the prefix.
func (r *reading) nearGroup(section string) string {
	dynamic := slices.Sorted(maps.Keys(r.dynamicGroups()))
	return r.table.near(section+"\n"+strings.Join(dynamic, "\n"), func() string {
		names := slices.AppendSeq(dynamic, maps.Keys(r.table.groups))
		prefix := section[:strings.IndexAny(section, ":.")+1]
		if !slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, prefix) }) {
			prefix = ""
		}
		var rest []string
		for _, name := range names {
			if after, ok := strings.CutPrefix(name, prefix); ok {
				rest = append(rest, after)
			}
		}
		return strings.Replace(words.DidYouMean(section[len(prefix):], rest), `"`, `"`+prefix, 1)
	})
}

// near caches the result of a search for a similar name: the search is slow, and the same
// mistake occurs in many services.
func (t *table) near(key string, find func() string) string {
	found, done := t.nearest[key]
	if !done {
		found = find()
		t.nearest[key] = found
	}
	return found
}
