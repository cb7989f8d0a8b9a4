package resources

import (
	"context"
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestKindNamed(t *testing.T) {
	found := catalogue{resources: map[schema.GroupVersionKind]Resource{}}
	for _, text := range []string{"a.example.org/v1beta1 Widget", "a.example.org/v1 Widget", "a.example.org/v1 Gadget", "b.example.org/v1 Gadget", "events.k8s.io/v1 Event"} {
		version, kind, _ := strings.Cut(text, " ")
		gvk := schema.FromAPIVersionAndKind(version, kind)
		found.resources[gvk] = Resource{gvk.GroupVersion().WithResource(strings.ToLower(kind) + "s"), true}
	}
	reads := 0
	k := newMapper(func(context.Context) (catalogue, error) {
		reads++
		return found, nil
	})
	tests := map[string]struct {
		want  string
		reads int
		err   func(error) bool
	}{
		"ConfigMap": {want: "/v1, Kind=ConfigMap"},
		"Event":     {want: "/v1, Kind=Event"},
		"Widget":    {want: "a.example.org/v1, Kind=Widget", reads: 1},
		"Gadget": {reads: 1, err: func(err error) bool {
			var ambiguous *AmbiguousKindError
			return errors.As(err, &ambiguous) && strings.HasSuffix(err.Error(), "in a.example.org/v1 and b.example.org/v1")
		}},
		"Gizmo": {reads: 1, err: meta.IsNoMatchError},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			reads = 0
			k.Defined()
			got, _, err := k.Named(t.Context(), name)
			switch {
			case test.err != nil && !test.err(err):
				t.Errorf("error %v", err)
			case test.err == nil && (err != nil || got.String() != test.want):
				t.Errorf("found %s, %v; want %s", got, err, test.want)
			}
			if reads != test.reads {
				t.Errorf("asked the server %d times, want %d", reads, test.reads)
			}
		})
	}
}
