package providers_test

import (
	"context"
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/providers"
)

// lister is a Reader that only lists.
type lister struct {
	providers.Reader
	lists int
	err   error
}

func (l *lister) List(_ context.Context, kind schema.GroupVersionKind, _ string) ([]*unstructured.Unstructured, error) {
	l.lists++
	if l.err != nil {
		return nil, l.err
	}
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetGroupVersionKind(kind)
	u.SetName("a")
	return []*unstructured.Unstructured{u}, nil
}

func TestSnapshot(t *testing.T) {
	kind := schema.GroupVersionKind{Version: "v1", Kind: "Node"}
	scope := providers.Scope{GVK: kind}
	hidden := &providers.UnreadableError{Kind: kind, Err: errors.New("it is down")}
	for name, test := range map[string]struct {
		err     error // of the LIST
		load    bool  // Load fails
		try     bool  // Try fails
		missing bool
		unread  bool
	}{
		"there":        {},
		"no such kind": {err: &meta.NoKindMatchError{GroupKind: kind.GroupKind()}, missing: true},
		"hidden":       {err: hidden, load: true, unread: true},
		"no server":    {err: errors.New("connection refused"), load: true, try: true},
	} {
		t.Run(name, func(t *testing.T) {
			for _, first := range []string{"load", "try"} {
				l := &lister{err: test.err}
				snapshot := providers.NewSnapshot(l)
				read, fails := snapshot.Load, test.load
				if first == "try" {
					read, fails = snapshot.Try, test.try
				}
				if err := read(t.Context(), scope, scope); (err != nil) != fails || fails && !errors.Is(err, test.err) {
					t.Errorf("%s: %v", first, err)
				}
				if _, err := snapshot.Listed(scope); (err != nil) != (test.missing || test.unread) || meta.IsNoMatchError(err) != test.missing {
					t.Errorf("%s: listed: %v", first, err)
				}
				if snapshot.Missing(kind) != test.missing || (snapshot.Unread(scope) != nil) != test.unread {
					t.Errorf("%s: missing %v, unread because %v", first, snapshot.Missing(kind), snapshot.Unread(scope))
				}
				if found := snapshot.Get(providers.Ref{GVK: kind, Name: "a"}) != nil; found != (test.err == nil) {
					t.Errorf("%s: found %v", first, found)
				}
				// A later Load must return the error, even if Try accepted it before.
				if err := snapshot.Load(t.Context(), scope); test.unread && !errors.Is(err, test.err) {
					t.Errorf("load after %s: %v", first, err)
				}
				if l.lists != 1 {
					t.Errorf("%s: it was listed %d times", first, l.lists)
				}
			}
		})
	}
}
