package cli

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/internal/foreign"
	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// printOutdated names those of the workloads whose pods are as before the last change, and
// wait for a rollout. What was not listed is left out.
func (w *workspace) printOutdated(listed *providers.Snapshot, workloads []*state.Object) {
	for _, o := range workloads {
		live := listed.Get(refOf(o))
		if live == nil || !replacesOnRequest(live) {
			continue
		}
		if n := outdated(live); n > 0 {
			foreign.Fprintf(w.out, "\n%s of %s %s as before its last change. To replace %s: kolla rollout %s\n",
				counted(n, "pod"), o.Address, word(n, "is", "are"), word(n, "it", "them"), words.Quote(o.Address))
		}
	}
}

// printLeft names the workloads that a plan has changed, and whose pods it has left as
// they were. It is a help only: what cannot be read, it leaves out.
func (w *workspace) printLeft(ctx context.Context, st *state.State, plan *plans.Plan) {
	left := map[providers.Ref]bool{}
	for _, impact := range plan.Impact {
		for _, effect := range impact.Effects {
			left[effect.Ref] = left[effect.Ref] || effect.Strategy == plans.OnRequest
		}
	}
	var workloads []*state.Object
	var scopes []providers.Scope
	for _, o := range mayKeepPods(st) {
		if ref := refOf(o); left[ref] {
			workloads = append(workloads, o)
			scopes = append(scopes, providers.Scope{GVK: ref.GVK, Namespace: ref.Namespace})
		}
	}
	now := providers.NewSnapshot(w.client)
	if len(scopes) > 0 && now.Try(ctx, scopes...) == nil {
		w.printOutdated(now, workloads)
	}
}

// mayKeepPods are the objects of the kinds that can leave their pods as they are.
func mayKeepPods(st *state.State) []*state.Object {
	var out []*state.Object
	for i := range st.Objects {
		if o := &st.Objects[i]; o.Kind == "DaemonSet" || o.Kind == "StatefulSet" {
			out = append(out, o)
		}
	}
	return out
}

func refOf(o *state.Object) providers.Ref {
	return providers.Ref{GVK: schema.FromAPIVersionAndKind(o.APIVersion, o.Kind), Namespace: o.Namespace, Name: o.Name}
}

// word is the form of a word that goes with a number.
func word(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// outdated is how many pods of a workload have a specification from before.
func outdated(workload *unstructured.Unstructured) int {
	count := func(path ...string) int64 {
		n, _, _ := unstructured.NestedInt64(workload.Object, path...)
		return n
	}
	if count("status", "observedGeneration") < workload.GetGeneration() {
		return 0
	}
	if workload.GetKind() == "DaemonSet" {
		return int(count("status", "currentNumberScheduled") - count("status", "updatedNumberScheduled"))
	}
	return int(count("status", "replicas") - count("status", "updatedReplicas"))
}
