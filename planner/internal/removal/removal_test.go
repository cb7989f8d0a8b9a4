package removal_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/internal/dev/objecttest"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/internal/outcome"
	"kolla.openstack.org/kolla/planner/internal/removal"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// live returns an object in the cluster with the label of the cloud. Its UID is its name.
func live(kind, name string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetAPIVersion("v1")
	u.SetKind(kind)
	u.SetNamespace("openstack")
	u.SetName(name)
	u.SetUID(types.UID(name))
	u.SetLabels(map[string]string{providers.LabelCloud: "prod"})
	return u
}

// record returns the state's record of such an object.
func record(kind, name string) state.Object {
	return state.Object{Address: "service.a/" + kind + "/" + name, APIVersion: "v1", Kind: kind, Namespace: "openstack", Name: name, UID: name}
}

func index(t *testing.T, in inventory.Input) *inventory.Inventory {
	t.Helper()
	in.Cloud, in.Namespace = "prod", "openstack"
	if in.Snapshot == nil {
		in.Snapshot = providers.SnapshotOf()
	}
	inv, problems := inventory.Index(in)
	if inv == nil {
		t.Fatal(problems)
	}
	return inv
}

// of gives an object another API version.
func of(apiVersion string, u *unstructured.Unstructured) *unstructured.Unstructured {
	u.SetAPIVersion(apiVersion)
	return u
}

// recordOf returns the record of a live object.
func recordOf(u *unstructured.Unstructured) state.Object {
	r := record(u.GetKind(), u.GetName())
	r.APIVersion, r.Namespace = u.GetAPIVersion(), u.GetNamespace()
	return r
}

// target parses the address of a block or an object.
func target(t *testing.T, text string) addrs.Target {
	t.Helper()
	if strings.Contains(text, "/") {
		address := objecttest.Address(t, text)
		return addrs.Target{Block: address.Block, Object: address}
	}
	return addrs.Target{Block: text}
}

// decided lists actions: "delete x".
func decided(actions []plans.Action) []string {
	var out []string
	for _, a := range actions {
		out = append(out, string(a.Verb)+" "+a.Address.Name)
	}
	slices.Sort(out)
	return out
}

