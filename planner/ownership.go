package planner

import (
	"bytes"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"kolla.openstack.org/kolla/planner/plans"
)

// ownership is who owns which fields of an object, as its managedFields say.
type ownership struct {
	// kolla is what kolla's server-side applies own; never nil.
	kolla  *fieldpath.Set
	others []owner
}

// owner is one entry of another manager.
type owner struct {
	manager     string
	subresource string    // that the fields were written through
	updates     bool      // rather than applies
	time        time.Time // when the entry last changed
	fields      *fieldpath.Set
}

// ownershipOf reads the managedFields of an object; manager is the one that counts
// as kolla. Entries that cannot be read own nothing.
func ownershipOf(u *unstructured.Unstructured, manager string) ownership {
	o := ownership{kolla: fieldpath.NewSet()}
	if u == nil {
		return o
	}
	for _, entry := range u.GetManagedFields() {
		fields := fieldpath.NewSet()
		if entry.FieldsV1 == nil || fields.FromJSON(bytes.NewReader(entry.FieldsV1.GetRawBytes())) != nil {
			continue
		}
		if entry.Manager == manager && entry.Operation == metav1.ManagedFieldsOperationApply && entry.Subresource == "" {
			o.kolla = o.kolla.Union(fields)
			continue
		}
		other := owner{
			manager:     entry.Manager,
			subresource: entry.Subresource,
			updates:     entry.Operation == metav1.ManagedFieldsOperationUpdate,
			fields:      fields,
		}
		if entry.Time != nil {
			other.time = entry.Time.UTC()
		}
		o.others = append(o.others, other)
	}
	return o
}

// other finds who but kolla owns the path or something below it: of several, the
// one whose entry changed last.
func (o ownership) other(path fieldpath.Path) (found owner, ok bool) {
	for _, other := range o.others {
		if touches(other.fields, path) && (!ok || other.time.After(found.time)) {
			found, ok = other, true
		}
	}
	return found, ok
}

// within is the ownership of the others, of no more than the fields.
func (o ownership) within(fields *fieldpath.Set) ownership {
	in := ownership{kolla: fieldpath.NewSet()}
	for _, other := range o.others {
		other.fields = other.fields.Intersection(fields)
		in.others = append(in.others, other)
	}
	return in
}

// path finds the structure of a path that the server gave as text, such as
// `.spec.template.spec.containers[name="api"].image`, among the manager's fields.
func (o ownership) path(manager, text string) (found fieldpath.Path, ok bool) {
	for _, other := range o.others {
		if other.manager != manager {
			continue
		}
		other.fields.Iterate(func(p fieldpath.Path) {
			if !ok && p.String() == text {
				found, ok = p.Copy(), true
			}
		})
	}
	return found, ok
}

// origin says why the fields of an object differ from what is declared.
type origin struct {
	live, after ownership
	// same: what is declared did not change since kolla last applied it.
	same bool
	// edited: it did change, as the state says. Of an object that the state does not
	// know, neither holds.
	edited bool
	// ours: kolla made the object, or owned fields of it, before.
	ours bool
	// written: it is not the object any more that the last apply left.
	written bool
}

// blame decides, for each difference, whether somebody changed the object or the
// configuration did, and returns the reasons that this gives, in the order in
// which the differences first show them. With "wanted" for a field that kolla
// owns after the apply, and "held" for one that it owns now:
//
//	held    wanted  somebody else has it   the configuration  verdict
//	yes     -       -                      changed            configuration
//	yes     -       -                      is the same        a newer kolla or server, unless
//	                                                          the object was written to since
//	no      yes     yes                    -                  drift, by them
//	no      yes     no                     changed            configuration
//	no      yes     no                     is the same        drift, by nobody knows whom
//	no      no      -                      -                  a newer kolla or server
//
// The last row is what defaulting and webhooks do. Of an object that was never
// kolla's nothing has drifted: its reason is that it is not owned.
func (o origin) blame(differences []difference) []plans.Reason {
	var reasons reasonSet
	for i := range differences {
		reasons.add(o.blameOne(&differences[i]))
	}
	return reasons.list()
}

func (o origin) blameOne(d *difference) plans.Reason {
	held, wanted := touches(o.live.kolla, d.path), touches(o.after.kolla, d.path)
	by, taken := o.live.other(d.path)
	switch {
	case !o.ours:
		return plans.Reason{Kind: plans.ReasonUnowned}
	case !held && wanted && taken:
		d.Drift, d.Edited, d.Manager, d.Time = true, o.edited, by.manager, by.time
	case wanted && o.same && (!held || o.written):
		d.Drift = true
	case (held || wanted) && !o.same:
		return plans.Reason{Kind: plans.ReasonConfig}
	default:
		return plans.Reason{Kind: plans.ReasonUpgrade}
	}
	return plans.Reason{Kind: plans.ReasonDrift, Path: d.Path, Manager: d.Manager, Time: d.Time}
}

// blameAdditions is blame for differences among which are fields that others added: what
// kolla neither had nor will have, and somebody else owns, or wrote since the last apply.
func (o origin) blameAdditions(differences []difference, reasons []plans.Reason) []plans.Reason {
	var added reasonSet
	for i := range differences {
		d := &differences[i]
		by, taken := o.live.other(d.path)
		if !o.ours || d.Drift || touches(o.live.kolla, d.path) || touches(o.after.kolla, d.path) || !taken && !o.written {
			continue
		}
		d.Drift, d.Manager, d.Time = true, by.manager, by.time
		added.add(plans.Reason{Kind: plans.ReasonDrift, Path: d.Path, Manager: by.manager, Time: by.time})
	}
	if len(added.reasons) == 0 {
		return reasons
	}
	reasons = slices.DeleteFunc(reasons, func(r plans.Reason) bool { return r.Kind == plans.ReasonUpgrade })
	return append(reasons, added.list()...)
}

// reasonSet collects reasons: one of each kind, and of drift one a manager and
// time.
type reasonSet struct {
	reasons []plans.Reason
	paths   []int // how many paths each reason stands for
}

func (s *reasonSet) add(r plans.Reason) {
	for i, have := range s.reasons {
		if have.Kind == r.Kind && have.Manager == r.Manager && have.Time.Equal(r.Time) {
			s.paths[i]++
			return
		}
	}
	s.reasons = append(s.reasons, r)
	s.paths = append(s.paths, 1)
}

// list gives the reasons. A path is named only where it is the only one. That a
// newer kolla or server wants something is left out where there is another reason,
// of which it is a consequence.
func (s *reasonSet) list() []plans.Reason {
	var list []plans.Reason
	for i, r := range s.reasons {
		if s.paths[i] > 1 {
			r.Path = ""
		}
		if r.Kind != plans.ReasonUpgrade || len(s.reasons) == 1 {
			list = append(list, r)
		}
	}
	return list
}
