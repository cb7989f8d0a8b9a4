package view

import (
	"fmt"
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
		out = append(out, v.owned(a, changes, func(planner.Change) string { return "" })...)
	}
	if out == nil {
		return nil
	}
	return append([]line{styled(caution, "Changed outside of kolla, is kept, and what reads it is renewed:")}, out...)
}

// yielded says which declared values are not applied, because somebody else looks
// after their fields.
func (v *planView) yielded() []line {
	var out []line
	for i := range v.plan.Actions {
		a := &v.plan.Actions[i]
		var changes []planner.Change
		for _, y := range a.Yields {
			if y.News {
				changes = append(changes, planner.Change{Path: y.Path, Before: y.Live, After: y.Want, Manager: y.Manager, Time: y.Time})
			}
		}
		out = append(out, v.owned(a, changes, notApplied)...)
	}
	if out == nil {
		return nil
	}
	return append([]line{styled(caution, "Left to what looks after it, and not applied:")}, out...)
}

// notApplied says which value is declared, and which one stays.
func notApplied(c planner.Change) string {
	return fmt.Sprintf(" = %s is not applied (live: %s)", brief(c.After), brief(c.Before))
}

// brief is a value where there is only room for a short one.
func brief(v any) string {
	if v == nil {
		return "none"
	}
	const most = 40
	return cut(v, most)
}

// owned lists fields of an object with what is said of each, who wrote them and when.
func (v *planView) owned(a *planner.Action, changes []planner.Change, says func(planner.Change) string) []line {
	if len(changes) == 0 {
		return nil
	}
	head := text("  # ").then(styled(bold, a.Address.String()))
	if v.options.Compact {
		var paths []string
		for _, c := range changes {
			paths = append(paths, c.Path+says(c))
		}
		return []line{head.then(text(": " + strings.Join(paths, ", ")))}
	}
	out := []line{nil, head}
	f := v.fields(a)
	for _, c := range changes {
		l := styled(changed, "~").then(text(" " + f.path(c) + says(c))).indent(bodyIndent)
		out = append(out, f.append(l, styled(faint, v.culprit(c, v.now())))...)
	}
	return out
}

// foreign lists what others have added to kolla's objects.
func (v *planView) foreign() []line {
	if len(v.plan.Foreign) == 0 {
		return v.additions()
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

// additions says in a sentence that others have added something, where the list was
// not asked for.
func (v *planView) additions() []line {
	added := v.plan.Additions
	if added == nil {
		return nil
	}
	var tools []string
	for _, manager := range added.Managers {
		tools = append(tools, tool(manager))
	}
	const most = 4
	if more := len(tools) - most; more > 0 {
		tools = append(tools[:most:most], fmt.Sprintf("%d more", more))
	}
	var out []line
	for _, part := range wrap(fmt.Sprintf("Others added %s to %s (%s): kolla plan -foreign lists them.",
		count(added.Fields, "field"), count(added.Objects, "object"), strings.Join(tools, ", ")), v.Out.prose()) {
		out = append(out, styled(caution, part))
	}
	return out
}
