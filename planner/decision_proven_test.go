package planner_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/planner/proof"
	"kolla.openstack.org/kolla/providers"
)

// unchanged returns a cloud with one ConfigMap that its fingerprint proves unchanged.
func unchanged(t *testing.T) (*world, planner.Input) {
	t.Helper()
	const at = "manifest.a/ConfigMap/x"
	w := &world{}
	record := w.add(at, thing("v1", "ConfigMap", "x"))
	owns(w.last(), "kolla", metav1.ManagedFieldsOperationApply, then, `{"f:data": {"f:x": {}}}`)
	live := w.last()
	live.SetAnnotations(nil)
	in := w.input(declared(at, thing("v1", "ConfigMap", "x")))
	rules, err := proof.ReadRules(t.Context(), &w.cluster, here, now)
	if err != nil {
		t.Fatal(err)
	}
	record.Fingerprint, record.DesiredDigest = rules.Written(live, "kolla", proof.Terms{}), in.Objects[0].Digest()
	if a := find(t, mustPlan(t, in), at); a.Evidence.Kind != plans.Fingerprint {
		t.Fatalf("it is known by %q", a.Evidence.Kind)
	}
	in.Snapshot = providers.NewSnapshot(&w.cluster)
	return w, in
}

// TestRefusalsAreNoContradiction checks that -verify=full does not call a fingerprint wrong if the
// server refuses the dry run, for example because of a new quota.
func TestRefusalsAreNoContradiction(t *testing.T) {
	for name, refused := range map[string]error{
		"quota":      refusal(http.StatusForbidden, metav1.StatusReasonForbidden, "exceeded quota"),
		"permission": refusal(http.StatusForbidden, metav1.StatusReasonForbidden, `User "jane" cannot patch resource "configmaps"`),
	} {
		t.Run(name, func(t *testing.T) {
			w, in := unchanged(t)
			w.cluster.answer = func(*unstructured.Unstructured, providers.DryRunOptions) (*unstructured.Unstructured, error) {
				return nil, refused
			}
			in.VerifyAll = true
			if got := mustNotPlan(t, in); strings.Contains(got, "kolla would have been wrong") {
				t.Errorf("problems are %s", got)
			}
		})
	}
}

func TestChangesAreAContradiction(t *testing.T) {
	w, in := unchanged(t)
	w.cluster.answer = func(sent *unstructured.Unstructured, _ providers.DryRunOptions) (*unstructured.Unstructured, error) {
		answer := sent.DeepCopy()
		return answer, unstructured.SetNestedField(answer.Object, "other", "data", "x")
	}
	in.VerifyAll = true
	if got := mustNotPlan(t, in); !strings.Contains(got, "kolla would have been wrong") || !strings.Contains(got, `data["x"]`) {
		t.Errorf("problems are %s", got)
	}
}

// TestHiddenMutatorsAreSaid checks that each object costs a dry run if the user cannot list
// webhooks, and that one warning names the missing permission.
func TestHiddenMutatorsAreSaid(t *testing.T) {
	w, in := unchanged(t)
	w.cluster.answer = func(*unstructured.Unstructured, providers.DryRunOptions) (*unstructured.Unstructured, error) {
		return w.cluster.objects[0], nil
	}
	w.cluster.fail = map[string]error{"MutatingWebhookConfiguration": refusal(http.StatusForbidden, metav1.StatusReasonForbidden, "no")}
	plan, problems, err := planner.Make(t.Context(), in)
	if err != nil || find(t, plan, "manifest.a/ConfigMap/x").Evidence.Kind != plans.DryRun {
		t.Fatalf("the plan is %v, %v", verbs(plan), err)
	}
	var said []string
	for _, p := range problems {
		if p.Warning && strings.Contains(p.Detail, "mutatingwebhookconfigurations") {
			said = append(said, p.Summary)
		}
	}
	if len(said) != 1 {
		t.Errorf("problems are %+v", problems)
	}
}

// scaled returns a plan's input with a Deployment whose replicas an autoscaler has set. The
// autoscaler's scaleTargetRef has the given version.
func scaled(t *testing.T, version string) planner.Input {
	t.Helper()
	manifest := thing("apps/v1", "Deployment", "x")
	manifest.Object["spec"] = map[string]any{"replicas": int64(3)}
	w := &world{}
	w.add("manifest.a/Deployment/x", manifest)
	was := w.last()
	stamp := metav1.NewTime(then)
	was.SetManagedFields([]metav1.ManagedFieldsEntry{{
		Manager: "kube-controller-manager", Subresource: "scale", Operation: metav1.ManagedFieldsOperationUpdate,
		APIVersion: "apps/v1", Time: &stamp, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(replicasField),
	}})
	was.Object["spec"] = map[string]any{"replicas": int64(7)}
	scaler := thing("autoscaling/v2", "HorizontalPodAutoscaler", "h")
	scaler.Object["spec"] = map[string]any{"scaleTargetRef": map[string]any{"apiVersion": version, "kind": "Deployment", "name": "x"}}
	w.cluster.objects = append(w.cluster.objects, scaler)
	w.cluster.answer = func(sent *unstructured.Unstructured, _ providers.DryRunOptions) (*unstructured.Unstructured, error) {
		answer := was.DeepCopy()
		if replicas, ok, _ := unstructured.NestedInt64(sent.Object, "spec", "replicas"); ok {
			answer.Object["spec"] = map[string]any{"replicas": replicas}
		}
		return answer, nil
	}
	return w.input(declared("manifest.a/Deployment/x", manifest))
}

// TestAutoscalersNameAnyVersion checks that scaleTargetRef may name any version of a group.
func TestAutoscalersNameAnyVersion(t *testing.T) {
	for _, version := range []string{"apps/v1", "apps/v1beta2"} {
		a := find(t, mustPlan(t, scaled(t, version)), "manifest.a/Deployment/x")
		if len(a.Changes) > 0 || len(a.Yields) != 1 {
			t.Errorf("with %s: %s %+v, yields %+v", version, a.Verb, a.Changes, a.Yields)
		}
	}
	if a := find(t, mustPlan(t, scaled(t, "extensions/v1beta1")), "manifest.a/Deployment/x"); len(a.Changes) == 0 {
		t.Errorf("another group's is taken for it: %s, yields %+v", a.Verb, a.Yields)
	}
}

// TestAutoscalersThatCannotBeListed checks that the replicas are left alone if the user cannot list
// autoscalers, and that any other error stops the plan.
func TestAutoscalersThatCannotBeListed(t *testing.T) {
	in := scaled(t, "apps/v1")
	broken := errors.New("connection lost")
	in.Reader.(*cluster).fail = map[string]error{"HorizontalPodAutoscaler": broken}
	if _, _, err := planner.Make(t.Context(), in); !errors.Is(err, broken) {
		t.Errorf("error is %v", err)
	}
	in = scaled(t, "apps/v1")
	in.Reader.(*cluster).hidden = schema.GroupKind{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}
	plan, problems, err := planner.Make(t.Context(), in)
	if err != nil || len(problems) != 1 || !problems[0].Warning {
		t.Fatalf("Make: %v, problems %+v", err, problems)
	}
	if a := find(t, plan, "manifest.a/Deployment/x"); len(a.Changes) > 0 || len(a.Yields) != 1 {
		t.Errorf("the replicas are not left alone: %+v", a)
	}
}
