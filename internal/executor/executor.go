// Package executor carries out a plan: in the order of its dependencies, several
// actions at a time, each of them waited for until what it made is ready.
package executor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"kolla.openstack.org/kolla/internal/dag"
	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/planner/order"
	"kolla.openstack.org/kolla/planner/proof"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// Options are what an apply works with.
type Options struct {
	Reader providers.Reader
	Writer providers.Writer
	// Shell has pods clean their nodes before they go for good; nil: they do not.
	Shell providers.Shell
	// Session takes down each step. Who opened it closes it after the apply; that
	// saves the state.
	Session *state.Session
	// Observe is told what happens, from one goroutine at a time; may be nil. A
	// check of an object that the plan leaves as it is (Verb None, not Pending) is
	// told too.
	Observe func(planner.Event)
	// Reachable is asked before each action: it returns while the server answers, else
	// when it does again, or with an error when it has not for as long as the given
	// time. No action is begun while there is no server to carry it out. May be nil.
	Reachable func(context.Context, time.Duration) error
	// Parallelism is how many actions are under way at the same time, not counting those
	// that only wait until their object is ready; 0: 10. No more jobs and changed
	// workloads than that become ready at the same time, except those of manifests.
	Parallelism int
	// Held are actions that are not begun, and why: they fail with that.
	Held map[lang.Address]error
	// Timeout bounds each deletion, and each wait for an object to become ready that
	// has no timeout of its own; 0: ten minutes.
	Timeout time.Duration
}

const (
	defaultParallelism = 10
	defaultTimeout     = 10 * time.Minute
	// grace is how long a write may go on after the apply was interrupted.
	grace = 30 * time.Second
)

// Result is what became of a plan.
type Result struct {
	// Outcomes are those of all actions that had something to do, and of checks
	// that failed, in the order of the plan.
	Outcomes []Outcome
	// Interrupted: the context ended before everything was done.
	Interrupted bool
	Elapsed     time.Duration
}

// Outcome is what became of one action.
type Outcome struct {
	Action *planner.Action
	Status Status
	// Written: the cluster was changed. This may be so whatever the status: an
	// object can be written and then not become ready.
	Written bool
	// Err is why an action failed; ErrInterrupted for one that was interrupted
	// after it had begun; nil otherwise.
	Err error
	// Because is the failed action that a skipped one depends on.
	Because lang.Address
	// Left is what pods that are gone may have left on their nodes; nil: nothing.
	Left    *Leftover
	Elapsed time.Duration // zero for what was not begun
}

// Status is how an action ended. The zero value is invalid.
type Status int

// How an action ends.
const (
	_           Status = iota
	Applied            // done, and ready if it is something that becomes ready
	Failed             // Err says why
	Skipped            // not begun, because what it depends on failed
	Interrupted        // not begun, or not waited for to the end, because the context ended
)

// ErrInterrupted is the error of actions that had begun when the apply was
// interrupted. What was sent to the cluster goes on there.
var ErrInterrupted = errors.New("interrupted before it was ready")

// Complete reports whether everything in the plan was done.
func (r *Result) Complete() bool {
	for _, o := range r.Outcomes {
		if o.Status != Applied {
			return false
		}
	}
	return true
}

// Apply carries out the plan. An action starts when all that it depends on is
// done and ready. What depends on a failed action is skipped, all else goes on.
// When ctx is cancelled, nothing new is started, writes that are under way are
// finished, and nothing is waited for any more.
//
// The error is for what keeps an apply from starting: nothing has been written
// then. It is a *state.ClusterError or another one of Session.Begin where the plan does not
// fit.
// What goes wrong with single actions is in the Result. An empty plan writes nothing
// to the cluster, and is refused like any other.
func Apply(ctx context.Context, plan *planner.Plan, options Options) (*Result, error) {
	started := time.Now()
	r, err := prepare(ctx, plan, options)
	if err != nil {
		return nil, err
	}
	graph := r.graph()
	if err := r.chooseChecks(graph); err != nil {
		return nil, err
	}
	if err := options.Session.Begin(runOf(plan, r.cluster)); err != nil {
		return nil, err
	}
	if err := errors.Join(leaveVolumes(options.Session, plan), Recheck(options.Session, plan)); err != nil {
		return nil, err
	}
	walked, err := graph.Walk(ctx, r.Parallelism, r.heavy, r.visit)
	if err != nil {
		return nil, err
	}
	return r.result(walked, time.Since(started)), nil
}

// graph is the order of the actions: their dependencies, and of what manifests bring, the
// usual order of kinds.
func (r *run) graph() *dag.Graph[int] {
	graph := &dag.Graph[int]{}
	for i := range r.plan.Actions {
		a := &r.plan.Actions[i]
		graph.Add(i)
		graph.Connect(i, r.dependencies[i]...)
		if writes(a) && a.Object != nil && brought(a) {
			graph.Line(i, a.Address.Block, order.Stage(a.Ref.GVK.GroupKind()))
		}
	}
	return graph
}

// brought reports whether the object of an action comes from a manifest. Nobody knows all
// that its pods wait for.
func brought(a *planner.Action) bool {
	return lang.SplitBlock(a.Address.Block).Type == "manifest"
}

