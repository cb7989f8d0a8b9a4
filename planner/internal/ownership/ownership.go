// Package ownership decides about declared fields that other field managers own: kolla takes
// them, leaves them to their owners, such as replicas to an autoscaler
// (conflict.go: setByController), or asks the operator. Package additions leaves undeclared
// replicas to an autoscaler.
package ownership

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/providers"
)

// replicas is the path of the field that an autoscaler sets.
const replicas = "spec.replicas"

// Object has the facts about a live object that decide who sets its declared fields.
type Object struct {
	Declared *providers.Object
	Live     *unstructured.Unstructured
	Manager  string // the field manager that applies it
	Ours     bool   // kolla made it, or owned fields of it before
	Adopted  bool   // kolla takes it over from somebody else
	Scaled   bool   // an autoscaler sets its replicas
	Force    bool   // the operator takes all fields
}
