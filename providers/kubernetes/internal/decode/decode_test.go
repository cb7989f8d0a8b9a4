package decode

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

const answer = `{"kind": "DeploymentList", "apiVersion": "apps/v1", "metadata": {"resourceVersion": "7", "continue": "token", "remainingItemCount": 3}, "items": [
	{"metadata": {"name": "a", "labels": {}, "managedFields": [{"fieldsV1": {"f:spec": {"f:a": {}, "f:b": {".": {}}}}}]}, "spec": {"n": 3, "f": 1.5, "big": 12345678901234567890, "e": 1e3, "l": [], "o": {}, "t": true, "z": null}},
	{"kind": "Other", "apiVersion": "v2", "metadata": {"name": "\u00e9\"\\\/\n\ud83d\ude00", "long": "0123456789012345678901234567890123456789"}},
	{}
]}
`

// FuzzParseList compares the parser with the decoder of client-go. It must give the same result for
// any list that client-go reads. It must refuse all other input, except lists of objects that only
// lack fields that client-go requires.
func FuzzParseList(f *testing.F) {
	for _, seed := range []string{
		answer, `{"kind": "ThingList", "apiVersion": "v1", "items": null}`, `{"kind":"ThingList","apiVersion":"v1","items":[]}`,
		`{"kind": "ThingList", "apiVersion": "v1", "items": [{"a": -0, "b": -1.50, "c": "\u0000", "a": 2}]}`,
		`{"kind": "ThingList", "apiVersion": "v1", "items": [{"a": 01}]}`, `{"items": [{"a": "` + "\xff" + `"}]}`, `{"items": [1]}`, `{"items": [{}]`, `[]`, ``, `{} {}`,
		`{"kind": "ThingList", "apiVersion": "v1", "items": [{"fieldsV1": [{}, {"a": {}}]}]}`,
		`{"kind": "ThingList", "apiVersion": "v1", "items": [{"a": {"b": 1}, "a": {"c": 1}}], "items": [{"d": 1}]}`,
		`{"items": [{"a": 1e999}]}`, `{"items": [{"a": +1}]}`, `{"items": [null]}`, `{"items": [{"a": "\ud800"}]}`, `{"metadata": 1}`, "{}\x00",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var want unstructured.UnstructuredList
		wantErr := want.UnmarshalJSON(raw)
		got := &List{}
		err := got.Parse(raw, func(string) {})
		if wantErr != nil {
			var content map[string]any
			if err == nil && (json.Unmarshal(raw, &content) != nil || !holdsObjects(content)) {
				t.Errorf("%q is read; client-go: %v", raw, wantErr)
			}
			return
		}
		if err != nil {
			t.Fatalf("%q: %v", raw, err)
		}
		if len(got.Items) != len(want.Items) {
			t.Fatalf("%q: %d items, want %d", raw, len(got.Items), len(want.Items))
		}
		for i := range want.Items {
			if !reflect.DeepEqual(want.Items[i].Object, got.Items[i].Object) {
				t.Errorf("%q: item %d (-want +got):\n%s", raw, i, cmp.Diff(want.Items[i].Object, got.Items[i].Object))
			}
		}
	})
}

// holdsObjects reports whether all items of a list are objects.
func holdsObjects(list map[string]any) bool {
	items, isList := list["items"].([]any)
	return (isList || list["items"] == nil) && !slices.ContainsFunc(items, func(item any) bool {
		_, isObject := item.(map[string]any)
		return !isObject
	})
}

func TestParseListAnnouncesTheNextPage(t *testing.T) {
	var order []string
	if err := new(List).Parse([]byte(answer), func(next string) { order = append(order, next) }); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"token"}, order); diff != "" {
		t.Errorf("announced (-want +got):\n%s", diff)
	}
}

