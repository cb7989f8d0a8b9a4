// Package engine makes a plan of a configuration for a cluster, and carries the plan out. It
// knows no command line: a program gives it options and callbacks, and may use it in a loop.
//
// The calls of an apply, in their order; each may return an error:
//
//	cluster := engine.NewCluster(kubernetes.Options{}, reporter)
//	err := cluster.Connect(ctx)
//	e := &engine.Engine{Source: engine.Directory(".", reporter), Cluster: cluster, Reporter: reporter}
//	session, err := store.Lock(ctx, state.LockInfo{Operation: "apply"}, time.Minute)
//	loaded, err := e.Source.Load(ctx, engine.Loading{Cluster: cluster})
//	made, err := e.Plan(ctx, loaded, session.State(), engine.Options{})
//	err = e.AskPods(ctx, made)
//	err = e.Enforce(made) // ErrReported: the plan must not be applied
//	applied, err := e.Apply(ctx, session, made, engine.ApplyOptions{})
//	outputs, checks, err := engine.Outcome(made.Plan, applied.Config, session.State())
//	err = session.Conclude(outputs, checks)
//	err = session.Close() // also after an error: it saves the state and releases the lock
//
// Data blocks read objects of the cluster, and the plan may change these objects. So
// [Engine.Plan] loads the configuration again when data have to wait, and [Engine.Apply] plans in
// rounds: it carries out the known part of a plan, reads the data, and plans the rest.
//
// A saved plan is applied with [Engine.LoadPlanned] and [Engine.PlanAgain] in place of Load and
// Plan. [Diff] compares two versions of a configuration without a cluster.
//
// Mistakes to avoid:
//
//   - Reading before the lock is taken, or twice in a loop, without [Cluster.Forget] in between.
//     The Cluster keeps all objects that it has read.
//   - Taking a nil error of Apply for success. Actions may have failed: look at the Result of each
//     [Round], and call [Outcome] only if all are Complete and no action is Waiting.
//   - Showing [ErrReported] to the operator. The Reporter has shown the reason already.
//   - Setting Destroy only in [Options]. A destroy sets it in [Loading] too.
//   - Dropping Rebuilt of the [PlanResult]. Give it to state.Session.Seed before Apply.
//   - Using an [Engine] from several goroutines at the same time.
package engine

import (
	"log/slog"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/state"
)

// Engine has the parts that all steps need. One goroutine at a time uses it.
type Engine struct {
	Source   *Source
	Cluster  *Cluster // connected
	Reporter Reporter
	// Version is the version of the program. Plans contain it.
	Version string
	// Log gets the decision about each object. Nil: there is no log.
	Log *slog.Logger
	// Parallelism is how many requests, and how many actions, run at the same time.
	// Zero: providers.Parallelism.
	Parallelism int
	// SharedState: the state is kept in the cluster. If it is not there although objects are, it
	// is lost or at another place, and no plan may begin a second one.
	SharedState bool

	recalled *state.State // see recall
}

// Reporter shows messages to the operator. A *view.Printer is one.
type Reporter interface {
	Diagnostics(hcl.Diagnostics, map[string]*hcl.File)
	Problems([]plans.Problem)
	Warn(summary, detail string)
}
