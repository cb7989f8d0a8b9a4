package extract_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"kolla.openstack.org/kolla/planner/extract"
)

func decoded[T any](t *testing.T, text string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

var everything = extract.Mask{
	Placeholder: "***",
	Sensitive:   func(path []string) bool { return path != nil && path[len(path)-1] == "secret" },
	Unknown:     func(_ []string, value any) bool { return value == "later" },
}

func TestTake(t *testing.T) {
	tests := map[string]struct{ object, fields, want, sensitive, unknown string }{
		"a field":           {object: `{"a":1,"b":2}`, fields: `{"f:a":{}}`, want: `{"a":1}`},
		"a whole map":       {object: `{"a":{"x":1,"y":[1]}}`, fields: `{"f:a":{}}`, want: `{"a":{"x":1,"y":[1]}}`},
		"a part of a map":   {object: `{"a":{"x":1,"y":2}}`, fields: `{"f:a":{".":{},"f:x":{}}}`, want: `{"a":{"x":1}}`},
		"what is not there": {object: `{"a":{}}`, fields: `{"f:a":{"f:x":{}},"f:b":{}}`, want: `{"a":{}}`},
		"null":              {object: `{"a":null}`, fields: `{"f:a":{"f:x":{}}}`, want: `{"a":null}`},
		"an element, with its key": {
			object: `{"l":[{"n":"a","x":1,"y":1},{"n":"b","x":2,"y":2}]}`, fields: `{"f:l":{"k:{\"n\":\"b\"}":{"f:x":{}}}}`, want: `{"l":[{"n":"b","x":2}]}`,
		},
		"an element and no more": {
			object: `{"l":[{"n":"b","x":2}]}`, fields: `{"f:l":{"k:{\"n\":\"b\"}":{".":{}}}}`, want: `{"l":[{"n":"b"}]}`,
		},
		"a whole element": {
			object: `{"l":[{"n":"b","x":2}]}`, fields: `{"f:l":{"k:{\"n\":\"b\"}":{}}}`, want: `{"l":[{"n":"b","x":2}]}`,
		},
		"two keys, one left to its default": {
			object: `{"l":[{"p":80,"x":1},{"p":53,"q":"UDP","x":2},{"p":53,"q":"TCP","x":3}]}`,
			fields: `{"f:l":{"k:{\"p\":80,\"q\":\"TCP\"}":{"f:x":{}},"k:{\"p\":53,\"q\":\"TCP\"}":{"f:x":{}}}}`,
			want:   `{"l":[{"p":80,"x":1},{"p":53,"q":"TCP","x":3}]}`,
		},
		"scalars in their order": {object: `{"l":["c","a","b"]}`, fields: `{"f:l":{"v:\"a\"":{},"v:\"c\"":{}}}`, want: `{"l":["c","a"]}`},
		"an index":               {object: `{"l":["c","a"]}`, fields: `{"f:l":{"i:1":{}}}`, want: `{"l":["a"]}`},
		"secrets": {
			object: `{"secret":"s","l":[{"secret":"s"},{"x":1}],"m":{"secret":{"x":"s"}}}`, fields: `{"f:secret":{},"f:l":{},"f:m":{"f:secret":{"f:x":{}}}}`,
			want:      `{"secret":"***","l":[{"secret":"***"},{"x":1}],"m":{"secret":"***"}}`,
			sensitive: `{"secret":true,"l":[{"secret":true},false],"m":{"secret":true}}`,
		},
		"unknown values": {
			object: `{"a":"later","b":["x","later"],"secret":"later"}`, fields: `{"f:a":{},"f:b":{},"f:secret":{}}`,
			want: `{"b":["x",null]}`, unknown: `{"a":true,"b":[false,true],"secret":true}`, sensitive: `{"secret":true}`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := everything.Take(decoded[map[string]any](t, test.object), decoded[extract.Fields](t, test.fields))
			want := extract.Part{Values: decoded[map[string]any](t, test.want)}
			if test.sensitive != "" {
				want.Sensitive = decoded[map[string]any](t, test.sensitive)
			}
			if test.unknown != "" {
				want.Unknown = decoded[map[string]any](t, test.unknown)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("taken (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTakeNothing(t *testing.T) {
	if got := everything.Take(map[string]any{"a": 1}, nil); len(got.Values) > 0 {
		t.Errorf("it takes %v", got.Values)
	}
}

// TestTakeOrder checks that the order of a list can be taken without the other fields of its
// elements.
func TestTakeOrder(t *testing.T) {
	order, err := extract.OrderAt(fieldpath.MakePathOrDie("l"))
	if err != nil {
		t.Fatal(err)
	}
	object := decoded[map[string]any](t, `{"l":[{"n":"b","x":2},{"n":"a","x":1}],"m":["z","y"]}`)
	fields := extract.Union(order, decoded[extract.Fields](t, `{"f:l":{"k:{\"n\":\"a\"}":{"f:x":{}}}}`))
	if diff := cmp.Diff(decoded[map[string]any](t, `{"l":[{"n":"b"},{"n":"a","x":1}]}`), everything.Take(object, fields).Values); diff != "" {
		t.Errorf("taken (-want +got):\n%s", diff)
	}
}

func TestUnion(t *testing.T) {
	tests := []struct{ a, b, want string }{
		{`{"f:a":{}}`, `{"f:b":{"f:c":{}}}`, `{"f:a":{},"f:b":{"f:c":{}}}`},
		{`{"f:a":{"f:x":{}}}`, `{"f:a":{"f:y":{}}}`, `{"f:a":{"f:x":{},"f:y":{}}}`},
		{`{"f:a":{"f:x":{}}}`, `{"f:a":{}}`, `{"f:a":{}}`},
		{`null`, `{"f:a":{}}`, `{"f:a":{}}`},
	}
	for _, test := range tests {
		a, b := decoded[extract.Fields](t, test.a), decoded[extract.Fields](t, test.b)
		for _, got := range []extract.Fields{extract.Union(a, b), extract.Union(b, a)} {
			if diff := cmp.Diff(decoded[extract.Fields](t, test.want), got); diff != "" {
				t.Errorf("%s and %s (-want +got):\n%s", test.a, test.b, diff)
			}
		}
		if diff := cmp.Diff(decoded[extract.Fields](t, test.a), a); diff != "" {
			t.Errorf("%s was changed: %s", test.a, diff)
		}
	}
}

func TestManaged(t *testing.T) {
	object := decoded[map[string]any](t, `{"metadata":{"managedFields":[
		{"manager":"kolla","operation":"Apply","fieldsV1":{"f:a":{}}},
		{"manager":"kolla","operation":"Apply","subresource":"status","fieldsV1":{"f:status":{}}},
		{"manager":"kubectl","operation":"Update","fieldsV1":{"f:b":{}}},
		{"manager":"kolla","operation":"Update","fieldsV1":{"f:c":{}}},
		{"manager":"kolla"}, 7]}}`)
	got := extract.Managed(object, func(e extract.Entry) bool { return e.Manager == "kolla" && e.Subresource == "" })
	if diff := cmp.Diff(decoded[extract.Fields](t, `{"f:a":{},"f:c":{}}`), got); diff != "" {
		t.Errorf("managed (-want +got):\n%s", diff)
	}
}

func TestOverlay(t *testing.T) {
	tests := map[string]struct{ base, top, fields, want string }{
		"changed":   {`{"a":1,"b":1}`, `{"a":2,"b":2}`, `{"f:a":{}}`, `{"a":2,"b":1}`},
		"added":     {`{}`, `{"a":{"x":1}}`, `{"f:a":{}}`, `{"a":{"x":1}}`},
		"taken out": {`{"a":1,"b":{"x":1,"y":1}}`, `{"b":{"y":2}}`, `{"f:a":{},"f:b":{"f:x":{}}}`, `{"b":{"y":1}}`},
		"an element changed": {
			`{"l":[{"n":"a","x":1,"y":1},{"n":"b","x":1}]}`, `{"l":[{"n":"b","x":2},{"n":"a","x":2,"y":2}]}`,
			`{"f:l":{"k:{\"n\":\"a\"}":{"f:x":{}}}}`, `{"l":[{"n":"a","x":2,"y":1},{"n":"b","x":1}]}`,
		},
		"an element taken out": {
			`{"l":[{"n":"a"},{"n":"b"}]}`, `{"l":[{"n":"b"}]}`, `{"f:l":{"k:{\"n\":\"a\"}":{}}}`, `{"l":[{"n":"b"}]}`,
		},
		"elements added in their places": {
			`{"l":[{"n":"a"},{"n":"d"}]}`, `{"l":[{"n":"z"},{"n":"a"},{"n":"b"},{"n":"c"},{"n":"d"}]}`,
			`{"f:l":{"k:{\"n\":\"z\"}":{},"k:{\"n\":\"b\"}":{},"k:{\"n\":\"c\"}":{}}}`, `{"l":[{"n":"z"},{"n":"a"},{"n":"b"},{"n":"c"},{"n":"d"}]}`,
		},
		"another order": {
			`{"l":[{"n":"a","x":1},{"n":"o"},{"n":"b","x":1}]}`, `{"l":[{"n":"b","x":2},{"n":"a","x":2}]}`,
			`{"f:l":{"#":{},"k:{\"n\":\"a\"}":{".":{}}}}`, `{"l":[{"n":"b","x":1},{"n":"o"},{"n":"a","x":1}]}`,
		},
		"a scalar": {`{"l":["a","b"]}`, `{"l":["b","c"]}`, `{"f:l":{"v:\"a\"":{},"v:\"c\"":{}}}`, `{"l":["b","c"]}`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			base, top := decoded[map[string]any](t, test.base), decoded[map[string]any](t, test.top)
			got := extract.Overlay(base, top, decoded[extract.Fields](t, test.fields))
			if diff := cmp.Diff(decoded[map[string]any](t, test.want), got); diff != "" {
				t.Errorf("overlaid (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(decoded[map[string]any](t, test.base), base); diff != "" {
				t.Errorf("the object below was changed: %s", diff)
			}
		})
	}
}
