// Package engine makes a plan of a configuration for a cluster, and carries the plan out.
// It knows no command line: a program gives it options and callbacks, and may use it in a
// loop.
//
//	cluster := engine.NewCluster(kubernetes.Options{}, reporter)
//	if err := cluster.Connect(ctx); err != nil { … }
//	e := &engine.Engine{Source: engine.Directory(".", reporter), Cluster: cluster, Reporter: reporter}
//	loaded, err := e.Source.Load(ctx, engine.Loading{Cluster: cluster})
//	session, err := store.Lock(ctx, …)
//	made, err := e.Plan(ctx, loaded, session.State(), engine.Options{})
//	if err := e.Enforce(made); err != nil { … } // a policy denies the plan
//	applied, err := e.Apply(ctx, session, made, engine.ApplyOptions{})
//
// Data blocks read objects of the cluster, and the plan may change these objects. So Plan
// loads the configuration again when data have to wait, and Apply plans in rounds: it
// carries out the known part of a plan, reads the data, and plans the rest.
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
	// Zero: the defaults of the planner and the executor.
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