// TestUndeclared checks that an undeclared object is deleted only if it is the recorded one, has
// the label, is not protected, and holds no data that the operator did not name.
func TestUndeclared(t *testing.T) {
	const configMap, claim, secret = "ConfigMap", "PersistentVolumeClaim", "Secret"
	carries := func(u *unstructured.Unstructured) {
		u.SetAnnotations(map[string]string{providers.AnnotationIntent: "token"})
		u.SetManagedFields([]metav1.ManagedFieldsEntry{{
			Manager: "kolla", Operation: metav1.ManagedFieldsOperationApply, APIVersion: "v1", FieldsType: "FieldsV1",
			FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:annotations":{"f:kolla.openstack.org/intent":{}}}}`),
		}})
	}
	tests := map[string]struct {
		kind    string
		live    func(u *unstructured.Unstructured)
		record  func(r *state.Object)
		input   func(in *inventory.Input)
		gone    bool
		want    plans.Verb // empty: none
		reason  plans.ReasonKind
		problem string // part of its summary; empty: none
		atRisk  bool
	}{
		"the recorded object": {kind: configMap, want: plans.Delete, reason: plans.ReasonUndeclared},
		"no object":           {kind: configMap, gone: true, want: plans.Forget, reason: plans.ReasonGone},
		"no object since a cut-off apply": {
			kind: configMap, gone: true, record: func(r *state.Object) { r.Deleting = true },
			want: plans.Forget, reason: plans.ReasonUnfinished,
		},
		"of a cut-off apply": {
			kind: configMap, live: carries, record: func(r *state.Object) { r.UID, r.Token = "", "token" },
			want: plans.Delete, reason: plans.ReasonUndeclared,
		},
		"of a cut-off apply that replaced it": {
			kind: configMap, live: carries, record: func(r *state.Object) { r.UID, r.Token = "former", "token" },
			want: plans.Delete, reason: plans.ReasonUndeclared,
		},
		"another object": {
			kind: configMap, live: func(u *unstructured.Unstructured) { u.SetUID("another") },
			want: plans.Forget, reason: plans.ReasonUndeclared, problem: "made again by somebody else",
		},
		"another token": {
			kind: configMap, live: carries, record: func(r *state.Object) { r.UID, r.Token = "", "another" },
			want: plans.Forget, reason: plans.ReasonUndeclared, problem: "knows only its name",
		},
		"known by its name": {
			kind: configMap, record: func(r *state.Object) { r.UID = "" },
			want: plans.Forget, reason: plans.ReasonUndeclared, problem: "knows only its name",
		},
		"without the label": {
			kind: configMap, live: func(u *unstructured.Unstructured) { u.SetLabels(nil) },
			want: plans.Forget, reason: plans.ReasonUndeclared, problem: "somebody removed its label",
		},
		"with the label of another cloud": {
			kind: configMap, live: func(u *unstructured.Unstructured) { u.SetLabels(map[string]string{providers.LabelCloud: "test"}) },
			want: plans.Forget, reason: plans.ReasonUndeclared, problem: `of cloud "test"`,
		},
		"fields of an object of others": {
			kind: configMap, live: func(u *unstructured.Unstructured) { u.SetLabels(nil) }, record: func(r *state.Object) { r.Partial = true },
			want: plans.Delete, reason: plans.ReasonUndeclared,
		},
		"released by a removed block": {
			kind: configMap, input: func(in *inventory.Input) { in.Removals = []addrs.Removal{{From: target(t, "service.a")}} },
			want: plans.Forget, reason: plans.ReasonUndeclared,
		},
		"a removed block that destroys": {
			kind: configMap, input: func(in *inventory.Input) {
				in.Removals = []addrs.Removal{{From: target(t, "service.a")}, {From: target(t, "service.a/ConfigMap/x"), Destroy: true}}
			},
			want: plans.Delete, reason: plans.ReasonUndeclared,
		},
		"protected": {
			kind: configMap, record: func(r *state.Object) { r.Protected = "cloud.hcl:3" },
			problem: "service.a is no longer declared, and must not be destroyed",
		},
		"protected, of a service that is external now": {
			kind: configMap, record: func(r *state.Object) { r.Protected = "cloud.hcl:3" },
			input:   func(in *inventory.Input) { in.External = []string{"service.a"} },
			problem: "no longer deployed, because its service is external now",
		},
		"of a service that is external now": {
			kind: configMap, input: func(in *inventory.Input) { in.External = []string{"service.a"} },
			want: plans.Delete, reason: plans.ReasonExternal,
		},
		"data":                 {kind: claim, want: plans.Delete, reason: plans.ReasonUndeclared, atRisk: true},
		"a volume left before": {kind: claim, record: func(r *state.Object) { r.Left = true }},
		"data by its record":   {kind: secret, record: func(r *state.Object) { r.Holds = "generated values" }, want: plans.Delete, reason: plans.ReasonUndeclared, atRisk: true},
		"fields of data":       {kind: claim, record: func(r *state.Object) { r.Partial = true }, want: plans.Delete, reason: plans.ReasonUndeclared},
		"data that may be lost": {
			kind: claim, input: func(in *inventory.Input) { in.DeleteData = []string{"service.a"} }, want: plans.Delete, reason: plans.ReasonUndeclared,
		},
		"data when all may be lost": {
			kind: claim, input: func(in *inventory.Input) { in.DeleteData = []string{"*"} }, want: plans.Delete, reason: plans.ReasonUndeclared,
		},
		"data when others may be lost":            {kind: claim, input: func(in *inventory.Input) { in.DeleteData = []string{"service.b"} }, want: plans.Delete, reason: plans.ReasonUndeclared, atRisk: true},
		"data, removed with generated values":     {kind: claim, input: removedWith(t, "service.a", addrs.GeneratedData), want: plans.Delete, reason: plans.ReasonUndeclared, atRisk: true},
		"data, removed with all":                  {kind: claim, input: removedWith(t, "service.a", addrs.AllData), want: plans.Delete, reason: plans.ReasonUndeclared},
		"data, of which another block is removed": {kind: claim, input: removedWith(t, "service.b", addrs.AllData), want: plans.Delete, reason: plans.ReasonUndeclared, atRisk: true},
		"generated values, removed with them": {
			kind: secret, record: func(r *state.Object) { r.Holds = "generated values" }, input: removedWith(t, "service.a", addrs.GeneratedData), want: plans.Delete, reason: plans.ReasonUndeclared,
		},
		"generated values, removed without data": {
			kind: secret, record: func(r *state.Object) { r.Holds = "generated values" }, input: removedWith(t, "service.a", addrs.NoData), want: plans.Delete, reason: plans.ReasonUndeclared, atRisk: true,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			u, r := live(test.kind, "x"), record(test.kind, "x")
			if test.live != nil {
				test.live(u)
			}
			if test.record != nil {
				test.record(&r)
			}
			in := inventory.Input{State: &state.State{Objects: []state.Object{r}}}
			if !test.gone {
				in.Snapshot = providers.SnapshotOf(u)
			}
			if test.input != nil {
				test.input(&in)
			}
			got := removal.Undeclared(index(t, in), nil, nil, nil, nil)
			var verb plans.Verb
			var reason plans.ReasonKind
			for _, a := range got.Actions {
				verb, reason = a.Verb, a.Reasons[0].Kind
				if bound := a.Prior.UID != ""; bound != (verb == plans.Delete || a.Releases) {
					t.Errorf("bound to %v", a.Prior)
				}
			}
			if verb != test.want || reason != test.reason || len(got.Actions) > 1 {
				t.Errorf("%q because of %q, want %q, %q", verb, reason, test.want, test.reason)
			}
			if (len(got.AtRisk) > 0) != test.atRisk {
				t.Errorf("at risk: %v", got.AtRisk)
			}
			if len(got.Problems) > 1 || (len(got.Problems) > 0) != (test.problem != "") || test.problem != "" && !strings.Contains(got.Problems[0].Summary, test.problem) {
				t.Errorf("problems %v, want %q", got.Problems, test.problem)
			}
		})
	}
}

