package proof

import (
	"encoding/json"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/providers"
)

// decoded decodes an object as a client does.
func decoded(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON([]byte(text)); err != nil {
		t.Fatalf("read %s: %v", text, err)
	}
	return u
}

// thing returns a live object with this content, in which kolla owns these fields.
func thing(t *testing.T, content, fields string) *unstructured.Unstructured {
	t.Helper()
	return decoded(t, `{"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "a", "managedFields": [
		{"manager": "other", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {"f:theirs": {}}},
		{"manager": "kolla", "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": `+fields+`}
	]}, `+strings.TrimPrefix(content, "{"))
}

// forms are owned fields in all forms that the server writes.
var forms = map[string]struct {
	fields string
	live   string
	// same are live contents in which kolla's fields are the same, other are contents in which they
	// differ.
	same, other []string
	want        string // a declaration whose apply certainly changes nothing
}{
	"scalar": {
		fields: `{"f:spec": {"f:a": {}}}`,
		live:   `{"spec": {"a": 1}}`,
		same:   []string{`{"spec": {"a": 1, "b": 2}}`, `{"spec": {"a": 1, "c": 1.0}, "status": {"a": 2}}`},
		other:  []string{`{"spec": {"a": 2}}`, `{"spec": {"a": "1"}}`, `{"spec": {"a": null}}`, `{"spec": {}}`, `{"spec": {"a": [1]}}`, `{"spec": "a"}`},
		want:   `{"spec": {"a": 1}}`,
	},
	"granular map": {
		fields: `{"f:labels": {".": {}, "f:a/b": {}, "f:c": {}}}`,
		live:   `{"labels": {"a/b": "1", "c": "2", "d": "3"}}`,
		same:   []string{`{"labels": {"c": "2", "a/b": "1"}}`},
		other:  []string{`{"labels": {"a/b": "2", "c": "1"}}`, `{"labels": {"a/b": "1"}}`, `{"labels": {"a/b": "12", "c": ""}}`},
		want:   `{"labels": {"a/b": "1", "c": "2"}}`,
	},
	"atomic map": {
		fields: `{"f:spec": {"f:selector": {}}}`,
		live:   `{"spec": {"selector": {"a": "b"}}}`,
		same:   []string{`{"spec": {"selector": {"a": "b"}, "more": 1}}`},
		other:  []string{`{"spec": {"selector": {"a": "b", "c": "d"}}}`, `{"spec": {"selector": {}}}`},
		want:   `{"spec": {"selector": {"a": "b"}}}`,
	},
	"empty map": {
		fields: `{"f:spec": {"f:emptyDir": {}}}`,
		live:   `{"spec": {"emptyDir": {}}}`,
		other:  []string{`{"spec": {"emptyDir": {"medium": "Memory"}}}`, `{"spec": {"emptyDir": null}}`, `{"spec": {"emptyDir": []}}`, `{"spec": {}}`},
		want:   `{"spec": {"emptyDir": {}}}`,
	},
	"atomic list": {
		fields: `{"f:spec": {"f:args": {}}}`,
		live:   `{"spec": {"args": ["a", "b"]}}`,
		other:  []string{`{"spec": {"args": ["b", "a"]}}`, `{"spec": {"args": ["a"]}}`, `{"spec": {"args": ["a", "b", "c"]}}`, `{"spec": {"args": []}}`},
		want:   `{"spec": {"args": ["a", "b"]}}`,
	},
	"list with a key": {
		fields: `{"f:spec": {"f:c": {"k:{\"name\":\"a\"}": {".": {}, "f:name": {}, "f:image": {}}, "k:{\"name\":\"b\"}": {".": {}, "f:name": {}}}}}`,
		live:   `{"spec": {"c": [{"name": "b", "image": "theirs"}, {"name": "a", "image": "i"}]}}`,
		same:   []string{`{"spec": {"c": [{"name": "z"}, {"name": "b"}, {"name": "y"}, {"name": "a", "image": "i", "more": 1}]}}`},
		other: []string{
			`{"spec": {"c": [{"name": "a", "image": "i"}, {"name": "b"}]}}`, `{"spec": {"c": [{"name": "b"}, {"name": "a", "image": "j"}]}}`,
			`{"spec": {"c": [{"name": "b"}, {"name": "a"}]}}`, `{"spec": {"c": [{"name": "a", "image": "i"}]}}`, `{"spec": {"c": []}}`, `{"spec": {"c": {"name": "a"}}}`,
		},
		want: `{"spec": {"c": [{"name": "b"}, {"name": "a", "image": "i"}]}}`,
	},
	"list with several keys": {
		fields: `{"f:spec": {"f:ports": {"k:{\"port\":53,\"protocol\":\"TCP\"}": {".": {}, "f:port": {}, "f:protocol": {}}, "k:{\"port\":53,\"protocol\":\"UDP\"}": {".": {}, "f:port": {}, "f:protocol": {}, "f:name": {}}}}}`,
		live:   `{"spec": {"ports": [{"port": 53, "protocol": "UDP", "name": "u"}, {"port": 53, "protocol": "TCP", "name": "theirs"}]}}`,
		same:   []string{`{"spec": {"ports": [{"port": 54, "protocol": "UDP"}, {"port": 53, "protocol": "UDP", "name": "u"}, {"port": 53, "protocol": "TCP"}]}}`},
		other:  []string{`{"spec": {"ports": [{"port": 53, "protocol": "TCP"}, {"port": 53, "protocol": "UDP", "name": "u"}]}}`, `{"spec": {"ports": [{"port": 53, "protocol": "UDP", "name": "u"}]}}`},
		want:   `{"spec": {"ports": [{"port": 53, "protocol": "UDP", "name": "u"}, {"port": 53, "protocol": "TCP"}]}}`,
	},
	"set": {
		fields: `{"f:finalizers": {"v:\"a\"": {}, "v:\"b\"": {}, "v:3": {}}}`,
		live:   `{"finalizers": ["b", 3, "a"]}`,
		same:   []string{`{"finalizers": ["x", "b", 3, "y", "a"]}`},
		other:  []string{`{"finalizers": ["a", "b", 3]}`, `{"finalizers": ["b", "3", "a"]}`},
		want:   `{"finalizers": ["b", 3, "a"]}`,
	},
	"map in a list in a map": {
		fields: `{"f:a": {"f:b": {"k:{\"n\":1}": {".": {}, "f:n": {}, "f:d": {"f:e": {}, "f:f": {"v:true": {}}}}}}}`,
		live:   `{"a": {"b": [{"n": 1, "d": {"e": 1.5, "f": [true]}}]}}`,
		same:   []string{`{"a": {"b": [{"n": 1, "d": {"e": 1.5, "f": [true, false], "g": 0}}]}}`},
		other:  []string{`{"a": {"b": [{"n": 1, "d": {"e": 1.25, "f": [true]}}]}}`, `{"a": {"b": [{"n": 1, "d": {"e": 1.5, "f": []}}]}}`},
		want:   `{"a": {"b": [{"n": 1, "d": {"e": 1.5, "f": [true]}}]}}`,
	},
	"field that the server has left out": {
		fields: `{"f:spec": {"f:a": {}, "f:gone": {}, "f:list": {"k:{\"n\":1}": {"f:n": {}}}}}`,
		live:   `{"spec": {"a": 1}}`,
		other:  []string{`{"spec": {"a": 1, "gone": 0}}`, `{"spec": {"a": 1, "list": [{"n": 1}]}}`, `{"spec": {"a": 1, "gone": null}}`},
	},
}

