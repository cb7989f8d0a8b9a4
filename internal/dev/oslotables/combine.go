package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"kolla.openstack.org/kolla/providers/openstack/options"
)

// combine makes tables by release from the data of the suites.
func combine(found map[string]*introspection) (options.Index, map[string]*options.Distribution) {
	index := options.Index{Plugins: plugins(found)}
	for _, one := range found {
		for _, name := range one.Connections {
			index.Connections = union(index.Connections, []string{strings.ReplaceAll(name, "-", "_")})
		}
	}
	used := map[string]bool{}
	for _, s := range services {
		s.Releases = map[string][]string{}
		for _, release := range names {
			exists := func(one snapshot) bool { return one.shows(s.distributions[0], release) }
			if !slices.ContainsFunc(taken(found, s.distributions[0]), exists) {
				continue
			}
			s.Releases[release] = members(found, s.distributions, release)
			for _, name := range s.Releases[release] {
				used[name] = true
			}
		}
		index.Services = append(index.Services, s.Service)
	}
	distributions := map[string]*options.Distribution{}
	for name := range used {
		distributions[name] = combined(taken(found, name), name)
	}
	return index, distributions
}

// plugins are keystoneauth's plugins, each with its options of all suites.
func plugins(found map[string]*introspection) map[string]map[string][]string {
	out := map[string]map[string][]string{}
	for _, one := range found {
		for plugin, declared := range one.Plugins {
			if out[plugin] == nil {
				out[plugin] = map[string][]string{}
			}
			for name, former := range declared {
				for i := range former {
					former[i] = strings.ReplaceAll(former[i], "-", "_")
				}
				out[plugin][name] = union(out[plugin][name], former)
			}
		}
	}
	return out
}

// snapshot is a distribution in one suite.
type snapshot struct {
	*asked
	suite suite
}

// taken returns the snapshots of a distribution, the oldest first.
func taken(found map[string]*introspection, name string) []snapshot {
	var out []snapshot
	for _, s := range suites {
		if d := found[s.name].Distributions[name]; d != nil {
			out = append(out, snapshot{d, s})
		}
	}
	return out
}

// later stands for a release after those that kolla deploys. Releases sort as texts.
const later = "later"

// release returns the release that a snapshot is exactly. It is empty if that is unknown.
func (s snapshot) release(name string) string {
	number, err := strconv.Atoi(strings.Split(s.Version, ".")[0])
	first, known := regular[name]
	at := number - first
	switch {
	case err != nil || !known || at < 0:
		return s.suite.release
	case at < len(names):
		return names[at]
	}
	return later
}

// shows reports whether the snapshot is a reason for a table of a release: the distribution was
// there in this release or a later one. The first release needs a package of its own.
func (s snapshot) shows(name, release string) bool {
	switch is := s.release(name); {
	case is == release:
		return true
	case is == "": // somewhere between the first release and the last one
		return release > names[0] && release < names[len(names)-1]
	default:
		return release > names[0] && release < is
	}
}

// speaking returns the snapshots with data for a release: the snapshot of exactly this release, or
// else all that it may lie between, from the last one of an earlier release to the first one of a
// later release.
func speaking(snapshots []snapshot, name, release string) []snapshot {
	from, to := 0, len(snapshots)
	for i, s := range snapshots {
		switch is := s.release(name); {
		case is == release:
			return snapshots[i : i+1]
		case is != "" && is < release:
			from = i
		case is > release:
			to = min(to, i+1)
		}
	}
	return snapshots[from:to]
}

// members returns a service's distributions, with the libraries that they need.
func members(found map[string]*introspection, own []string, release string) []string {
	var of []string
	for _, s := range services {
		of = append(of, s.distributions...)
	}
	all := map[string]bool{}
	add := func(name string) {
		if len(taken(found, name)) > 0 {
			all[name] = true
		}
	}
	for _, name := range own {
		add(name)
		for _, s := range speaking(taken(found, name), name, release) {
			for _, needed := range s.Requires {
				if !slices.Contains(of, needed) {
					add(needed)
				}
			}
		}
	}
	for _, name := range libraries {
		add(name)
	}
	return slices.Sorted(maps.Keys(all))
}

// combined returns the table of a distribution.
func combined(snapshots []snapshot, name string) *options.Distribution {
	out := &options.Distribution{Versions: map[string][]string{}}
	variants := map[string]*options.Option{} // by everything but the releases
	for _, release := range names {
		speaking := speaking(snapshots, name, release)
		for _, s := range speaking {
			if !slices.Contains(out.Versions[release], s.Version) {
				out.Versions[release] = append(out.Versions[release], s.Version)
			}
		}
		for _, o := range resolve(speaking) {
			key, err := json.Marshal(o)
			if err != nil {
				panic(err) // plain data
			}
			if variants[string(key)] == nil {
				variants[string(key)] = &o
			}
			variants[string(key)].Releases = append(variants[string(key)].Releases, release)
		}
	}
	for _, o := range variants {
		if len(o.Releases) == len(names) {
			o.Releases = nil
		}
		out.Options = append(out.Options, *o)
	}
	slices.SortFunc(out.Options, func(a, b options.Option) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Name, b.Name), slices.Compare(a.Releases, b.Releases))
	})
	for _, s := range snapshots {
		listed, groups := map[string]bool{}, map[string]bool{}
		for name, o := range s.options() {
			listed[name.Name], groups[name.Group] = true, true
			for _, f := range o.Former {
				listed[f.Name] = true
			}
		}
		out.Written = union(out.Written, plain(s.WrittenOptions, listed))
		out.WrittenGroups = union(out.WrittenGroups, plain(s.WrittenGroups, groups))
	}
	return out
}

