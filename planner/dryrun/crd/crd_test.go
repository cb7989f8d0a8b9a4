package crd_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/dev/objecttest"
	"kolla.openstack.org/kolla/planner/dryrun/crd"
)

// planner/live tests that the schemas agree with a real server.

// definition has the schema in version v1. Version v0 is no longer served.
func definition(t *testing.T, scope, schema string) *unstructured.Unstructured {
	t.Helper()
	return objecttest.Read(t, fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.org}
spec:
  group: example.org
  names: {kind: Widget, plural: widgets}
  scope: %s
  versions:
  - {name: v0, served: false, storage: false, schema: {openAPIV3Schema: {type: object}}}
  - {name: v1, served: true, storage: true, subresources: {status: {}}, schema: {openAPIV3Schema: %s}}
  - {name: v2, served: true, storage: false}
`, scope, schema))
}

// schemaOf reads a valid schema of namespaced objects.
func schemaOf(t *testing.T, schema string) *crd.Schema {
	t.Helper()
	s, err := crd.Read(definition(t, "Namespaced", schema), "v1")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func widget(t *testing.T, rest string) *unstructured.Unstructured {
	t.Helper()
	return objecttest.Read(t, "{apiVersion: example.org/v1, kind: Widget, metadata: {name: w, namespace: ns}, "+rest+"}")
}

func TestReadRefuses(t *testing.T) {
	right := definition(t, "Namespaced", "{type: object}")
	for name, test := range map[string]struct {
		definition *unstructured.Unstructured
		version    string
		want       string
	}{
		"a version that is not there":   {right, "v3", "it does not serve version v3, only v1, v2"},
		"a version that is not served":  {right, "v0", "it does not serve version v0, only v1, v2"},
		"no version at all":             {objecttest.Read(t, "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: x}}"), "v1", "it serves no version"},
		"no schema":                     {right, "v2", "version v2 has no schema"},
		"what is no definition":         {objecttest.Read(t, "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, spec: {versions: none}}"), "v1", "it cannot be read: "},
		"properties without a type":     {definition(t, "Namespaced", "{type: object, properties: {a: {}}}"), "v1", "the schema of version v1 is not structural: properties[a].type: Required value"},
		"a reference":                   {definition(t, "Namespaced", "{$ref: '#/definitions/a'}"), "v1", "the schema of version v1 is not structural: "},
		"properties only in conditions": {definition(t, "Namespaced", "{type: object, anyOf: [{properties: {b: {}}}]}"), "v1", "properties[b]: Required value"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := crd.Read(test.definition, test.version)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error is %v, want %q", err, test.want)
			}
		})
	}
}

func TestRules(t *testing.T) {
	rule := "x-kubernetes-validations: [{rule: 'true'}]"
	for schema, want := range map[string]bool{
		"{type: object}":               false,
		"{type: object, " + rule + "}": true,
		"{type: object, properties: {a: {type: array, items: {type: string, " + rule + "}}}}": true,
	} {
		if got := schemaOf(t, schema).Rules; got != want {
			t.Errorf("%s has rules: %v, want %v", schema, got, want)
		}
	}
}

const parts = `{type: object, properties: {
  status: {type: object, properties: {phase: {type: string, default: new}}},
  spec: {type: object, default: {}, properties: {
    size: {type: integer, default: 3},
    list: {type: array, items: {type: object, properties: {a: {type: integer, default: 1}}}},
    map: {type: object, additionalProperties: {type: object, properties: {b: {type: integer, default: 2}}}},
    free: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {strict: {type: object, properties: {c: {type: integer}}}}}}}}}`

func TestComplete(t *testing.T) {
	schema := schemaOf(t, parts)
	for name, test := range map[string]struct{ manifest, want string }{
		"nothing":                     {"", "spec: {size: 3}"},
		"what is there stays":         {"spec: {size: 0}", "spec: {size: 0}"},
		"below lists and maps":        {"spec: {list: [{}, {a: 5}], map: {x: {}, y: {b: 6}}}", "spec: {size: 3, list: [{a: 1}, {a: 5}], map: {x: {b: 2}, y: {b: 6}}}"},
		"unknown fields go":           {"more: 1, spec: {shape: round, list: [{z: 1}]}", "spec: {size: 3, list: [{a: 1}]}"},
		"but not where they may be":   {"spec: {free: {x: {y: 1}, strict: {c: 1, d: 2}}}", "spec: {size: 3, free: {x: {y: 1}, strict: {c: 1}}}"},
		"status is written elsewhere": {"status: {phase: old}", "spec: {size: 3}"},
	} {
		t.Run(name, func(t *testing.T) {
			manifest := widget(t, test.manifest)
			before := manifest.DeepCopy()
			if diff := cmp.Diff(widget(t, test.want).Object, schema.Complete(manifest).Object); diff != "" {
				t.Errorf("completed (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before.Object, manifest.Object); diff != "" {
				t.Errorf("the manifest was changed (-before +after):\n%s", diff)
			}
		})
	}
}

// TestDefaultsAreNotShared checks that each object gets its own copy of a default that is a map.
func TestDefaultsAreNotShared(t *testing.T) {
	schema := schemaOf(t, "{type: object, properties: {spec: {type: object, default: {a: {b: 1}}, properties: {a: {type: object, properties: {b: {type: integer}}}}}}}")
	first := schema.Complete(widget(t, ""))
	if err := unstructured.SetNestedField(first.Object, int64(2), "spec", "a", "b"); err != nil {
		t.Fatal(err)
	}
	if got, _, _ := unstructured.NestedInt64(schema.Complete(widget(t, "")).Object, "spec", "a", "b"); got != 1 {
		t.Errorf("the default has become %d", got)
	}
}

func TestUnknown(t *testing.T) {
	schema := schemaOf(t, parts)
	refused, dropped := schema.Unknown(widget(t, "more: 1, spec: {list: [{a: 1}, {z: 1}], free: {x: 1, strict: {d: 1}}}"))
	var got []string
	for _, err := range refused {
		got = append(got, err.Error())
	}
	want := []string{"more: Forbidden: field not declared in schema", "spec.list[1].z: Forbidden: field not declared in schema"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("refused (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"spec.free.strict.d"}, dropped); diff != "" {
		t.Errorf("dropped (-want +got):\n%s", diff)
	}
}

func TestCheck(t *testing.T) {
	const schema = `{type: object, required: [spec], properties: {spec: {type: object, required: [a], properties: {
  a: {type: string, enum: [x, "y"]}, num: {type: integer, enum: [1, 2]},
  set: {type: array, x-kubernetes-list-type: set, items: {type: string}},
  inner: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true},
  inners: {type: array, items: {type: object, additionalProperties: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}}}}}}}`
	for name, test := range map[string]struct {
		scope    string
		manifest string
		want     []string
	}{
		"right":                 {"Namespaced", "{metadata: {name: w, namespace: ns}, spec: {a: x, inner: {apiVersion: v1, kind: Pod, metadata: {}}}}", nil},
		"all at once, by path":  {"Namespaced", "{metadata: {name: w, namespace: ns}, spec: {a: z, num: 3, set: [a, a]}}", []string{"spec.a: Unsupported value", "spec.num: Unsupported value: 3: supported values: \"1\", \"2\"", "spec.set[1]: Duplicate value"}},
		"required":              {"Namespaced", "{metadata: {name: w, namespace: ns}}", []string{"spec: Required value"}},
		"without its namespace": {"Namespaced", "{metadata: {name: w}, spec: {a: x}}", []string{"metadata.namespace: Required value"}},
		"in a namespace":        {"Cluster", "{metadata: {name: w, namespace: ns}, spec: {a: x}}", []string{"metadata.namespace: Forbidden"}},
		"without a name":        {"Cluster", "{metadata: {}, spec: {a: x}}", []string{"metadata.name: Required value"}},
		"a field of metadata":   {"Cluster", "{metadata: {name: w, shape: x}, spec: {a: x}}", []string{`metadata: Invalid value: "": strict decoding error: unknown field "shape"`}},
		"no metadata":           {"Cluster", "{spec: {a: x}}", []string{"metadata: Invalid value"}},
		"embedded objects": {"Cluster", "{metadata: {name: w}, spec: {a: x, inner: {apiVersion: a/b/c, kind: 'no kind'}, inners: [{one: {apiVersion: 1, metadata: {name: a/b}}, two: {apiVersion: '', kind: Pod, metadata: 3}}]}}", []string{
			"spec.inner.apiVersion: Invalid value: \"a/b/c\"", "spec.inner.kind: Invalid value: \"no kind\"",
			"spec.inners[0][one].apiVersion: Invalid value: 1: must be a string", "spec.inners[0][one].kind: Required value", "spec.inners[0][one].metadata.name: Invalid value: \"a/b\"",
			"spec.inners[0][two].apiVersion: Invalid value: \"\": must not be empty", "spec.inners[0][two].metadata: Invalid value",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := crd.Read(definition(t, test.scope, schema), "v1")
			if err != nil {
				t.Fatal(err)
			}
			u := objecttest.Read(t, strings.Replace(test.manifest, "{", "{apiVersion: example.org/v1, kind: Widget, ", 1))
			var got []string
			for _, err := range s.Check(s.Complete(u)) {
				got = append(got, err.Error())
			}
			if len(got) != len(test.want) {
				t.Fatalf("found %q, want %q", got, test.want)
			}
			for i, want := range test.want {
				if !strings.HasPrefix(got[i], want) {
					t.Errorf("fault %d is %q, want %q", i, got[i], want)
				}
			}
		})
	}
}
