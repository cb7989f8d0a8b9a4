package resources

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
)

// AmbiguousKindError reports that several groups have a kind of the same name.
type AmbiguousKindError struct {
	Kind   string
	Groups []schema.GroupVersion // sorted by name
}

func (e *AmbiguousKindError) Error() string {
	var names []string
	for _, g := range e.Groups {
		names = append(names, g.String())
	}
	return fmt.Sprintf("the cluster has several kinds %s: in %s", e.Kind, strings.Join(names, " and "))
}

// Named finds a kind by its name, in its newest stable version. Kinds of Kubernetes itself
// come before others. An unknown name is an error that satisfies meta.IsNoMatchError. A name
// that several groups have is an *AmbiguousKindError.
func (m *Mapper) Named(ctx context.Context, name string) (schema.GroupVersionKind, Resource, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for kind, found := range Builtin {
		if kind.Kind == name && !m.doubted[kind] {
			return kind, found, nil // their names are unique
		}
	}
	if m.readAt.IsZero() || time.Since(m.readAt) > MissAge {
		read, err := m.read(ctx)
		if err != nil {
			return schema.GroupVersionKind{}, Resource{}, fmt.Errorf("ask the server for its kinds: %w", err)
		}
		m.catalogue, m.readAt = read, time.Now()
	}
	newest := map[string]schema.GroupVersionKind{}
	for kind := range m.catalogue.resources {
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
		return kind, m.catalogue.resources[kind], nil
	case 0:
		for down, err := range m.catalogue.unknown {
			return schema.GroupVersionKind{}, Resource{}, &GroupDownError{version: down, err: err}
		}
		return schema.GroupVersionKind{}, Resource{}, NoKind(schema.GroupKind{Kind: name})
	}
	return schema.GroupVersionKind{}, Resource{}, &AmbiguousKindError{Kind: name, Groups: groups}
}