// removedWith adds a removed block that permits to delete data.
func removedWith(t *testing.T, from string, data addrs.Data) func(*inventory.Input) {
	return func(in *inventory.Input) {
		in.Removals = []addrs.Removal{{From: target(t, from), Destroy: true, Data: data}}
	}
}

// TestLinkDeletes checks that a deletion waits for the deletion of objects that would be stuck, or
// break others, without its object.
func TestLinkDeletes(t *testing.T) {
	const apps, registration = "apps/v1", "admissionregistration.k8s.io/v1"
	definition := of("apiextensions.k8s.io/v1", live("CustomResourceDefinition", "widgets.example.org"))
	definition.SetNamespace("")
	definition.Object["spec"] = map[string]any{"group": "example.org", "names": map[string]any{"kind": "Widget"}}
	namespace := live("Namespace", "openstack")
	namespace.SetNamespace("")
	elsewhere := live("ConfigMap", "elsewhere")
	elsewhere.SetNamespace("default")
	api := of("apiregistration.k8s.io/v1", live("APIService", "api"))
	api.SetNamespace("")
	type edges = map[string]string // the names that an action waits for
	tests := map[string]struct {
		deleted []*unstructured.Unstructured
		verbs   map[string]plans.Verb // other than delete
		partial string                // name of an object that loses only some fields
		depends map[string]string     // as recorded
		want    edges
	}{
		"a dependant":                   {deleted: []*unstructured.Unstructured{live("ConfigMap", "used"), live("Service", "user")}, depends: edges{"user": "used"}, want: edges{"used": "user"}},
		"a dependant that changes":      {deleted: []*unstructured.Unstructured{live("ConfigMap", "used"), live("Service", "user")}, verbs: map[string]plans.Verb{"user": plans.Update}, depends: edges{"user": "used"}, want: edges{"used": "user"}},
		"a dependant that stays":        {deleted: []*unstructured.Unstructured{live("ConfigMap", "used"), live("Service", "user")}, verbs: map[string]plans.Verb{"user": plans.None}, depends: edges{"user": "used"}},
		"a dependant that is forgotten": {deleted: []*unstructured.Unstructured{live("ConfigMap", "used"), live("Service", "user")}, verbs: map[string]plans.Verb{"user": plans.Forget}, depends: edges{"user": "used"}},
		"dependants of each other":      {deleted: []*unstructured.Unstructured{live("ConfigMap", "a"), live("ConfigMap", "b")}, depends: edges{"a": "b", "b": "a"}, want: edges{"a": "b"}},
		"a namespace":                   {deleted: []*unstructured.Unstructured{namespace, live("ConfigMap", "in"), elsewhere, api}, want: edges{"openstack": "api in"}},
		"a claim":                       {deleted: []*unstructured.Unstructured{live("PersistentVolumeClaim", "data"), of(apps, live("StatefulSet", "db")), live("ConfigMap", "conf")}, want: edges{"data": "db"}},
		"a definition and its operator": {deleted: []*unstructured.Unstructured{definition, of("example.org/v1", live("Widget", "w")), of(apps, live("Deployment", "operator"))}, want: edges{"widgets.example.org": "w", "operator": "w"}},
		"given-up fields of a Widget":   {deleted: []*unstructured.Unstructured{definition, of("example.org/v1", live("Widget", "w")), of(apps, live("Deployment", "operator"))}, partial: "w", want: edges{"widgets.example.org": "w"}},
		"a webhook and its backend":     {deleted: []*unstructured.Unstructured{of(registration, live("ValidatingWebhookConfiguration", "hook")), of(apps, live("Deployment", "backend"))}, want: edges{"backend": "hook"}},
		"an API and its backend":        {deleted: []*unstructured.Unstructured{api, of(apps, live("Deployment", "backend"))}, want: edges{"backend": "api"}},
		"a webhook that needs its backend": {
			deleted: []*unstructured.Unstructured{of(registration, live("MutatingWebhookConfiguration", "hook")), of(apps, live("Deployment", "backend"))},
			depends: edges{"backend": "hook"}, want: edges{"hook": "backend"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := inventory.Input{State: &state.State{}, Snapshot: providers.SnapshotOf(test.deleted...)}
			var actions []plans.Action
			at := map[string]string{}
			for _, u := range test.deleted {
				at[u.GetName()] = recordOf(u).Address
			}
			for _, u := range test.deleted {
				r := recordOf(u)
				if on := test.depends[u.GetName()]; on != "" {
					r.DependsOn = []string{at[on]}
				}
				in.State.Objects = append(in.State.Objects, r)
				a := plans.Action{Address: objecttest.Address(t, r.Address), Verb: plans.Delete, Ref: providers.RefOf(u)}
				if verb := test.verbs[u.GetName()]; verb != "" {
					a.Verb = verb
				}
				a.Partial = u.GetName() == test.partial
				actions = append(actions, a)
			}
			removal.LinkDeletes(index(t, in), actions)
			got := edges{}
			for _, a := range actions {
				var names []string
				for _, on := range a.DependsOn {
					names = append(names, on.Name)
				}
				if len(names) > 0 {
					got[a.Address.Name] = strings.Join(names, " ")
				}
			}
			if diff := cmp.Diff(test.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("who waits for whom (-want +got):\n%s", diff)
			}
		})
	}
}

