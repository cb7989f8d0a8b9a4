package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/crash"
	"kolla.openstack.org/kolla/internal/executor"
	"kolla.openstack.org/kolla/internal/failure"
	"kolla.openstack.org/kolla/internal/view"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kubernetes"
	"kolla.openstack.org/kolla/state"
)

func applyCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:      "apply",
		Usage:     "Carry out a plan",
		ArgsUsage: "[PLANFILE]",
		Description: `
Makes a plan, shows it, asks, and carries it out in dependency order, waiting until
each thing is ready. With a plan file it makes the plan again, and carries out what
the file shows, without asking. It refuses the file where a new plan is another one.
So it needs the configuration, the variables with their values, and those of the
options -destroy, -adopt, -force-conflicts, -replace and -delete-data that the plan
was made with.

Interrupted once (Ctrl-C), it finishes what it is writing and stops; run it again
to go on. It goes on as well after it was killed.`,
		Flags: append(append(append(planFlags(), changeFlags()...), applyFlags()...), deleteDataFlag(), destroyFlag("take the cloud down, as kolla destroy does, or carry out a saved plan that does")),
		Action: func(c *cli.Context) error {
			if err := atMost(c, 1); err != nil {
				return err
			}
			file := c.Args().First()
			if err := approvable(c, file != ""); err != nil {
				return err
			}
			return withEvents(s, c, func(w *workspace) error {
				if file != "" {
					return runSavedPlan(w, file)
				}
				return runApply(w, c.Bool("destroy"))
			})
		},
	}
}

func destroyCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:  "destroy",
		Usage: "Take the cloud down; data stays unless it is named",
		Description: `
Deletes what kolla made, in reverse dependency order. What holds data (volumes,
generated secrets, and the namespace that they are in) stays, unless -delete-data
names it by the address that the plan shows; -delete-data='*' names all of it.
A namespace stays in any case with what kolla did not make in it. Labels of nodes are
given back.

The plan names what pods carry for others, such as running servers, node by node. Before
such a workload is deleted its pods clean their nodes: servers end, and bridges and network
namespaces go. Where a pod cannot, a warning at the end names the node and what may be left.
It takes the right to run commands in pods (create pods/exec).`,
		Flags: append(append(planFlags(), applyFlags()...), deleteDataFlag()),
		Action: func(c *cli.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			if err := approvable(c, false); err != nil {
				return err
			}
			return withEvents(s, c, func(w *workspace) error { return runApply(w, true) })
		},
	}
}

// runApply plans, asks, and carries out.
func runApply(w *workspace, destroy bool) error {
	ctx := w.flags.Context
	w.warnings.gather()
	defer w.warnings.flush()
	w.reads, w.checks, w.destroys = !destroy, !destroy, destroy
	if err := w.loadConfig(); err != nil {
		return err
	}
	if err := w.connect(ctx); err != nil {
		return err
	}
	return w.locked(ctx, "apply", func(session *state.Session) error {
		st := session.State()
		w.forget() // it was read before the lock was held
		w.readAhead(ctx, st)
		if len(w.config.Data) > 0 && w.reads {
			if err := w.loadConfig(); err != nil {
				return err
			}
		}
		plan, err := w.makePlan(ctx, st, destroy)
		if err != nil {
			return err
		}
		if err := w.showPlan(plan); err != nil {
			return err
		}
		if !destroy {
			w.printOutdated(w.shared(), mayKeepPods(st))
		}
		if err := writable(plan); err != nil {
			return err
		}
		if plan.Empty() {
			if err := executor.Recheck(session, plan); err != nil {
				return err
			}
			w.printer.Outputs(st.Outputs)
			w.concludeOutputs()
			return nil
		}
		if plan.Changes() && !w.flags.Bool("auto-approve") {
			w.printer.About(plan, w.cluster.Server, w.client.Context(), w.viewOptions())
			if err := w.approve(ctx, questionOf(plan)); err != nil {
				if ctx.Err() != nil {
					return failure.New("Interrupted", "Nothing was changed.")
				}
				return err
			}
		}
		return w.carryOut(ctx, session, plan)
	})
}

// writable refuses a plan that the user has no right to carry out: to ask what an apply
// would do takes the right to do it.
func writable(plan *plans.Plan) error {
	forbidden := plan.Forbidden()
	if len(forbidden) == 0 {
		return nil
	}
	evidence := forbidden[0].Evidence
	what := fmt.Sprintf("You may not write %d objects of this plan", len(forbidden))
	if len(forbidden) == 1 {
		what = "You may not write an object of this plan"
	}
	return failure.New(what, fmt.Sprintf("%s: %s. Nothing was changed.\n%s", forbidden[0].Address, evidence.Detail, evidence.Advice))
}

// questionOf asks for approval of a plan.
func questionOf(plan *plans.Plan) string {
	switch {
	case plan.Destroy && plan.Selection.Restricts():
		return fmt.Sprintf("\nDo you really want to destroy this part of cloud %q?", plan.Cloud)
	case plan.Destroy:
		return fmt.Sprintf("\nDo you really want to destroy cloud %q?", plan.Cloud)
	case plan.RefreshOnly:
		return "\nDo you want kolla to update the state with this?"
	default:
		return "\nDo you want kolla to do this?"
	}
}

// locked runs work while holding the lock of the state, and saves the state.
func (w *workspace) locked(ctx context.Context, operation string, work func(*state.Session) error) (err error) {
	if _, err := w.openState(); err != nil {
		return err
	}
	w.mayWrite()
	session, err := w.store.Lock(ctx, state.LockInfo{Operation: operation, Version: Version}, w.flags.Duration("lock-timeout"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.Close()) }() // after a panic, too
	w.warnOfAbandoned(session.Abandoned(), "this run carries on from there")
	if err := w.checkState(session.State()); err != nil {
		return err
	}
	return work(session)
}

// summarize says how an apply went, in the words of the view.
func summarize(plan *plans.Plan, result *executor.Result) view.Applied {
	a := view.Applied{Destroy: plan.Destroy, Interrupted: result.Interrupted, Took: result.Elapsed}
	var done plans.Plan
	known := map[string]int{} // what several fail of, and the place in a.Failed
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

// sharedCause is what many actions may fail of, and is told once: a right that is
// missing, a server that does not answer; empty: something else.
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
