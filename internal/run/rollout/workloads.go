package rollout

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// Workloads returns the objects of the kinds that can keep outdated pods.
func Workloads(st *state.State) []*state.Object {
	var out []*state.Object
	for i := range st.Objects {
		if o := &st.Objects[i]; o.Kind == "DaemonSet" || o.Kind == "StatefulSet" {
			out = append(out, o)
		}
	}
	return out
}

// Select returns the workloads at the addresses, dependencies first. Without addresses it
// returns all workloads.
func Select(st *state.State, addresses []string) ([]*state.Object, error) {
	var targets []addrs.Target
	for _, text := range addresses {
		target, err := addrs.ParseTarget(text)
		if err != nil {
			return nil, failure.New(fmt.Sprintf("%q is not an address", text), failure.Sentence(err.Error())+".")
		}
		targets = append(targets, target)
	}
	var found []*state.Object
	var known []string
	matched := make([]bool, len(targets))
	for _, o := range Workloads(st) {
		address, err := addrs.ParseObject(o.Address)
		if err != nil {
			return nil, fmt.Errorf("read the state: %w", err)
		}
		known = append(known, o.Address, address.Block)
		wanted := len(targets) == 0
		for i, target := range targets {
			if target.Has(address) {
				wanted, matched[i] = true, true
			}
		}
		if wanted {
			found = append(found, o)
		}
	}
	if i := slices.Index(matched, false); i >= 0 {
		slices.Sort(known)
		return nil, failure.New(fmt.Sprintf("The state has no DaemonSet or StatefulSet at %s", targets[i]),
			words.WithHint(words.DidYouMean(addresses[i], slices.Compact(known)), "`kolla state list` lists all addresses."))
	}
	return neededFirst(st, found), nil
}

// neededFirst sorts objects by dependency: an object comes after its dependencies.
func neededFirst(st *state.State, objects []*state.Object) []*state.Object {
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
	if live == nil || !replacesOnRequest(live) {
		return 0
	}
	count := func(path ...string) int {
		n, _, _ := unstructured.NestedInt64(live.Object, path...)
		return int(n)
	}
	switch {
	case int64(count("status", "observedGeneration")) < live.GetGeneration():
		return 0
	case live.GetKind() == "DaemonSet":
		return count("status", "currentNumberScheduled") - count("status", "updatedNumberScheduled")
	}
	return count("status", "replicas") - count("status", "updatedReplicas")
}

// replacesOnRequest reports whether a workload keeps outdated pods until they are deleted.
func replacesOnRequest(workload *unstructured.Unstructured) bool {
	strategy, _, _ := unstructured.NestedString(workload.Object, "spec", "updateStrategy", "type")
	return strategy == "OnDelete"
}

func refOf(o *state.Object) providers.Ref {
	return providers.Ref{GVK: schema.FromAPIVersionAndKind(o.APIVersion, o.Kind), Namespace: o.Namespace, Name: o.Name}
}
