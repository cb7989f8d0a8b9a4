package removal

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/dryrun"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/order"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers/kinds"
)

// LinkDeletes sets the dependencies of all deletions among the actions. A deletion waits for
// the actions on the dependants of its object, and for the deletion of objects in its
// namespace, objects of its kind, or users of its claim. If records of different applies
// contradict each other, some of them are ignored, so that there is no cycle.
func LinkDeletes(inv *inventory.Inventory, actions []plans.Action) {
	acted := map[addrs.Object]*plans.Action{}
	for i := range actions {
		a := &actions[i]
		if a.Verb != plans.None && a.Verb != plans.Forget {
			acted[a.Address] = a
		}
	}
	dependants := inventory.Dependants(inv)
	var edges []order.Edge[addrs.Object]
	link := func(from, to addrs.Object, strength order.Strength) {
		edges = append(edges, order.Edge[addrs.Object]{From: from, To: to, Strength: strength})
	}
	for i := range actions {
		a := &actions[i]
		if a.Verb != plans.Delete {
			continue
		}
		for _, on := range a.DependsOn {
			link(a.Address, on, order.Fixed)
		}
		for _, dependant := range dependants[a.Address] {
			if acted[dependant] != nil {
				link(a.Address, dependant, order.Reference)
			}
		}
		if contains(a.Ref.GVK.GroupKind()) {
			for j := range actions {
				other := &actions[j]
				if other.Verb == plans.Delete && i != j && outlives(inv, a, other) {
					link(a.Address, other.Address, order.Essential)
				}
			}
		}
		a.DependsOn = nil
	}
	for _, e := range order.Acyclic(edges) {
		acted[e.From].DependsOn = append(acted[e.From].DependsOn, e.To)
	}
	for _, a := range acted {
		if a.Verb == plans.Delete {
			slices.SortFunc(a.DependsOn, addrs.Object.Compare)
		}
	}
	linkOperators(inv, actions)
	linkScaled(inv, actions)
}

// linkScaled lets the change of an object wait for the actions that take it from its autoscalers,
// which would set its replicas again.
func linkScaled(inv *inventory.Inventory, actions []plans.Action) {
	known := map[addrs.Object]*plans.Action{}
	for i := range actions {
		known[actions[i].Address] = &actions[i]
	}
	for i := range actions {
		a := &actions[i]
		if a.Verb != plans.Update && a.Verb != plans.Replace {
			continue
		}
		for _, by := range inv.Unscaled(a.Ref) {
			if known[by] != nil && !slices.Contains(a.DependsOn, by) && !waitsFor(known, known[by], a.Address) {
				a.DependsOn = append(slices.Clip(a.DependsOn), by)
			}
		}
	}
}

// linkOperators lets the deletion of the workloads of a block wait for the deletion of the custom
// objects that the block defines: a controller removes their finalizers, and without the controller
// the objects and their namespace would stay forever. It also waits for the deletion of the block's
// webhooks and APIServices. Without a backend, they make the server refuse requests.
func linkOperators(inv *inventory.Inventory, actions []plans.Action) {
	defined := map[schema.GroupKind]string{} // the block of the definition, by the kind
	deletes := map[addrs.Object]*plans.Action{}
	for i := range actions {
		a := &actions[i]
		if a.Verb != plans.Delete || a.Partial {
			continue
		}
		deletes[a.Address] = a
	}
	for i := range inv.Records {
		r := &inv.Records[i]
		if live := inv.Input.Snapshot.Get(r.Ref); live != nil {
			if kind, ok := dryrun.KindOf(live); ok {
				defined[kind] = r.RecordedAddress().Block
			}
		}
	}
	before := map[string][]*plans.Action{} // by the block whose workloads go later
	for i := range actions {
		a := &actions[i]
		kind := a.Ref.GVK.GroupKind()
		block := defined[kind]
		if kind == kinds.APIService || kind == kinds.MutatingWebhookConfiguration || kind == kinds.ValidatingWebhookConfiguration {
			block = a.Address.Block
		}
		if block != "" && deletes[a.Address] == a {
			before[block] = append(before[block], a)
		}
	}
	for i := range actions {
		operator := &actions[i]
		if deletes[operator.Address] != operator || !kinds.RunsPods(operator.Ref.GVK.GroupKind()) {
			continue
		}
		for _, object := range before[operator.Address.Block] {
			if !slices.Contains(operator.DependsOn, object.Address) && !waitsFor(deletes, object, operator.Address) {
				operator.DependsOn = append(operator.DependsOn, object.Address)
			}
		}
		slices.SortFunc(operator.DependsOn, addrs.Object.Compare)
	}
}

// waitsFor reports whether an action waits for another one, directly or through others.
func waitsFor(actions map[addrs.Object]*plans.Action, a *plans.Action, other addrs.Object) bool {
	seen := map[addrs.Object]bool{}
	var waits func(a *plans.Action) bool
	waits = func(a *plans.Action) bool {
		if a == nil || seen[a.Address] {
			return false
		}
		seen[a.Address] = true
		return slices.ContainsFunc(a.DependsOn, func(on addrs.Object) bool { return on == other || waits(actions[on]) })
	}
	return waits(a)
}

// contains reports whether an object of the kind must be deleted after other objects.
func contains(kind schema.GroupKind) bool {
	switch kind {
	case kinds.Namespace, kinds.PersistentVolumeClaim, kinds.CustomResourceDefinition:
		return true
	}
	return false
}

// outlives reports whether a must be deleted after b because of their kinds.
func outlives(inv *inventory.Inventory, a, b *plans.Action) bool {
	switch a.Ref.GVK.GroupKind() {
	case kinds.Namespace: // its deletion waits for the servers of all kinds
		return b.Ref.Namespace == a.Ref.Name || b.Ref.GVK.GroupKind() == kinds.APIService
	case kinds.PersistentVolumeClaim:
		return b.Ref.Namespace == a.Ref.Namespace && kinds.RunsPods(b.Ref.GVK.GroupKind())
	case kinds.CustomResourceDefinition:
		kind, _ := dryrun.KindOf(inv.Input.Snapshot.Get(a.Ref))
		return b.Ref.GVK.GroupKind() == kind
	}
	return false
}
