package change

import (
	"context"
	"fmt"
	"strings"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/internal/present/view"
	"kolla.openstack.org/kolla/internal/run/apply"
	"kolla.openstack.org/kolla/internal/run/engine"
	"kolla.openstack.org/kolla/internal/run/executor"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/state"
)

// carryOut carries out a plan, and prints the result.
func carryOut(ctx context.Context, w *command.Workspace, session *state.Session, made *engine.PlanResult, held map[addrs.Object]error) error {
	o := apply.Options{Saved: w.Flags.NArg() > 0}
	o.Commit, o.Changed = w.Commit(ctx)
	o.Timeout, o.Held, o.Reading = w.Flags.Duration("timeout"), held, w.Printer.Reading
	o.Progress = func(plan *plans.Plan) (func(plans.Event), func()) {
		progress := w.Printer.Progress(plan)
		return progress.Observe, progress.Close
	}
	done, err := apply.Run(ctx, w.Engine(), session, made, o)
	if done == nil {
		return err
	}
	total := done.Total
	if done.Outputs != nil {
		w.Printer.Events.Outputs(done.Outputs)
	}
	if err := w.Printer.Applied(total); err != nil {
		return err
	}
	for _, round := range done.Rounds {
		warnOfLeftovers(w.Printer, round.Result)
	}
	if err != nil {
		return err
	}
	if !total.Interrupted {
		printLeft(ctx, w, session.State(), made.Plan)
	}
	if !total.Complete() {
		return command.ExitCode(command.ExitError)
	}
	concludeOutputs(w, done.Config)
	return nil
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