// TestFingerprintIsOfAll checks that every addition to an object, and every change of it, changes
// the fingerprint.
func TestFingerprintIsOfAll(t *testing.T) {
	for name, test := range forms {
		t.Run(name, func(t *testing.T) {
			want, ok := hashOwned(thing(t, test.live, test.fields), "kolla", Terms{})
			if !ok || len(want) != 64 {
				t.Fatalf("fingerprint is %q, %t", want, ok)
			}
			seen := map[string]string{want: test.live}
			for _, content := range append(test.same, test.other...) {
				got, ok := hashOwned(thing(t, content, test.fields), "kolla", Terms{})
				if other, taken := seen[got]; taken || !ok {
					t.Errorf("of %s it is %t and the same as of %s", content, ok, other)
				}
				seen[got] = content
			}
		})
	}
}

func TestHoldingAllThatIsDeclared(t *testing.T) {
	manifest := func(t *testing.T, content string) *unstructured.Unstructured {
		return decoded(t, `{"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "a"}, `+strings.TrimPrefix(content, "{"))
	}
	for name, test := range forms {
		t.Run(name, func(t *testing.T) {
			if test.want == "" {
				if Holds(thing(t, test.live, test.fields), manifest(t, test.live), "kolla") {
					t.Error("it is not certain, and said to be")
				}
				return
			}
			for _, content := range append(test.same, test.live) {
				if !Holds(thing(t, content, test.fields), manifest(t, test.want), "kolla") {
					t.Errorf("%s does not hold %s", content, test.want)
				}
			}
			for _, content := range test.other {
				if Holds(thing(t, content, test.fields), manifest(t, test.want), "kolla") {
					t.Errorf("%s holds %s", content, test.want)
				}
				// The declared fields differ from the owned fields.
				if test.other[0] != content && Holds(thing(t, test.live, test.fields), manifest(t, content), "kolla") {
					t.Errorf("%s holds %s", test.live, content)
				}
			}
		})
	}
}

