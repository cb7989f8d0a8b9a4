package planner

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/providers"
)

// identity names an object whatever version of its kind it is written in: what was
// applied as autoscaling/v1 is the same object as what is declared as autoscaling/v2.
type identity struct {
	kind            schema.GroupKind
	namespace, name string
}

func identify(ref providers.Ref) identity {
	return identity{ref.GVK.GroupKind(), ref.Namespace, ref.Name}
}

// checkSingle makes sure that no live object has two actions: in whatever order they
// came, the second one would undo the first.
func checkSingle(actions []Action) error {
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