// heavy reports whether an action is one of those of which only so many are to be under
// way until they are ready: jobs, and workloads in a rollout. What manifests bring is
// never heavy: each may wait for any other.
func (r *run) heavy(index int) bool {
	a := &r.plan.Actions[index]
	return a.Verb != planner.Create && a.Verb != planner.None && !brought(a) && r.waitsFor(index)
}

// Check refuses a plan that Apply would refuse for what the state says: one that was
// applied before, or was planned against another state or cluster. It changes nothing.
func Check(session *state.Session, plan *planner.Plan, cluster providers.Identity) error {
	return session.Check(runOf(plan, cluster))
}

// runOf is what the state has to know of an apply of the plan.
func runOf(plan *planner.Plan, cluster providers.Identity) state.Run {
	return state.Run{
		Plan:    plan.ID,
		Cloud:   plan.Cloud,
		Cluster: state.Cluster{UID: plan.Cluster.UID, Server: cluster.Server},
		Lineage: plan.State.Lineage,
		Serial:  plan.State.Serial,
	}
}

// run is an apply under way.
type run struct {
	Options
	plan         *planner.Plan
	cluster      providers.Identity
	dependencies [][]int // of each action, on other actions
	checked      []bool  // of each action without anything to do: whether it has to be ready
	outcomes     []Outcome
	values       *values
	tally        *tally
	rules        *proof.Rules // as they were then; nil when nothing is to be applied

	observing sync.Mutex
}

// prepare checks the plan, and reads what the apply needs to know.
func prepare(ctx context.Context, plan *planner.Plan, options Options) (*run, error) {
	if options.Parallelism <= 0 {
		options.Parallelism = defaultParallelism
	}
	if options.Timeout <= 0 {
		options.Timeout = defaultTimeout
	}
	r := &run{Options: options, plan: plan, outcomes: make([]Outcome, len(plan.Actions)), tally: newTally()}
	var err error
	if r.dependencies, err = checkActions(plan.Actions); err != nil {
		return nil, err
	}
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
	if slices.ContainsFunc(plan.Actions, func(a planner.Action) bool { return writes(&a) && a.Object != nil }) {
		r.rules, err = proof.ReadRules(ctx, options.Reader, r.cluster, time.Now())
	}
	return r, err
}

// checkActions refuses actions that do not say what they need to, and gives the
// dependencies of each as indexes. A dependency on something that the plan does
// not hold is no dependency.
func checkActions(actions []planner.Action) ([][]int, error) {
	index := make(map[lang.Address]int, len(actions))
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

func checkAction(a *planner.Action) error {
	if a.Deferred() {
		return errors.New("not all of what it writes is known yet")
	}
	var bound bool // to one live object
	switch a.Verb {
	case planner.None, planner.Create, planner.Run:
		bound = writes(a) && a.Object != nil && a.Object.Partial
	case planner.Update, planner.Replace, planner.Adopt, planner.Refresh:
		bound = true
	case planner.Delete:
		bound = true
		if a.Ref.GVK.GroupKind() == providers.NodeKind && !a.Partial {
			return errors.New("a Node is never deleted")
		}
	case planner.Forget:
		bound = a.Releases
	default:
		return fmt.Errorf("it says to %q, which nobody knows how to do", a.Verb)
	}
	if a.Object == nil && a.Verb != planner.Delete && a.Verb != planner.Forget {
		return fmt.Errorf("it says to %s without an object", a.Verb)
	}
	if bound && a.Prior.UID == "" {
		return fmt.Errorf("it says to %s without saying which object, by UID", a.Verb)
	}
	return nil
}

// writes reports whether an action changes the cluster.
func writes(a *planner.Action) bool {
	return a.Verb != planner.None && a.Verb != planner.Forget && a.Verb != planner.Refresh || a.Releases
}

// chooseChecks finds the actions without anything to do whose objects have to be
// ready nevertheless: those that something to be written depends on, directly or
// through others that have nothing to do. The others cost no request.
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
			if r.plan.Actions[dependency].Verb == planner.None {
				r.checked[dependency] = true
			}
		}
	}
	return nil
}

// result completes the outcomes with those of the actions that were not begun.
func (r *run) result(walked []dag.Result[int], elapsed time.Duration) *Result {
	result := &Result{Elapsed: elapsed}
	for i := range r.plan.Actions {
		o := &r.outcomes[i]
		switch walked[i].Status {
		case dag.Skipped:
			o.Status = Skipped
			o.Because = r.plan.Actions[walked[i].Cause].Address
			if r.outcomes[walked[i].Cause].Status == Interrupted {
				o.Status, o.Because = Interrupted, lang.Address{}
			}
		case dag.NotStarted:
			o.Status = Interrupted
		}
		o.Action = &r.plan.Actions[i]
		idle := o.Action.Verb == planner.None && !o.Action.Pending
		if idle && o.Status != Failed {
			continue
		}
		if walked[i].Status == dag.Skipped || walked[i].Status == dag.NotStarted {
			r.tell(planner.Event{Action: o.Action, Kind: planner.Skipped, Because: o.Because})
		}
		result.Interrupted = result.Interrupted || o.Status == Interrupted
		result.Outcomes = append(result.Outcomes, *o)
	}
	return result
}

func (r *run) tell(event planner.Event) {
	if r.Observe == nil {
		return
	}
	r.observing.Lock()
	defer r.observing.Unlock()
	r.Observe(event)
}
