package view

import (
	"slices"

	"kolla.openstack.org/kolla/internal/view/screen"
	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
)

// losses says, before anything else, which data is gone although what held it will be
// made again, which data nothing takes up any more, and which jobs have to run again.
func (v *planView) losses() []screen.Line {
	var gone, kept []plans.Loss
	var jobs []addrs.Object
	objects := 0
	for _, l := range v.plan.Losses {
		if l.Kept {
			kept = append(kept, l)
		} else {
			gone = append(gone, l)
			objects += len(l.Refs)
		}
		jobs = append(jobs, l.Jobs...)
	}
	var out []screen.Line
	if objects > 0 {
		title := words.Count(objects, "object") + " that held data are GONE; their data cannot be restored:"
		if objects == 1 {
			title = "1 object that held data is GONE; its data cannot be restored:"
		}
		out = append(out, v.lossRows(title, gone)...)
	}
	if len(kept) > 0 {
		if out != nil {
			out = append(out, nil)
		}
		out = append(out, v.lossRows("Data will be left behind, because the volumes belong to the old name:", kept)...)
		out = append(out, nil)
		for _, part := range screen.Wrap("To go on with the data, copy them over before the old volumes are deleted; or keep the name, with the argument name of its block.", v.Out.ProseWidth()) {
			out = append(out, screen.Text(part))
		}
	}
	if len(jobs) == 0 || v.plan.RefreshOnly {
		return out
	}
	slices.SortFunc(jobs, addrs.Object.Compare)
	out = append(out, nil)
	for _, part := range screen.Wrap("Jobs that may have filled the volumes do not run again by themselves. To run them, plan with:", v.width) {
		out = append(out, screen.Styled(screen.Caution, part))
	}
	for _, job := range slices.Compact(jobs) {
		out = append(out, screen.Text("  "+words.Option("-replace", job.String())))
	}
	return out
}

func (v *planView) lossRows(title string, losses []plans.Loss) []screen.Line {
	var out []screen.Line
	for _, part := range screen.Wrap(title, v.width) {
		out = append(out, screen.Styled(screen.Danger, part))
	}
	var rows [][2]screen.Line
	for _, l := range losses {
		head := screen.Styled(screen.Danger, "    ! ").Then(screen.Styled(screen.Bold, l.Address.String()))
		rows = append(rows, [2]screen.Line{head, screen.Text(l.Consequence())})
	}
	return append(out, v.columns(rows)...)
}

// lostBy reports whether the action makes something anew whose content is lost,
// which the losses say.
func (v *planView) lostBy(a *plans.Action) bool {
	return slices.ContainsFunc(v.plan.Losses, func(l plans.Loss) bool {
		return l.Address == a.Address && slices.Contains(l.Refs, a.Ref)
	})
}
