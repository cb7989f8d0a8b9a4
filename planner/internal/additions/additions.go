// Package additions finds the fields that others added to an object of kolla: undeclared
// fields that a new object would not have, who wrote them, and which of them no update can
// remove. It asks nobody; only the default class of an Ingress is read from the snapshot.
package additions

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// replicas is the path of the field that an autoscaler sets.
const replicas = "spec.replicas"

// Object has the facts about a live object that tell additions of others from the declaration.
type Object struct {
	Declared  *providers.Object
	Live      *unstructured.Unstructured
	Record    *state.Object // nil: the state does not know it
	Manager   string        // the field manager that applies it
	Scaled    bool          // an autoscaler sets its replicas
	Owned     bool          // kolla made the whole object, so that additions of others are drift
	Adopted   bool          // kolla takes it over from somebody else
	Versioned bool          // its name contains a hash of its content
	// OtherInputs: a Job had other inputs than it would have now.
	OtherInputs bool
	// Clean: it has the fingerprint of the last apply or check.
	Clean bool
	// Written: somebody certainly wrote to it since then.
	Written bool
}
