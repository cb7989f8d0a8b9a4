package view

import (
	"strings"

	"kolla.openstack.org/kolla/planner"
)

// The parts of a plan about what belongs to others.

// keptChanges shows what somebody changed in the cluster and kolla does not put
// back: values of generated Secrets.
func (v *planView) keptChanges() []line {
	var out []line
	for i := range v.plan.Actions {
		a := &v.plan.Actions[i]
		var changes []planner.Change
		for _, r := range a.Reasons {
			if r.Kind == planner.ReasonReplaced {
				changes = append(changes, planner.Change{
					Path: r.Path, Before: planner.Masked, After: planner.Masked,
					Sensitive: true, Manager: r.Manager, Time: r.Time,
				})
			}
		}
		out = append(out, v.owned(a, changes)...)
	}
	if out == nil {
		return nil
	}
	return append([]line{styled(caution, "Changed outside of kolla, is kept, and what reads it is renewed:")}, out...)
}

// yielded says which declared fields are left to others from now on.
func (v *planView) yielded() []line {
	var out []line
	for i := range v.plan.Actions {
		a := &v.plan.Actions[i]
		var changes []planner.Change
		for _, y := range a.Yields {
			if y.News {
				changes = append(changes, planner.Change{Path: y.Path, Before: planner.Unknown, After: planner.Unknown, Manager: y.Manager, Time: y.Time})
			}
		}
		out = append(out, v.owned(a, changes)...)
	}
	if out == nil {
		return nil
	}
	return append([]line{styled(caution, "Left to what looks after it, from now on:")}, out...)
}

// owned lists fields of an object with who wrote them and when.
func (v *planView) owned(a *planner.Action, changes []planner.Change) []line {
	if len(changes) == 0 {
		return nil
	}
	head := text("  # ").then(styled(bold, a.Address.String()))
	if v.options.Compact {
		var paths []string
		for _, c := range changes {
			paths = append(paths, c.Path)
		}
		return []line{head.then(text(": " + strings.Join(paths, ", ")))}
	}
	out := []line{nil, head}
	f := v.fields(a)
	for _, c := range changes {
		l := styled(changed, "~").then(text(" " + f.path(c))).indent(bodyIndent)
		out = append(out, f.append(l, styled(faint, v.culprit(c, v.now())))...)
	}
	return out
}

// foreign lists what others have added to kolla's objects.
func (v *planView) foreign() []line {
	if len(v.plan.Foreign) == 0 {
		return nil
	}
	out := []line{text("Added by others, and left alone:")}
	for _, object := range v.plan.Foreign {
		head := text("  # ").then(styled(bold, object.Address.String()))
		if v.options.Compact {
			var paths []string
			for _, c := range object.Fields {
				paths = append(paths, c.Path)
			}
			out = append(out, head.then(text(": "+strings.Join(paths, ", "))))
			continue
		}
		f := v.fields(&planner.Action{Address: object.Address})
		f.note = func(c planner.Change) string { return v.culprit(c, v.now()) }
		f.given = true
		out = append(out, nil, head)
		out = append(out, f.render(object.Fields)...)
	}
	return out
}
