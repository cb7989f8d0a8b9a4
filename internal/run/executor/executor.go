// Package executor carries out a plan. It runs several actions at the same time, in the
// order of their dependencies. An action is done when its object is ready.
//
// A caller opens a session of the state, makes the plan, and then calls [Apply]:
//
//	result, err := executor.Apply(ctx, plan, executor.Options{
//		Reader:  client,
//		Writer:  client.Writer(),
//		Shell:   client.Shell(),
//		Session: session,
//	})
//	if err != nil {
//		return err // nothing was written to the cluster
//	}
//	if !result.Complete() {
//		for _, o := range result.Outcomes {
//			fmt.Println(o.Action.Address, o.Err)
//		}
//	}
//	err = session.Close()
//
// [Check] finds out earlier, such as before the operator is asked, that the state refuses a plan.
//
// When the context ends, no more actions start. A write that has begun may take 30 more seconds.
//
// Mistakes to avoid:
//
//   - Taking a nil error for success. The errors of actions are in the [Result].
//   - Passing a plan with values that are not known yet. Apply refuses it: pass the first part of
//     plans.Plan.Divide.
//   - Changing the actions or their objects. Apply writes Action.Object as it is, and compares
//     nothing with the configuration.
//   - Calling Session.Begin. Apply calls it, and the state accepts each plan only once.
//   - Closing the session before Apply returns. Every action records its steps there.
package executor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"kolla.openstack.org/kolla/internal/base/dag"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/order"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/planner/proof"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/state"
)

// Options are the settings of an apply, and the parts that it works with.
type Options struct {
	Reader providers.Reader
	Writer providers.Writer
	// Shell runs the commands with which pods clean their nodes before their workload is
	// deleted; nil: these commands do not run.
	Shell providers.Shell
	// Session records each step. The caller that opened it closes it after the apply,
	// which saves the state.
	Session *state.Session
	// Observe receives the events, from one goroutine at a time; may be nil. Events
	// include checks of objects that the plan does not change (Verb None, not Pending).
	Observe func(plans.Event)
	// Reachable is called before each action, and no action starts until it returns. It
	// returns as soon as the server answers, or an error if the server has not answered
	// for the given time. May be nil.
	Reachable func(context.Context, time.Duration) error
	// Parallelism limits the actions that run at the same time; 0: providers.Parallelism.
	// Actions that only wait until their object is ready do not count. Jobs and changed
	// workloads of services count until they are ready, and at most ten of them run at the same
	// time.
	Parallelism int
	// Held are actions that must not start. They fail with the given errors.
	Held map[addrs.Object]error
	// Timeout limits each deletion, and each wait for an object without a timeout of its
	// own; 0: ten minutes.
	Timeout time.Duration
	// About is the entry in the history of the state; nil: none.
	About *state.Apply
}

const (
	defaultTimeout = 10 * time.Minute
	// maxRollouts limits the jobs, and the workloads in a rollout, that load the nodes of a cluster
	// at the same time.
	maxRollouts = 10
	// grace is how long a write may go on after the apply was interrupted.
	grace = 30 * time.Second
)

// Result is the result of an apply.
type Result struct {
	// Outcomes are the results of all actions that had something to do, and of failed
	// checks, in the order of the plan.
	Outcomes []Outcome
	// Interrupted: the context ended before everything was done.
	Interrupted bool
	Elapsed     time.Duration
}

// Outcome is the result of one action.
type Outcome struct {
	Action *plans.Action
	Status Status
	// Written: the action changed the cluster. It may be true for every status: an object
	// can be written and then not become ready.
	Written bool
	// Err is the error of a failed action; ErrInterrupted for an action that was
	// interrupted after its start; nil otherwise.
	Err error
	// Because is the failed action that a skipped one depends on.
	Because addrs.Object
	// Message are the lines that a Job left for the person who applies.
	Message []string
	// Left describes what deleted pods may have left on their nodes; nil: nothing.
	Left    *Leftover
	Elapsed time.Duration // zero if the action did not start
}

// Status is how an action ended. The zero value is invalid.
type Status int

// The statuses of an action.
const (
	_           Status = iota
	Applied            // done, and the object is ready if it can become ready
	Failed             // with Err
	Skipped            // not started, because a dependency failed
	Interrupted        // not started, or not waited for to the end, because the context ended
)

// ErrInterrupted is the error of actions that had started when the apply was interrupted.
// The cluster goes on with their objects.
var ErrInterrupted = errors.New("interrupted before it was ready")

// Complete reports whether all actions of the plan were applied.
func (r *Result) Complete() bool {
	return !slices.ContainsFunc(r.Outcomes, func(o Outcome) bool { return o.Status != Applied })
}

