package engine

import (
	"cmp"
	"context"
	"slices"
	"time"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/run/executor"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/planner/output"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/state"
)

// ApplyOptions say how a plan is carried out.
type ApplyOptions struct {
	// Timeout limits each wait for an object, and the wait for data; zero: ten minutes.
	Timeout time.Duration
	// Held are the actions that must not start. They fail with the given errors.
	Held map[addrs.Object]error
	// Progress is called before a round begins. It returns a function for the events of the round,
	// and a function that is called at the end of the round. It may be nil.
	Progress func(*plans.Plan) (observe func(plans.Event), done func())
	// About is the entry in the history of the state.
	About *state.Apply
	// Reading is called with the names of data blocks before they are read. May be nil.
	Reading func(blocks []string)
}

const defaultTimeout = 10 * time.Minute

// ApplyResult is what an apply has done.
type ApplyResult struct {
	Rounds []Round
	// Waiting are the actions that did not start, because their data could not be read,
	// or because an earlier round failed.
	Waiting []*plans.Action
	// Config is the configuration as it was loaded last. It has the values of all data.
	Config *configs.Config
}

// Round is a part of a plan, and its result.
type Round struct {
	Plan   *plans.Plan
	Result *executor.Result
}

// Apply carries out a plan: first the part that is known, then, when its data can be read,
// the rest, until nothing waits. The rest is planned again; an action that the first plan
// does not have is an error. Applied is nil if nothing was begun.
func (e *Engine) Apply(ctx context.Context, session *state.Session, made *PlanResult, o ApplyOptions) (*ApplyResult, error) {
	switch {
	case made.Plan.Denied():
		return nil, failure.New("A policy denies the plan", "Nothing was changed.")
	case len(made.Plan.Errors) > 0:
		return nil, failure.New("The plan has errors", "Nothing was changed.")
	}
	o.Timeout = cmp.Or(o.Timeout, defaultTimeout)
	applied := &ApplyResult{}
	for {
		applied.Config = made.Loaded.Config
		now, later := made.Plan.Divide()
		applied.Waiting = later
		if !now.Empty() || len(later) == 0 {
			result, err := e.execute(ctx, session, now, made.exact, o)
			switch {
			case err != nil && len(applied.Rounds) == 0:
				return nil, err
			case err != nil:
				return applied, err
			}
			applied.Rounds = append(applied.Rounds, Round{now, result})
			if !result.Complete() {
				return applied, nil
			}
		}
		if len(later) == 0 {
			config, err := e.readAtLast(ctx, made.Loaded, o)
			if err == nil {
				applied.Config = config
			}
			return applied, err
		}
		next, err := e.planRest(ctx, session, made, later, o)
		if err != nil {
			return applied, err
		}
		made = next
	}
}

// execute carries out actions without unknown values.
func (e *Engine) execute(ctx context.Context, session *state.Session, plan *plans.Plan, kept map[addrs.Object]exact, o ApplyOptions) (*executor.Result, error) {
	clean := func(err error, a *plans.Action) error { return redactError(err, a.Object, e.Cluster.Secrets) }
	var observe func(plans.Event)
	if o.Progress != nil {
		show, done := o.Progress(plan)
		defer done()
		observe = func(event plans.Event) {
			event.Err = clean(event.Err, event.Action)
			show(event)
		}
	}
	client := e.Cluster.client
	result, err := executor.Apply(ctx, carriedOut(plan, kept), executor.Options{
		Reader:      client,
		Writer:      client.Writer(),
		Shell:       client.Shell(),
		Session:     session,
		Observe:     observe,
		Reachable:   client.Reachable,
		Held:        o.Held,
		Parallelism: e.Parallelism,
		Timeout:     o.Timeout,
		About:       o.About,
	})
	if err != nil {
		return nil, err
	}
	for i := range result.Outcomes {
		outcome := &result.Outcomes[i]
		outcome.Err = clean(outcome.Err, outcome.Action)
	}
	return result, nil
}

