package fields_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/internal/dev/objecttest"
	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/plans"
)

func TestTrim(t *testing.T) {
	const text = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a","annotations":{"x/y":"1"}},"spec":{"replicas":3,"template":{"spec":{"containers":[
		{"name":"api","image":"i:1","ports":[{"containerPort":1,"protocol":"TCP"},{"containerPort":1,"protocol":"UDP"}]},{"name":"side","image":"s:1"}]}}}}`
	const container = `"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"api\"}":`
	tests := map[string]struct {
		ownedFields []string
		value       any
		want        string // replaces the part before |, which is then cut
	}{
		"a value":                          {ownedFields: []string{`{"f:spec":{"f:replicas":{}}}`}, want: `"replicas":3,|`},
		"what gets empty":                  {ownedFields: []string{`{"f:metadata":{"f:annotations":{"f:x/y":{}}}}`}, want: `,"annotations":{"x/y":"1"}|`},
		"a field of an element":            {ownedFields: []string{`{` + container + `{"f:image":{}}}}}}}`}, want: `"image":"i:1",|`},
		"an element of several keys":       {ownedFields: []string{`{` + container + `{"f:ports":{"k:{\"containerPort\":1,\"protocol\":\"UDP\"}":{"f:protocol":{}}}}}}}}}`}, want: `,{"containerPort":1,"protocol":"UDP"}|`},
		"a key alone is not cut":           {ownedFields: []string{`{` + container + `{"f:name":{}}}}}}}`}, want: `|`},
		"an element, once nothing is left": {ownedFields: []string{strings.ReplaceAll(`{`+container+`{"f:name":{}}}}}}}`, "api", "side"), strings.ReplaceAll(`{`+container+`{"f:image":{}}}}}}}`, "api", "side")}, want: `,{"name":"side","image":"s:1"}|`},
		"what is not there":                {ownedFields: []string{`{"f:spec":{"f:paused":{}}}`}, want: `|`},
		"a value that is kept":             {ownedFields: []string{`{"f:spec":{"f:replicas":{}}}`}, value: int64(5), want: `"replicas":3|"replicas":5`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			manifest := objecttest.Read(t, text)
			var yields []plans.Yield
			for _, field := range test.ownedFields {
				yields = append(yields, plans.Yield{Field: field, Value: test.value})
			}
			got, err := fields.Trim(manifest, yields)
			if err != nil {
				t.Fatal(err)
			}
			old, replacement, _ := strings.Cut(test.want, "|")
			want := objecttest.Read(t, strings.Replace(text, old, replacement, 1))
			if diff := cmp.Diff(want.Object, got.Object); diff != "" {
				t.Errorf("what is sent (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(objecttest.Read(t, text).Object, manifest.Object); diff != "" {
				t.Errorf("the manifest itself was changed:\n%s", diff)
			}
		})
	}
	if _, err := fields.Trim(objecttest.Read(t, text), []plans.Yield{{Path: "x", Field: "{"}}); err == nil {
		t.Error("a yield that cannot be read is no error")
	}
}
