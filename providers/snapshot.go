package providers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/internal/base/crash"
	"kolla.openstack.org/kolla/providers/kinds"
)

// Scope is the range of one LIST: a kind, in a namespace or in the whole cluster.
type Scope struct {
	GVK       schema.GroupVersionKind
	Namespace string
}

// Snapshot is the part of the live cluster that a plan has read. It lists each scope only once.
// It is safe for concurrent use.
type Snapshot struct {
	reader Reader
	slots  chan struct{} // one for each running LIST

	mu       sync.Mutex
	listings map[Scope]*listing
	missing  map[schema.GroupVersionKind]bool
	objects  map[Ref]*unstructured.Unstructured
}

// listing is one LIST.
type listing struct {
	done chan struct{} // closed when the LIST ends
	err  error         // valid after that
}

// maxLists is the maximum number of concurrent LISTs.
const maxLists = 10

// NewSnapshot returns an empty snapshot that reads through reader.
func NewSnapshot(reader Reader) *Snapshot {
	return &Snapshot{
		reader:   reader,
		slots:    make(chan struct{}, maxLists),
		listings: map[Scope]*listing{},
		missing:  map[schema.GroupVersionKind]bool{},
		objects:  map[Ref]*unstructured.Unstructured{},
	}
}

// SnapshotOf returns a snapshot of the given objects. It cannot list anything.
func SnapshotOf(objects ...*unstructured.Unstructured) *Snapshot {
	s := NewSnapshot(nil)
	for _, u := range objects {
		s.objects[RefOf(u)] = u
	}
	return s
}

// Prefetch starts to list the scopes and does not wait. Load returns the errors.
func (s *Snapshot) Prefetch(ctx context.Context, scopes ...Scope) {
	s.begin(ctx, scopes)
}

// Load waits until the scopes are listed. It lists the missing ones in parallel. Kinds that the
// server does not have are recorded as Missing and cause no error.
func (s *Snapshot) Load(ctx context.Context, scopes ...Scope) error {
	return s.await(ctx, scopes, func(error) bool { return false })
}

// Try is Load for scopes that are not essential: scopes that cannot be read are recorded as
// Unread and cause no error.
func (s *Snapshot) Try(ctx context.Context, scopes ...Scope) error {
	return s.await(ctx, scopes, func(err error) bool {
		var unreadable *UnreadableError
		return errors.As(err, &unreadable)
	})
}

// await waits until the scopes are listed. It returns the first error that passes rejects. If that
// is a missing permission, the error has all missing ones.
func (s *Snapshot) await(ctx context.Context, scopes []Scope, passes func(error) bool) error {
	var first *PermissionError
	for _, l := range s.begin(ctx, scopes) {
		select {
		case <-l.done:
		case <-ctx.Done():
			return ctx.Err()
		}
		var denied *PermissionError
		switch {
		case l.err == nil || passes(l.err):
		case !errors.As(l.err, &denied):
			return l.err
		case first == nil:
			all := *denied
			first = &all
		case !denied.Same(first) && !slices.ContainsFunc(first.Others, denied.Same):
			first.Others = append(first.Others, denied)
		}
	}
	if first != nil {
		return first
	}
	return nil
}

// Unread returns the reason why a scope could not be read. Nil: the scope was read, or its LIST
// has not ended.
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

// begin starts the LISTs of scopes that have none yet, and returns the listings of all scopes.
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
		// The key is the requested kind, because the server may answer in another version.
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

// SecretValues returns the values of a live Secret; nil: there is none. It is of type Values.
func (s *Snapshot) SecretValues(namespace, name string) map[string][]byte {
	return ValuesOf(s.Get(Ref{GVK: kinds.Secret.WithVersion("v1"), Namespace: namespace, Name: name}))
}

// All returns the listed live objects of one kind, in no order.
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

// Listed returns the live objects of a scope that was loaded or tried, in no order. The error is the
// reason why the scope could not be read; it satisfies meta.IsNoMatchError if the server does not have
// the kind.
func (s *Snapshot) Listed(scope Scope) ([]*unstructured.Unstructured, error) {
	if s.Missing(scope.GVK) {
		return nil, &meta.NoKindMatchError{GroupKind: scope.GVK.GroupKind(), SearchedVersions: []string{scope.GVK.Version}}
	}
	if err := s.Unread(scope); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(s.All(scope.GVK), func(u *unstructured.Unstructured) bool {
		return scope.Namespace != "" && u.GetNamespace() != scope.Namespace
	}), nil
}

// Missing reports whether a LIST found that the server does not have the kind.
func (s *Snapshot) Missing(kind schema.GroupVersionKind) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.missing[kind]
}
