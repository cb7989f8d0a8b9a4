package options

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/releases"
)

// Kind says what became of an option.
type Kind int

// What became of an option.
const (
	_          Kind = iota
	Removed         // the service does not read it
	Renamed         // the service still reads this former name
	Deprecated      // the service still reads it, and it is going to be removed
	Unsuitable      // the service does not accept the value
)

// String returns the kind in one word, as in the JSON of plans.
func (k Kind) String() string {
	return [...]string{Removed: "removed", Renamed: "renamed", Deprecated: "deprecated", Unsuitable: "unsuitable"}[k]
}

// Change is a problem of an option that a configuration sets.
type Change struct {
	Kind   Kind
	Option Name // as in the configuration
	// Now is the current name of an option that is Renamed, or that was renamed before it was Removed.
	// It is zero if there is none, or none is known. Without a group, it is in that of the option.
	Now     Name
	Service string // the service that reads the file: "Nova"
	File    string // "nova.conf"
	// Since is the first release that is known to have the change.
	Since  string
	At     hcl.Range // of the option, its group or its value
	Detail string    // one or more sentences, without secret values
}

// String returns the name as in messages: "[api] max_limit", or "username" without a group.
func (n Name) String() string {
	if n.Group == "" {
		return n.Name
	}
	return fmt.Sprintf("[%s] %s", n.Group, n.Name)
}

// Changes returns the options that were valid in the release from, and that the release of the
// configuration removed, renamed, deprecated, or no longer accepts with the present value. They are in
// the order of their places in the configuration. Options of the built-in catalogue and options that were
// already invalid are left out. Services and releases without tables have no changes.
func Changes(config *configs.Config, from string) []Change {
	first := checked(config, from)
	last := first
	h := history{map[place]Name{}, map[occurrence]string{}}
	h.add(from, first)
	for _, release := range passed(from, config.Cloud.Release) {
		last = checked(config, release)
		h.add(release, last)
	}
	var out []Change
	for at, v := range last.verdicts {
		if !first.verdicts[at].found || strings.HasPrefix(at.rng.Filename, configs.CatalogueDir) {
			continue
		}
		for _, change := range v.changes() {
			change.Since = h.since[occurrence{at, change.Kind}]
			if change.Kind == Removed {
				change.Now = h.now[at]
			}
			if change.Since != from {
				out = append(out, change)
			}
		}
	}
	slices.SortFunc(out, func(a, b Change) int {
		return cmp.Or(
			cmp.Compare(a.At.Filename, b.At.Filename), cmp.Compare(a.At.Start.Byte, b.At.Start.Byte),
			cmp.Compare(a.Option.Name, b.Option.Name), cmp.Compare(a.Kind, b.Kind),
		)
	})
	return out
}

// history has the changes of several releases, which are added in their order.
type history struct {
	now   map[place]Name        // the latest names that are known
	since map[occurrence]string // the first release with the change
}

// occurrence is a kind of change at a place.
type occurrence struct {
	place
	kind Kind
}

func (h *history) add(release string, c *checker) {
	for at, v := range c.verdicts {
		for _, change := range v.changes() {
			if change.Now != (Name{}) {
				h.now[at] = change.Now
			}
			if key := (occurrence{at, change.Kind}); h.since[key] == "" {
				h.since[key] = release
			}
		}
	}
}

// changes returns the problems of an option, each once.
func (v *verdict) changes() []Change {
	var out []Change
	add := func(d *hcl.Diagnostic) {
		if change, ok := d.Extra.(Change); ok && !slices.ContainsFunc(out, func(c Change) bool { return c.Kind == change.Kind }) {
			out = append(out, change)
		}
	}
	for _, d := range v.other {
		add(d)
	}
	if missing := v.lacks(); missing != nil {
		add(missing)
	}
	return out
}

// checked checks a configuration as that of another release.
func checked(config *configs.Config, release string) *checker {
	c := newChecker(config)
	c.release = release
	_ = c.check(config) // the checker has what it found
	return c
}

// passed returns the releases after one, up to another one.
func passed(from, to string) []string {
	return slices.DeleteFunc(slices.Clone(releases.Names()), func(r string) bool { return r <= from || r > to })
}

// gone returns a hint about an option that earlier releases had in one of some groups, and its current
// name, if there is one. The hint has the first release that is known to lack the option. It is empty
// if no earlier release had it.
func (r *reading) gone(key string, groups ...string) (hint string, now Name) {
	since := r.release
	for _, release := range slices.Backward(passed("", r.release)) {
		t := r.tables.of(r.file.Name, release)
		if t == nil {
			break
		}
		for _, group := range groups {
			former := t.former[Name{group, key}]
			switch {
			case former != Name{} && r.table.groups[former.Group].find(former.Name) != nil:
				if slices.Contains(groups, former.Group) {
					former.Group = groups[0]
				}
				return fmt.Sprintf(" It is now %s.", former), former
			case former != Name{}, t.groups[group].find(key) != nil:
				return fmt.Sprintf(" It is gone from %s on.", since), Name{}
			}
		}
		since = release
	}
	return "", Name{}
}
