package resources

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/internal/base/failure"
)

// Resource is the place of the objects of a kind in the API.
type Resource struct {
	GVR        schema.GroupVersionResource
	Namespaced bool
}

// catalogue is the content of a server's discovery documents.
type catalogue struct {
	resources map[schema.GroupVersionKind]Resource
	// unknown are the groups whose documents cannot be read, usually because an extension
	// API server is down. Their kinds may exist.
	unknown map[schema.GroupVersion]error
}

// GroupDownError reports that the server behind an API group does not answer, so the kinds of the
// group are unknown.
type GroupDownError struct {
	version schema.GroupVersion
	err     error // of discovery
}

func (e *GroupDownError) Error() string {
	return fmt.Sprintf("the server behind %s does not answer (%v)", e.version, e.err)
}

func (e *GroupDownError) Unwrap() error { return e.err }

// MissAge is the age up to which a catalogue is trusted to miss a kind. A plan asks for many
// kinds at a time.
const MissAge = 2 * time.Second

// Mapper maps kinds to resources. It reads the catalogue when it first needs a kind that is
// not built in. It reads it again when a kind is missing, because the kind's definition may
// be younger.
type Mapper struct {
	read func(context.Context) (catalogue, error)

	mu        sync.Mutex
	doubted   map[schema.GroupVersionKind]bool // built in, but not on this server
	catalogue catalogue
	readAt    time.Time
	definedAt time.Time // when this client last changed a definition
}

func newMapper(read func(context.Context) (catalogue, error)) *Mapper {
	return &Mapper{read: read, doubted: map[schema.GroupVersionKind]bool{}}
}

// Find returns the resource of a kind. A kind that is missing in a catalogue not older than
// fresh wraps a *meta.NoKindMatchError.
func (m *Mapper) Find(ctx context.Context, kind schema.GroupVersionKind, fresh time.Duration) (Resource, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if found, ok := Builtin[kind]; ok && !m.doubted[kind] {
		return found, nil
	}
	if found, ok := m.catalogue.resources[kind]; ok {
		return found, nil
	}
	if m.readAt.IsZero() || time.Since(m.readAt) > fresh {
		read, err := m.read(ctx)
		if err != nil {
			return Resource{}, fmt.Errorf("ask the server for its kinds: %w", err)
		}
		m.catalogue, m.readAt = read, time.Now()
	}
	if found, ok := m.catalogue.resources[kind]; ok {
		return found, nil
	}
	if err := m.catalogue.unknown[kind.GroupVersion()]; err != nil {
		return Resource{}, &GroupDownError{version: kind.GroupVersion(), err: err}
	}
	return Resource{}, NoKind(kind.GroupKind(), kind.Version)
}

// NoKind returns the error for a kind that the cluster does not have in these versions, or, without
// versions, in any version. It wraps a *meta.NoKindMatchError.
func NoKind(kind schema.GroupKind, versions ...string) error {
	where := "any group"
	if len(versions) > 0 {
		where = kind.WithVersion(versions[0]).GroupVersion().String()
	}
	return failure.With(&meta.NoKindMatchError{GroupKind: kind, SearchedVersions: versions}, fmt.Sprintf("the cluster has no kind %s in %s", kind.Kind, where),
		"It is defined by a CustomResourceDefinition that is not installed, or served in another version: see kubectl api-resources.")
}

// Doubt makes the catalogue decide whether the server has a built-in kind.
func (m *Mapper) Doubt(kind schema.GroupVersionKind) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.doubted[kind] = true
}

// Defined records that a definition was written or deleted. The next search for an unknown
// kind reads the catalogue.
func (m *Mapper) Defined() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.readAt = time.Time{}
	m.definedAt = time.Now()
}

// settling is how long a server may still use a definition that has been changed.
const settling = 5 * time.Second

// Unsettled reports whether the server may still use an old definition of the kind.
func (m *Mapper) Unsettled(kind schema.GroupVersionKind) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, own := Builtin[kind]
	return !own && time.Since(m.definedAt) < settling
}
