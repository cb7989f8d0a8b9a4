package planner_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/dev/objecttest"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

func hide(kind string) func(*planner.Input) {
	return func(in *planner.Input) {
		c := in.Reader.(*cluster)
		c.hidden.Group, c.hidden.Kind, _ = strings.Cut(kind, "/")
	}
}

// TestUnread checks that a plan decides by the state's records about objects that cannot be read.
func TestUnread(t *testing.T) {
	const deployment = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, namespace: openstack}, spec: {template: {spec: {containers: [{name: c, image: i}]}}}}"
	const at = "service.a/Deployment/d"
	hidden := hide("apps/Deployment")
	changed := func(r *state.Object) { r.DesiredDigest, r.RunDigest = "another", "another" }
	for name, test := range map[string]struct {
		situation
		verb    plans.Verb
		reasons []plans.ReasonKind
		kind    plans.EvidenceKind
	}{
		"the state does not know it": {
			situation{at: at, manifest: deployment, live: asItIs, input: hidden},
			plans.Create,
			[]plans.ReasonKind{plans.ReasonNew},
			plans.Unverified,
		},
		"declared as before": {
			situation{at: at, manifest: deployment, live: asItIs, record: known, input: hidden},
			plans.None, nil, plans.Unverified,
		},
		"declared otherwise": {
			situation{at: at, manifest: deployment, live: asItIs, record: changed, input: hidden},
			plans.Update,
			[]plans.ReasonKind{plans.ReasonConfig},
			plans.Unverified,
		},
		"never seen ready": {
			situation{at: at, manifest: deployment, live: asItIs, record: func(r *state.Object) { r.Ready = false }, input: hidden},
			plans.None, nil, plans.Unverified,
		},
		"whose volumes cannot be read either": {
			situation{
				at:       "service.a/StatefulSet/s",
				manifest: "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: s, namespace: openstack}, spec: {volumeClaimTemplates: [{metadata: {name: data}}]}}",
				input:    hide("/PersistentVolumeClaim"),
			},
			plans.Create,
			[]plans.ReasonKind{plans.ReasonNew},
			plans.DryRun,
		},
		"a job that finished": {
			situation{at: atJob, manifest: job, live: asItIs, record: known, input: hide("batch/Job")},
			plans.None, nil, plans.Recorded,
		},
		"a job that is new": {
			situation{at: atJob, manifest: job, input: hide("batch/Job")},
			plans.Run,
			[]plans.ReasonKind{plans.ReasonNew},
			plans.Unverified,
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := test.make(t)
			plan := mustPlan(t, in)
			got := find(t, plan, test.at)
			if got.Verb != test.verb || got.Evidence.Kind != test.kind {
				t.Errorf("decided %s, %+v", got.Verb, got.Evidence)
			}
			if got.Evidence.Kind == plans.Unverified && !strings.HasSuffix(got.Evidence.Detail, "cannot be read in namespace openstack: it is down") {
				t.Errorf("the reason is %q", got.Evidence.Detail)
			}
			if waits := test.record != nil && !in.State.Objects[0].Ready; got.Pending != waits {
				t.Errorf("pending: %v", got.Pending)
			}
			if diff := cmp.Diff(test.reasons, kinds(got.Reasons)); diff != "" {
				t.Errorf("reasons (-want +got):\n%s", diff)
			}
			if (got.Prior != providers.Precondition{}) != (test.record != nil) || got.Prior.ResourceVersion != "" {
				t.Errorf("bound to %+v", got.Prior)
			}
		})
	}
	for name, test := range map[string]situation{
		"a job that may be running": {at: atJob, manifest: job, record: changed, input: hide("batch/Job")},
		"fields of what is unknown": {at: at, manifest: deployment, adjust: func(o *providers.Object) { o.Partial = true }, input: hidden},
		"made again":                {at: at, manifest: deployment, record: known, input: func(in *planner.Input) { hidden(in); in.Replace = []string{at} }},
		"imported":                  {at: at, manifest: deployment, input: func(in *planner.Input) { hidden(in); in.Imports = []addrs.Import{{To: address(at), ID: "openstack/d"}} }},
	} {
		t.Run(name, func(t *testing.T) {
			if got := mustNotPlan(t, test.make(t)); !strings.Contains(got, "it could not be read") || strings.Contains(got, "does not exist") {
				t.Errorf("problem is %q", got)
			}
		})
	}
}