var plainName = regexp.MustCompile(`^[a-z][a-z0-9_.:-]*$`)

// plain returns the names that are likely for a file, without the known names.
func plain(names []string, known map[string]bool) []string {
	var out []string
	for _, name := range names {
		name = strings.ReplaceAll(strings.ToLower(name), "-", "_")
		if plainName.MatchString(name) && !known[name] && name != "default" {
			out = append(out, name)
		}
	}
	return out
}

// resolve merges the options of several snapshots. An option exists if one snapshot has it.
// Its properties are those on which all snapshots with the option agree.
func resolve(snapshots []snapshot) []options.Option {
	out := map[options.Name]options.Option{}
	var each []map[options.Name]options.Option
	for _, s := range snapshots {
		own := s.options()
		each = append(each, own)
		for name, o := range own {
			if first, twice := out[name]; twice {
				o = agreed(first, o)
			}
			out[name] = o
		}
	}
	unclear := map[options.Name]options.Option{}
	for name, o := range out {
		everywhere := !slices.ContainsFunc(each, func(m map[options.Name]options.Option) bool { _, has := m[name]; return !has })
		var former []options.Name
		for _, f := range o.Former {
			if _, still := out[f]; still {
				continue
			}
			if !everywhere { // the new name may not exist yet
				unclear[f] = options.Option{Group: f.Group, Name: f.Name}
				continue
			}
			if f.Group == o.Group {
				f.Group = ""
			}
			former = append(former, f)
		}
		o.Former = former
		out[name] = o
	}
	maps.Copy(out, unclear)
	return slices.Collect(maps.Values(out))
}

// options returns the options of a snapshot.
func (s snapshot) options() map[options.Name]options.Option {
	out := map[options.Name]options.Option{}
	for _, namespace := range s.Options {
		for group, declared := range namespace {
			for _, g := range declared.Opts {
				o := g.option(group)
				name := options.Name{Group: o.Group, Name: o.Name}
				if first, twice := out[name]; twice {
					o = agreed(first, o)
				}
				out[name] = o
			}
		}
	}
	return out
}

func (g generated) option(group string) options.Option {
	o := options.Option{
		Group: group, Name: g.Dest,
		Dashed: g.Name != g.Dest && strings.ReplaceAll(g.Name, "-", "_") == g.Dest,
		Type:   strings.TrimSuffix(g.Type, " value"),
		Min:    g.Min, Max: g.Max,
	}
	switch o.Type {
	case "string", "multi valued", "list", "unknown":
		o.Type = "" // accepts all values
	}
	if o.Max != nil && *o.Max >= 1<<31-1 { // the limit of the type, not a meaningful limit
		o.Max = nil
	}
	for _, choice := range g.Choices {
		if choice[0] != nil {
			o.Choices = append(o.Choices, fmt.Sprint(choice[0]))
		}
	}
	for _, f := range g.Deprecated {
		former := options.Name{Group: f.Group, Name: f.Name}
		if !strings.EqualFold(former.Group, "DEFAULT") {
			former.Group = strings.ToLower(former.Group)
		}
		if former != (options.Name{Group: o.Group, Name: o.Name}) && !slices.Contains(o.Former, former) {
			o.Former = append(o.Former, former)
		}
	}
	if g.Removal {
		o.Removal = short(g.Reason)
	}
	return o
}

// short returns a reason that fits on a line, or "-".
func short(reason string) string {
	reason = strings.Join(strings.Fields(reason), " ")
	if reason == "" || len(reason) > 160 {
		return "-"
	}
	return reason
}

// agreed returns the common part of two declarations of an option. It has the later declaration's
// new names and reasons, if the first has any.
func agreed(a, b options.Option) options.Option {
	out := b
	if a.Type != b.Type || !slices.Equal(a.Choices, b.Choices) || !same(a.Min, b.Min) || !same(a.Max, b.Max) {
		out.Type, out.Choices, out.Min, out.Max = "", nil, nil, nil
	}
	if a.Removal == "" {
		out.Removal = ""
	}
	out.Former = slices.Clone(a.Former)
	for _, f := range b.Former {
		if !slices.Contains(out.Former, f) {
			out.Former = append(out.Former, f)
		}
	}
	out.Dashed = a.Dashed || b.Dashed
	return out
}

func same(a, b *float64) bool { return a == b || a != nil && b != nil && *a == *b }

// union returns the sorted union of two lists.
func union(a, b []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(a, b))))
}
