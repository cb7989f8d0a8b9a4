package engine

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"kolla.openstack.org/kolla/internal/crash"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/state"
)

// Claimants finds the objects in the cluster that the state does not know, and that look
// like objects of this cloud. Objects with Doubts do not look like kolla's.
func (e *Engine) Claimants(ctx context.Context, config *configs.Config, st *state.State) ([]planner.Claimant, error) {
	objects, err := e.Render(ctx, config, st, Rendering{Believe: true})
	// Objects that cannot be rendered any more are found by their label.
	if err != nil && !errors.Is(err, ErrReported) {
		return nil, err
	}
	all, problems, err := planner.Claimants(ctx, planner.Input{
		Cloud: config.Cloud.Name, Namespace: config.Cloud.Namespace, Objects: objects,
		Reader: e.Cluster.client, Snapshot: e.Cluster.Snapshot(), State: st, Cluster: e.Cluster.Identity(),
		Moves: config.Moves, Removals: config.Removals,
	})
	if err != nil {
		return nil, err
	}
	if len(problems) > 0 {
		e.Reporter.Problems(problems)
		return nil, ErrReported
	}
	return all, nil
}

// glance limits the time to find out whether an object is ready.
const glance = 5 * time.Second

// Believe adds objects to the state, with their current readiness.
func (e *Engine) Believe(ctx context.Context, config *configs.Config, session *state.Session, believed []planner.Claimant) error {
	writer := e.Cluster.client.Writer()
	records := make([]state.Object, len(believed))
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(max(e.Parallelism, 1))
	for i := range believed {
		group.Go(crash.Catching(func() error {
			records[i] = believed[i].Record
			records[i].Ready = records[i].Partial
			if records[i].Partial {
				return nil
			}
			looking, cancel := context.WithTimeout(inner, glance)
			defer cancel()
			// The next apply finds out why an object is not ready.
			records[i].Ready = writer.Wait(looking, believed[i].Ref, nil) == nil
			return inner.Err()
		}))
	}
	if err := group.Wait(); err != nil {
		return err
	}
	st, identity := session.State(), e.Cluster.Identity()
	run := state.Run{
		Cloud: config.Cloud.Name, Cluster: state.Cluster{UID: identity.UID, Server: identity.Server},
		Lineage: st.Lineage, Serial: st.Serial,
	}
	if err := session.Begin(run); err != nil {
		return err
	}
	return session.Record(records...)
}
