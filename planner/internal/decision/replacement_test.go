package decision_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// server accepts new objects, and answers a change of a live object with refusal.
type server struct {
	providers.Reader // nil: the test sends no other questions
	refusal          error
	refusesNew       error
	pods             []*unstructured.Unstructured
	hidden           error // the error of a list of pods
}

func (s *server) DryRun(_ context.Context, object *unstructured.Unstructured, options providers.DryRunOptions) (*unstructured.Unstructured, error) {
	switch {
	case options.Surrogate && s.refusesNew != nil:
		return nil, s.refusesNew
	case !options.Surrogate && s.refusal != nil:
		return nil, s.refusal
	}
	return object.DeepCopy(), nil
}

func (s *server) List(context.Context, schema.GroupVersionKind, string) ([]*unstructured.Unstructured, error) {
	return s.pods, s.hidden
}

// refusal returns an error response of the API server.
func refusal(code int32, reason metav1.StatusReason, message string, causes ...metav1.StatusCause) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: code, Reason: reason, Message: message, Details: &metav1.StatusDetails{Causes: causes},
	}}
}

// invalid returns the error response for the value of a field.
func invalid(field, message string) error {
	return refusal(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, field+": "+message,
		metav1.StatusCause{Type: metav1.CauseTypeFieldValueInvalid, Field: field, Message: message})
}

// verdict is the part of an outcome that a test compares.
type verdict struct {
	verb     plans.Verb // empty: it is refused
	reason   plans.ReasonKind
	evidence plans.EvidenceKind
	problem  string // part of its summary; empty: none
	keeps    bool   // the pods are kept
	holds    string // the data that is lost
}

func (want verdict) check(t *testing.T, q question) {
	t.Helper()
	out := decided(t, q)
	got := verdict{verb: out.Action.Verb, evidence: out.Action.Evidence.Kind, keeps: out.Action.KeepsPods, holds: out.Action.Holds}
	if len(out.Action.Reasons) > 0 {
		got.reason = out.Action.Reasons[0].Kind
	}
	if len(out.Problems) > 0 {
		if got.problem = out.Problems[0].Summary; want.problem != "" && strings.Contains(got.problem, want.problem) {
			got.problem = want.problem
		}
	}
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if out.Withheld != (want.verb == "") {
		t.Errorf("withheld: %v", out.Withheld)
	}
}

