package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/failure"
	"kolla.openstack.org/kolla/internal/foreign"
	"kolla.openstack.org/kolla/internal/rollout"
	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

func rolloutCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:      "rollout",
		Usage:     "Replace pods that an apply left as they were",
		ArgsUsage: "[ADDRESS...]",
		Description: `
A workload with update = "on-delete" keeps its pods when an apply changes it. This
replaces those pods, node by node, and waits until each new one is ready. It shows first
which pods on which nodes, and asks.

ADDRESS is that of a workload or a block; without one, all such workloads of the state
are meant, those that others depend on first. Pods on nodes that are down are left as
they are, and named.

It stops at the first pod that does not come back, and says why. Run it again to go on,
also after it was interrupted or killed.`,
		Flags: append(append(append(clusterFlags(), stateFlag(),
			&cli.StringSliceFlag{Name: "nodes", Usage: "replace pods on node `NAME` only; may be repeated, or several names with commas between them"},
			&cli.IntFlag{Name: "max-unavailable", Usage: "replace up to `N` pods of a workload at a time; by default what its max_unavailable says, or 1"}),
			applyFlags()...), noColorFlag()),
		Action: func(c *cli.Context) error {
			addresses, err := interspersed(c)
			if err != nil {
				return err
			}
			if c.IsSet("max-unavailable") && c.Int("max-unavailable") < 1 {
				return failure.New("-max-unavailable must be at least 1", "It is how many pods of a workload are replaced at a time.")
			}
			return runRollout(newWorkspace(s, c), addresses)
		},
	}
}

func runRollout(w *workspace, addresses []string) error {
	ctx := w.flags.Context
	if err := w.connect(ctx); err != nil {
		return err
	}
	return w.locked(ctx, "rollout", func(session *state.Session) error {
		workloads, err := rollout.Select(session.State(), addresses)
		if err != nil {
			return err
		}
		options := rollout.Options{MaxUnavailable: w.flags.Int("max-unavailable")}
		for _, names := range w.flags.StringSlice("nodes") {
			options.Nodes = append(options.Nodes, strings.Split(names, ",")...)
		}
		rollouts, err := rollout.Find(ctx, w.client, workloads, options, w.printer.Warn)
		if err != nil {
			return err
		}
		if n := w.printRollouts(rollouts); n == 0 {
			return nil
		}
		if !w.flags.Bool("auto-approve") {
			if err := w.approve(ctx, "\nDo you want kolla to replace these pods?"); err != nil {
				return err
			}
		}
		for i := range rollouts {
			if err := w.rollOut(ctx, &rollouts[i]); err != nil {
				return err
			}
		}
		fmt.Fprintln(w.out, "\nRollout complete!")
		return nil
	})
}

// rollOut replaces the pods of one workload, and prints the progress.
func (w *workspace) rollOut(ctx context.Context, r *rollout.Rollout) error {
	return r.Run(ctx, w.client, w.flags.Duration("timeout"), rollout.Report{
		Pod: func(pod providers.Pod, text string) {
			foreign.Fprintf(w.out, "%s: %s: %s\n", r.Address, rollout.PlaceOf(pod), text)
		},
		Details: func(lines []string) {
			for _, line := range lines {
				foreign.Fprintf(w.err, "    %s\n", line)
			}
		},
	})
}

// printRollouts shows the work, and returns the number of pods to replace.
func (w *workspace) printRollouts(rollouts []rollout.Rollout) (pods int) {
	for _, r := range rollouts {
		foreign.Fprintf(w.out, "\n%s\n", r.Address)
		if r.Holds != "" && len(r.Pods) > 0 {
			foreign.Fprintf(w.out, "  While a pod is replaced, its node is without %s.\n", r.Holds)
		}
		if len(r.Pods) > 0 && r.AtATime > 1 {
			foreign.Fprintf(w.out, "  %s at a time.\n", words.Count(r.AtATime, "pod"))
		}
		for _, pod := range r.Pods {
			pods++
			verb := "is replaced"
			if !pod.Outdated {
				verb = "is new, and not ready: it is waited for"
			}
			foreign.Fprintf(w.out, "  %s: pod %s %s\n", rollout.PlaceOf(pod), pod.Name, verb)
		}
		for _, pod := range r.Idle {
			foreign.Fprintf(w.out, "  %s: pod %s stays as it is, because the node is down\n", rollout.PlaceOf(pod), pod.Name)
		}
	}
	switch {
	case len(rollouts) == 0:
		fmt.Fprintln(w.out, "No pods wait to be replaced.")
	case pods == 0:
		fmt.Fprintln(w.out, "\nNothing to do until these nodes are back.")
	}
	return pods
}

// printOutdated names the workloads with pods that wait for a rollout. It leaves out
// workloads that were not read.
func (w *workspace) printOutdated(listed *providers.Snapshot, workloads []*state.Object) {
	for _, o := range workloads {
		if n := rollout.Outdated(listed, o); n > 0 {
			be, them := "are", "them"
			if n == 1 {
				be, them = "is", "it"
			}
			foreign.Fprintf(w.out, "\n%s of %s %s as before its last change. To replace %s: kolla rollout %s\n",
				words.Count(n, "pod"), o.Address, be, them, words.Quote(o.Address))
		}
	}
}

// printLeft names the workloads that a plan has changed, and whose pods it has left as
// they were. It leaves out all that it cannot read.
func (w *workspace) printLeft(ctx context.Context, st *state.State, plan *plans.Plan) {
	workloads, scopes := rollout.Left(st, plan)
	now := providers.NewSnapshot(w.client)
	if len(scopes) > 0 && now.Try(ctx, scopes...) == nil {
		w.printOutdated(now, workloads)
	}
}