// Apply carries out the plan. An action starts when all its dependencies are done and
// ready. Actions that depend on a failed action are skipped; all others go on. When ctx is
// cancelled, no action starts, writes that have begun are finished, and waits end.
//
// Apply returns an error only if it could not start; nothing has been written to the
// cluster then. The error is a *state.ClusterError, or another error of Session.Begin, if
// the plan does not fit the state. Errors of single actions are in the Result. An empty
// plan writes nothing to the cluster and is refused for the same reasons as any other.
func Apply(ctx context.Context, plan *plans.Plan, options Options) (*Result, error) {
	started := time.Now()
	ctx = providers.Fenced(ctx, options.Session.CheckLock)
	r, err := prepare(ctx, plan, options)
	if err != nil {
		return nil, err
	}
	graph := r.graph()
	if err := r.chooseChecks(graph); err != nil {
		return nil, err
	}
	run := runOf(plan, r.cluster)
	run.Apply = options.About
	if err := options.Session.Begin(run); err != nil {
		return nil, err
	}
	if err := errors.Join(leaveVolumes(options.Session, plan), RecordUnchanged(options.Session, plan), r.recordJoins()); err != nil {
		return nil, err
	}
	if r.intents, err = recordIntents(options.Session, plan, options.Held); err != nil {
		return nil, err
	}
	walked, err := graph.Walk(ctx, r.options.Parallelism, min(r.options.Parallelism, maxRollouts), r.visit)
	if err != nil {
		return nil, err
	}
	_ = r.intents.retract(options.Session) // if it fails, closing the session fails too
	return r.result(walked, time.Since(started)), nil
}

// graph returns the order of the actions: their dependencies and, for objects of manifests,
// the usual order of kinds.
func (r *run) graph() *dag.Graph[int] {
	graph := &dag.Graph[int]{}
	for i := range r.plan.Actions {
		a := &r.plan.Actions[i]
		graph.Add(i)
		graph.Connect(i, r.dependencies[i]...)
		if writes(a) && a.Object != nil && brought(a) {
			graph.Stage(i, a.Address.Block, order.Stage(a.Ref.GVK.GroupKind()))
		}
		if r.heavy(i) {
			graph.Heavy(i)
		}
	}
	return graph
}

// brought reports whether the object of an action comes from a manifest. Its pods may wait
// for objects that are not among its dependencies.
func brought(a *plans.Action) bool {
	return addrs.SplitBlock(a.Address.Block).Type == "manifest"
}

// heavy reports whether maxRollouts limits an action, also while it waits: jobs, and
// workloads in a rollout. Objects of manifests are never heavy, because each may wait for
// any other.
func (r *run) heavy(index int) bool {
	a := &r.plan.Actions[index]
	return a.Verb != plans.Create && a.Verb != plans.None && !brought(a) && r.waitsFor(index)
}

// Check returns the error with which Apply would refuse the plan because of the state: the
// plan was applied before, or was made for another state or cluster. It changes nothing.
func Check(session *state.Session, plan *plans.Plan, cluster providers.Identity) error {
	return session.Check(runOf(plan, cluster))
}

// runOf describes an apply of the plan for the state.
func runOf(plan *plans.Plan, cluster providers.Identity) state.Run {
	return state.Run{
		Plan:    plan.ID,
		Cloud:   plan.Cloud,
		Cluster: state.Cluster{UID: plan.Cluster.UID, Server: cluster.Server},
		Lineage: plan.State.Lineage,
		Serial:  plan.State.Serial,
	}
}

// run is a running apply.
type run struct {
	options      Options
	plan         *plans.Plan
	cluster      providers.Identity
	dependencies [][]int    // of each action, on other actions
	checked      []bool     // for each action that changes nothing: whether its object must be ready
	joins        [][]string // see findJoins
	outcomes     []Outcome
	intents      *intents
	values       *values
	tally        *tally
	rules        *proof.Rules // at the start; nil if no object is applied

	observing sync.Mutex
}

// prepare checks the plan, and reads the identity of the cluster, the values of Secrets and
// the rules of the server.
func prepare(ctx context.Context, plan *plans.Plan, options Options) (*run, error) {
	if options.Parallelism <= 0 {
		options.Parallelism = providers.Parallelism
	}
	if options.Timeout <= 0 {
		options.Timeout = defaultTimeout
	}
	r := &run{options: options, plan: plan, outcomes: make([]Outcome, len(plan.Actions)), tally: newTally()}
	var err error
	if r.dependencies, err = checkActions(plan.Actions); err != nil {
		return nil, err
	}
	r.joins = r.findJoins()
	if r.cluster, err = options.Reader.Identity(ctx); err != nil {
		return nil, err
	}
	if r.cluster.UID != plan.Cluster.UID {
		return nil, &state.ClusterError{
			What:      "plan",
			Owner:     state.Cluster{UID: plan.Cluster.UID, Server: plan.Cluster.Server},
			Connected: state.Cluster{UID: r.cluster.UID, Server: r.cluster.Server},
		}
	}
	if r.values, err = readValues(ctx, options.Reader, plan.Actions); err != nil {
		return nil, err
	}
	if slices.ContainsFunc(plan.Actions, func(a plans.Action) bool { return writes(&a) && a.Object != nil }) {
		r.rules, err = proof.ReadRules(ctx, options.Reader, r.cluster, time.Now())
	}
	return r, err
}

