package object_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/internal/dev/objecttest"
	"kolla.openstack.org/kolla/providers/openstack/internal/object"
)

// TestDeclared checks that a manifest has no null fields, and that changes of its metadata and its top
// level do not reach the content that it was made of.
func TestDeclared(t *testing.T) {
	for _, text := range []string{
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {b: c}}, data: {d: e}}",
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {b: c, x: null}}, data: {d: e, x: null}, list: [{y: null}], status: null}",
	} {
		content, before := objecttest.Read(t, text), objecttest.Read(t, text)
		u := object.Declared(content.Object)
		want := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a", "labels": map[string]any{"b": "c"}}, "data": map[string]any{"d": "e"}}
		if content.Object["list"] != nil {
			want["list"] = []any{map[string]any{}}
		}
		if diff := cmp.Diff(want, u.Object); diff != "" {
			t.Errorf("manifest (-want +got):\n%s", diff)
		}
		object.Mark(u, "labels", map[string]string{"b": "d"})
		u.SetNamespace("n")
		delete(u.Object, "data")
		if diff := cmp.Diff(before, content); diff != "" {
			t.Errorf("content (-before +after):\n%s", diff)
		}
	}
}