// TestRefusedChanges checks that kolla replaces an object only if the server says that a field is
// immutable, and if the object is kolla's and loses no data.
func TestRefusedChanges(t *testing.T) {
	immutable := invalid("spec.x", "field is immutable")
	webhook := refusal(http.StatusForbidden, metav1.StatusReasonForbidden, `admission webhook "w" denied the request: no`)
	silent := refusal(http.StatusInternalServerError, metav1.StatusReasonInternalError, `failed calling webhook "w": no answer`)
	complete := map[string]any{"conditions": []any{map[string]any{"type": "Complete", "status": "True"}}}
	tests := map[string]struct {
		kind    string
		change  func(q *question)
		refusal error
		want    verdict
	}{
		"a field that cannot change":               {kind: "v1 Service", refusal: immutable, want: verdict{verb: plans.Replace, reason: plans.ReasonImmutable, evidence: plans.Surrogate}},
		"such a field of an adopted object":        {kind: "v1 Service", refusal: immutable, change: func(q *question) { q.record, q.input.Adopt = nil, []string{q.object.Address.String()} }, want: verdict{problem: "was not made by kolla"}},
		"such a field of a custom kind":            {kind: "example.org/v1 Widget", refusal: immutable, want: verdict{problem: "only its controller knows which data would be lost"}},
		"such a field of a claim":                  {kind: "v1 PersistentVolumeClaim", refusal: immutable, want: verdict{problem: "cannot be changed in place, and holds the data on its volume"}},
		"such a field of a Job":                    {kind: "batch/v1 Job", refusal: immutable, want: verdict{verb: plans.Replace, reason: plans.ReasonImmutable, evidence: plans.Surrogate}},
		"such a field of a Job that ran":           {kind: "batch/v1 Job", refusal: immutable, change: func(q *question) { q.live.Object["status"], q.record.DesiredDigest = complete, q.object.Digest() }, want: verdict{verb: plans.None, evidence: plans.Recorded}},
		"such a field of a Job that runs":          {kind: "batch/v1 Job", refusal: immutable, change: func(q *question) { q.record.DesiredDigest = q.object.Digest() }, want: verdict{verb: plans.Replace, reason: plans.ReasonImmutable, evidence: plans.Surrogate}},
		"such a field of a Job that ran otherwise": {kind: "batch/v1 Job", refusal: immutable, change: func(q *question) { q.live.Object["status"] = complete }, want: verdict{verb: plans.Replace, reason: plans.ReasonImmutable, evidence: plans.Surrogate}},
		"a wrong value":                            {kind: "v1 Service", refusal: invalid("spec.x", "must be a number"), want: verdict{problem: "the cluster does not accept Service openstack/x"}},
		"no right to ask":                          {kind: "v1 Service", refusal: &providers.PermissionError{Err: refusal(http.StatusForbidden, metav1.StatusReasonForbidden, "no")}, want: verdict{verb: plans.Update, reason: plans.ReasonConfig, evidence: plans.Unverified}},
		"a webhook that does not answer":           {kind: "v1 Service", refusal: silent, want: verdict{verb: plans.Update, reason: plans.ReasonConfig, evidence: plans.Unverified}},
		"a webhook that denies":                    {kind: "v1 Service", refusal: webhook, want: verdict{evidence: plans.Unverified, problem: "admission denies the dry run"}},
		"a webhook that denies, as allowed":        {kind: "v1 Service", refusal: webhook, change: func(q *question) { q.input.AllowUnverified = true }, want: verdict{verb: plans.Update, reason: plans.ReasonConfig, evidence: plans.Unverified}},
		"a refresh":                                {kind: "v1 Service", refusal: invalid("spec.x", "must be a number"), change: func(q *question) { q.input.RefreshOnly = true }, want: verdict{verb: plans.Update, reason: plans.ReasonConfig, evidence: plans.Unverified}},
		"no refusal":                               {kind: "v1 Service", want: verdict{verb: plans.Update, reason: plans.ReasonConfig, evidence: plans.DryRun}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			apiVersion, kind, _ := strings.Cut(test.kind, " ")
			q := question{object: declared(t, apiVersion, kind, "x")}
			q.object.Manifest.Object["spec"] = map[string]any{"x": "new"}
			q.exists()
			q.live.Object["spec"] = map[string]any{"x": "old"}
			q.live.SetManagedFields([]metav1.ManagedFieldsEntry{{
				Manager: providers.FieldManager, Operation: metav1.ManagedFieldsOperationApply, APIVersion: apiVersion,
				FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:x":{}}}`),
			}})
			q.record.DesiredDigest = "former"
			q.input.ForeignPolicy = plans.IgnoreForeign
			q.input.Reader = &server{refusal: test.refusal}
			if test.change != nil {
				test.change(&q)
			}
			test.want.check(t, q)
		})
	}
}

