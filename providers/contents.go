package providers

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Contents are the objects in a namespace. They are deleted with it.
type Contents struct {
	// Objects are the metadata of the objects of every kind that the server has. TypeMeta is
	// the kind of the object. Events are left out, because they only describe other objects.
	Objects []metav1.PartialObjectMetadata
	// Unread are kinds that could not be listed, and whose objects may be in the namespace too.
	Unread []Unread
}

// Unread is a kind, or all kinds of a group, that could not be listed.
type Unread struct {
	Version schema.GroupVersion
	What    string // with the reason: "perhaps a Widget of example.org/v1 (widgets is forbidden)"
}
