package rollout

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// Kinds are the kinds of workloads that can keep outdated pods.
var Kinds = []string{"DaemonSet", "StatefulSet"}

// Workloads returns the workloads in the state that can keep outdated pods.
func Workloads(st *state.State) []*state.Object {
	var out []*state.Object
	for i := range st.Objects {
		if o := &st.Objects[i]; slices.Contains(Kinds, o.Kind) {
			out = append(out, o)
		}
	}
	return out
}

// NeededFirst sorts objects of the state by dependency: an object comes after its dependencies.
func NeededFirst(st *state.State, objects []*state.Object) []*state.Object {
	var out []*state.Object
	seen := map[string]bool{}
	var visit func(address string)
	visit = func(address string) {
		o := st.Find(address)
		if o == nil || seen[address] {
			return
		}
		seen[address] = true
		for _, needed := range o.DependsOn {
			visit(needed)
		}
		if i := slices.IndexFunc(objects, func(wanted *state.Object) bool { return wanted.Address == address }); i >= 0 {
			out = append(out, objects[i])
		}
	}
	for _, o := range objects {
		visit(o.Address)
	}
	return out
}

// Left returns the workloads whose pods a plan has left as they were, and the scopes to
// read for Outdated.
func Left(st *state.State, plan *plans.Plan) ([]*state.Object, []providers.Scope) {
	left := map[providers.Ref]bool{}
	for _, impact := range plan.Impact {
		for _, effect := range impact.Effects {
			left[effect.Ref] = left[effect.Ref] || effect.Strategy == plans.OnRequest
		}
	}
	var workloads []*state.Object
	var scopes []providers.Scope
	for _, o := range Workloads(st) {
		if ref := refOf(o); left[ref] {
			workloads = append(workloads, o)
			scopes = append(scopes, providers.Scope{GVK: ref.GVK, Namespace: ref.Namespace})
		}
	}
	return workloads, scopes
}

// Outdated returns the number of pods of a workload that wait for a rollout. It is zero for a
// workload that was not read.
func Outdated(listed *providers.Snapshot, o *state.Object) int {
	live := listed.Get(refOf(o))
	if live == nil {
		return 0
	}
	return providers.OutdatedPods(live)
}

func refOf(o *state.Object) providers.Ref {
	return providers.Ref{GVK: schema.FromAPIVersionAndKind(o.APIVersion, o.Kind), Namespace: o.Namespace, Name: o.Name}
}
