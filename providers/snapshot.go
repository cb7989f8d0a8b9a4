package providers

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/internal/crash"
)

// Scope is what one LIST reads: a kind, in a namespace or in the whole cluster.
type Scope struct {
	GVK       schema.GroupVersionKind
	Namespace string
}

// Snapshot is the live cluster as far as a plan has read it. Each scope is
// listed once, however often it is asked for. It is safe for concurrent use.
type Snapshot struct {
	reader Reader
	slots  chan struct{} // one for each LIST under way

	mu       sync.Mutex
	listings map[Scope]*listing
	missing  map[schema.GroupVersionKind]bool
	objects  map[Ref]*unstructured.Unstructured
}

// listing is one LIST.
type listing struct {
	done chan struct{} // closed at its end
	err  error         // of use after that
}

// maxLists is how many LISTs are under way at a time.
const maxLists = 10

// NewSnapshot makes an empty snapshot that reads through reader.
func NewSnapshot(reader Reader) *Snapshot {
	return &Snapshot{
		reader:   reader,
		slots:    make(chan struct{}, maxLists),
		listings: map[Scope]*listing{},
		missing:  map[schema.GroupVersionKind]bool{},
		objects:  map[Ref]*unstructured.Unstructured{},
	}
}

// SnapshotOf makes a snapshot of the objects that reads nothing. It must not be asked to list.
func SnapshotOf(objects ...*unstructured.Unstructured) *Snapshot {
	s := NewSnapshot(nil)
	for _, u := range objects {
		s.objects[RefOf(u)] = u
	}
	return s
}

// Prefetch begins to list the scopes, and does not wait for it. What goes wrong is
// for whoever loads the scope.
func (s *Snapshot) Prefetch(ctx context.Context, scopes ...Scope) {
	s.begin(ctx, scopes)
}

// Load returns when the scopes are listed: those that nobody listed yet, in
// parallel. Kinds that the server does not have are remembered as Missing and are no
// error.
func (s *Snapshot) Load(ctx context.Context, scopes ...Scope) error {
	return s.await(ctx, scopes, func(error) bool { return false })
}

// Try is Load for what can be done without: scopes that cannot be read are remembered
// as Unread and are no error.
func (s *Snapshot) Try(ctx context.Context, scopes ...Scope) error {
	return s.await(ctx, scopes, func(err error) bool {
		var unreadable *UnreadableError
		return errors.As(err, &unreadable)
	})
}

// await returns when the scopes are listed, or with the first error that does not pass.
func (s *Snapshot) await(ctx context.Context, scopes []Scope, passes func(error) bool) error {
	for _, l := range s.begin(ctx, scopes) {
		select {
		case <-l.done:
			if l.err != nil && !passes(l.err) {
				return l.err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// Unread says why a scope could not be read; nil: it was, or nobody waited for it.
func (s *Snapshot) Unread(scope Scope) error {
	s.mu.Lock()
	l := s.listings[scope]
	s.mu.Unlock()
	if l == nil {
		return nil
	}
	var unreadable *UnreadableError
	select {
	case <-l.done:
		if errors.As(l.err, &unreadable) {
			return unreadable
		}
	default:
	}
	return nil
}

// begin starts the LISTs of the scopes that have none yet, and returns those of all.
func (s *Snapshot) begin(ctx context.Context, scopes []Scope) []*listing {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]*listing, 0, len(scopes))
	for _, scope := range scopes {
		l := s.listings[scope]
		if l == nil {
			l = &listing{done: make(chan struct{})}
			s.listings[scope] = l
			go func() {
				defer close(l.done)
				l.err = crash.Catch(func() error { return s.list(ctx, scope) })
			}()
		}
		all = append(all, l)
	}
	return all
}

func (s *Snapshot) list(ctx context.Context, scope Scope) error {
	s.slots <- struct{}{}
	defer func() { <-s.slots }()
	list, err := s.reader.List(ctx, scope.GVK, scope.Namespace)
	if err != nil && !meta.IsNoMatchError(err) {
		return fmt.Errorf("list %s: %w", scope.GVK.Kind, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.missing[scope.GVK] = true
	}
	for _, u := range list {
		// Keyed by the kind asked for: the server may answer in another version.
		s.objects[Ref{GVK: scope.GVK, Namespace: u.GetNamespace(), Name: u.GetName()}] = u
	}
	return nil
}

// Get returns the live object, or nil.
func (s *Snapshot) Get(ref Ref) *unstructured.Unstructured {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.objects[ref]
}

// All returns the live objects of one kind that were listed, in no order.
func (s *Snapshot) All(kind schema.GroupVersionKind) []*unstructured.Unstructured {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []*unstructured.Unstructured
	for ref, u := range s.objects {
		if ref.GVK == kind {
			all = append(all, u)
		}
	}
	return all
}

// Missing reports whether the server turned out not to have the kind.
func (s *Snapshot) Missing(kind schema.GroupVersionKind) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.missing[kind]
}
