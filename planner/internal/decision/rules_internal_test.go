package decision

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"kolla.openstack.org/kolla/internal/objecttest"
	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/state"
)

// An apply in the declared version loses the fields that only the stored version has.
func TestMissing(t *testing.T) {
	divides := func(fieldpath.Path) bool { return true }
	tests := map[string]struct {
		stored, shown string
		divided       func(fieldpath.Path) bool // nil: no field
		want          string
	}{
		"the same":               {stored: "{spec: {a: 1}}", shown: "{spec: {a: 2}}"},
		"a field":                {stored: "{spec: {a: 1, b: 1}}", shown: "{spec: {a: 1}}", want: "spec.b"},
		"a field of null":        {stored: "{spec: {a: 1, b: null}}", shown: "{spec: {a: 1}}"},
		"a whole map":            {stored: "{spec: {b: {c: 1, d: 1}}}", shown: "{spec: {}}", want: "spec.b"},
		"a divided map":          {stored: "{spec: {b: {c: 1, d: 1}}}", shown: "{spec: {}}", divided: divides, want: "spec.b.c spec.b.d"},
		"a map of the other":     {stored: "{spec: {b: {c: 1, d: 1}}}", shown: "{spec: {b: {c: 1}}}", want: "spec.b.d"},
		"an empty map":           {stored: "{spec: {b: {}}}", shown: "{spec: {}}", divided: divides, want: "spec.b"},
		"a map that is a value":  {stored: "{spec: {b: {c: 1}}}", shown: "{spec: {b: 1}}"},
		"in a list":              {stored: "{spec: {l: [{a: 1, b: 1}]}}", shown: "{spec: {l: [{a: 1}]}}"},
		"metadata and status":    {stored: "{apiVersion: v2, kind: K, metadata: {labels: {a: b}}, status: {a: 1}}", shown: "{}"},
		"metadata of a template": {stored: "{spec: {metadata: {a: 1}}}", shown: "{spec: {}}", want: "spec.metadata"},
		"a spec that is missing": {stored: "{spec: {a: 1}, metadata: {}}", shown: "{metadata: {}}", want: "spec"},
		"only the other has it":  {stored: "{spec: {}}", shown: "{spec: {a: 1}}"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if test.divided == nil {
				test.divided = func(fieldpath.Path) bool { return false }
			}
			kind := "apiVersion: v1\nkind: K\n"
			read := func(text string) map[string]any {
				u := objecttest.Read(t, kind+"x: "+text)
				return u.Object["x"].(map[string]any)
			}
			var got []string
			for _, path := range missing(nil, read(test.stored), read(test.shown), test.divided) {
				got = append(got, fields.Text(path))
			}
			slices.Sort(got)
			if text := strings.Join(got, " "); text != test.want {
				t.Errorf("got %q, want %q", text, test.want)
			}
		})
	}
}

// A plan compares with the version that the server stores, if it can ask for it.
func TestStoredIn(t *testing.T) {
	const versions = "versions: [{name: v1, served: true, storage: false}, {name: v2, served: true, storage: true}]"
	tests := map[string]struct{ spec, want string }{
		"two versions":        {"{" + versions + ", group: example.org, names: {kind: Widget}}", "v2"},
		"not served":          {"{versions: [{name: v1, served: true, storage: false}, {name: v2, served: false, storage: true}], group: example.org, names: {kind: Widget}}", ""},
		"without a version":   {"{group: example.org, names: {kind: Widget}}", ""},
		"another kind":        {"{" + versions + ", group: example.org, names: {kind: Gadget}}", ""},
		"converted by a hook": {"{" + versions + ", group: example.org, names: {kind: Widget}, conversion: {strategy: Webhook}}", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			crd := objecttest.Read(t, "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: widgets.example.org}, spec: "+test.spec+"}")
			widget := objecttest.Read(t, "{apiVersion: example.org/v1, kind: Widget}")
			if got := storedIn([]*unstructured.Unstructured{crd})[widget.GroupVersionKind().GroupKind()]; got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// The patch of a dry run removes the fields of the live object and of the applied one.
func TestDryRunBase(t *testing.T) {
	tests := map[string]struct{ live, applied, want string }{
		"the applied values": {"{spec: {a: 1}}", "{spec: {a: 2}}", "{spec: {a: 2}}"},
		"a live field":       {"{spec: {a: 1}, rules: [1]}", "{spec: {a: 2}}", "{spec: {a: 2}, rules: [1]}"},
		"live labels":        {"{metadata: {labels: {a: b}, annotations: {c: d}, ownerReferences: [{name: o}]}}", "{metadata: {name: n}}", "{metadata: {name: n, labels: {a: b}, annotations: {c: d}, ownerReferences: [{name: o}]}}"},
		"other labels":       {"{metadata: {labels: {a: b}}}", "{metadata: {labels: {c: d}}}", "{metadata: {labels: {c: d}}}"},
		"other metadata":     {"{metadata: {finalizers: [x]}}", "{metadata: {name: n}}", "{metadata: {name: n}}"},
		"a version":          {"{metadata: {resourceVersion: \"1\"}}", "{metadata: {name: n, resourceVersion: \"2\"}}", "{metadata: {name: n}}"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			read := func(text string) *unstructured.Unstructured {
				return objecttest.Read(t, "{apiVersion: v1, kind: K, "+strings.TrimPrefix(text, "{"))
			}
			applied := read(test.applied)
			before := applied.DeepCopy()
			if diff := cmp.Diff(read(test.want), dryRunBase(read(test.live), applied)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, applied); diff != "" {
				t.Errorf("the applied object changes:\n%s", diff)
			}
		})
	}
}

// Somebody certainly wrote to an object since the last apply if its fingerprint differs, as the
// same server computes it.
func TestWrittenSince(t *testing.T) {
	live := objecttest.Read(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, uid: u}}")
	recorded := state.Fingerprint{Owned: "1", Server: "s"}
	tests := map[string]struct {
		since comparison
		uid   string // of the record; empty: as live
		known state.Fingerprint
		want  bool
	}{
		"as recorded":                    {since: comparison{done: true, clean: true, fingerprint: recorded}, known: recorded},
		"another fingerprint":            {since: comparison{done: true, fingerprint: state.Fingerprint{Owned: "2", Server: "s"}}, known: recorded, want: true},
		"another one of another server":  {since: comparison{done: true, fingerprint: state.Fingerprint{Owned: "2", Server: "t"}}, known: recorded},
		"no fields of kolla any more":    {since: comparison{done: true, fingerprint: state.Fingerprint{Server: "t"}}, known: recorded, want: true},
		"other values of a Secret":       {since: comparison{done: true, clean: true, altered: true, fingerprint: recorded}, known: recorded, want: true},
		"not compared":                   {since: comparison{fingerprint: state.Fingerprint{Owned: "2", Server: "s"}}, known: recorded},
		"no fingerprint in the state":    {since: comparison{done: true, fingerprint: recorded}},
		"another object than the record": {since: comparison{done: true, fingerprint: state.Fingerprint{Owned: "2", Server: "s"}}, uid: "former", known: recorded},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			object := &state.Object{UID: "u", Fingerprint: test.known}
			if test.uid != "" {
				object.UID = test.uid
			}
			s := &subject{since: test.since}
			s.draft.Live, s.draft.Record = live, &inventory.Record{State: object}
			if got := writtenSince(s); got != test.want {
				t.Errorf("got %v", got)
			}
		})
	}
}
