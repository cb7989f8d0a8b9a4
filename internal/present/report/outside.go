package report

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/planner/plans"
)

// drift lists changes by others that an apply reverts: changed objects before deleted ones.
func drift(plan *plans.Plan, at Moment) *Outside {
	var changed, deleted []*Object
	for i := range plan.Actions {
		a := &plan.Actions[i]
		if lostBy(plan, a) {
			continue
		}
		if a.Has(plans.ReasonGone) && (creates(a) || plan.RefreshOnly) {
			o := objectOf(a, nil, nil)
			o.Gone = true
			deleted = append(deleted, o)
			continue
		}
		var changes []plans.Change
		for _, c := range a.Changes {
			if c.Drift {
				changes = append(changes, c)
			}
		}
		if len(changes) > 0 {
			changed = append(changed, objectOf(a, changes, func(c plans.Change) string { return at.driftNote(plan, c) }))
		}
	}
	objects := slices.Concat(changed, deleted)
	if len(objects) == 0 {
		return nil
	}
	title := "Changed outside of kolla, will be put back:"
	if plan.RefreshOnly {
		title = "Changed outside of kolla, and left as it is:"
	}
	return &Outside{Title: title, Objects: objects}
}

// driftNote names the author of a change that is drift.
func (m Moment) driftNote(plan *plans.Plan, c plans.Change) string {
	who := m.culprit(c)
	before, after := c.Before, c.After // kolla's value and the live value, or the reverse
	if !plan.RefreshOnly {
		before, after = after, before
	}
	switch {
	case c.Path == "spec.replicas" && after != nil:
		who = strings.Replace(who, "scaled by", fmt.Sprintf("scaled to %v by", after), 1)
	case before == nil && after != nil:
		who = "added " + who
	case before != nil && after == nil:
		who = "removed " + who
	}
	if c.Edited && hasLines(c) {
		who += ", and your change"
	}
	return who
}

// culprit says who changed a field outside of kolla, and when: "scaled by kubectl 50 min ago,
// 2026-11-21 02:11 UTC".
func (m Moment) culprit(c plans.Change) string {
	var parts []string
	switch {
	case c.Registered != "":
		return "in " + c.Registered
	case c.Manager == "" && c.Drift && c.Path == "spec.replicas":
		return "scaled by an unknown client (no field manager recorded)"
	case c.Manager == "" && c.Drift:
		return "by an unknown client (no field manager recorded)"
	case c.Manager != "":
		verb := "by "
		if c.Path == "spec.replicas" {
			verb = "scaled by "
		}
		parts = append(parts, verb+Tool(c.Manager))
	}
	if !c.Time.IsZero() {
		if age := m.Now.Sub(c.Time); age >= 0 && !m.Now.IsZero() {
			parts = append(parts, words.Ago(age)+",")
		}
		parts = append(parts, m.format(c.Time))
	}
	return strings.Join(parts, " ")
}

// lostBy reports whether an action makes an object again whose content is lost. The losses
// of the plan name it.
func lostBy(plan *plans.Plan, a *plans.Action) bool {
	return slices.ContainsFunc(plan.Losses, func(l plans.Loss) bool {
		return l.Address == a.Address && slices.Contains(l.Refs, a.Ref)
	})
}

// replaced lists generated values that others replaced and that kolla keeps.
func replaced(plan *plans.Plan, at Moment) *Outside {
	out := &Outside{Title: "Changed outside of kolla and kept; the objects that read it are renewed:"}
	for i := range plan.Actions {
		a := &plan.Actions[i]
		var changes []plans.Change
		for _, d := range a.Drift() {
			if d.Stays {
				changes = append(changes, d.Change)
			}
		}
		if len(changes) > 0 {
			out.Objects = append(out.Objects, objectOf(a, changes, at.culprit))
		}
	}
	return out.orNil()
}

// yielded lists declared values that are not applied, because a controller owns the field.
func yielded(plan *plans.Plan, at Moment) *Outside {
	out := &Outside{Title: "Left to the controllers that manage it, and not applied:"}
	for i := range plan.Actions {
		a := &plan.Actions[i]
		var changes []plans.Change
		for _, y := range a.Yields {
			if !reflect.DeepEqual(y.Live, y.Want) || y.Live == plans.Masked {
				changes = append(changes, plans.Change{Path: y.Path, Before: y.Live, After: y.Want, Manager: y.Manager, Time: y.Time})
			}
		}
		if len(changes) > 0 {
			o := objectOf(a, changes, at.culprit)
			o.whole = true
			out.Objects = append(out.Objects, o)
		}
	}
	return out.orNil()
}

// added lists fields that others added to kolla's objects, the most important section first.
func added(plan *plans.Plan, at Moment) []Outside {
	left := "Changed outside of kolla, and left there:"
	if plan.ForeignPolicy == plans.ReportForeign {
		left = "Changed outside of kolla, and left there (foreign = \"report\"):"
	}
	var out []Outside
	for _, part := range []struct {
		title           string
		reported, stuck bool
	}{
		{left, true, false},
		{"Changed outside of kolla, and only removed by replacing the object:", true, true},
		{"Left to others:", false, false},
	} {
		section := Outside{Title: part.title}
		for _, f := range plan.Foreign {
			if f.Reported != part.reported || f.Stuck != part.stuck {
				continue
			}
			o := objectOf(&plans.Action{Address: f.Address}, f.Fields, at.culprit)
			o.given = true
			if part.stuck {
				o.Command = "kolla apply " + words.Option("-replace", f.Address.String())
			}
			section.Objects = append(section.Objects, o)
		}
		if len(section.Objects) > 0 {
			out = append(out, section)
		}
	}
	return out
}

// orNil returns nil for a section without objects.
func (o *Outside) orNil() *Outside {
	if len(o.Objects) == 0 {
		return nil
	}
	return o
}
