package view

import (
	"fmt"
	"reflect"
	"strings"

	"kolla.openstack.org/kolla/internal/report"
	"kolla.openstack.org/kolla/internal/view/screen"
	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/planner/plans"
)

// The parts of a plan about what belongs to others.

// keptChanges shows what somebody changed in the cluster and kolla does not put
// back: values of generated Secrets.
func (v *planView) keptChanges() []screen.Line {
	var out []screen.Line
	for i := range v.plan.Actions {
		a := &v.plan.Actions[i]
		out = append(out, v.owned(a, report.ReplacedValues(a), func(plans.Change) string { return "" })...)
	}
	if out == nil {
		return nil
	}
	return append([]screen.Line{screen.Styled(screen.Caution, "Changed outside of kolla and kept; the objects that read it are renewed:")}, out...)
}

// yielded says which declared values are not applied, because somebody else looks
// after their fields.
func (v *planView) yielded() []screen.Line {
	var out []screen.Line
	for i := range v.plan.Actions {
		a := &v.plan.Actions[i]
		var changes []plans.Change
		for _, y := range a.Yields {
			if !reflect.DeepEqual(y.Live, y.Want) || y.Live == plans.Masked {
				changes = append(changes, plans.Change{Path: y.Path, Before: y.Live, After: y.Want, Manager: y.Manager, Time: y.Time})
			}
		}
		out = append(out, v.owned(a, changes, notApplied)...)
	}
	if out == nil {
		return nil
	}
	return append([]screen.Line{screen.Styled(screen.Caution, "Left to the controllers that manage it, and not applied:")}, out...)
}

// notApplied says which value is declared, and which one stays.
func notApplied(c plans.Change) string {
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
func (v *planView) owned(a *plans.Action, changes []plans.Change, says func(plans.Change) string) []screen.Line {
	if len(changes) == 0 {
		return nil
	}
	head := screen.Text("  # ").Then(screen.Styled(screen.Bold, a.Address.String()))
	f := v.fields(a)
	if v.options.Compact {
		var paths []string
		for _, c := range changes {
			paths = append(paths, f.path(c)+says(c))
		}
		return []screen.Line{head.Then(screen.Text(": " + strings.Join(paths, ", ")))}
	}
	out := []screen.Line{nil, head}
	for _, c := range changes {
		l := screen.Styled(screen.Changed, "~").Then(screen.Text(" " + f.path(c) + says(c))).Indent(bodyIndent)
		out = append(out, f.append(l, screen.Styled(screen.Faint, v.culprit(c, v.now())))...)
	}
	return out
}

// foreign lists what others have added to kolla's objects and what stays there: what
// nobody else should have set first.
func (v *planView) foreign() []screen.Line {
	var out []screen.Line
	left := "Changed outside of kolla, and left there:"
	if v.plan.ForeignPolicy == plans.ReportForeign {
		left = "Changed outside of kolla, and left there (foreign = \"report\"):"
	}
	for _, part := range []struct {
		title           string
		reported, stuck bool
	}{
		{left, true, false},
		{"Changed outside of kolla, and only removed by replacing the object:", true, true},
		{"Left to others:", false, false},
	} {
		lines := v.added(part.reported, part.stuck)
		if len(lines) == 0 {
			continue
		}
		if out != nil {
			out = append(out, nil)
		}
		out = append(append(out, screen.Styled(screen.Caution, part.title)), lines...)
	}
	return out
}

// added lists the fields that others have added, object by object.
func (v *planView) added(reported, stuck bool) []screen.Line {
	var out []screen.Line
	for _, object := range v.plan.Foreign {
		if object.Reported != reported || object.Stuck != stuck {
			continue
		}
		head := screen.Text("  # ").Then(screen.Styled(screen.Bold, object.Address.String()))
		f := v.fields(&plans.Action{Address: object.Address})
		if v.options.Compact {
			var paths []string
			for _, c := range object.Fields {
				paths = append(paths, f.path(c))
			}
			out = append(out, head.Then(screen.Text(": "+strings.Join(paths, ", "))))
			continue
		}
		f.note = func(c plans.Change) string { return v.culprit(c, v.now()) }
		f.given = true
		out = append(out, nil, head)
		out = append(out, f.render(object.Fields)...)
		if stuck {
			out = append(out, screen.Text("To replace it: kolla apply "+words.Option("-replace", object.Address.String())).Indent(bodyIndent))
		}
	}
	return out
}
