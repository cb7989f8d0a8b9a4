package planner_test

import (
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/dev/objecttest"
	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

const (
	byWebhook  = `admission webhook "w" denied the request: no dry runs`
	byPolicy   = `configmaps "a" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no dry runs`
	byMutation = `configmaps "a" is forbidden: policy 'p' with binding 'b' denied request: no dry runs`
)

// TestDeniedDryRuns checks denials by webhooks and policies. A webhook chooses the code of its
// denial, and a policy chooses the reason. No such code means that the server is unhealthy.
func TestDeniedDryRuns(t *testing.T) {
	denials := map[string]error{
		"403":              refusal(http.StatusForbidden, metav1.StatusReasonForbidden, byWebhook),
		"400":              refusal(http.StatusBadRequest, "", byWebhook),
		"401":              refusal(http.StatusUnauthorized, metav1.StatusReasonUnauthorized, byPolicy),
		"409":              refusal(http.StatusConflict, metav1.StatusReasonConflict, byWebhook),
		"422":              refusal(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, byPolicy, metav1.StatusCause{Message: byPolicy}),
		"422, by mutation": refusal(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, byMutation),
		"429":              refusal(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, byWebhook),
		"500":              refusal(http.StatusInternalServerError, "", byWebhook),
		"503":              refusal(http.StatusServiceUnavailable, "", byWebhook),
	}
	edited := func(u *unstructured.Unstructured) { u.Object["data"] = map[string]any{"x": "old"} }
	part := func(o *providers.Object) { o.Partial = true }
	changes := map[string]struct {
		situation
		want plans.Verb
	}{
		"create":              {situation{at: atConfigMap, manifest: configMap}, plans.Create},
		"update":              {situation{at: atConfigMap, manifest: configMap, live: edited, record: known}, plans.Update},
		"labels of a node":    {situation{at: atNode, manifest: node, adjust: part, live: func(u *unstructured.Unstructured) { u.SetLabels(nil) }, record: known}, plans.Update},
		"run":                 {situation{at: atJob, manifest: job, adjust: versioned}, plans.Run},
		"replace, on request": {situation{at: atConfigMap, manifest: configMap, live: edited, record: known, input: func(in *planner.Input) { in.Replace = []string{atConfigMap} }}, plans.Replace},
	}
	for code, denial := range denials {
		for name, change := range changes {
			t.Run(name+", "+code, func(t *testing.T) {
				test := change.situation
				test.answer = func(u *unstructured.Unstructured, _ providers.DryRunOptions) (*unstructured.Unstructured, error) {
					if u.GetName() == "other" {
						return u, nil
					}
					return nil, denial
				}
				other := declared("service.a/ConfigMap/other", objecttest.Read(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: other, namespace: openstack}}"))
				made := func(adjust func(*planner.Input)) (*plans.Plan, []plans.Problem) {
					in := test.make(t)
					in.Objects = append(in.Objects, other)
					adjust(&in)
					plan, problems, err := planner.Make(t.Context(), in)
					if err != nil {
						t.Fatal(err)
					}
					return plan, problems
				}
				plan, problems := made(func(*planner.Input) {})
				if len(problems) != 1 || !problems[0].DryRun || problems[0].Warning || !strings.Contains(problems[0].Detail, "no dry runs") || !strings.Contains(problems[0].Detail, "-allow-unverified") {
					t.Fatalf("problems: %+v", problems)
				}
				if has := strings.Contains(problems[0].Detail, "allow_unverified"); has != (test.at != atNode) {
					t.Errorf("the way on through a lifecycle block: %v", has)
				}
				if a := find(t, plan, test.at); !a.NotCompared() || !a.Evidence.Refused || !plan.Refused() || !strings.Contains(a.Evidence.Detail, "no dry runs") {
					t.Errorf("not compared: %+v", a)
				}
				if a := find(t, plan, "service.a/ConfigMap/other"); a.Verb != plans.Create || a.Evidence.Kind != plans.DryRun {
					t.Errorf("the other object: %+v", a)
				}

				for way, accept := range map[string]func(*planner.Input){
					"option":    func(in *planner.Input) { in.AllowUnverified = true },
					"lifecycle": func(in *planner.Input) { in.Objects[0].Lifecycle = &providers.Lifecycle{AllowUnverified: true} },
				} {
					plan, problems := made(accept)
					a := find(t, plan, test.at)
					if len(problems) > 0 || plan.Refused() || a.Verb != change.want || a.Evidence.Kind != plans.Unverified || !strings.Contains(a.Evidence.Advice, "without a dry run") {
						t.Errorf("with the %s: %v, %+v", way, problems, a)
					}
				}
			})
		}
	}
}

// TestDeniedReplacement checks that an object is not replaced if the dry run of the new object is
// denied: the object might be deleted and not created again.
func TestDeniedReplacement(t *testing.T) {
	s := situation{at: atConfigMap, manifest: configMap, live: asItIs, record: known, answer: func(_ *unstructured.Unstructured, o providers.DryRunOptions) (*unstructured.Unstructured, error) {
		if o.Surrogate {
			return nil, refusal(http.StatusForbidden, metav1.StatusReasonForbidden, byWebhook)
		}
		return nil, invalid("data", "field is immutable")
	}}
	in := s.make(t)
	if got := mustNotPlan(t, in); !strings.Contains(got, "no dry runs") || !strings.Contains(got, "-allow-unverified") {
		t.Error(got)
	}
	in.AllowUnverified = true
	if got := mustNotPlan(t, in); !strings.Contains(got, "kolla cannot check whether the cluster accepts a new one") || !strings.Contains(got, "-replace="+atConfigMap) {
		t.Error(got)
	}
}

// TestDeniedDryRunsOfUnchangedObjects checks that a denied dry run does not refuse a plan if
// nothing suggests that the object changes. No apply writes such an object.
func TestDeniedDryRunsOfUnchangedObjects(t *testing.T) {
	s := situation{at: atConfigMap, manifest: configMap, live: asItIs, record: known, answer: says(refusal(http.StatusForbidden, metav1.StatusReasonForbidden, byWebhook))}
	in := s.make(t)
	in.VerifyAll = true
	plan := mustPlan(t, in)
	if a := find(t, plan, atConfigMap); !a.NotCompared() || plan.Refused() || plan.Uncompared() != 1 {
		t.Errorf("%+v", a)
	}
	in.Objects[0].Lifecycle = &providers.Lifecycle{AllowUnverified: true}
	if plan := mustPlan(t, in); plan.Tally().NotCompared != 1 || plan.Uncompared() != 0 {
		t.Errorf("accepted: %+v", plan.Tally())
	}
}
