package resources

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Resource is where the objects of a kind are found.
type Resource struct {
	GVR        schema.GroupVersionResource
	Namespaced bool
}

// catalogue is what a server's discovery documents say.
type catalogue struct {
	resources map[schema.GroupVersionKind]Resource
	// unknown are the groups whose documents could not be had, usually because an
	// extension API server is down: their kinds are not known to be missing.
	unknown map[schema.GroupVersion]error
}

// GroupDownError says that the server behind an API group does not answer, so that
// nobody knows which kinds the group has.
type GroupDownError struct {
	version schema.GroupVersion
	err     error // of discovery
}

func (e *GroupDownError) Error() string {
	return fmt.Sprintf("the server behind %s does not answer (%v)", e.version, e.err)
}

func (e *GroupDownError) Unwrap() error { return e.err }

// MissAge is how old the catalogue may be for a kind to count as missing without
// asking the server again. A plan asks for many kinds at a time.
const MissAge = 2 * time.Second

// Mapper maps kinds to resources. It reads the catalogue when a kind that is not
// built in is first needed, and again when a kind is not in it: the kind's
// definition may be younger.
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

// Find returns where objects of the kind are. A kind that a catalogue not older
// than fresh does not have is a *meta.NoKindMatchError.
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
	return Resource{}, &meta.NoKindMatchError{GroupKind: kind.GroupKind(), SearchedVersions: []string{kind.Version}}
}

// Doubt has the catalogue decide whether the server has a kind.
func (m *Mapper) Doubt(kind schema.GroupVersionKind) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.doubted[kind] = true
}

// Defined takes down that a definition was written or deleted: the next search for an
// unknown kind asks the server.
func (m *Mapper) Defined() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.readAt = time.Time{}
	m.definedAt = time.Now()
}

// settling is how long a server may go on by a definition that has been changed.
const settling = 5 * time.Second

// Unsettled reports whether the server may not go by the definition of the kind yet.
func (m *Mapper) Unsettled(kind schema.GroupVersionKind) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, own := Builtin[kind]
	return !own && time.Since(m.definedAt) < settling
}
