package cli

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/executor"
	"kolla.openstack.org/kolla/internal/failure"
	"kolla.openstack.org/kolla/internal/rollout"
	"kolla.openstack.org/kolla/planner/plans"
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
	w.cluster.Warnings.Gather()
	defer w.cluster.Warnings.Flush()
	w.loadForPlan(destroy)
	if err := w.loadConfig(); err != nil {
		return err
	}
	if err := w.connect(ctx); err != nil {
		return err
	}
	return w.locked(ctx, "apply", func(session *state.Session) error {
		st := session.State()
		w.cluster.Forget() // it was read before the lock was held
		w.cluster.Prefetch(ctx, st)
		if len(w.config.Data) > 0 && !destroy {
			if err := w.loadConfig(); err != nil {
				return err
			}
		}
		made, err := w.makePlan(ctx, st)
		if err != nil {
			return err
		}
		plan := made.Plan
		if err := w.showPlan(plan); err != nil {
			return err
		}
		if !destroy {
			w.printOutdated(w.cluster.Snapshot(), rollout.Workloads(st))
		}
		if err := writable(plan); err != nil {
			return err
		}
		if plan.Empty() {
			if err := executor.Recheck(session, plan); err != nil {
				return err
			}
			w.printer.Outputs(st.Outputs)
			w.concludeOutputs(w.config)
			return nil
		}
		if plan.Changes() && !w.flags.Bool("auto-approve") {
			w.printer.About(plan, w.cluster.Identity().Server, w.client.Context(), w.viewOptions())
			if err := w.approve(ctx, questionOf(plan)); err != nil {
				if ctx.Err() != nil {
					return failure.New("Interrupted", "Nothing was changed.")
				}
				return err
			}
		}
		return w.carryOut(ctx, session, made, nil)
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
