package providers

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Contents is what is in a namespace, and goes with it.
type Contents struct {
	// Objects are those of every kind that the server has, as far as their metadata
	// tell; TypeMeta is that of the object. Events, which only tell of others, are
	// left out.
	Objects []metav1.PartialObjectMetadata
	// Unread is what may be there too, of kinds that nobody could list.
	Unread []Unread
}

// Unread is a kind, or all kinds of a group, that nobody could list.
type Unread struct {
	Version schema.GroupVersion
	What    string // with the reason: "perhaps a Widget of example.org/v1 (widgets is forbidden)"
}
