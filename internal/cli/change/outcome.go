package change

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/internal/cli/explain"
	"kolla.openstack.org/kolla/internal/present/view"
	"kolla.openstack.org/kolla/internal/run/engine"
	"kolla.openstack.org/kolla/internal/run/executor"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/state"
)

// carryOut carries out a plan, and prints the result.
func carryOut(ctx context.Context, w *command.Workspace, session *state.Session, made *engine.PlanResult, held map[addrs.Object]error) error {
	started, plan := time.Now(), made.Plan
	about := begun(ctx, w, session, plan)
	applied, err := w.Engine().Apply(ctx, session, made, engine.ApplyOptions{
		Timeout: w.Flags.Duration("timeout"),
		Held:    held,
		About:   about,
		Progress: func(plan *plans.Plan) (func(plans.Event), func()) {
			progress := w.Printer.Progress(plan)
			return progress.Observe, progress.Close
		},
		Reading: w.Printer.Reading,
	})
	if applied == nil {
		return err
	}
	total := explain.Applied(applied, w.Streams.Version, w.Cluster.Secrets)
	total.Saved = w.Flags.NArg() > 0
	total.Took = time.Since(started)
	if errors.Is(err, context.Canceled) {
		total.Interrupted, err = true, nil
	}
	if unrecorded := session.Ended(ended(*about, applied, total, err)); err == nil {
		err = unrecorded
	}
	if err := w.Printer.Applied(total); err != nil {
		return err
	}
	for _, round := range applied.Rounds {
		warnOfLeftovers(w.Printer, round.Result)
	}
	if err != nil {
		return err
	}
	if !total.Interrupted {
		printLeft(ctx, w, session.State(), plan)
	}
	if len(total.Failed)+len(total.Skipped) > 0 || total.Interrupted {
		return command.ExitCode(command.ExitError)
	}
	if err := recordOutputs(w, session, plan, applied.Config); err != nil {
		return err
	}
	concludeOutputs(w, applied.Config)
	return nil
}

// recordOutputs writes the outputs and checks of a complete apply to the state, and to the
// events. A restricted plan leaves them as they were.
func recordOutputs(w *command.Workspace, session *state.Session, plan *plans.Plan, config *configs.Config) error {
	if plan.Selection.Restricts() {
		return nil
	}
	outputs, checks, err := engine.Outcome(plan, config, session.State())
	if err != nil {
		return err
	}
	w.Printer.Events.Outputs(outputs)
	return session.Conclude(outputs, checks)
}

// warnOfLeftovers warns of things that deleted pods may have left on nodes.
func warnOfLeftovers(printer *view.Printer, result *executor.Result) {
	for _, o := range result.Outcomes {
		if o.Left == nil {
			continue
		}
		const maxNodes = 8
		nodes := words.First(o.Left.Nodes, maxNodes, "node")
		printer.Warn(fmt.Sprintf("%s may have left behind %s", o.Action.Ref, o.Left.What),
			fmt.Sprintf("Not all of its pods could clean their nodes:\n\n  %s\n\nWhat is left there stays until somebody removes it, or until the node restarts.",
				strings.Join(nodes, "\n  ")))
	}
}

// concludeOutputs prints the outputs at the end of an apply. With -json they are an event.
func concludeOutputs(w *command.Workspace, config *configs.Config) {
	if w.Loading.Destroy || len(config.Outputs) == 0 || w.Flags.Bool("json") {
		return
	}
	fmt.Fprint(w.Streams.Out, "\nOutputs:\n\n")
	view.Outputs(w.Streams.Out, config.Outputs)
}
