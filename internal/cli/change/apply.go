package change

import (
	"context"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/internal/run/executor"
	"kolla.openstack.org/kolla/internal/run/rollout"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/state"
)

// Apply is `kolla apply`.
func Apply(s command.Streams) *cli.Command {
	return &cli.Command{
		Name:      "apply",
		Usage:     "Apply the changes of a plan",
		ArgsUsage: "[PLANFILE]",
		Description: `
Makes a plan, shows it, asks, and carries it out in dependency order. It waits until each
object is ready. With a plan file it makes the plan again and carries out the file's plan
without asking. If the new plan differs, it changes nothing, and lists each difference with
its author. So it needs the same configuration, the same values of variables, and the same
options -destroy, -adopt, -force-conflicts, -force-release, -force-data, -replace, -rotate,
-delete-data, -keep-data, -policy, -override-policy and -allow-unverified as the plan.

With -skip-drifted, kolla skips the actions of objects that others changed since the plan was
made, unless they do less than the plan shows. It also skips the actions that depend on them,
and carries out the rest. It exits with 1 if it skipped an action.

After one interrupt (Ctrl-C), it finishes the current writes and stops. After an interrupt
or a kill, run it again to continue.`,
		Flags: append(append(append(append(planFlags(), changeFlags()...), applyFlags()...), dataFlags()...), destroyFlag("destroy the cloud, as kolla destroy does, or apply a saved plan that does"),
			&cli.BoolFlag{Name: skipDriftedFlag, Usage: "with a plan file: skip objects that others changed, unless the action does less than the plan shows, and carry out the rest"}),
		Action: func(c *cli.Context) error {
			if err := command.AtMost(c, 1); err != nil {
				return err
			}
			file := c.Args().First()
			if file == "" && c.Bool(skipDriftedFlag) {
				return failure.New("-skip-drifted needs a plan file", "Without one, kolla makes a new plan, and asks.")
			}
			if err := approvable(c, file != ""); err != nil {
				return err
			}
			return withEvents(s, c, func(w *command.Workspace) error {
				if file != "" {
					return runSavedPlan(w, file)
				}
				return runApply(w, c.Bool("destroy"))
			})
		},
	}
}

// Destroy is `kolla destroy`.
func Destroy(s command.Streams) *cli.Command {
	return &cli.Command{
		Name:  "destroy",
		Usage: "Destroy the cloud; data stays unless you name it",
		Description: `
Deletes the objects that kolla created, in reverse dependency order. Objects that hold data
(volumes, generated secrets and their namespace) stay, unless you name them with
-delete-data and the address that the plan shows; -delete-data='*' means all of them.
A namespace that contains objects that kolla did not create always stays. kolla removes
its labels from nodes.

Workloads that others need, such as hypervisors with their servers, do not go by accident: kolla
refuses to destroy them. With -keep-data it destroys them too, and everything else that
holds no data. The next apply takes the kept data up again.

First kolla asks the pods which resources they provide to users, such as running servers, and
lists these for each node. Before kolla deletes the pods, they clean their nodes: they stop
servers, and remove bridges and network namespaces. If a pod cannot do this, a warning at the end names
the node and the resources that may remain. This needs the right to run commands in pods
(create pods/exec).`,
		Flags: append(append(planFlags(), applyFlags()...), dataFlags()...),
		Action: func(c *cli.Context) error {
			if err := approvable(c, false); err != nil {
				return err
			}
			return withEvents(s, c, func(w *command.Workspace) error { return runApply(w, true) })
		},
	}
}

// runApply plans, asks, and carries out.
func runApply(w *command.Workspace, destroy bool) error {
	ctx := w.Flags.Context
	w.Cluster.Warnings.Gather()
	defer w.Cluster.Warnings.Flush()
	loadForPlan(w, destroy)
	before, err := w.Open(ctx)
	if err != nil {
		return err
	}
	return w.WithLock(ctx, "apply", func(session *state.Session) error {
		st := session.State()
		if st.Lineage != before.Lineage || st.Serial != before.Serial {
			if err := readAgain(ctx, w, st); err != nil {
				return err
			}
		}
		made, err := makePlan(ctx, w, st)
		if err != nil {
			return err
		}
		if err := w.Engine().AskPods(ctx, made); err != nil {
			return err
		}
		plan := made.Plan
		if made.Rebuilt != nil {
			session.Seed(made.Rebuilt)
		}
		if err := w.Printer.Plan(plan, command.Details(w.Flags)); err != nil {
			return err
		}
		if !destroy {
			printOutdated(w.Streams.Out, w.Cluster.Snapshot(), rollout.Workloads(st))
		}
		if err := w.Engine().Enforce(made); err != nil {
			return err
		}
		if err := writable(plan, nil); err != nil {
			return err
		}
		if plan.Empty() {
			if err := executor.RecordUnchanged(session, plan); err != nil {
				return err
			}
			w.Printer.Events.Outputs(st.Outputs)
			concludeOutputs(w, w.Config)
			return nil
		}
		if plan.Changes() && !w.Flags.Bool("auto-approve") {
			w.Printer.About(plan, w.Cluster.Identity().Server, w.Client.Context(), command.Details(w.Flags))
			if err := w.Streams.Approve(ctx, questionOf(plan)); err != nil {
				if ctx.Err() != nil {
					return failure.New("Interrupted", "Nothing was changed.")
				}
				return err
			}
		}
		return carryOut(ctx, w, session, made, nil)
	})
}

// readAgain reads the cluster again, because somebody else has changed it since the first read.
func readAgain(ctx context.Context, w *command.Workspace, st *state.State) error {
	if err := w.CheckState(st); err != nil {
		return err
	}
	w.Cluster.Forget()
	w.Cluster.Prefetch(ctx, st)
	if len(w.Config.Data) == 0 || w.Loading.Destroy {
		return nil
	}
	return w.LoadConfig()
}

// writable refuses a plan if the user lacks rights to carry it out, apart from the held actions. A
// dry run needs the same rights as an apply, so the plan has found out.
func writable(plan *plans.Plan, held map[addrs.Object]error) error {
	forbidden := slices.DeleteFunc(plan.Forbidden(), func(a *plans.Action) bool { return held[a.Address] != nil })
	if len(forbidden) == 0 {
		return nil
	}
	evidence := forbidden[0].Evidence
	what := words.Plural(len(forbidden), "an object", words.Count(len(forbidden), "object"))
	return failure.New("You may not write "+what+" of this plan", fmt.Sprintf("%s: %s. Nothing was changed.\n%s\nkolla rbac prints all rights that kolla needs for this cloud.", forbidden[0].Address, evidence.Detail, evidence.Advice))
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
