package inventory

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/providers"
)

// Identity names an object without the version of its kind. An object that was applied as
// autoscaling/v1 and one that is declared as autoscaling/v2 can have the same Identity.
type Identity struct {
	Kind            schema.GroupKind
	Namespace, Name string
}

// Identify returns the identity of an object.
func Identify(ref providers.Ref) Identity {
	return Identity{ref.GVK.GroupKind(), ref.Namespace, ref.Name}
}
