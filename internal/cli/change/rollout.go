package change

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/internal/run/rollout"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// Rollout is `kolla rollout`.
func Rollout(s command.Streams) *cli.Command {
	return &cli.Command{
		Name:      "rollout",
		Usage:     "Replace the pods that an apply left unchanged",
		ArgsUsage: "[ADDRESS...]",
		Description: `
A workload with update = "on-delete" keeps its pods when an apply changes it. This
command replaces those pods, node by node, and waits until each new pod is ready. First it
lists the pods and their nodes, and asks.

ADDRESS names a workload or a block. Without an address, it replaces the pods of all such
workloads in the state: first those that others wait for, and last those that others need.
It does not replace pods on nodes that are down, and lists them.

It stops at the first pod that does not become ready, and prints the reason. To continue,
run it again, also after it was interrupted or killed.`,
		Flags: append(append(append(command.ClusterFlags(), command.StateFlag(),
			&cli.StringSliceFlag{Name: "nodes", Usage: "replace only pods on node `NAME`; may be repeated or contain several names separated by commas"},
			&cli.IntFlag{Name: "max-unavailable", Usage: "replace up to `N` pods of a workload at a time (default max_unavailable of the workload, or 1)", DefaultText: " "}),
			applyFlags()...), command.NoColorFlag()),
		Action: func(c *cli.Context) error {
			addresses, err := command.Interspersed(c)
			if err != nil {
				return err
			}
			if c.IsSet("max-unavailable") && c.Int("max-unavailable") < 1 {
				return failure.New("-max-unavailable must be at least 1", "It is the number of pods of a workload that are replaced at a time.")
			}
			return runRollout(command.NewWorkspace(s, c), addresses)
		},
	}
}

func runRollout(w *command.Workspace, addresses []string) error {
	ctx := w.Flags.Context
	targets, err := command.Targets(addresses)
	if err != nil {
		return err
	}
	if err := w.Connect(ctx); err != nil {
		return err
	}
	return w.Locked(ctx, "rollout", func(session *state.Session) error {
		st := session.State()
		workloads, err := command.Select(st, targets, rollout.Kinds...)
		if err != nil {
			return err
		}
		options := rollout.Options{MaxUnavailable: w.Flags.Int("max-unavailable")}
		for _, names := range w.Flags.StringSlice("nodes") {
			options.Nodes = append(options.Nodes, strings.Split(names, ",")...)
		}
		// What others need comes last. An agent puts its state back when that starts again, and an old agent may
		// not: ovn-controller does nothing while northd has another version.
		ordered := rollout.NeededFirst(st, workloads)
		slices.Reverse(ordered)
		rollouts, err := rollout.Find(ctx, w.Client, ordered, options, w.Printer.Warn)
		if err != nil {
			return err
		}
		if n := printRollouts(w.Streams.Out, rollouts); n == 0 {
			return nil
		}
		if !w.Flags.Bool("auto-approve") {
			if err := w.Streams.Approve(ctx, "\nDo you want kolla to replace these pods?"); err != nil {
				return err
			}
		}
		ctx := providers.Fenced(ctx, session.CheckLock)
		for i := range rollouts {
			if err := rollOut(ctx, w, &rollouts[i]); err != nil {
				return err
			}
		}
		fmt.Fprintln(w.Streams.Out, "\nRollout complete!")
		return nil
	})
}

// rollOut replaces the pods of one workload, and prints the progress.
func rollOut(ctx context.Context, w *command.Workspace, r *rollout.Rollout) error {
	return r.Run(ctx, w.Client, w.Flags.Duration("timeout"), rollout.Report{
		Pod: func(pod providers.Pod, text string) {
			foreign.Fprintf(w.Streams.Out, "%s: %s: %s\n", r.Address, rollout.PlaceOf(pod), text)
		},
		Details: func(lines []string) {
			for _, line := range lines {
				foreign.Fprintf(w.Streams.Err, "    %s\n", line)
			}
		},
	})
}

// printRollouts shows the work, and returns the number of pods to replace.
func printRollouts(out io.Writer, rollouts []rollout.Rollout) (pods int) {
	for _, r := range rollouts {
		foreign.Fprintf(out, "\n%s\n", r.Address)
		if r.Holds != "" && len(r.Pods) > 0 {
			foreign.Fprintf(out, "  While a pod is replaced, its node is without %s.\n", r.Holds)
		}
		if len(r.Pods) > 0 && r.AtATime > 1 {
			foreign.Fprintf(out, "  %s at a time.\n", words.Count(r.AtATime, "pod"))
		}
		for _, pod := range r.Pods {
			pods++
			verb := "is replaced"
			if !pod.Outdated {
				verb = "is new, and not ready: it is waited for"
			}
			foreign.Fprintf(out, "  %s: pod %s %s\n", rollout.PlaceOf(pod), pod.Name, verb)
		}
		for _, pod := range r.Idle {
			foreign.Fprintf(out, "  %s: pod %s stays as it is, because the node is down\n", rollout.PlaceOf(pod), pod.Name)
		}
	}
	switch {
	case len(rollouts) == 0:
		fmt.Fprintln(out, "No pods wait to be replaced.")
	case pods == 0:
		fmt.Fprintln(out, "\nNothing to do until these nodes are back.")
	}
	return pods
}

// printOutdated names the workloads with pods that wait for a rollout. It leaves out
// workloads that are not in the snapshot.
func printOutdated(out io.Writer, listed *providers.Snapshot, workloads []*state.Object) {
	for _, o := range workloads {
		if n := rollout.Outdated(listed, o); n > 0 {
			be, them := "are", "them"
			if n == 1 {
				be, them = "is", "it"
			}
			foreign.Fprintf(out, "\n%s of %s %s as before its last change. To replace %s: kolla rollout %s\n",
				words.Count(n, "pod"), o.Address, be, them, words.Quote(o.Address))
		}
	}
}

// printLeft names the workloads that an apply has changed without replacing their pods. If
// it cannot read them, it prints nothing.
func printLeft(ctx context.Context, w *command.Workspace, st *state.State, plan *plans.Plan) {
	workloads, scopes := rollout.Left(st, plan)
	now := providers.NewSnapshot(w.Client)
	if len(scopes) > 0 && now.Try(ctx, scopes...) == nil {
		printOutdated(w.Streams.Out, now, workloads)
	}
}
