package kubernetes

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

// BuiltinResource is the name under which the API has the objects of one of Kubernetes'
// own kinds: "configmaps". ok is false for any other kind: a cluster knows it.
func BuiltinResource(kind schema.GroupVersionKind) (name string, ok bool) {
	if found, ok := builtin[kind]; ok {
		return found.Resource, true
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
	for kind, found := range builtin {
		if kind.Kind == name {
			return kind, found.namespaced, true // no two of them have one name
		}
	}
	return schema.GroupVersionKind{}, false, false
}

// Resource asks the server for the name under which it has the objects of a kind. A kind
// that the server does not have is an error that satisfies meta.IsNoMatchError.
func (c *Client) Resource(ctx context.Context, kind schema.GroupVersionKind) (name string, err error) {
	found, err := c.kinds.find(ctx, kind, missAge)
	return found.Resource, err
}