// TestNotHoldingWhatIsDeclared checks that a plan must ask the server if the declared fields and
// the owned fields differ.
func TestNotHoldingWhatIsDeclared(t *testing.T) {
	const list = `{"f:l": {"k:{\"n\":1}": {".": {}, "f:n": {}}, "k:{\"n\":2}": {".": {}, "f:n": {}}}}`
	tests := map[string]struct{ fields, live, want string }{
		"one field more":           {`{"f:a": {}}`, `{"a": 1, "b": 2}`, `{"a": 1, "b": 2}`},
		"one field less":           {`{"f:a": {}, "f:b": {}}`, `{"a": 1, "b": 2}`, `{"a": 1}`},
		"a null":                   {`{"f:a": {}}`, `{"a": null}`, `{"a": null}`},
		"a null within":            {`{"f:a": {}}`, `{"a": {"b": null}}`, `{"a": {"b": null}}`},
		"another quantity":         {`{"f:a": {}}`, `{"a": "1Gi"}`, `{"a": "1024Mi"}`},
		"an element more":          {list, `{"l": [{"n": 1}, {"n": 2}, {"n": 3}]}`, `{"l": [{"n": 1}, {"n": 2}, {"n": 3}]}`},
		"an element less":          {list, `{"l": [{"n": 1}, {"n": 2}]}`, `{"l": [{"n": 1}]}`},
		"an element twice":         {list, `{"l": [{"n": 1}, {"n": 2}]}`, `{"l": [{"n": 1}, {"n": 1}]}`},
		"a key that has a default": {`{"f:l": {"k:{\"n\":1,\"p\":\"TCP\"}": {".": {}, "f:n": {}}}}`, `{"l": [{"n": 1, "p": "TCP"}]}`, `{"l": [{"n": 1}]}`},
		"another order":            {list, `{"l": [{"n": 1}, {"n": 2}]}`, `{"l": [{"n": 2}, {"n": 1}]}`},
		"only the container":       {`{"f:a": {".": {}}}`, `{"a": {}}`, `{"a": {}}`},
		"two forms":                {`{"f:a": {"v:1": {}, "f:b": {}}}`, `{"a": [1]}`, `{"a": [1]}`},
		"no key":                   {`{"f:a": {"k:{}": {"f:b": {}}}}`, `{"a": [{"b": 1}]}`, `{"a": [{"b": 1}]}`},
		"no JSON":                  {`{"f:a": {"k:{": {"f:b": {}}}}`, `{"a": [{"b": 1}]}`, `{"a": [{"b": 1}]}`},
		"no set":                   {`{"f:a": 1}`, `{"a": 1}`, `{"a": 1}`},
		"scalars with fields":      {`{"f:a": {"v:1": {"f:b": {}}}}`, `{"a": [1]}`, `{"a": [1]}`},
		"a map that is a scalar":   {`{"f:a": {"f:b": {}}}`, `{"a": 1}`, `{"a": 1}`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			live := thing(t, test.live, test.fields)
			manifest := decoded(t, `{"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "a"}, `+test.want[1:])
			if Holds(live, manifest, "kolla") {
				t.Error("it is said to be certain")
			}
		})
	}
}

