package fields_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/internal/dev/objecttest"
	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/plans"
)

const widget = `
apiVersion: example.org/v1
kind: Widget
metadata:
  name: w
  managedFields:
  - manager: kolla
    operation: Apply
    apiVersion: example.org/v1
    fieldsType: FieldsV1
    fieldsV1:
      f:spec:
        f:tags: {'v:"one"': {}, 'v:"two"': {}}
        f:steps: {}
        f:selector: {}
        f:options: {}
        f:parts:
          'k:{"name":"a"}':
            .: {}
            f:name: {}
            f:ports:
              'k:{"number":80,"protocol":"TCP"}': {.: {}, f:number: {}, f:protocol: {}, f:host: {}}
          'k:{"name":"b"}': {.: {}, f:name: {}, f:count: {}}
spec:
  tags: [one, two]
  steps: [u, v]
  selector: {app: w}
  options: {}
  parts:
  - {name: a, ports: [{number: 80, protocol: TCP, host: old}]}
  - {name: b, count: 1}
`

// TestDiffOfACustomResource checks that managedFields show which lists of a custom resource have
// merge keys.
func TestDiffOfACustomResource(t *testing.T) {
	cases := map[string]struct {
		change []string // old, new, old, new
		want   []plans.Change
	}{
		"an element of a list with keys": {
			[]string{"host: old", "host: new", "count: 1", "count: 2"},
			[]plans.Change{
				{Path: `spec.parts["a"].ports[80/TCP].host`, Before: "old", After: "new"},
				{Path: `spec.parts["b"].count`, Before: int64(1), After: int64(2)},
			},
		},
		"one element more": {
			[]string{"- {name: b, count: 1}", "- {name: b, count: 1}\n  - {name: c, count: 3}"},
			[]plans.Change{{Path: `spec.parts["c"]`, After: map[string]any{"name": "c", "count": int64(3)}}},
		},
		"a set": {
			[]string{"[one, two]", "[one, three]"},
			[]plans.Change{{Path: `spec.tags["three"]`, After: "three"}, {Path: `spec.tags["two"]`, Before: "two"}},
		},
		"an atomic list": {
			[]string{"[u, v]", "[u, w]"},
			[]plans.Change{{Path: "spec.steps", Before: []any{"u", "v"}, After: []any{"u", "w"}}},
		},
		"an atomic map": {
			[]string{"{app: w}", "{app: w, tier: x}"},
			[]plans.Change{{Path: "spec.selector", Before: map[string]any{"app": "w"}, After: map[string]any{"app": "w", "tier": "x"}}},
		},
		"an empty map, which may have fields of others": {
			[]string{"f:options: {}", "f:options: {.: {}, f:a: {}}", "options: {}", "options: {a: b}"},
			[]plans.Change{{Path: "spec.options.a", After: "b"}},
		},
		"elements that lack their key": {
			[]string{"- {name: b, count: 1}", "- {count: 1}"},
			[]plans.Change{{
				Path: "spec.parts",
				Before: []any{
					map[string]any{"name": "a", "ports": []any{map[string]any{"number": int64(80), "protocol": "TCP", "host": "old"}}},
					map[string]any{"name": "b", "count": int64(1)},
				},
				After: []any{
					map[string]any{"name": "a", "ports": []any{map[string]any{"number": int64(80), "protocol": "TCP", "host": "old"}}},
					map[string]any{"count": int64(1)},
				},
			}},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			after := strings.NewReplacer(c.change...).Replace(widget)
			got, err := fields.Diff(objecttest.Read(t, widget), objecttest.Read(t, after))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
		})
	}
}
