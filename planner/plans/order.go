package plans

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/internal/base/dag"
	"kolla.openstack.org/kolla/lang/addrs"
)

// CheckSingle returns an error if a live object has two actions: the second one would undo
// the first.
func CheckSingle(actions []Action) error {
	acted := map[types.UID]*Action{}
	for i := range actions {
		a := &actions[i]
		other := acted[a.Prior.UID]
		if other != nil {
			return fmt.Errorf("the plan contradicts itself about %s: %s as %s, and %s as %s; please report this",
				a.Ref, other.Verb, other.Address, a.Verb, a.Address)
		}
		if a.Prior.UID != "" {
			acted[a.Prior.UID] = a
		}
	}
	return nil
}

// InOrder sorts actions so that each one comes after its dependencies: first creates and
// updates by address, then deletes. Dependencies without an action are dropped; they have
// problems.
func InOrder(actions []Action) ([]Action, error) {
	slices.SortFunc(actions, func(a, b Action) int {
		return cmp.Or(cmp.Compare(phase(a), phase(b)), a.Address.Compare(b.Address))
	})
	graph := dag.Graph[addrs.Object]{}
	there := map[addrs.Object]bool{}
	for _, a := range actions {
		graph.Add(a.Address)
		there[a.Address] = true
	}
	byAddress := map[addrs.Object]Action{}
	for i := range actions {
		a := &actions[i]
		a.DependsOn = slices.DeleteFunc(slices.Clone(a.DependsOn), func(d addrs.Object) bool { return !there[d] })
		graph.Connect(a.Address, a.DependsOn...)
		byAddress[a.Address] = *a
	}
	order, err := graph.Order()
	if err != nil {
		return nil, fmt.Errorf("order the plan: %w", err)
	}
	sorted := make([]Action, 0, len(order))
	for _, address := range order {
		sorted = append(sorted, byAddress[address])
	}
	return sorted, nil
}

func phase(a Action) int {
	switch a.Verb {
	case Delete, Forget:
		return 1
	}
	return 0
}
