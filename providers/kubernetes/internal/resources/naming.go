package resources

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

// Named finds the kind of a name, in its newest stable version. See Client.KindNamed.
func (m *Mapper) Named(ctx context.Context, name string) (schema.GroupVersionKind, Resource, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for kind, found := range Builtin {
		if kind.Kind == name && !m.doubted[kind] {
			return kind, found, nil // no two of them have one name
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
		return schema.GroupVersionKind{}, Resource{}, &meta.NoKindMatchError{GroupKind: schema.GroupKind{Kind: name}}
	}
	return schema.GroupVersionKind{}, Resource{}, &AmbiguousKindError{Kind: name, Groups: groups}
}
