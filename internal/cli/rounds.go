package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"kolla.openstack.org/kolla/internal/executor"
	"kolla.openstack.org/kolla/internal/view"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/planner/output"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/state"
)

// carryOut executes a plan and says how it went. What waits for data is planned again
// when these can be read, and carried out then, until nothing waits.
func (w *workspace) carryOut(ctx context.Context, session *state.Session, plan *plans.Plan) error {
	started := time.Now()
	var total view.Applied
	begun, err := w.rounds(ctx, session, plan, &total)
	if err != nil && !begun {
		return err
	}
	total.Saved = w.flags.NArg() > 0
	total.Took = time.Since(started)
	if errors.Is(err, context.Canceled) {
		total.Interrupted, err = true, nil
	}
	if err := w.printer.Applied(total); err != nil {
		return err
	}
	for _, left := range w.left {
		w.printer.Warn(left.Summary, left.Detail)
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
	if err := w.recordOutputs(session, plan); err != nil {
		return err
	}
	w.concludeOutputs()
	return nil
}

// recordOutputs takes the outputs and checks of an apply that came to its end into the
// state, and tells programs. Those of which the plan does not know all are evaluated once
// more by then. A restricted plan leaves them as they were.
func (w *workspace) recordOutputs(session *state.Session, plan *plans.Plan) error {
	if plan.Selection.Restricts() {
		return nil
	}
	changes, checks := plan.Outputs, plan.Checks
	later := slices.ContainsFunc(changes, func(c output.Change) bool { return c.Unknown != nil }) ||
		slices.ContainsFunc(checks, func(c state.CheckResult) bool { return c.Status == string(configs.CheckUnknown) })
	if later && w.config != nil && !w.destroys {
		var err error
		if changes, err = output.Compare(session.State().Outputs, w.config.Outputs); err != nil {
			return err
		}
		checks = planner.Checks(w.config.Checks)
	}
	outputs := output.Recorded(changes)
	w.printer.Outputs(outputs)
	return session.Conclude(outputs, checks)
}

// rounds carries out what is known of a plan, then plans the rest, and so on. begun is
// false where nothing was done at all.
func (w *workspace) rounds(ctx context.Context, session *state.Session, plan *plans.Plan, total *view.Applied) (begun bool, err error) {
	for {
		now, later := plan.Divide()
		if !now.Empty() || len(later) == 0 {
			result, err := w.execute(ctx, session, now)
			if err != nil {
				skip(total, later)
				return begun, err
			}
			begun = true
			w.left = append(w.left, leftovers(result)...)
			add(total, summarize(now, result))
			if !result.Complete() {
				skip(total, later)
				return true, nil
			}
		}
		if len(later) == 0 {
			return true, w.readAtLast()
		}
		if plan, err = w.planRest(ctx, session, plan, later); err != nil {
			skip(total, later)
			return true, err
		}
	}
}

// readAtLast reads the data that no object waited for: what they have to be, and what
// outputs and checks say of them, is known only now that all is done. After a destroy
// there is nothing to read.
func (w *workspace) readAtLast() error {
	if w.config == nil || w.destroys || len(w.config.DeferredData()) == 0 {
		return nil
	}
	w.printer.Reading(w.config.DeferredData())
	w.forget()
	w.reads, w.settled, w.later = true, true, nil
	return w.loadConfig()
}

// execute carries out actions of which all is known.
func (w *workspace) execute(ctx context.Context, session *state.Session, plan *plans.Plan) (*executor.Result, error) {
	progress := w.printer.Progress(plan)
	defer progress.Close()
	return executor.Apply(ctx, plan, executor.Options{
		Reader:      w.client,
		Writer:      w.client.Writer(),
		Shell:       w.client.Shell(),
		Session:     session,
		Reassess:    planner.Reassess,
		Observe:     progress.Observe,
		Reachable:   w.client.Reachable,
		Held:        w.held,
		Parallelism: w.flags.Int("parallelism"),
		Timeout:     w.flags.Duration("timeout"),
	})
}

// leftovers are warnings of what is still on nodes after the pods that made it are gone.
func leftovers(result *executor.Result) []plans.Problem {
	var out []plans.Problem
	for _, o := range result.Outcomes {
		if o.Left == nil {
			continue
		}
		const most = 8
		nodes := slices.Clone(o.Left.Nodes[:min(len(o.Left.Nodes), most)])
		if more := len(o.Left.Nodes) - most; more > 0 {
			nodes = append(nodes, fmt.Sprintf("and %d more nodes", more))
		}
		out = append(out, plans.Problem{
			Warning: true, Address: o.Action.Address,
			Summary: fmt.Sprintf("%s may have left behind %s", o.Action.Ref, o.Left.What),
			Detail: fmt.Sprintf("Not all of its pods could clean their nodes:\n\n  %s\n\nWhat is left there stays until somebody removes it, or until the node restarts.",
				strings.Join(nodes, "\n  ")),
		})
	}
	return out
}

// add counts what was done in one more round.
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

// skip takes note of what had to wait and was not begun.
func skip(total *view.Applied, later []*plans.Action) {
	for _, a := range later {
		s := view.Skipped{Address: a.Address, Data: []string{}}
		if a.Deferred() {
			s.Data = a.Object.Deferred
		}
		total.Skipped = append(total.Skipped, s)
	}
}

// readAgain is how often data that are not there yet are looked for.
const readAgain = time.Second

// planRest reads the data that a plan waited for, and plans what depended on them. It
// waits for those that something in the cluster makes in its own time.
func (w *workspace) planRest(ctx context.Context, session *state.Session, plan *plans.Plan, later []*plans.Action) (*plans.Plan, error) {
	waiting := plan.Waiting()
	w.resumed = plan.Resume
	w.printer.Reading(waiting)
	end := time.Now().Add(w.flags.Duration("timeout"))
	for {
		if err := w.reload(plan); err != nil {
			return nil, cmp.Or(ctx.Err(), err)
		}
		missing := w.config.DeferredData()
		if slices.ContainsFunc(waiting, func(name string) bool { return !slices.Contains(missing, name) }) {
			break
		}
		if time.Now().After(end) {
			return nil, w.nothingToRead(waiting)
		}
		select {
		case <-time.After(readAgain):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	next, err := w.makePlan(ctx, session.State(), false)
	if err != nil {
		return nil, err
	}
	if more := plans.Unannounced(next, later); len(more) > 0 {
		return nil, unannounced(more)
	}
	return next, nil
}

// reload evaluates the configuration once more, with what is in the cluster now. It has
// to be the one that was planned.
func (w *workspace) reload(plan *plans.Plan) error {
	w.forget()
	w.reads, w.settled, w.later = true, true, nil
	if err := w.loadConfig(); err != nil {
		return err
	}
	if w.config.Digest != plan.Config {
		return w.notAsPlanned(plan, fmt.Sprintf(
			"The rest of the plan depends on %s, and is planned when these can be read, from the configuration and its variables.", strings.Join(plan.Waiting(), ", ")), "Run kolla apply again, or make a new plan.")
	}
	return nil
}

// nothingToRead says which data are still missing.
func (w *workspace) nothingToRead(waiting []string) error {
	var b strings.Builder
	b.WriteString("What they depend on is applied, and the cluster does not have them:\n")
	for _, d := range w.config.Data {
		if slices.Contains(waiting, d.Block) {
			fmt.Fprintf(&b, "\n  %s (%s:%d) reads %s", d.Block, d.Range.Filename, d.Range.Start.Line, describeData(d))
		}
	}
	b.WriteString("\n\nIf something in the cluster makes them and needs longer, run kolla apply again later, or with a longer -timeout. Otherwise correct the kind, name or namespace.")
	return &failure{"Data cannot be read", b.String()}
}

func describeData(d configs.Data) string {
	if d.Name == "" && len(d.Labels) == 0 {
		return "what " + strings.Join(d.Needs, ", ") + " makes"
	}
	return d.DataQuery.String()
}

// unannounced refuses a plan of the rest that does more than was shown.
func unannounced(actions []*plans.Action) error {
	var lines []string
	for i, a := range actions {
		if i == 10 {
			lines = append(lines, fmt.Sprintf("  and %d more", len(actions)-i))
			break
		}
		line := fmt.Sprintf("  %s: %s", a.Address, a.Verb)
		if a.Stranger() {
			line += fmt.Sprintf(" (%s is there by now, and is not kolla's)", a.Ref)
		}
		lines = append(lines, line)
	}
	return &failure{"The rest of the plan has changes that were not shown", fmt.Sprintf(
		"Now that all data blocks are read, the plan has more changes, which nobody has approved:\n\n%s\n\nEither somebody changed it meanwhile, or it follows from what was read. Run kolla plan to see it, and kolla apply to go on.", strings.Join(lines, "\n"))}
}
