package engine

import (
	"context"
	"errors"
	"fmt"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/planner/output"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/providers/kubernetes"
	"kolla.openstack.org/kolla/state"
)

// Claimants finds objects in the cluster that the state does not know and that look like objects of
// this cloud. Objects with Doubts do not look like kolla's.
func (e *Engine) Claimants(ctx context.Context, config *configs.Config, st *state.State) ([]planner.Claimant, error) {
	objects, err := e.Render(ctx, config, st, RenderOptions{AcceptRecovered: true})
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
	redactProblems(problems, e.Cluster.Secrets)
	if len(problems) > 0 {
		e.Reporter.Problems(problems)
		return nil, ErrReported
	}
	for i := range all {
		redactClaim(&all[i], e.Cluster.Secrets)
	}
	return all, nil
}

// AcceptRecovered adds objects to the state, with their current readiness.
func (e *Engine) AcceptRecovered(config *configs.Config, session *state.Session, believed []planner.Claimant) error {
	st, identity := session.State(), e.Cluster.Identity()
	run := state.Run{
		Cloud: config.Cloud.Name, Cluster: state.Cluster{UID: identity.UID, Server: identity.Server},
		Lineage: st.Lineage, Serial: st.Serial,
	}
	if err := session.Begin(run); err != nil {
		return err
	}
	return session.Record(e.records(believed)...)
}

// records returns what the state is to know of objects, with their current readiness. For an
// object that is not ready, the next apply waits, or finds out the reason.
func (e *Engine) records(believed []planner.Claimant) []state.Object {
	snapshot := e.Cluster.Snapshot()
	records := make([]state.Object, len(believed))
	for i := range believed {
		records[i] = believed[i].Record
		records[i].Ready = records[i].Partial || kubernetes.Ready(snapshot.Get(believed[i].Ref))
	}
	return records
}

// rebuildState returns a state with the objects in the cluster that are certainly of this cloud, for
// a directory in which no state was ever written; nil: there are none, or some object is in
// doubt. Then a person has to look at them.
//
// Anybody who may write to a namespace can make an object look like kolla's, but cannot do so
// with the namespace itself. So the namespace of the cloud has to be kolla's, generated Secrets must
// have the values that kolla wrote, and each object has to be declared, or to be an earlier
// version of a declared one: nothing else is deleted because of its labels.
func (e *Engine) rebuildState(ctx context.Context, config *configs.Config, st *state.State) (*state.State, error) {
	if e.recalled != nil {
		return e.recalled, nil
	}
	home := providers.Ref{GVK: kinds.Namespace.WithVersion("v1"), Name: config.Cloud.Namespace}
	snapshot := e.Cluster.Snapshot()
	if err := snapshot.Load(ctx, providers.Scope{GVK: home.GVK}); err != nil {
		return nil, err
	}
	live := snapshot.Get(home)
	if live == nil || live.GetLabels()[providers.LabelCloud] != config.Cloud.Name {
		return nil, nil
	}
	all, err := e.Claimants(ctx, config, st)
	if err != nil {
		return nil, err
	}
	ownsNamespace := false
	for i := range all {
		c := &all[i]
		if len(c.Doubts) > 0 || c.Generated && len(c.Remarks) > 0 || !c.Declared && c.Record.Family == "" {
			return nil, nil
		}
		ownsNamespace = ownsNamespace || c.Ref == home && c.Declared
	}
	if !ownsNamespace {
		return nil, nil
	}
	identity := e.Cluster.Identity()
	found := &state.State{
		Format: state.Format, Cloud: config.Cloud.Name,
		Cluster: state.Cluster{UID: identity.UID, Server: identity.Server},
		Objects: e.records(all),
	}
	// Outputs follow from the configuration. They are as they would have been recorded.
	outputs, err := output.Compare(nil, config.Outputs)
	if err != nil {
		return nil, err
	}
	found.Outputs = output.Recorded(outputs)
	e.Reporter.Warn("State rebuilt from the cluster", fmt.Sprintf(
		"There is no state here. %s in the cluster carry the label of cloud %q, and kolla's field manager wrote them, so they count as kolla's. An apply writes them to the state. `kolla state rebuild` shows them one by one.",
		words.Count(len(all), "object"), config.Cloud.Name))
	e.recalled = found
	return found, nil
}