// TestMaxDeletes checks that a plan may delete half of the recorded objects, or the number that the
// operator allowed. Deletions without a loss do not count.
func TestMaxDeletes(t *testing.T) {
	number := func(n int) *int { return &n }
	superseded := func(a *plans.Action) { a.Reasons = []plans.Reason{{Kind: plans.ReasonSuperseded}} }
	moves := []addrs.Move{{From: target(t, "service.a"), To: target(t, "service.b")}}
	tests := map[string]struct {
		recorded, deleted int
		maxDeletes        *int
		destroy, refused  bool
		moves             []addrs.Move
		removed           string // of a removed block; empty: there is none
		kind              string // empty: ConfigMap
		change            func(a *plans.Action)
	}{
		"few":                              {recorded: 3, deleted: 3},
		"half":                             {recorded: 8, deleted: 4},
		"more than half":                   {recorded: 8, deleted: 5, refused: true},
		"all":                              {recorded: 8, deleted: 8, refused: true},
		"more, as allowed":                 {recorded: 8, deleted: 5, maxDeletes: number(5)},
		"fewer than allowed":               {recorded: 8, deleted: 2, maxDeletes: number(1), refused: true},
		"none is allowed":                  {recorded: 8, deleted: 1, maxDeletes: number(0), refused: true},
		"a destroy":                        {recorded: 8, deleted: 8, destroy: true},
		"a destroy of too many":            {recorded: 8, deleted: 8, destroy: true, maxDeletes: number(7), refused: true},
		"replaced":                         {recorded: 8, deleted: 5, change: func(a *plans.Action) { a.Verb = plans.Replace }, refused: true},
		"replaced around their pods":       {recorded: 8, deleted: 8, change: func(a *plans.Action) { a.Verb, a.KeepsPods = plans.Replace, true }},
		"forgotten":                        {recorded: 8, deleted: 8, change: func(a *plans.Action) { a.Verb = plans.Forget }},
		"old versions":                     {recorded: 8, deleted: 8, maxDeletes: number(0), change: superseded},
		"fields of others":                 {recorded: 8, deleted: 8, maxDeletes: number(0), change: func(a *plans.Action) { a.Partial = true }},
		"Jobs":                             {recorded: 8, deleted: 8, maxDeletes: number(0), kind: "Job"},
		"under another name":               {recorded: 8, deleted: 8, moves: moves},
		"removed":                          {recorded: 8, deleted: 8, removed: "service.a"},
		"another block is removed":         {recorded: 8, deleted: 8, removed: "service.b", refused: true},
		"removed, over a limit":            {recorded: 8, deleted: 8, removed: "service.a", maxDeletes: number(7), refused: true},
		"under another name, over a limit": {recorded: 8, deleted: 8, moves: moves, maxDeletes: number(7), refused: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := inventory.Input{State: &state.State{}, MaxDeletes: test.maxDeletes, Destroy: test.destroy, Moves: test.moves}
			if test.removed != "" {
				removedWith(t, test.removed, addrs.NoData)(&in)
			}
			var actions []plans.Action
			for i := range test.recorded {
				u := live("ConfigMap", fmt.Sprintf("c%d", i))
				if test.kind != "" {
					u.SetAPIVersion("batch/v1")
					u.SetKind(test.kind)
				}
				r := recordOf(u)
				in.State.Objects = append(in.State.Objects, r)
				if i < test.deleted {
					a := plans.Action{Address: objecttest.Address(t, r.Address), Ref: providers.RefOf(u), Verb: plans.Delete}
					if test.change != nil {
						test.change(&a)
					}
					actions = append(actions, a)
				}
			}
			got := removal.LimitDeletes(index(t, in), actions)
			if (len(got) > 0) != test.refused {
				t.Fatalf("problems: %v", got)
			}
			if ways := fmt.Sprintf("allow it with -max-deletes=%d:\n  service.a/ConfigMap/c0", test.deleted); test.refused && !strings.Contains(got[0].Detail, ways) {
				t.Errorf("%q does not say %q", got[0].Detail, ways)
			}
		})
	}
}

