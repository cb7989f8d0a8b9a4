package decision

import (
	"slices"

	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/plans"
)

// origin says why the fields of an object differ from what is declared.
type origin struct {
	live, after fields.Owners
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
func (o origin) blame(differences []fields.Difference) []plans.Reason {
	var reasons reasonSet
	for i := range differences {
		reasons.add(o.blameOne(&differences[i]))
	}
	return reasons.list()
}

func (o origin) blameOne(d *fields.Difference) plans.Reason {
	held, wanted := fields.Touches(o.live.Own, d.At), fields.Touches(o.after.Own, d.At)
	by, taken := o.live.Other(d.At)
	switch {
	case !o.ours:
		return plans.Reason{Kind: plans.ReasonUnowned}
	case !held && wanted && taken:
		d.Drift, d.Edited, d.Manager, d.Time = true, o.edited, by.Manager, by.Time
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
func (o origin) blameAdditions(differences []fields.Difference, reasons []plans.Reason) []plans.Reason {
	var added reasonSet
	for i := range differences {
		d := &differences[i]
		by, taken := o.live.Other(d.At)
		if !o.ours || d.Drift || fields.Touches(o.live.Own, d.At) || fields.Touches(o.after.Own, d.At) || !taken && !o.written {
			continue
		}
		d.Drift, d.Manager, d.Time = true, by.Manager, by.Time
		added.add(plans.Reason{Kind: plans.ReasonDrift, Path: d.Path, Manager: by.Manager, Time: by.Time})
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
