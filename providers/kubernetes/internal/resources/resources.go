package resources

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

// BuiltinResource is the name under which the API has the objects of one of Kubernetes'
// own kinds: "configmaps". ok is false for any other kind: a cluster knows it.
func BuiltinResource(kind schema.GroupVersionKind) (name string, ok bool) {
	if found, ok := Builtin[kind]; ok {
		return found.GVR.Resource, true
	}
	if !scheme.Scheme.Recognizes(kind) {
		return "", false
	}
	return GuessedResource(kind), true
}

// GuessedResource is the name under which the API probably has the objects of a kind: the
// plural of the kind's name.
func GuessedResource(kind schema.GroupVersionKind) string {
	plural, _ := meta.UnsafeGuessKindToResource(kind)
	return plural.Resource
}

// BuiltinNamed is the one of Kubernetes' own kinds that has the name, if there is one of
// which kolla knows without a cluster whether its objects live in namespaces.
func BuiltinNamed(name string) (kind schema.GroupVersionKind, namespaced, ok bool) {
	for kind, found := range Builtin {
		if kind.Kind == name {
			return kind, found.Namespaced, true // no two of them have one name
		}
	}
	return schema.GroupVersionKind{}, false, false
}

// definitions are the kinds that give the server more kinds. Their names are made
// of fields of their specifications, so that no other name is valid.
var definitions = map[schema.GroupKind]bool{
	{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}: true,
	{Group: "apiregistration.k8s.io", Kind: "APIService"}:             true,
}

// DefinesKinds reports whether an object of the kind gives the server more kinds.
func DefinesKinds(kind schema.GroupKind) bool { return definitions[kind] }