// readAtLast reads the data that no object waits for: outputs and checks may use them.
// After a destroy there is nothing to read.
func (e *Engine) readAtLast(ctx context.Context, loaded Loaded, o ApplyOptions) (*configs.Config, error) {
	config := loaded.Config
	if loaded.Loading.Destroy || len(config.DeferredData()) == 0 {
		return config, nil
	}
	o.reading(config.DeferredData())
	e.Cluster.Forget()
	last, err := e.Source.Load(ctx, afterApply(e.Cluster, loaded.Loading))
	return last.Config, err
}

func (o ApplyOptions) reading(blocks []string) {
	if o.Reading != nil {
		o.Reading(blocks)
	}
}

// afterApply returns how a configuration is loaded when the dependencies of its data exist.
func afterApply(cluster *Cluster, l Loading) Loading {
	l.Cluster, l.Settled, l.Later = cluster, true, nil
	return l
}

// readAgain is the pause between two attempts to read missing data.
const readAgain = time.Second

// planRest reads the data that a plan waits for, and plans the actions that depend on
// them. Something in the cluster may need time to make these data.
func (e *Engine) planRest(ctx context.Context, session *state.Session, made *PlanResult, later []*plans.Action, o ApplyOptions) (*PlanResult, error) {
	plan, waiting := made.Plan, made.Plan.Waiting()
	loading := afterApply(e.Cluster, made.Loaded.Loading)
	if plan.Resume != nil {
		loading.Restricted = plan.Resume.Selection.Restricts()
	}
	o.reading(waiting)
	end := time.Now().Add(o.Timeout)
	var loaded Loaded
	for {
		var err error
		if loaded, err = reload(ctx, e.Source, plan, loading); err != nil {
			return nil, cmp.Or(ctx.Err(), err)
		}
		missing := loaded.Config.DeferredData()
		if slices.ContainsFunc(waiting, func(name string) bool { return !slices.Contains(missing, name) }) {
			break
		}
		if time.Now().After(end) {
			return nil, &MissingDataError{missingData(loaded.Config, waiting)}
		}
		select {
		case <-time.After(readAgain):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	rest := made.Options.resumed(plan.Resume)
	rest.triggered = plans.Triggered(later)
	rest.Rotate = undone(made.Options.Rotate, later)
	next, err := e.Plan(ctx, loaded, session.State(), rest)
	if err != nil {
		return nil, err
	}
	if next.Plan.Refused() {
		return nil, e.Enforce(next)
	}
	if more := plans.Unannounced(next.Plan, later); len(more) > 0 {
		return nil, &UnannouncedError{more}
	}
	if err := e.AskPods(ctx, next); err != nil {
		return nil, err
	}
	return next, e.Enforce(next)
}

// reload loads the configuration of a plan again, with the objects that exist now. It
// refuses another configuration.
func reload(ctx context.Context, source *Source, plan *plans.Plan, l Loading) (Loaded, error) {
	l.Cluster.Forget()
	loaded, err := source.Load(ctx, l)
	if err != nil {
		return loaded, err
	}
	if loaded.Config.Digest != plan.Config {
		changed := notAsPlanned(loaded.Config, plan)
		changed.Rest, changed.Waiting = true, plan.Waiting()
		return loaded, changed
	}
	return loaded, nil
}

// missingData returns the data blocks with the given addresses.
func missingData(config *configs.Config, blocks []string) []configs.Data {
	var out []configs.Data
	for _, d := range config.Data {
		if slices.Contains(blocks, d.Block) {
			out = append(out, d)
		}
	}
	return out
}

// Outcome returns the outputs and the results of the checks after a complete apply of a
// plan, for state.Session.Conclude. config is the result of Apply: it has the values that were
// unknown to the plan.
func Outcome(plan *plans.Plan, config *configs.Config, st *state.State) ([]state.Output, []state.CheckResult, error) {
	changes, checks := plan.Outputs, plan.Checks
	later := slices.ContainsFunc(changes, func(c output.Change) bool { return c.Unknown }) ||
		slices.ContainsFunc(checks, func(c state.CheckResult) bool { return c.Status == string(configs.CheckUnknown) })
	if later && !plan.Destroy {
		var err error
		if changes, err = output.Compare(st.Outputs, config.Outputs); err != nil {
			return nil, nil, err
		}
		checks = planner.Checks(config.Checks)
	}
	return output.Recorded(changes), checks, nil
}
