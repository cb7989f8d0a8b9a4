package fields

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"kolla.openstack.org/kolla/internal/dev/objecttest"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// TestExtras checks which fields a manager does not own, for all shapes of managedFields. A field
// that the manager does not own is listed once, without the fields below it.
func TestExtras(t *testing.T) {
	tests := map[string]struct {
		owned, others string // FieldsV1
		live          string // below spec
		manifest      string
		want          []string
	}{
		"all owned":          {owned: `{"f:a": {}}`, live: `{a: 1}`},
		"a field":            {owned: `{"f:a": {}}`, live: `{a: 1, b: {c: 2}}`, want: []string{"spec.b"}},
		"inside of a map":    {owned: `{"f:a": {"f:x": {}}}`, live: `{a: {x: 1, z: 2}}`, want: []string{"spec.a.z"}},
		"inside of one leaf": {owned: `{"f:a": {}}`, manifest: `{a: {x: 1}}`, live: `{a: {x: 1}}`},
		"an element":         {owned: `{"f:l": {"k:{\"name\":\"a\"}": {".": {}, "f:name": {}}}}`, live: `{l: [{name: a}, {name: b, image: i}]}`, want: []string{`spec.l["b"]`}},
		"in an element":      {owned: `{"f:l": {"k:{\"name\":\"a\"}": {".": {}, "f:name": {}}}}`, live: `{l: [{name: a, image: i}]}`, want: []string{`spec.l["a"].image`}},
		"of a set":           {owned: `{"f:l": {"v:\"a\"": {}}}`, live: `{l: [a, b]}`, want: []string{`spec.l["b"]`}},
		"a whole list":       {owned: `{"f:a": {}}`, live: `{a: 1, l: [{name: b}]}`, want: []string{"spec.l"}},
		"an atomic list":     {owned: `{"f:l": {}}`, manifest: `{l: [1]}`, live: `{l: [1, 2]}`},
		"declared as empty": {
			owned: `{"f:a": {}}`, manifest: `{a: {}}`, live: `{a: {x: 1}}`, want: []string{"spec.a.x"},
		},
		"an empty list that others filled": {
			owned: `{"f:a": {}}`, others: `{"f:l": {"k:{\"name\":\"b\"}": {".": {}, "f:name": {}}}}`,
			manifest: `{a: 1, l: []}`, live: `{a: 1, l: [{name: b}]}`, want: []string{`spec.l["b"]`},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			others := ""
			if test.others != "" {
				others = `, {manager: x, operation: Update, apiVersion: example.org/v1, fieldsType: FieldsV1, fieldsV1: {"f:spec": ` + test.others + `}}`
			}
			live := objecttest.Read(t, `{apiVersion: example.org/v1, kind: Thing, metadata: {name: a, managedFields: [{manager: kolla, operation: Apply, apiVersion: example.org/v1, fieldsType: FieldsV1, fieldsV1: {"f:spec": `+test.owned+`}}`+others+`]}, spec: `+test.live+`}`)
			manifest := objecttest.Read(t, `{apiVersion: example.org/v1, kind: Thing, metadata: {name: a}}`)
			if test.manifest != "" {
				manifest = objecttest.Read(t, `{apiVersion: example.org/v1, kind: Thing, metadata: {name: a}, spec: `+test.manifest+`}`)
			}
			var got []string
			for _, path := range Extras(live, manifest, "kolla", fieldpath.NewSet(), nil, false) {
				if text := Text(path); text != "apiVersion" && text != "kind" {
					got = append(got, text)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("extras (-want +got):\n%s", diff)
			}
		})
	}
}

// TestBare checks that fields that are declared as empty and were filled are removed, and that all
// other fields stay.
func TestBare(t *testing.T) {
	manifest := objecttest.Read(t, `{apiVersion: example.org/v1, kind: Thing, metadata: {name: a}, spec: {keep: 1, empty: {}}}`)
	for fields, want := range map[string]bool{
		`{"f:spec": {"f:empty": {"f:x": {}}}}`: true,
		`{"f:spec": {"f:other": {}}}`:          false,
	} {
		bare, differs, err := Bare(manifest, fields)
		if err != nil || differs != want {
			t.Errorf("%s: differs %t, %v", fields, differs, err)
		}
		_, there, _ := unstructured.NestedFieldNoCopy(bare.Object, "spec", "empty")
		if there == want {
			t.Errorf("%s: spec is %v", fields, bare.Object["spec"])
		}
	}
	if _, _, err := Bare(manifest, "{"); err == nil {
		t.Error("what is no set is taken for one")
	}
}
