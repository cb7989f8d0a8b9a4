package providers

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/providers/kinds"
)

// Occupant is an object that would be lost if its namespace were deleted, although no plan
// deletes the object itself.
type Occupant struct {
	Ref Ref
	// Orphan: the owner of the object is not in the namespace. Either the owner is gone, and
	// the cluster is about to collect the object, or the owner is in another namespace.
	Orphan bool
}

// Occupants returns the objects of the namespace that are not in going, sorted by kind and
// name. It leaves out objects that Kubernetes creates in each namespace, and objects with an
// owner in the namespace: the owner is an occupant, or in going.
func (c Contents) Occupants(going map[types.UID]bool) []Occupant {
	present := map[types.UID]bool{}
	services := map[string]bool{}
	for i := range c.Objects {
		o := &c.Objects[i]
		present[o.UID] = true
		if o.Kind == "Service" {
			services[o.Name] = true
		}
	}
	var occupants []Occupant
	for i := range c.Objects {
		o := &c.Objects[i]
		owned := len(o.OwnerReferences) > 0
		orphan := slices.ContainsFunc(o.OwnerReferences, func(r metav1.OwnerReference) bool { return !present[r.UID] && !going[r.UID] }) ||
			o.Kind == "Endpoints" && o.Labels[managedEndpoints] != ""
		switch {
		case going[o.UID], o.DeletionTimestamp != nil, owned && !orphan, standard(o):
		case o.Kind == "Endpoints" && services[o.Name]:
		default:
			ref := Ref{GVK: schema.FromAPIVersionAndKind(o.APIVersion, o.Kind), Namespace: o.Namespace, Name: o.Name}
			occupants = append(occupants, Occupant{Ref: ref, Orphan: orphan})
		}
	}
	slices.SortFunc(occupants, func(a, b Occupant) int { return cmp.Compare(a.Ref.String(), b.Ref.String()) })
	return occupants
}

// managedEndpoints is the label of Endpoints that a controller creates for a Service. The
// controller deletes them a moment after the Service. They name no owner.
const managedEndpoints = "endpoints.kubernetes.io/managed-by"

// standard reports whether Kubernetes creates the object in each namespace.
func standard(o *metav1.PartialObjectMetadata) bool {
	switch o.GroupVersionKind().GroupKind() {
	case kinds.ConfigMap:
		return o.Name == "kube-root-ca.crt"
	case kinds.Secret:
		return o.Annotations[corev1.ServiceAccountUIDKey] != ""
	case kinds.ServiceAccount:
		return o.Name == "default"
	}
	return false
}
