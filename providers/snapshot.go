package providers

import (
	"context"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Scope is what one LIST reads: a kind, in a namespace or in the whole cluster.
type Scope struct {
	GVK       schema.GroupVersionKind
	Namespace string
}

// Snapshot is the live cluster as far as a plan has read it. Each scope is
// listed once, however often it is asked for.
type Snapshot struct {
	reader Reader

	mu      sync.Mutex
	scopes  map[Scope]bool
	missing map[schema.GroupVersionKind]bool
	objects map[Ref]*unstructured.Unstructured
}

// NewSnapshot makes an empty snapshot that reads through reader.
func NewSnapshot(reader Reader) *Snapshot {
	return &Snapshot{
		reader:  reader,
		scopes:  map[Scope]bool{},
		missing: map[schema.GroupVersionKind]bool{},
		objects: map[Ref]*unstructured.Unstructured{},
	}
}

// Load lists the scopes that were not listed yet, in parallel. Kinds that the
// server does not have are remembered as Missing and are no error.
func (s *Snapshot) Load(ctx context.Context, scopes ...Scope) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(10)
	for _, scope := range s.claim(scopes) {
		group.Go(func() error {
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
		})
	}
	return group.Wait()
}

// claim marks the scopes as listed, and returns those that were not.
func (s *Snapshot) claim(scopes []Scope) []Scope {
	s.mu.Lock()
	defer s.mu.Unlock()
	var fresh []Scope
	for _, scope := range scopes {
		if !s.scopes[scope] {
			s.scopes[scope] = true
			fresh = append(fresh, scope)
		}
	}
	return fresh
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