// TestLosses checks that the data of a deleted claim is lost, and that jobs that filled the claim
// must run again.
func TestLosses(t *testing.T) {
	decided := func(verb plans.Verb, kind, name string) *outcome.Outcome {
		u, at := live(kind, name), objecttest.Address(t, "service.a/"+kind+"/"+name)
		return &outcome.Outcome{
			Object: &providers.Object{Address: at, Manifest: u}, Live: u,
			Action: plans.Action{Address: at, Verb: verb, Ref: providers.RefOf(u)},
		}
	}
	job := decided(plans.None, "Job", "fill")
	job.Object.Manifest.SetAPIVersion("batch/v1")
	job.Object.DependsOn = []addrs.Object{objecttest.Address(t, "service.a/PersistentVolumeClaim/data")}
	job.Record = &inventory.Record{State: &state.Object{Ready: true}}
	inv := index(t, inventory.Input{})
	for reason, want := range map[plans.ReasonKind]int{plans.ReasonNew: 0, plans.ReasonGone: 1} {
		created := decided(plans.Create, "PersistentVolumeClaim", "data")
		created.Action.Reasons = []plans.Reason{{Kind: reason}}
		losses := removal.Undeclared(inv, nil, nil, []*outcome.Outcome{created, job}, nil).Losses
		if len(losses) != want {
			t.Fatalf("%s: losses %v, want %d", reason, losses, want)
		}
		if want == 1 && (len(losses[0].Jobs) != 1 || losses[0].Jobs[0] != job.Object.Address) {
			t.Errorf("jobs to run again: %v", losses[0].Jobs)
		}
	}
}