// TestRequestedReplacements checks that -replace replaces an object, unless data would be lost that
// the operator did not name, or the cluster would reject the new object.
func TestRequestedReplacements(t *testing.T) {
	set := func(fate string) func(*question) {
		return func(q *question) {
			q.live.Object["spec"] = map[string]any{
				"volumeClaimTemplates":                 []any{map[string]any{"metadata": map[string]any{"name": "data"}}},
				"persistentVolumeClaimRetentionPolicy": map[string]any{"whenDeleted": fate},
			}
		}
	}
	named := func(change func(*question)) func(*question) {
		return func(q *question) {
			if change != nil {
				change(q)
			}
			q.input.DeleteData = []string{q.object.Address.String()}
		}
	}
	pod := func(phase, claim string) *unstructured.Unstructured {
		u := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "p", "namespace": "openstack"}, "status": map[string]any{"phase": phase},
			"spec": map[string]any{"volumes": []any{map[string]any{"persistentVolumeClaim": map[string]any{"claimName": claim}}}},
		}}
		return u
	}
	used := func(pods ...*unstructured.Unstructured) func(*question) {
		return named(func(q *question) { q.input.Reader = &server{pods: pods} })
	}
	replaced := func(holds string) verdict {
		return verdict{verb: plans.Replace, reason: plans.ReasonRequested, evidence: plans.Surrogate, holds: holds}
	}
	const claim, volumes = "v1 PersistentVolumeClaim", "the data on its volume"
	tests := map[string]struct {
		kind   string
		change func(q *question)
		want   verdict
	}{
		"nothing in the way":    {kind: "v1 Service", want: replaced("")},
		"a Namespace":           {kind: "v1 Namespace", change: named(nil), want: verdict{problem: "it holds everything in it"}},
		"a definition":          {kind: "apiextensions.k8s.io/v1 CustomResourceDefinition", change: named(nil), want: verdict{problem: "it holds all objects of the kind"}},
		"an APIService":         {kind: "apiregistration.k8s.io/v1 APIService", want: verdict{problem: "it cannot be tried out under another name"}},
		"a claim":               {kind: claim, want: verdict{problem: "it holds the data on its volume"}},
		"a claim, named":        {kind: claim, change: used(), want: replaced(volumes)},
		"a claim in use":        {kind: claim, change: used(pod("Running", "x")), want: verdict{problem: "it is in use by Pod openstack/p"}},
		"another one in use":    {kind: claim, change: used(pod("Running", "y")), want: replaced(volumes)},
		"a claim that was used": {kind: claim, change: used(pod("Succeeded", "x"), pod("Failed", "x")), want: replaced(volumes)},
		"a claim of pods that cannot be seen": {
			kind: claim, change: named(func(q *question) { q.input.Reader = &server{hidden: &providers.UnreadableError{Err: context.Canceled}} }),
			want: verdict{problem: "it may be in use by pods that cannot be seen"},
		},
		"a bound volume": {
			kind: "v1 PersistentVolume", change: named(func(q *question) {
				q.live.Object["spec"], q.live.Object["status"] = map[string]any{"claimRef": map[string]any{"name": "c", "namespace": "openstack"}}, map[string]any{"phase": "Bound"}
			}),
			want: verdict{problem: "it is in use by PersistentVolumeClaim openstack/c"},
		},
		"a StatefulSet with volumes":                 {kind: "apps/v1 StatefulSet", change: set("Retain"), want: verdict{problem: "it holds volumes of its own for each replica"}},
		"a StatefulSet with volumes, named":          {kind: "apps/v1 StatefulSet", change: named(set("Retain")), want: replaced("")},
		"a StatefulSet that takes its volumes along": {kind: "apps/v1 StatefulSet", change: named(set("Delete")), want: replaced("the data on the volumes of its replicas, which are deleted with it")},
		"generated values": {
			kind: "v1 Secret", change: named(func(q *question) {
				q.object.Data = map[string]providers.SecretData{"x": {Generate: &providers.Generator{Kind: "password", Length: 8}}}
				q.object.Holds = "generated values"
			}),
			want: replaced(""),
		},
		"prevent_destroy": {kind: "v1 Service", change: func(q *question) { q.object.Lifecycle = &providers.Lifecycle{PreventDestroy: true} }, want: verdict{problem: "it must not be replaced"}},
		"not kolla's":     {kind: "v1 Service", change: func(q *question) { q.record = nil }},
		"an adopted one":  {kind: "v1 Service", change: func(q *question) { q.record, q.input.Adopt = nil, []string{q.object.Address.String()} }, want: replaced("")},
		"the new one is refused": {kind: "v1 Service", change: func(q *question) {
			q.input.Reader = &server{refusesNew: invalid("spec.x", "must be a number")}
		}, want: verdict{problem: "does not accept a new Service openstack/x in place of the old one"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			apiVersion, kind, _ := strings.Cut(test.kind, " ")
			q := question{object: declared(t, apiVersion, kind, "x")}
			q.exists()
			q.input.Replace = []string{q.object.Address.String()}
			q.input.ForeignPolicy = plans.IgnoreForeign
			q.input.Reader = &server{}
			if test.change != nil {
				test.change(&q)
			}
			test.want.check(t, q)
		})
	}
}

