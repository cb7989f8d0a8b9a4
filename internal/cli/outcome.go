package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"kolla.openstack.org/kolla/internal/crash"
	"kolla.openstack.org/kolla/internal/engine"
	"kolla.openstack.org/kolla/internal/executor"
	"kolla.openstack.org/kolla/internal/view"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kubernetes"
	"kolla.openstack.org/kolla/state"
)

// carryOut carries out a plan, and prints the result.
func (w *workspace) carryOut(ctx context.Context, session *state.Session, made *engine.Made, held map[addrs.Object]error) error {
	started, plan := time.Now(), made.Plan
	applied, err := w.engine().Apply(ctx, session, made, engine.ApplyOptions{
		Timeout: w.flags.Duration("timeout"),
		Held:    held,
		Progress: func(plan *plans.Plan) (func(plans.Event), func()) {
			progress := w.printer.Progress(plan)
			return progress.Observe, progress.Close
		},
		Reading: w.printer.Reading,
	})
	if applied == nil {
		return err
	}
	total := summarize(applied)
	total.Saved = w.flags.NArg() > 0
	total.Took = time.Since(started)
	if errors.Is(err, context.Canceled) {
		total.Interrupted, err = true, nil
	}
	if err := w.printer.Applied(total); err != nil {
		return err
	}
	for _, round := range applied.Rounds {
		w.warnOfLeftovers(round.Result)
	}
	if err != nil {
		return err
	}
	if !total.Interrupted {
		w.printLeft(ctx, session.State(), plan)
	}
	if len(total.Failed)+len(total.Skipped) > 0 || total.Interrupted {
		return exitCode(exitError)
	}
	if err := w.recordOutputs(session, plan, applied.Config); err != nil {
		return err
	}
	w.concludeOutputs(applied.Config)
	return nil
}

// recordOutputs writes the outputs and checks of a complete apply to the state, and to the
// events. A restricted plan leaves them as they were.
func (w *workspace) recordOutputs(session *state.Session, plan *plans.Plan, config *configs.Config) error {
	if plan.Selection.Restricts() {
		return nil
	}
	outputs, checks, err := engine.Outcome(plan, config, session.State())
	if err != nil {
		return err
	}
	w.printer.Outputs(outputs)
	return session.Conclude(outputs, checks)
}

// warnOfLeftovers warns of what is still on nodes after the pods that made it are gone.
func (w *workspace) warnOfLeftovers(result *executor.Result) {
	for _, o := range result.Outcomes {
		if o.Left == nil {
			continue
		}
		const most = 8
		nodes := slices.Clone(o.Left.Nodes[:min(len(o.Left.Nodes), most)])
		if more := len(o.Left.Nodes) - most; more > 0 {
			nodes = append(nodes, fmt.Sprintf("and %d more nodes", more))
		}
		w.printer.Warn(fmt.Sprintf("%s may have left behind %s", o.Action.Ref, o.Left.What),
			fmt.Sprintf("Not all of its pods could clean their nodes:\n\n  %s\n\nWhat is left there stays until somebody removes it, or until the node restarts.",
				strings.Join(nodes, "\n  ")))
	}
}

// summarize counts the results of all rounds.
func summarize(applied *engine.Applied) view.Applied {
	var total view.Applied
	for _, round := range applied.Rounds {
		add(&total, summarizeRound(round.Plan, round.Result))
	}
	for _, a := range applied.Waiting {
		s := view.Skipped{Address: a.Address, Data: []string{}}
		if a.Deferred() {
			s.Data = a.Object.Deferred
		}
		total.Skipped = append(total.Skipped, s)
	}
	return total
}

// add adds the counts of a round.
func add(total *view.Applied, round view.Applied) {
	total.Added += round.Added
	total.Changed += round.Changed
	total.Destroyed += round.Destroyed
	total.Imported += round.Imported
	total.Forgotten += round.Forgotten
	total.Moved += round.Moved
	total.Pruned += round.Pruned
	total.Destroy = round.Destroy
	total.Interrupted = total.Interrupted || round.Interrupted
	total.Failed = append(total.Failed, round.Failed...)
	total.Skipped = append(total.Skipped, round.Skipped...)
}

// summarizeRound counts the results of one round.
func summarizeRound(plan *plans.Plan, result *executor.Result) view.Applied {
	a := view.Applied{Destroy: plan.Destroy, Interrupted: result.Interrupted, Took: result.Elapsed}
	var done plans.Plan
	known := map[string]int{} // shared causes, and their index in a.Failed
	for _, outcome := range result.Outcomes {
		switch outcome.Status {
		case executor.Applied:
			done.Actions = append(done.Actions, *outcome.Action)
		case executor.Failed:
			if cause := sharedCause(outcome.Err); cause != "" {
				if first, ok := known[cause]; ok {
					a.Failed[first].Others = append(a.Failed[first].Others, outcome.Action.Address)
					continue
				}
				known[cause] = len(a.Failed)
			}
			a.Failed = append(a.Failed, failed(outcome))
		case executor.Interrupted:
			if outcome.Written {
				done.Actions = append(done.Actions, *outcome.Action)
			} else {
				a.Skipped = append(a.Skipped, view.Skipped{Address: outcome.Action.Address})
			}
		case executor.Skipped:
			a.Skipped = append(a.Skipped, view.Skipped{Address: outcome.Action.Address, Because: outcome.Because})
		}
	}
	counts := done.Counts()
	a.Added, a.Changed, a.Destroyed = counts.Add, counts.Change, counts.Destroy
	a.Imported, a.Forgotten = counts.Import, counts.Forget
	a.Moved, a.Pruned = counts.Move, counts.Prune
	return a
}

// sharedCause is a cause of failure that many actions share, and that is printed once: a
// missing permission, or a server that does not answer. It is empty for all others.
func sharedCause(err error) string {
	var (
		permission  *providers.PermissionError
		unreachable *kubernetes.UnreachableError
	)
	switch {
	case errors.As(err, &permission):
		return permission.Error()
	case errors.As(err, &unreachable):
		return unreachable.Server
	}
	return ""
}

func failed(outcome executor.Outcome) view.Failed {
	row := view.Failed{Address: outcome.Action.Address, Reason: outcome.Err.Error(), After: outcome.Elapsed}
	if outcome.Action.Object != nil {
		row.Source = outcome.Action.Object.Source
	}
	var (
		notReady *providers.NotReadyError
		conflict *providers.ConflictError
		bug      *crash.Error
	)
	summary, detail, explained := kubernetes.Explain(outcome.Err)
	switch {
	case errors.As(outcome.Err, &bug):
		row.Reason, row.Advice = crashed(bug)
	case errors.As(outcome.Err, &notReady):
		row.Reason, row.Detail = notReady.Reason, notReady.Detail
	case errors.As(outcome.Err, &conflict):
		row.Reason = "others changed it since the plan was made"
		for _, c := range conflict.Conflicts {
			row.Detail = append(row.Detail, c.Path+" by "+c.Manager)
		}
	case explained:
		row.Reason, row.Advice = summary, detail
	}
	return row
}