// TestUnreadForWantOfPermission checks that a missing permission is reported in the evidence of the
// object that could not be read, and not as a separate problem.
func TestUnreadForWantOfPermission(t *testing.T) {
	missing := &providers.PermissionError{User: "ann", Verb: "list", Resource: "deployments", Group: "apps", Namespace: "openstack"}
	test := situation{
		at: "service.a/Deployment/d", live: asItIs, record: known,
		manifest: "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, namespace: openstack}, spec: {template: {spec: {containers: [{name: c, image: i}]}}}}",
		input: func(in *planner.Input) {
			hide("apps/Deployment")(in)
			in.Reader.(*cluster).because = missing
		},
	}
	plan, problems, err := planner.Make(t.Context(), test.make(t))
	if err != nil || len(problems) > 0 {
		t.Fatalf("Make: %v, problems %+v", err, problems)
	}
	if got := find(t, plan, test.at).Evidence; got.Kind != plans.Unverified || got.Advice != missing.Advice() {
		t.Errorf("evidence is %+v", got)
	}
}

// TestUnreadDefinition checks that a CRD that cannot be read counts as unchanged if its declaration
// is unchanged.
func TestUnreadDefinition(t *testing.T) {
	const at = "manifest.w/CustomResourceDefinition/widgets.example.org"
	definition, widget := declared(at, widgets(t, "red")), objecttest.Read(t, "{apiVersion: example.org/v1, kind: Widget, metadata: {name: w, namespace: openstack}, colour: red}")
	in := input(&cluster{}, definition, declared("manifest.w/Widget/w", widget))
	hide("apiextensions.k8s.io/CustomResourceDefinition")(&in)
	record := recorded(at, live(definition.Manifest, "uid-1"))
	record.DesiredDigest = definition.Digest()
	in.State.Objects = []state.Object{record}
	if a := find(t, mustPlan(t, in), "manifest.w/Widget/w"); a.Evidence.Kind != plans.DryRun {
		t.Errorf("evidence is %+v", a.Evidence)
	}
}

// TestUnreadObjectsKeepTheirNamespace checks that a namespace is not deleted while it contains
// objects that cannot be read.
func TestUnreadObjectsKeepTheirNamespace(t *testing.T) {
	namespace := namespaceOf("old")
	namespace.SetLabels(map[string]string{providers.LabelCloud: "prod"})
	rule := live(objecttest.Read(t, "{apiVersion: example.org/v1, kind: Rule, metadata: {name: r, namespace: old}}"), "uid-1")
	c := &cluster{objects: []*unstructured.Unstructured{namespace}}
	in := input(c)
	hide("example.org/Rule")(&in)
	in.State.Objects = []state.Object{recorded("manifest.m/Rule/old/r", rule), recorded("manifest.m/Namespace/old", namespace)}
	in.DeleteData = []string{"*"}
	got := mustNotPlan(t, in)
	if !strings.Contains(got, "Namespace old is no longer declared, and holds what is not deleted with it: Rule old/r") {
		t.Errorf("problem is %q", got)
	}

	in.Destroy = true
	in.Snapshot = providers.NewSnapshot(c)
	plan, _, err := planner.Make(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if deleted := verbs(plan); len(deleted) > 0 {
		t.Errorf("a destroy would %v", deleted)
	}
	if !slices.ContainsFunc(plan.Kept, func(k plans.Kept) bool { return k.Ref.Name == "old" }) {
		t.Errorf("it keeps %+v", plan.Kept)
	}
}

// TestUnreadUsersOfAClaim checks that a claim is not replaced if the user cannot list the pods that
// may use it.
func TestUnreadUsersOfAClaim(t *testing.T) {
	const at = "service.a/PersistentVolumeClaim/data"
	in := situation{at: at, manifest: "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: openstack}}", live: asItIs, record: known, input: hide("/Pod")}.make(t)
	in.Replace, in.DeleteData = []string{at}, []string{at}
	if got := mustNotPlan(t, in); !strings.Contains(got, "it may be in use by pods that cannot be seen") || !strings.Contains(got, "it is down") {
		t.Errorf("problem is %q", got)
	}
}
