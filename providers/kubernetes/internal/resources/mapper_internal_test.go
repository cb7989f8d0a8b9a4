package resources

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestKindsAreReadAsRarelyAsPossible(t *testing.T) {
	known := schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	younger := schema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: "Star"}
	hidden := schema.GroupVersionKind{Group: "metrics.k8s.io", Version: "v1", Kind: "PodMetrics"}
	reads := 0
	served := catalogue{
		resources: map[schema.GroupVersionKind]Resource{known: {known.GroupVersion().WithResource("deployments"), true}},
		unknown:   map[schema.GroupVersion]error{hidden.GroupVersion(): errors.New("503")},
	}
	k := newMapper(func(context.Context) (catalogue, error) {
		reads++
		return served, nil
	})
	find := func(kind schema.GroupVersionKind, fresh time.Duration) error {
		_, err := k.Find(t.Context(), kind, fresh)
		return err
	}
	for range 3 {
		if err := find(known, 0); err != nil {
			t.Fatal(err)
		}
		if err := find(younger, time.Hour); !meta.IsNoMatchError(err) {
			t.Fatalf("got %v, want no match", err)
		}
		if err := find(hidden, time.Hour); err == nil || meta.IsNoMatchError(err) || !strings.Contains(err.Error(), "503") {
			t.Fatalf("got %v: a group that cannot be read is not known to be missing", err)
		}
	}
	if reads != 1 {
		t.Errorf("%d reads, want 1", reads)
	}
	served.resources = map[schema.GroupVersionKind]Resource{known: {}, younger: {}}
	if err := find(younger, 0); err != nil || reads != 2 {
		t.Errorf("got %v after %d reads", err, reads)
	}
}