// TestJobs checks that a Job runs again if it failed, or if its inputs changed before it was
// complete.
func TestJobs(t *testing.T) {
	status := func(kind, value string) map[string]any {
		return map[string]any{"conditions": []any{map[string]any{"type": "Suspended", "status": "True"}, map[string]any{"type": kind, "status": value}}}
	}
	inputs := func(was, is string) func(*question) {
		return func(q *question) {
			q.live.SetAnnotations(map[string]string{providers.AnnotationInputs: was})
			q.object.Manifest.SetAnnotations(map[string]string{providers.AnnotationInputs: is})
		}
	}
	again := func(reason plans.ReasonKind) verdict {
		return verdict{verb: plans.Replace, reason: reason, evidence: plans.Surrogate}
	}
	stays := verdict{verb: plans.None, evidence: plans.Recorded}
	tests := map[string]struct {
		status    map[string]any
		change    func(q *question)
		versioned bool
		want      verdict
	}{
		"runs":                        {versioned: true, want: stays},
		"done":                        {versioned: true, status: status("Complete", "True"), want: stays},
		"failed":                      {versioned: true, status: status("Failed", "True"), want: again(plans.ReasonFailedJob)},
		"failed, not certainly":       {versioned: true, status: status("Failed", "Unknown"), want: stays},
		"failed, and prevent_destroy": {versioned: true, status: status("Failed", "True"), change: func(q *question) { q.object.Lifecycle = &providers.Lifecycle{PreventDestroy: true} }, want: again(plans.ReasonFailedJob)},
		"other inputs":                {versioned: true, change: inputs("1", "2"), want: again(plans.ReasonConfig)},
		"other inputs, not declared":  {versioned: true, change: inputs("1", ""), want: stays},
		"other inputs, done":          {versioned: true, status: status("Complete", "True"), change: inputs("1", "2"), want: stays},
		"the same inputs":             {versioned: true, change: inputs("1", "1"), want: stays},
		"a manifest of a user":        {want: verdict{verb: plans.None, evidence: plans.DryRun}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			q := question{object: declared(t, "batch/v1", "Job", "x")}
			if test.versioned {
				q.object.Family = q.object.Address
				q.object.Family.Name = "family"
			}
			q.exists()
			if test.status != nil {
				q.live.Object["status"] = test.status
			}
			q.input.ForeignPolicy = plans.IgnoreForeign
			q.input.Reader = &server{}
			if test.change != nil {
				test.change(&q)
			}
			test.want.check(t, q)
		})
	}
}

// TestPodsStay checks that a StatefulSet is replaced while its pods keep running, if the new
// StatefulSet can adopt them with their volumes.
func TestPodsStay(t *testing.T) {
	spec := func(change func(spec map[string]any)) map[string]any {
		s := map[string]any{
			"replicas": int64(3), "serviceName": "db", "selector": map[string]any{"matchLabels": map[string]any{"app": "db"}},
			"volumeClaimTemplates": []any{map[string]any{"metadata": map[string]any{"name": "data"}, "spec": map[string]any{"storageClassName": "slow"}}},
		}
		change(s)
		return s
	}
	claims := func(names ...string) []any {
		var out []any
		for _, name := range names {
			out = append(out, map[string]any{"metadata": map[string]any{"name": name}})
		}
		return out
	}
	tests := map[string]struct {
		declared, live func(spec map[string]any)
		adopted        bool
		keeps          bool
	}{
		"another class of volumes": {declared: func(s map[string]any) { s["volumeClaimTemplates"] = claims("data") }, keeps: true},
		"another selector":         {declared: func(s map[string]any) { s["selector"] = map[string]any{} }},
		"another Service":          {declared: func(s map[string]any) { s["serviceName"] = "other" }},
		"one more claim":           {declared: func(s map[string]any) { s["volumeClaimTemplates"] = claims("data", "logs") }},
		"one claim less":           {declared: func(s map[string]any) { s["volumeClaimTemplates"] = nil }},
		"its volumes go with it": {live: func(s map[string]any) {
			s["persistentVolumeClaimRetentionPolicy"] = map[string]any{"whenDeleted": "Delete"}
		}},
		"it is adopted": {declared: func(s map[string]any) { s["volumeClaimTemplates"] = claims("data") }, adopted: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			none := func(map[string]any) {}
			q := question{object: declared(t, "apps/v1", "StatefulSet", "x")}
			for _, change := range []*func(map[string]any){&test.declared, &test.live} {
				if *change == nil {
					*change = none
				}
			}
			q.object.Manifest.Object["spec"] = spec(test.declared)
			q.exists()
			q.live.Object["spec"] = spec(test.live)
			q.input.ForeignPolicy = plans.IgnoreForeign
			q.input.Reader = &server{refusal: invalid("spec", "updates to statefulset spec are forbidden")}
			if test.adopted {
				q.record, q.input.Adopt = nil, []string{q.object.Address.String()}
			}
			out := decided(t, q)
			if got := out.Action.Verb == plans.Replace && out.Action.KeepsPods; got != test.keeps || out.Withheld == test.keeps {
				t.Errorf("keeps its pods: %v, withheld: %v, %v", got, out.Withheld, out.Problems)
			}
		})
	}
}
