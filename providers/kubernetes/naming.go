package kubernetes

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
)

// AmbiguousKindError says that several groups have a kind of one name.
type AmbiguousKindError struct {
	Kind   string
	Groups []schema.GroupVersion // in the order of their names
}

func (e *AmbiguousKindError) Error() string {
	var names []string
	for _, g := range e.Groups {
		names = append(names, g.String())
	}
	return fmt.Sprintf("the cluster has several kinds %s: in %s", e.Kind, strings.Join(names, " and "))
}

// KindNamed finds the kind of a name, in its newest stable version, and says whether its
// objects live in namespaces. Kubernetes' own go before others. One that no group has is
// an error that satisfies meta.IsNoMatchError, and one that several have is an
// *AmbiguousKindError.
func (c *Client) KindNamed(ctx context.Context, name string) (kind schema.GroupVersionKind, namespaced bool, err error) {
	kind, found, err := c.kinds.named(ctx, name)
	return kind, found.namespaced, err
}

func (k *kinds) named(ctx context.Context, name string) (schema.GroupVersionKind, resource, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for kind, found := range builtin {
		if kind.Kind == name && !k.doubted[kind] {
			return kind, found, nil // no two of them have one name
		}
	}
	if k.readAt.IsZero() || time.Since(k.readAt) > missAge {
		read, err := k.read(ctx)
		if err != nil {
			return schema.GroupVersionKind{}, resource{}, fmt.Errorf("ask the server for its kinds: %w", err)
		}
		k.catalogue, k.readAt = read, time.Now()
	}
	newest := map[string]schema.GroupVersionKind{}
	for kind := range k.catalogue.resources {
		if known, ok := newest[kind.Group]; kind.Kind == name && (!ok || version.CompareKubeAwareVersionStrings(kind.Version, known.Version) > 0) {
			newest[kind.Group] = kind
		}
	}
	var groups []schema.GroupVersion
	for _, kind := range newest {
		groups = append(groups, kind.GroupVersion())
	}
	slices.SortFunc(groups, func(a, b schema.GroupVersion) int { return cmp.Compare(a.String(), b.String()) })
	switch len(groups) {
	case 1:
		kind := groups[0].WithKind(name)
		return kind, k.catalogue.resources[kind], nil
	case 0:
		for down, err := range k.catalogue.unknown {
			return schema.GroupVersionKind{}, resource{}, &groupDownError{version: down, err: err}
		}
		return schema.GroupVersionKind{}, resource{}, &meta.NoKindMatchError{GroupKind: schema.GroupKind{Kind: name}}
	}
	return schema.GroupVersionKind{}, resource{}, &AmbiguousKindError{Kind: name, Groups: groups}
}