// TestNoFingerprint checks that there is no fingerprint if it is not certain which fields kolla
// owns.
func TestNoFingerprint(t *testing.T) {
	entry := func(change string) string {
		fields := map[string]any{"manager": "kolla", "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": map[string]any{"f:a": map[string]any{}}}
		if err := json.Unmarshal([]byte(change), &fields); err != nil {
			t.Fatal(err)
		}
		raw, _ := json.Marshal(fields)
		return string(raw)
	}
	tests := map[string]string{
		"nobody":          ``,
		"another manager": entry(`{"manager": "kubectl"}`),
		"an update":       entry(`{"operation": "Update"}`),
		"a subresource":   entry(`{"subresource": "status"}`),
		"another version": entry(`{"apiVersion": "v1beta1"}`),
		"another format":  entry(`{"fieldsType": "FieldsV2"}`),
		"two entries":     entry(`{}`) + "," + entry(`{"apiVersion": "v1beta1"}`),
	}
	for name, entries := range tests {
		t.Run(name, func(t *testing.T) {
			u := decoded(t, `{"apiVersion": "v1", "kind": "Thing", "metadata": {"managedFields": [`+entries+`]}, "a": 1, "l": [{"n": 1}, {"n": 1}], "s": [1, 1]}`)
			if sum, ok := hashOwned(u, "kolla", Terms{}); ok {
				t.Errorf("it is %s", sum)
			}
		})
	}
}

// TestFingerprintSaysNothingOfSecrets checks that a fingerprint depends on the keys of a Secret,
// and not on its values or on data that is derived from them.
func TestFingerprintSaysNothingOfSecrets(t *testing.T) {
	secret := func(data, checksum, kind string) string {
		u := decoded(t, `{"apiVersion": "v1", "kind": "Secret", "type": "`+kind+`", "metadata": {"annotations": {"`+providers.AnnotationChecksum+`": "`+checksum+`"}, "managedFields": [
			{"manager": "kolla", "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1":
				{"f:type": {}, "f:data": {"f:password": {}}, "f:metadata": {"f:annotations": {"f:`+providers.AnnotationChecksum+`": {}}}}}]}, "data": `+data+`}`)
		sum, ok := hashOwned(u, "kolla", Terms{})
		if !ok {
			t.Fatal("there is no fingerprint")
		}
		return sum
	}
	first := secret(`{"password": "YQ=="}`, "one", "Opaque")
	if secret(`{"password": "Yg=="}`, "two", "Opaque") != first {
		t.Error("another value is another fingerprint")
	}
	if secret(`{"password": "YQ=="}`, "one", "example.org/other") == first {
		t.Error("another type is the same fingerprint")
	}
}

// TestValuesOfSecretsAreCompared checks that kolla compares the values that a fingerprint does not
// cover.
func TestValuesOfSecretsAreCompared(t *testing.T) {
	const live = `{"apiVersion": "v1", "kind": "Secret", "metadata": {"annotations": {"kolla.openstack.org/checksum": "one"}}, "data": {"password": "YQ==", "theirs": "Yg=="}}`
	for text, want := range map[string]bool{
		live: true,
		strings.Replace(live, `, "theirs": "Yg=="`, "", 1): true,
		strings.Replace(live, "YQ==", "Yg==", 1):           false,
		strings.Replace(live, `"one"`, `"two"`, 1):         false,
		strings.Replace(live, "theirs", "ours", 1):         false,
		strings.Replace(live, `"data"`, `"stringData"`, 1): false,
	} {
		if got := SameValues(decoded(t, live), decoded(t, text)); got != want {
			t.Errorf("of %s: %t", text, got)
		}
	}
}
