package change

import (
	"context"
	"slices"
	"time"

	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/internal/present/report/applied"
	"kolla.openstack.org/kolla/internal/run/engine"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/state"
)

// begun returns the entry in the history of an apply that begins.
func begun(ctx context.Context, w *command.Workspace, session *state.Session, plan *plans.Plan) *state.Apply {
	holder := session.Holder()
	a := &state.Apply{ID: holder.ID, Operation: "apply", Who: holder.Who, Tool: holder.Version, Began: time.Now()}
	switch {
	case plan.Destroy:
		a.Operation = "destroy"
	case plan.RefreshOnly:
		a.Operation = "refresh"
	}
	a.Commit, a.Changed = w.Commit(ctx)
	return a
}

// ended returns the entry of an apply that has ended. failed is an error apart from those of
// actions.
func ended(a state.Apply, done *engine.ApplyResult, total applied.Result, failed error) state.Apply {
	a.Ended = time.Now()
	a.Added, a.Updated, a.Destroyed = total.Added, total.Changed, total.Destroyed
	switch {
	case total.Interrupted:
		a.Result = state.Interrupted
	case failed != nil || len(total.Failed)+len(total.Skipped) > 0:
		a.Result = state.Failed
	default:
		a.Result = state.Done
	}
	for _, round := range done.Rounds {
		for _, o := range round.Result.Outcomes {
			if o.Written {
				a.Blocks = append(a.Blocks, o.Action.Address.Block)
			}
		}
	}
	slices.Sort(a.Blocks)
	a.Blocks = slices.Compact(a.Blocks)
	return a
}
