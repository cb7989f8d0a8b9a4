package ownership

import (
	"slices"

	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// Origin has the facts that say why the fields of an object differ from the declaration: the
// configuration changed, somebody changed the object, or a newer version of kolla or of the server has
// other defaults.
type Origin struct {
	Live, After fields.Owners
	// Same: the declaration did not change since kolla last applied it.
	Same bool
	// Edited: the declaration changed, as the state says. If the state does not know the
	// object, neither Same nor Edited holds.
	Edited bool
	// Ours: kolla made the object, or owned fields of it before.
	Ours bool
	// Written: somebody wrote to the object since the last apply.
	Written bool
	// Impersonated: somebody applied under kolla's name since the last apply that the state
	// records.
	Impersonated bool
	// Untouched: nobody wrote to the object since the last apply or check.
	Untouched bool
}

// Differences decides for each difference whether somebody changed the object or the
// configuration changed. It returns the reasons in the order of the differences. "wanted" is
// a field that kolla owns after the apply, and "held" one that it owns now:
//
//	held    wanted  somebody else has it   the configuration  verdict
//	yes     -       -                      -                  drift, if somebody applied under
//	                                                          kolla's name since
//	yes     -       -                      changed            configuration
//	yes     -       -                      is the same        drift, if the object was written to
//	                                                          since
//	no      yes     yes                    -                  drift, by them
//	no      yes     no                     changed            configuration
//	no      yes     no                     is the same        drift, by an unknown client
//
// A lost revision of a Secret is drift too, although the declaration then has another one.
// Everything else is the effect of defaults and webhooks. That is certain only if neither the
// configuration nor the object changed. An object that never was kolla's has no drift: its reason
// is that kolla does not own it.
func (o Origin) Differences(differences []fields.Difference) []plans.Reason {
	var found reasons
	for i := range differences {
		found.add(o.difference(&differences[i]))
	}
	return found.list()
}

func (o Origin) difference(d *fields.Difference) plans.Reason {
	held, wanted := fields.Touches(o.Live.Own, d.At), fields.Touches(o.After.Own, d.At)
	by, taken := o.Live.Other(d.At)
	switch {
	case !o.Ours:
		return plans.Reason{Kind: plans.ReasonUnowned}
	case !held && wanted && taken:
		d.Drift, d.Edited, d.Manager, d.Time = true, o.Edited, by.Manager, by.Time
	case held && o.Impersonated && !(o.Edited && computed(d)):
		d.Drift, d.Edited, d.Manager, d.Time = true, o.Edited, o.Live.Name, o.Live.Time
	case held && o.Same && o.Written, !held && wanted && (o.Same || lostRevision(d)):
		d.Drift = true
	case (held || wanted) && !o.Same:
		return plans.Reason{Kind: plans.ReasonConfig}
	case o.Untouched && o.Same:
		return plans.Reason{Kind: plans.ReasonUpgrade}
	default:
		return plans.Reason{Kind: plans.ReasonUnexplained}
	}
	return plans.Reason{Kind: plans.ReasonDrift, Path: d.Path, Manager: d.Manager, Time: d.Time}
}

// computed reports whether kolla computes the field from the values of a Secret. It changes if
// somebody replaced the values.
func computed(d *fields.Difference) bool {
	return d.Path == fields.Annotation(providers.AnnotationRevision) || d.Path == fields.Annotation(providers.AnnotationChecksum)
}

// lostRevision reports whether the live object lacks the annotation with the revision of its
// values, which every apply sets.
func lostRevision(d *fields.Difference) bool {
	return d.Before == nil && d.Path == fields.Annotation(providers.AnnotationRevision)
}

// Additions extends the reasons for differences that include additions of others: fields that
// kolla neither owned nor will own, and that somebody else owns or wrote since the last apply.
func (o Origin) Additions(differences []fields.Difference, known []plans.Reason) []plans.Reason {
	var added reasons
	for i := range differences {
		d := &differences[i]
		by, taken := o.Live.Other(d.At)
		if !o.Ours || d.Drift || fields.Touches(o.Live.Own, d.At) || fields.Touches(o.After.Own, d.At) || !taken && !o.Written {
			continue
		}
		d.Drift, d.Manager, d.Time = true, by.Manager, by.Time
		added.add(plans.Reason{Kind: plans.ReasonDrift, Path: d.Path, Manager: by.Manager, Time: by.Time})
	}
	if len(added.all) == 0 {
		return known
	}
	known = slices.DeleteFunc(known, func(r plans.Reason) bool { return consequence(r.Kind) })
	return append(known, added.list()...)
}

// reasons collects one reason of each kind, and drift by manager and time.
type reasons struct {
	all   []plans.Reason
	paths []int // how many paths each reason stands for
}

func (s *reasons) add(r plans.Reason) {
	for i, have := range s.all {
		if have.Kind == r.Kind && have.Manager == r.Manager && have.Time.Equal(r.Time) {
			s.paths[i]++
			return
		}
	}
	s.all = append(s.all, r)
	s.paths = append(s.paths, 1)
}

// consequence reports whether a reason is left out if there is another one: the defaults of the
// server depend on other fields.
func consequence(kind plans.ReasonKind) bool {
	return kind == plans.ReasonUpgrade || kind == plans.ReasonUnexplained
}

// list returns the reasons. It names a path only if the reason has one path.
func (s *reasons) list() []plans.Reason {
	var list []plans.Reason
	for i, r := range s.all {
		if s.paths[i] > 1 {
			r.Path = ""
		}
		if !consequence(r.Kind) || len(s.all) == 1 {
			list = append(list, r)
		}
	}
	return list
}

// Drift returns the reasons of removed additions. adopted: the object is taken over from
// somebody else, so that nothing has drifted.
func Drift(removed []fields.Difference, adopted bool) []plans.Reason {
	var found reasons
	for _, d := range removed {
		switch {
		case adopted:
			found.add(plans.Reason{Kind: plans.ReasonUnowned})
		case d.Drift:
			found.add(plans.Reason{Kind: plans.ReasonDrift, Path: d.Path, Manager: d.Manager, Time: d.Time})
		}
	}
	return found.list()
}
