package kubernetes

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// resource is where the objects of a kind are found.
type resource struct {
	gvr        schema.GroupVersionResource
	namespaced bool
}

// catalogue is what a server's discovery documents say.
type catalogue struct {
	resources map[schema.GroupVersionKind]resource
	// unknown are the groups whose documents could not be had, usually because an
	// extension API server is down: their kinds are not known to be missing.
	unknown map[schema.GroupVersion]error
}

// groupDownError says that the server behind an API group does not answer, so that
// nobody knows which kinds the group has.
type groupDownError struct {
	version schema.GroupVersion
	err     error // of discovery
}

func (e *groupDownError) Error() string {
	return fmt.Sprintf("the server behind %s does not answer (%v)", e.version, e.err)
}

func (e *groupDownError) Unwrap() error { return e.err }

// missAge is how old the catalogue may be for a kind to count as missing without
// asking the server again. A plan asks for many kinds at a time.
const missAge = 2 * time.Second

// mapper maps kinds to resources. It reads the catalogue when a kind that is not
// built in is first needed, and again when a kind is not in it: the kind's
// definition may be younger.
type mapper struct {
	read func(context.Context) (catalogue, error)

	mu        sync.Mutex
	doubted   map[schema.GroupVersionKind]bool // built in, but not on this server
	catalogue catalogue
	readAt    time.Time
	definedAt time.Time // when this client last changed a definition
}

func newMapper(read func(context.Context) (catalogue, error)) *mapper {
	return &mapper{read: read, doubted: map[schema.GroupVersionKind]bool{}}
}

// find returns where objects of the kind are. A kind that a catalogue not older
// than fresh does not have is a *meta.NoKindMatchError.
func (m *mapper) find(ctx context.Context, kind schema.GroupVersionKind, fresh time.Duration) (resource, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if found, ok := builtin[kind]; ok && !m.doubted[kind] {
		return found, nil
	}
	if found, ok := m.catalogue.resources[kind]; ok {
		return found, nil
	}
	if m.readAt.IsZero() || time.Since(m.readAt) > fresh {
		read, err := m.read(ctx)
		if err != nil {
			return resource{}, fmt.Errorf("ask the server for its kinds: %w", err)
		}
		m.catalogue, m.readAt = read, time.Now()
	}
	if found, ok := m.catalogue.resources[kind]; ok {
		return found, nil
	}
	if err := m.catalogue.unknown[kind.GroupVersion()]; err != nil {
		return resource{}, &groupDownError{version: kind.GroupVersion(), err: err}
	}
	return resource{}, &meta.NoKindMatchError{GroupKind: kind.GroupKind(), SearchedVersions: []string{kind.Version}}
}

// doubt has the catalogue decide whether the server has a kind.
func (m *mapper) doubt(kind schema.GroupVersionKind) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.doubted[kind] = true
}

// defined takes down that a definition was written or deleted: the next search for an
// unknown kind asks the server.
func (m *mapper) defined() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.readAt = time.Time{}
	m.definedAt = time.Now()
}

// settling is how long a server may go on by a definition that has been changed.
const settling = 5 * time.Second

// unsettled reports whether the server may not go by the definition of the kind yet.
func (m *mapper) unsettled(kind schema.GroupVersionKind) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, own := builtin[kind]
	return !own && time.Since(m.definedAt) < settling
}
