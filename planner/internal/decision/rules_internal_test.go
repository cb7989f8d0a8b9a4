package decision

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"kolla.openstack.org/kolla/internal/dev/objecttest"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/internal/outcome"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// TestMissing checks which fields an apply in the declared version would lose, because only the
// stored version has them.
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

// TestStoredIn checks that a plan compares with the version that the server stores, if it can ask
// for this version.
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

// TestDryRunBase checks that the patch of a dry run removes the fields of the live object and of
// the applied object.
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

// TestWrittenSince checks that another client certainly wrote to an object since the last apply if
// its fingerprint differs on the same server.
func TestWrittenSince(t *testing.T) {
	live := objecttest.Read(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, uid: u}}")
	recorded := state.Fingerprint{Owned: "1", Server: "s"}
	tests := map[string]struct {
		since comparison
		uid   string // of the record; empty: the live UID
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

// found returns the outcome of an unchanged object of service.a that kolla created.
func found(t *testing.T, kind, name string) *outcome.Outcome {
	t.Helper()
	apiVersion := "apps/v1"
	if kind == "Job" {
		apiVersion = "batch/v1"
	}
	live := objecttest.Read(t, "{apiVersion: "+apiVersion+", kind: "+kind+", metadata: {name: "+name+", uid: u}}")
	object := &providers.Object{Address: objecttest.Address(t, "service.a/"+kind+"/"+name), Manifest: live}
	known := &state.Object{Address: object.Address.String(), UID: "u", Ready: true}
	return &outcome.Outcome{
		Object: object, Live: live, Ours: true, Record: &inventory.Record{State: known},
		Action: plans.Action{Address: object.Address, Object: object, Ref: object.Ref(), Verb: plans.None},
	}
}

// TestTriggeredBy checks that an object with replace_triggered_by is replaced if this plan, or an
// earlier round of its apply, changes one of its triggers. A new, adopted or refused object is not
// affected, nor is an object that the plan replaces for another reason.
func TestTriggeredBy(t *testing.T) {
	const conf = "service.a/Deployment/conf"
	changed := []plans.Change{{Path: "spec.x"}}
	moved := []plans.Change{{Path: `metadata.annotations["kolla.openstack.org/address"]`}}
	tests := map[string]struct {
		named   string // by replace_triggered_by; empty: conf
		trigger func(o *outcome.Outcome)
		object  func(o *outcome.Outcome)
		before  string // of an earlier round
		kind    string // of the object; empty: Deployment
		want    string // the entry; empty: it is not replaced
	}{
		"an update":                  {trigger: func(o *outcome.Outcome) { o.Action.Verb, o.Action.Changes = plans.Update, changed }, want: conf},
		"an update of the block":     {named: "service.a", trigger: func(o *outcome.Outcome) { o.Action.Verb, o.Action.Changes = plans.Update, changed }, want: "service.a"},
		"a creation":                 {trigger: func(o *outcome.Outcome) { o.Action.Verb = plans.Create }, want: conf},
		"a replacement":              {trigger: func(o *outcome.Outcome) { o.Action.Verb = plans.Replace }, want: conf},
		"another address only":       {trigger: func(o *outcome.Outcome) { o.Action.Verb, o.Action.Changes = plans.Adopt, moved }},
		"no change":                  {},
		"a change of another one":    {named: "service.b", trigger: func(o *outcome.Outcome) { o.Action.Verb = plans.Create }},
		"an earlier round":           {before: conf, want: conf},
		"an object that changes":     {trigger: create, object: func(o *outcome.Outcome) { o.Action.Verb = plans.Update }, want: conf},
		"an object that moved":       {trigger: create, object: func(o *outcome.Outcome) { o.Action.Verb = plans.Adopt }, want: conf},
		"an object that is adopted":  {trigger: create, object: func(o *outcome.Outcome) { o.Action.Verb, o.Ours = plans.Adopt, false }},
		"an object that is replaced": {trigger: create, object: func(o *outcome.Outcome) { o.Action.Verb = plans.Replace }},
		"an object that is refused":  {trigger: create, object: func(o *outcome.Outcome) { o.Action.Verb = "" }},
		"a new object":               {trigger: create, object: func(o *outcome.Outcome) { o.Live, o.Action.Verb = nil, plans.None }},
		"a Job that was cleaned up":  {trigger: create, kind: "Job", object: func(o *outcome.Outcome) { o.Live = nil }, want: conf},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if test.kind == "" {
				test.kind = "Deployment"
			}
			if test.named == "" {
				test.named = conf
			}
			trigger, o := found(t, "Deployment", "conf"), found(t, test.kind, "x")
			o.Object.Lifecycle = &providers.Lifecycle{ReplaceTriggeredBy: []string{test.named}}
			if test.trigger != nil {
				test.trigger(trigger)
			}
			if test.object != nil {
				test.object(o)
			}
			e := &env{inv: &inventory.Inventory{}}
			if test.before != "" {
				e.inv.Input.Triggered = map[addrs.Object]string{o.Object.Address: test.before}
			}
			why, ok := triggeredBy(e, o, changedObjects([]*outcome.Outcome{trigger}))
			if ok != (test.want != "") || why.Detail != test.want {
				t.Errorf("%v because of %+v, want %q", ok, why, test.want)
			}
		})
	}
}

