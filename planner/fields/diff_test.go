package fields_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"

	"kolla.openstack.org/kolla/internal/dev/objecttest"
	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/plans"
)

func changes(list ...plans.Change) []plans.Change { return list }

func TestDiff(t *testing.T) {
	container := func(u *unstructured.Unstructured) map[string]any {
		list, _, _ := unstructured.NestedFieldNoCopy(u.Object, "spec", "template", "spec", "containers")
		return list.([]any)[0].(map[string]any)
	}
	pod := func(u *unstructured.Unstructured) map[string]any {
		spec, _, _ := unstructured.NestedFieldNoCopy(u.Object, "spec", "template", "spec")
		return spec.(map[string]any)
	}
	tests := map[string]struct {
		edit func(*unstructured.Unstructured)
		want []plans.Change
	}{
		"nothing": {edit: func(*unstructured.Unstructured) {}},
		"bookkeeping": {edit: func(u *unstructured.Unstructured) {
			u.SetResourceVersion("8")
			u.SetUID("u2")
			u.SetGeneration(4)
			u.SetAnnotations(nil)
			delete(u.Object, "status")
		}},
		"scalar": {
			edit: func(u *unstructured.Unstructured) { u.Object["spec"].(map[string]any)["replicas"] = int64(5) },
			want: changes(plans.Change{Path: "spec.replicas", Before: int64(3), After: int64(5)}),
		},
		"element of a list by its key": {
			edit: func(u *unstructured.Unstructured) { container(u)["image"] = "keystone:2" },
			want: changes(plans.Change{Path: `spec.template.spec.containers["api"].image`, Before: "keystone:1", After: "keystone:2"}),
		},
		"list without keys": {
			edit: func(u *unstructured.Unstructured) { container(u)["args"] = []any{"a", "c"} },
			want: changes(plans.Change{Path: `spec.template.spec.containers["api"].args`, Before: []any{"a", "b"}, After: []any{"a", "c"}}),
		},
		"element with two keys": {
			edit: func(u *unstructured.Unstructured) {
				container(u)["ports"].([]any)[1].(map[string]any)["name"] = "dns"
			},
			want: changes(plans.Change{Path: `spec.template.spec.containers["api"].ports[5000/UDP].name`, Before: "odd", After: "dns"}),
		},
		"added and removed elements are whole": {
			edit: func(u *unstructured.Unstructured) {
				container(u)["env"] = []any{
					map[string]any{"name": "B", "value": "2"},
					map[string]any{"name": "C", "value": "3"},
				}
			},
			want: changes(
				plans.Change{Path: `spec.template.spec.containers["api"].env["A"]`, Before: map[string]any{"name": "A", "value": "1"}},
				plans.Change{Path: `spec.template.spec.containers["api"].env["C"]`, After: map[string]any{"name": "C", "value": "3"}},
			),
		},
		"another order": {
			edit: func(u *unstructured.Unstructured) {
				list := pod(u)["initContainers"].([]any)
				list[0], list[1] = list[1], list[0]
			},
			want: changes(plans.Change{Path: "spec.template.spec.initContainers", Before: []any{"first", "second"}, After: []any{"second", "first"}}),
		},
		"another order of references, which are one whole each": {
			edit: func(u *unstructured.Unstructured) {
				list := pod(u)["imagePullSecrets"].([]any)
				list[0], list[1] = list[1], list[0]
			},
			want: changes(plans.Change{Path: "spec.template.spec.imagePullSecrets", Before: []any{"one", "two"}, After: []any{"two", "one"}}),
		},
		"order of what is on both sides only": {
			edit: func(u *unstructured.Unstructured) {
				pod(u)["initContainers"] = append([]any{map[string]any{"name": "zeroth"}}, pod(u)["initContainers"].([]any)...)
			},
			want: changes(plans.Change{Path: `spec.template.spec.initContainers["zeroth"]`, After: map[string]any{"name": "zeroth"}}),
		},
		"labels and annotations by key": {
			edit: func(u *unstructured.Unstructured) {
				u.SetLabels(nil)
				u.SetAnnotations(map[string]string{"kolla.openstack.org/address": "x", "plain": "y"})
			},
			want: changes(
				plans.Change{Path: `metadata.annotations.plain`, After: "y"},
				plans.Change{Path: `metadata.annotations["kolla.openstack.org/address"]`, After: "x"},
				plans.Change{Path: `metadata.labels.app`, Before: "keystone"},
			),
		},
		"element of a set": {
			edit: func(u *unstructured.Unstructured) { u.SetFinalizers([]string{"example.org/hold"}) },
			want: changes(plans.Change{Path: "metadata.finalizers", After: []any{"example.org/hold"}}),
		},
		"text of several lines": {
			edit: func(u *unstructured.Unstructured) {
				container(u)["args"] = []any{"a", "b"}
				container(u)["workingDir"] = "/a\n/b\n"
			},
			want: changes(plans.Change{Path: `spec.template.spec.containers["api"].workingDir`, After: "/a\n/b\n", Text: true}),
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			before, after := objecttest.Read(t, objecttest.Deployment), objecttest.Read(t, objecttest.Deployment)
			test.edit(after)
			got, err := fields.Diff(before, after)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("Diff (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDiffOfFilesAndSecrets(t *testing.T) {
	tests := map[string]struct {
		before, after string
		want          []plans.Change
	}{
		"config files": {
			before: "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {keystone.conf: \"[token]\\n\", policy: a}}",
			after:  "{apiVersion: v1, kind: ConfigMap, metadata: {name: b}, data: {keystone.conf: \"[cache]\\n\"}}",
			want: changes(
				plans.Change{Path: `data["keystone.conf"]`, Before: "[token]\n", After: "[cache]\n", Text: true},
				plans.Change{Path: `data["policy"]`, Before: "a", Text: true},
			),
		},
		"all files are new": {
			before: "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}",
			after:  "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {x: \"1\", z: \"2\"}}",
			want: changes(
				plans.Change{Path: `data["x"]`, After: "1", Text: true},
				plans.Change{Path: `data["z"]`, After: "2", Text: true},
			),
		},
		"values of a Secret": {
			before: "{apiVersion: v1, kind: Secret, metadata: {name: a}, data: {kept: c2FtZQ==, old: b2xk, changed: b25l}}",
			after:  "{apiVersion: v1, kind: Secret, metadata: {name: a}, data: {kept: c2FtZQ==, new: bmV3, changed: dHdv}}",
			want: changes(
				plans.Change{Path: `data["changed"]`, Before: plans.Masked, After: plans.Masked, Sensitive: true},
				plans.Change{Path: `data["new"]`, After: plans.Masked, Sensitive: true},
				plans.Change{Path: `data["old"]`, Before: plans.Masked, Sensitive: true},
			),
		},
		"all values of a Secret are new": {
			before: "{apiVersion: v1, kind: Secret, metadata: {name: a}}",
			after:  "{apiVersion: v1, kind: Secret, metadata: {name: a}, data: {new: bmV3}}",
			want:   changes(plans.Change{Path: `data["new"]`, After: plans.Masked, Sensitive: true}),
		},
		"checksum of values": {
			before: "{apiVersion: v1, kind: Secret, metadata: {name: a, annotations: {kolla.openstack.org/checksum: a1}}}",
			after:  "{apiVersion: v1, kind: Secret, metadata: {name: a, annotations: {kolla.openstack.org/checksum: a2}}}",
			want: changes(plans.Change{
				Path: `metadata.annotations["kolla.openstack.org/checksum"]`, Before: plans.Masked, After: plans.Masked, Sensitive: true,
			}),
		},
		"elements of a set": {
			before: "{apiVersion: v1, kind: Pod, metadata: {name: a, finalizers: [x.org/a, x.org/b]}}",
			after:  "{apiVersion: v1, kind: Pod, metadata: {name: a, finalizers: [x.org/b, x.org/c]}}",
			want: changes(
				plans.Change{Path: `metadata.finalizers["x.org/a"]`, Before: "x.org/a"},
				plans.Change{Path: `metadata.finalizers["x.org/c"]`, After: "x.org/c"},
			),
		},
		"a kind without a schema": {
			before: "{apiVersion: example.org/v1, kind: Widget, metadata: {name: a}, spec: {size: 1, tags: [a]}}",
			after:  "{apiVersion: example.org/v1, kind: Widget, metadata: {name: a}, spec: {size: 2, tags: [a, b]}}",
			want: changes(
				plans.Change{Path: "spec.size", Before: int64(1), After: int64(2)},
				plans.Change{Path: "spec.tags", Before: []any{"a"}, After: []any{"a", "b"}},
			),
		},
		"a field that the schema does not know": {
			before: "{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {novelty: a}}",
			after:  "{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {novelty: b}}",
			want:   changes(plans.Change{Path: "spec.novelty", Before: "a", After: "b"}),
		},
		"every field of a new object": {
			after: `{apiVersion: v1, kind: Service, metadata: {name: a, namespace: n, labels: {x: "1"}},
			  spec: {ports: [{port: 53, protocol: UDP, name: dns}, {port: 53, name: dns-tcp}], selector: {}}}`,
			want: changes(
				plans.Change{Path: "metadata.labels.x", After: "1"},
				plans.Change{Path: "spec.ports[53/TCP].name", After: "dns-tcp"},
				plans.Change{Path: "spec.ports[53/UDP].name", After: "dns"},
				plans.Change{Path: "spec.selector", After: map[string]any{}},
			),
		},
		"an element with nothing but its key": {
			after: "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c, env: [{name: KOLLA_BOOTSTRAP}]}]}}",
			want: changes(plans.Change{
				Path: `spec.containers["c"].env["KOLLA_BOOTSTRAP"]`, After: map[string]any{"name": "KOLLA_BOOTSTRAP"},
			}),
		},
		"a second element of a key": {
			before: "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c, ports: [{containerPort: 80, protocol: TCP}, {containerPort: 80, protocol: TCP, hostPort: 80}]}]}}",
			after:  "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c, ports: [{containerPort: 80, protocol: TCP}]}]}}",
			want: changes(plans.Change{
				Path: `spec.containers["c"].ports[80/TCP]`, Before: map[string]any{"containerPort": int64(80), "protocol": "TCP", "hostPort": int64(80)},
			}),
		},
		"several elements of a key, and another": {
			before: "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c, env: [{name: A, value: x}, {name: A, value: z}]}]}}",
			after:  "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c, env: [{name: A, value: q}]}]}}",
			want: changes(plans.Change{
				Path:   `spec.containers["c"].env["A"]`,
				Before: []any{map[string]any{"name": "A", "value": "x"}, map[string]any{"name": "A", "value": "z"}},
				After:  map[string]any{"name": "A", "value": "q"},
			}),
		},
		"every field of an object that is gone": {
			before: "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {x: \"1\"}}",
			want:   changes(plans.Change{Path: `data["x"]`, Before: "1", Text: true}),
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := fields.Diff(objecttest.Read(t, test.before), objecttest.Read(t, test.after))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("Diff (-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzDiff checks that an object does not differ from itself, and that the differences of two
// objects have the same paths in both directions.
func FuzzDiff(f *testing.F) {
	seed(f, "testdata/diff/*.json")
	f.Fuzz(func(t *testing.T, content []byte) {
		var pair []map[string]any
		if json.Unmarshal(content, &pair) != nil || len(pair) != 2 {
			return
		}
		a, b := &unstructured.Unstructured{Object: pair[0]}, &unstructured.Unstructured{Object: pair[1]}
		for _, u := range []*unstructured.Unstructured{a, b} {
			if same, err := fields.Diff(u, u.DeepCopy()); err != nil || len(same) > 0 {
				t.Errorf("compared with itself: %v, %v", same, err)
			}
		}
		forth, err := fields.Diff(a, b)
		if err != nil {
			return // not objects of one kind
		}
		back, err := fields.Diff(b, a)
		if err != nil {
			t.Fatalf("there is no way back: %v", err)
		}
		if diff := cmp.Diff(paths(forth), paths(back)); diff != "" {
			t.Errorf("paths (-forth +back):\n%s", diff)
		}
	})
}

// seed adds files to a corpus. It fails if no file matches.
func seed(f *testing.F, pattern string) {
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		f.Fatalf("there are no seeds in %s: %v", pattern, err)
	}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
	}
}

func paths(list []plans.Change) []string {
	var paths []string
	for _, c := range list {
		paths = append(paths, c.Path)
	}
	slices.Sort(paths)
	return paths
}
