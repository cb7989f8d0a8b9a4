// Package resources knows where an API server keeps the objects of each kind. A Mapper maps kinds
// to resources, and reads the server's catalogue if necessary. Access is a connection with a
// Mapper; it reaches single objects.
package resources

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

// BuiltinResource returns the resource name of a kind of Kubernetes itself: "configmaps". ok
// is false for any other kind: only a cluster knows its name.
func BuiltinResource(kind schema.GroupVersionKind) (name string, ok bool) {
	if found, ok := Builtin[kind]; ok {
		return found.GVR.Resource, true
	}
	if !scheme.Scheme.Recognizes(kind) {
		return "", false
	}
	return GuessedResource(kind), true
}

// GuessedResource returns the probable resource name of a kind: the plural of its name.
func GuessedResource(kind schema.GroupVersionKind) string {
	plural, _ := meta.UnsafeGuessKindToResource(kind)
	return plural.Resource
}

// BuiltinNamed finds a kind of Kubernetes itself by its name, if kolla knows without a
// cluster whether its objects live in namespaces.
func BuiltinNamed(name string) (kind schema.GroupVersionKind, namespaced, ok bool) {
	for kind, found := range Builtin {
		if kind.Kind == name {
			return kind, found.Namespaced, true // their names are unique
		}
	}
	return schema.GroupVersionKind{}, false, false
}