// checkActions refuses incomplete actions, and returns the dependencies of each action as
// indexes. It ignores dependencies on addresses that are not in the plan.
func checkActions(actions []plans.Action) ([][]int, error) {
	index := make(map[addrs.Object]int, len(actions))
	for i := range actions {
		a := &actions[i]
		if _, taken := index[a.Address]; taken {
			return nil, fmt.Errorf("apply the plan: it has two actions for %s", a.Address)
		}
		index[a.Address] = i
		if err := checkAction(a); err != nil {
			return nil, fmt.Errorf("apply the plan: %s: %w", a.Address, err)
		}
	}
	dependencies := make([][]int, len(actions))
	for i := range actions {
		for _, address := range actions[i].DependsOn {
			if dependency, ok := index[address]; ok {
				dependencies[i] = append(dependencies[i], dependency)
			}
		}
	}
	return dependencies, nil
}

func checkAction(a *plans.Action) error {
	if a.Deferred() {
		return errors.New("not all of what it writes is known yet")
	}
	var bound bool // to one live object
	switch a.Verb {
	case plans.None, plans.Create, plans.Run:
		bound = writes(a) && a.Object != nil && a.Object.Partial
	case plans.Update, plans.Replace, plans.Adopt, plans.Refresh:
		bound = true
	case plans.Delete:
		bound = true
		if a.Ref.GVK.GroupKind() == kinds.Node && !a.Partial {
			return errors.New("a Node is never deleted")
		}
	case plans.Forget:
		bound = a.Releases
	default:
		return fmt.Errorf("unknown verb %q", a.Verb)
	}
	if a.Grows != "" && (a.Verb != plans.Update || a.Object != nil || a.Ref.GVK.GroupKind() != kinds.PersistentVolumeClaim) {
		return errors.New("only a claim of a StatefulSet grows by an action of its own")
	}
	if a.KeepsPods && (a.Verb != plans.Replace || a.Ref.GVK.GroupKind() != kinds.StatefulSet) {
		return errors.New("only a StatefulSet is made again around its pods")
	}
	if a.Object == nil && a.Grows == "" && a.Verb != plans.Delete && a.Verb != plans.Forget {
		return fmt.Errorf("%s needs an object", a.Verb)
	}
	if bound && a.Prior.UID == "" {
		return fmt.Errorf("%s needs the UID of the live object", a.Verb)
	}
	return nil
}

// writes reports whether an action changes the cluster.
func writes(a *plans.Action) bool {
	return a.Verb != plans.None && a.Verb != plans.Forget && a.Verb != plans.Refresh || a.Releases
}

// chooseChecks finds the actions that change nothing but whose objects must be ready: an
// action that writes depends on them, directly or through others that change nothing. The
// rest cost no request.
func (r *run) chooseChecks(graph *dag.Graph[int]) error {
	order, err := graph.Order()
	if err != nil {
		return fmt.Errorf("apply the plan: %w", err)
	}
	r.checked = make([]bool, len(order))
	for i := len(order) - 1; i >= 0; i-- {
		node := order[i]
		if !writes(&r.plan.Actions[node]) && !r.checked[node] {
			continue
		}
		for _, dependency := range r.dependencies[node] {
			if r.plan.Actions[dependency].Verb == plans.None {
				r.checked[dependency] = true
			}
		}
	}
	return nil
}

// result adds the outcomes of the actions that did not start.
func (r *run) result(walked []dag.Result[int], elapsed time.Duration) *Result {
	result := &Result{Elapsed: elapsed}
	for i := range r.plan.Actions {
		o := &r.outcomes[i]
		switch walked[i].Status {
		case dag.Skipped:
			o.Status = Skipped
			o.Because = r.plan.Actions[walked[i].Cause].Address
			if r.outcomes[walked[i].Cause].Status == Interrupted {
				o.Status, o.Because = Interrupted, addrs.Object{}
			}
		case dag.NotStarted:
			o.Status = Interrupted
		}
		o.Action = &r.plan.Actions[i]
		idle := o.Action.Verb == plans.None && !o.Action.Pending && len(r.joins[i]) == 0
		if idle && o.Status != Failed {
			continue
		}
		if walked[i].Status == dag.Skipped || walked[i].Status == dag.NotStarted {
			r.tell(plans.Event{Action: o.Action, Kind: plans.Skipped, Because: o.Because})
		}
		result.Interrupted = result.Interrupted || o.Status == Interrupted
		result.Outcomes = append(result.Outcomes, *o)
	}
	return result
}

func (r *run) tell(event plans.Event) {
	if r.options.Observe == nil {
		return
	}
	r.observing.Lock()
	defer r.observing.Unlock()
	r.options.Observe(event)
}
