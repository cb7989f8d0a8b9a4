package ownership

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/planner/dryrun"
	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/internal/outcome"
	"kolla.openstack.org/kolla/providers/kinds"
)

// LeavesBehind reports whether an apply would give up fields that others own too. They would
// stay.
func LeavesBehind(o *outcome.Outcome, applied *unstructured.Unstructured) bool {
	if !fields.WrittenThrough(o.Live, func(subresource string) bool { return subresource != "status" }) {
		return false
	}
	before := fields.OwnersOf(o.Live, o.Manager)
	dropped := before.Own.Difference(fields.OwnersOf(applied, o.Manager).Own)
	return slices.ContainsFunc(before.Others, func(o fields.Owner) bool { return !o.Fields.Intersection(dropped).Empty() })
}

// WrittenByOthers keeps the paths that others certainly wrote.
func WrittenByOthers(o *outcome.Outcome, paths []fieldpath.Path) []fieldpath.Path {
	owners := fields.OwnersOf(o.Live, o.Manager)
	return slices.DeleteFunc(slices.Clone(paths), func(path fieldpath.Path) bool {
		_, written := owners.Other(path)
		return !written
	})
}

// Certain keeps the paths that others certainly wrote, or that the server names as immutable:
// a default of the server is not refused.
func Certain(o *outcome.Outcome, paths []fieldpath.Path, r dryrun.Refusal) []fieldpath.Path {
	owners := fields.OwnersOf(o.Live, o.Manager)
	return slices.DeleteFunc(slices.Clone(paths), func(path fieldpath.Path) bool {
		_, written := owners.Other(path)
		return !written && !slices.ContainsFunc(r.Immutable, func(c metav1.StatusCause) bool { return c.Field == fields.Text(path) })
	})
}

// Attribute notes who added the fields, and when. A default that was right until the declaration
// changed has no author.
func Attribute(o *outcome.Outcome, h History, added []fields.Difference) {
	if o.Adopts() {
		return
	}
	owners := fields.OwnersOf(o.Live, o.Manager)
	edited := o.Record != nil && o.Record.State.DesiredDigest != o.Object.Digest()
	for i := range added {
		d := &added[i]
		at, otherVersion := behind(d.At)
		by, written := owners.Other(at)
		if otherVersion && edited && !written && fields.Touches(owners.Own, at) {
			continue // an earlier declaration in that version
		}
		if written || !h.Clean && !(edited && derived(d.At)) {
			d.Drift, d.Manager, d.Time = true, by.Manager, by.Time
		}
	}
}

// behind returns the field of another version of the kind that an annotation stands for; ok is
// false if the path is no such annotation.
func behind(path fieldpath.Path) (field fieldpath.Path, ok bool) {
	names := fields.Names(path)
	if len(names) != 3 || names[1] != "annotations" || kinds.FieldBehind(names[2]) == "" {
		return path, false
	}
	return fieldpath.MakePathOrDie("spec", kinds.FieldBehind(names[2])), true
}

// Emptied returns the maps of a custom resource that are declared as empty and lose fields. own:
// the maps that lose kolla's own fields count too. An apply must remove the maps first, whoever
// else owns them; see fields.Bare.
func Emptied(o *outcome.Outcome, removed *fieldpath.Set, own bool) *fieldpath.Set {
	set := fieldpath.NewSet()
	find := func(path fieldpath.Path) {
		for n := 1; n < len(path); n++ {
			if declared, there := fields.Lookup(o.Object.Manifest.Object, path[:n]); there && fields.Empty(declared) {
				set.Insert(path.Copy())
				set.Insert(path[:n].Copy())
			}
		}
	}
	removed.Iterate(find)
	if own {
		fields.OwnersOf(o.Live, o.Manager).Own.Leaves().Iterate(find)
	}
	return set
}

// Claimed returns the fields that kolla must own before its apply can remove them: the paths
// that differ, and the parents that would be left empty.
func Claimed(paths []fieldpath.Path, removed []fields.Difference) *fieldpath.Set {
	set := fieldpath.NewSet()
	for _, path := range paths {
		for _, d := range removed {
			if !fields.Overlap(d.At, path) {
				continue
			}
			set.Insert(path)
			if d.After == nil && len(d.At) < len(path) {
				set.Insert(d.At)
			}
		}
	}
	return set
}

// Lines lists who added which field, one line each.
func Lines(added []fields.Difference) string {
	var lines []string
	for _, d := range added {
		line := "  " + d.Path
		if d.Manager != "" {
			line += ", by " + foreign.Name(d.Manager)
		}
		if !d.Time.IsZero() {
			line += d.Time.Format(", 2006-01-02 15:04 UTC")
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}
