// Package apply carries out a plan, and records in the state how that ended. kolla apply and the
// operator use it.
package apply

import (
	"context"
	"errors"
	"slices"
	"time"

	"kolla.openstack.org/kolla/internal/present/report/applied"
	"kolla.openstack.org/kolla/internal/run/engine"
	"kolla.openstack.org/kolla/internal/run/explain"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/state"
)

// Options say how a plan is carried out.
type Options struct {
	engine.ApplyOptions // About is set by Run
	// Commit and Changed are those of the entry in the history; see state.Apply.
	Commit  string
	Changed bool
	// Saved: the plan came from a file.
	Saved bool
}

// Outcome is what an apply has done.
type Outcome struct {
	*engine.ApplyResult
	Total applied.Result
	// Outputs are the outputs in the state after the apply; nil: they were not recorded, because the apply is
	// not complete or is for a part of the cloud.
	Outputs []state.Output
}

// Run carries out a plan. The Outcome is nil if nothing was begun. An interrupt by the context is no
// error: Total says so. Otherwise an error may come with an Outcome: a part was done then.
func Run(ctx context.Context, e *engine.Engine, session *state.Session, made *engine.PlanResult, o Options) (*Outcome, error) {
	started := time.Now()
	about := begun(session, made.Plan, o)
	o.About = about
	done, err := e.Apply(ctx, session, made, o.ApplyOptions)
	if done == nil {
		return nil, err
	}
	out := &Outcome{ApplyResult: done, Total: explain.Applied(done, e.Version, e.Cluster.Secrets)}
	out.Total.Saved, out.Total.Took = o.Saved, time.Since(started)
	if errors.Is(err, context.Canceled) {
		out.Total.Interrupted, err = true, nil
	}
	if unrecorded := session.Ended(ended(*about, out, err)); err == nil {
		err = unrecorded
	}
	if err != nil || !out.Total.Complete() || made.Plan.Selection.Restricts() {
		return out, err
	}
	outputs, checks, err := engine.Outcome(made.Plan, done.Config, session.State())
	if err != nil {
		return out, err
	}
	out.Outputs = append([]state.Output{}, outputs...)
	return out, session.Conclude(outputs, checks)
}

// begun returns the entry in the history of an apply that begins.
func begun(session *state.Session, plan *plans.Plan, o Options) *state.Apply {
	holder := session.Holder()
	a := &state.Apply{
		ID: holder.ID, Operation: "apply", Who: holder.Who, Operator: holder.Operator, Tool: holder.Version, Began: time.Now(),
		Commit: o.Commit, Changed: o.Changed,
	}
	switch {
	case plan.Destroy:
		a.Operation = "destroy"
	case plan.RefreshOnly:
		a.Operation = "refresh"
	}
	return a
}

// ended returns the entry of an apply that has ended. failed is an error apart from those of
// actions.
func ended(a state.Apply, done *Outcome, failed error) state.Apply {
	total := done.Total
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