func TestParseListRefuses(t *testing.T) {
	for _, text := range []string{
		"", "[]", "{", `{"items"}`, `{"items": }`, `{"items": [`, `{"items": [{}`, `{"items": [{},]}`, `{"items": [1]}`, `{"items": {}}`,
		`{"a": tru}`, `{"a": nul}`, `{"a": 1.}`, `{"a": --1}`, `{"a": "`, `{"a": "\`, `{"a": "\x"}`, "{\"a\": \"\n\"}", `{a: 1}`, `{"a": 1} x`, `{"a" 1}`, `{"a": 1,}`,
		`{"a": ` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}`,
	} {
		if err := new(List).Parse([]byte(text), func(string) {}); err == nil {
			t.Errorf("%.40q is read", text)
		}
	}
}

// FuzzDecode compares the decoder of a Serializer with the one that it contains: for the answer to a
// request, and for an event of a watch.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"kind": "Deployment", "apiVersion": "apps/v1", "metadata": {"name": "a", "managedFields": [{"fieldsV1": {"f:spec": {"f:a": {}}}}]}, "spec": {"n": 3, "f": 1.5}}`,
		`{"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "gone", "code": 410}`,
		`{"kind": "PodList", "apiVersion": "v1", "items": [{"metadata": {"name": "a"}}]}`, `{"kind": "Pod", "apiVersion": "v1"}`, `{"kind": "Pod", "apiVersion": "a/b/c"}`,
		`{"kind": "Pod"}`, `{"apiVersion": "v1"}`, `{"kind": 1, "apiVersion": "v1"}`, `{}`, `{"kind": "Pod", "apiVersion": "v1"} x`, `{"kind": "Pod", "apiVersion": "v1"`, `[]`, ``, `null`,
		`{"kind": "Pod", "kind": "Node", "apiVersion": "v1"}`, `{"KIND": "Pod", "apiVersion": "v1"}`, `{"kind": "Thing", "apiVersion": "v1", "items": 1}`,
	} {
		f.Add([]byte(seed))
	}
	plain := dynamic.ConfigFor(&rest.Config{}).NegotiatedSerializer
	kept := plain.DecoderToVersion(plain.SupportedMediaTypes()[0].Serializer, nil)
	fast := Serializer{plain}.DecoderToVersion(plain.SupportedMediaTypes()[0].Serializer, nil)
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, target := range []func() runtime.Object{
			func() runtime.Object { return nil },
			func() runtime.Object { return &unstructured.Unstructured{} },
		} {
			wanted, got := target(), target()
			want, wantKind, wantErr := kept.Decode(raw, nil, wanted)
			switch want.(type) {
			case nil, *unstructured.Unstructured, *unstructured.UnstructuredList, *metav1.Status:
			default:
				t.Skip("a server sends no options")
			}
			object, kind, err := fast.Decode(raw, nil, got)
			if (err == nil) != (wantErr == nil) {
				t.Fatalf("%q: got error %v, want %v", raw, err, wantErr)
			}
			if diff := cmp.Diff([]any{want, wantKind, wanted}, []any{object, kind, got}); err == nil && diff != "" {
				t.Errorf("%q (-want +got):\n%s", raw, diff)
			}
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	raw := []byte(`{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"web","namespace":"cloud","uid":"1","resourceVersion":"2","generation":1,"managedFields":[{"manager":"kolla","operation":"Apply","apiVersion":"apps/v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:replicas":{},"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"api\"}":{".":{},"f:args":{},"f:env":{},"f:image":{},"f:name":{},"f:ports":{},"f:resources":{},"f:volumeMounts":{}}},"f:volumes":{}}}}}}]},"spec":{"replicas":3,"template":{"spec":{"containers":[{"name":"api","image":"example.org/web:1","args":["--config","/etc/service.conf"],"env":[{"name":"REGION","value":"one"}],"ports":[{"containerPort":8080}],"resources":{"limits":{"memory":"512Mi"}},"volumeMounts":[{"name":"config","mountPath":"/etc/service"}]}],"volumes":[{"name":"config","configMap":{"name":"conf"}}]}}},"status":{"replicas":3}}`)
	plain := dynamic.ConfigFor(&rest.Config{}).NegotiatedSerializer
	for name, s := range map[string]runtime.NegotiatedSerializer{"client-go": plain, "decode": Serializer{plain}} {
		b.Run(name, func(b *testing.B) {
			d := s.DecoderToVersion(s.SupportedMediaTypes()[0].Serializer, nil)
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := d.Decode(raw, nil, &unstructured.Unstructured{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