func create(o *outcome.Outcome) { o.Action.Verb = plans.Create }

// TestMatches checks that an apply only records a matching object that is new to the state, and
// waits for a recorded one that was not ready.
func TestMatches(t *testing.T) {
	tests := map[string]struct {
		change  func(o *outcome.Outcome)
		verb    plans.Verb
		reason  plans.ReasonKind
		pending bool
		stamp   bool // the fingerprint is recorded, or only its stamp
		whole   bool
	}{
		"as recorded":                   {verb: plans.None, stamp: true, whole: true},
		"never seen ready":              {change: func(o *outcome.Outcome) { o.Record.State.Ready = false }, verb: plans.None, pending: true, stamp: true, whole: true},
		"made by a cut-off apply":       {change: func(o *outcome.Outcome) { o.Record.State.UID = "" }, verb: plans.None, pending: true, stamp: true, whole: true},
		"with additions that stay":      {change: func(o *outcome.Outcome) { o.Action.Reported = true }, verb: plans.None, stamp: true},
		"made by others":                {change: func(o *outcome.Outcome) { o.Ours, o.Record = false, nil }, verb: plans.Adopt, reason: plans.ReasonUnowned},
		"fields of an object of others": {change: func(o *outcome.Outcome) { o.Object.Partial, o.Ours, o.Record = true, false, nil }, verb: plans.Adopt, reason: plans.ReasonUnowned},
		"at another address":            {change: func(o *outcome.Outcome) { o.Record.State.Address = "service.b/Deployment/x" }, verb: plans.Adopt, reason: plans.ReasonMoved},
		"nothing is declared of it":     {change: func(o *outcome.Outcome) { o.Object.Partial, o.Object.Unwanted, o.Record = true, []string{"label"}, nil }, verb: plans.None},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			o := found(t, "Deployment", "x")
			if test.change != nil {
				test.change(o)
			}
			fingerprint := state.Fingerprint{Owned: "1", Stamp: "2"}
			a := matches(&subject{draft: *o}, plans.Evidence{Kind: plans.DryRun}, fingerprint).Action
			var reason plans.ReasonKind
			if len(a.Reasons) > 0 {
				reason = a.Reasons[0].Kind
			}
			if a.Verb != test.verb || reason != test.reason || a.Pending != test.pending || a.Evidence.Kind != plans.DryRun {
				t.Errorf("%s because of %q, pending %v, by %s", a.Verb, reason, a.Pending, a.Evidence.Kind)
			}
			if got := a.Fingerprint; (got.Stamp != "") != test.stamp || (got.Owned != "") != test.whole {
				t.Errorf("records %+v", got)
			}
		})
	}
}
