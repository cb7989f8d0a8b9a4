package planner_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/planner"
)

// What disappears and appears again under another name may have been renamed.
func TestRenamesAreHinted(t *testing.T) {
	volume := func(name string) *unstructured.Unstructured {
		u := thing("v1", "PersistentVolumeClaim", name)
		u.Object["spec"] = map[string]any{
			"accessModes": []any{"ReadWriteOnce"},
			"resources":   map[string]any{"requests": map[string]any{"storage": "1Gi"}},
		}
		return u
	}
	config := func(name, value string) *unstructured.Unstructured {
		u := thing("v1", "ConfigMap", name)
		u.Object["data"] = map[string]any{"a": value}
		return u
	}
	service := func(name string) *unstructured.Unstructured {
		u := database(t, name)
		put(t, u, int64(7), "spec", "revisionHistoryLimit")
		put(t, u, "OrderedReady", "spec", "podManagementPolicy")
		put(t, u, int64(1), "spec", "minReadySeconds")
		return u
	}
	tests := map[string]struct {
		from, to string // addresses
		was, is  *unstructured.Unstructured
		says     []string // nil: nothing
	}{
		"volume": {
			"manifest.data/PersistentVolumeClaim/data", "manifest.data2/PersistentVolumeClaim/data2", volume("data"), volume("data2"),
			[]string{
				"PersistentVolumeClaim openstack/data looks as if it was renamed to data2",
				"PersistentVolumeClaim openstack/data2 made, without the data on its volume",
				`keep metadata.name = "data"`,
			},
		},
		"in the same block": {
			"manifest.conf/ConfigMap/conf", "manifest.conf/ConfigMap/conf2", config("conf", "1"), config("conf2", "1"),
			[]string{"ConfigMap openstack/conf looks as if it was renamed to conf2", `keep metadata.name = "conf"`},
		},
		"other contents": {"manifest.conf/ConfigMap/conf", "manifest.conf2/ConfigMap/conf2", config("conf", "1"), config("conf2", "2"), nil},
		"nothing in it": {
			"manifest.conf/ConfigMap/conf", "manifest.conf2/ConfigMap/conf2",
			thing("v1", "ConfigMap", "conf"), thing("v1", "ConfigMap", "conf2"), nil,
		},
		"a service": {
			"service.db/StatefulSet/db", "service.new/StatefulSet/new", service("db"), service("new"),
			[]string{
				"service.db looks as if it was renamed to service.new",
				"their volumes stay: data-db-0. The new ones start EMPTY", "from = service.db\n    to   = service.new",
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := &world{}
			w.add(test.from, test.was)
			w.cluster.objects = append(w.cluster.objects, thing("v1", "PersistentVolumeClaim", "data-db-0"))
			_, problems, err := planner.Make(t.Context(), w.input(declared(test.to, test.is)))
			if err != nil {
				t.Fatal(err)
			}
			var text []string
			for _, p := range problems {
				if strings.Contains(p.Summary, "looks as if") && p.Warning && p.Source == "cloud.hcl:41" {
					text = append(text, p.Summary+"\n"+p.Detail)
				}
			}
			if (len(text) == 1) != (test.says != nil) {
				t.Fatalf("problems are %+v", problems)
			}
			for _, part := range test.says {
				if !strings.Contains(text[0], part) {
					t.Errorf("%q is not in:\n%s", part, text[0])
				}
			}
		})
	}
}

// Who takes away what holds data is told of all three ways on.
func TestWaysOnFromUndeclaredData(t *testing.T) {
	w := &world{}
	w.add("manifest.data/PersistentVolumeClaim/data", thing("v1", "PersistentVolumeClaim", "data"))
	text := mustNotPlan(t, w.input())
	for _, part := range []string{
		"Put its declaration back", "-delete-data=manifest.data/PersistentVolumeClaim/data",
		"removed {\n    from = \"manifest.data/PersistentVolumeClaim/data\"\n    lifecycle {\n      destroy = false\n",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in:\n%s", part, text)
		}
	}
}
