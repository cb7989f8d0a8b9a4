package planner

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

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
