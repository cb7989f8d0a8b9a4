package proof

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/providers"
)

// admitting is a Reader with what changes objects, by kind and version.
type admitting struct {
	providers.Reader
	objects map[string][]*unstructured.Unstructured // "v1 MutatingWebhookConfiguration"
	fail    map[string]error
}

func (a *admitting) List(_ context.Context, kind schema.GroupVersionKind, _ string) ([]*unstructured.Unstructured, error) {
	key := kind.Version + " " + kind.Kind
	if err := a.fail[key]; err != nil {
		return nil, err
	}
	return a.objects[key], nil
}

// object is one with a UID and a generation, and the rest of it as JSON.
func object(t *testing.T, kind, name string, generation int, rest string) *unstructured.Unstructured {
	return decoded(t, fmt.Sprintf(`{"apiVersion": "admissionregistration.k8s.io/v1", "kind": %q, "metadata": {"name": %q, "uid": "uid-%[2]s", "generation": %d}, %s}`, kind, name, generation, rest))
}

func rulesOf(t *testing.T, a *admitting) *Rules {
	t.Helper()
	r, err := ReadRules(t.Context(), a, providers.Identity{Version: "v1.37.1"})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var (
	deployments = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	configMaps  = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	policyKind  = "MutatingAdmissionPolicy"
	hookKind    = "MutatingWebhookConfiguration"
)

func TestWhichKindsAMutatorSees(t *testing.T) {
	custom := schema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: "Widget"}
	tests := map[string]struct {
		rule string
		sees []schema.GroupVersionKind
	}{
		"one resource":       {`{"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["deployments"]}`, []schema.GroupVersionKind{deployments}},
		"another version":    {`{"apiGroups": ["apps"], "apiVersions": ["v1beta1"], "operations": ["UPDATE"], "resources": ["deployments"]}`, []schema.GroupVersionKind{deployments}},
		"everything":         {`{"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]}`, []schema.GroupVersionKind{deployments, configMaps, custom}},
		"with subresources":  {`{"apiGroups": ["", "apps"], "operations": ["UPDATE"], "resources": ["*/*"]}`, []schema.GroupVersionKind{deployments, configMaps}},
		"deletions":          {`{"apiGroups": ["*"], "operations": ["DELETE", "CONNECT"], "resources": ["*"]}`, nil},
		"pods":               {`{"apiGroups": [""], "operations": ["*"], "resources": ["pods"]}`, nil},
		"a custom resource":  {`{"apiGroups": ["example.org"], "operations": ["*"], "resources": ["whatever-its-plural-is"]}`, []schema.GroupVersionKind{custom}},
		"nothing":            {`{}`, nil},
		"not even a rule":    {`7`, nil},
		"another API group":  {`{"apiGroups": ["batch"], "operations": ["*"], "resources": ["*"]}`, nil},
		"the core API group": {`{"apiGroups": [""], "operations": ["*"], "resources": ["*"]}`, []schema.GroupVersionKind{configMaps}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			hook := object(t, hookKind, "h", 1, `"webhooks": [{"rules": []}, {"rules": [`+test.rule+`]}]`)
			policy := object(t, policyKind, "p", 1, `"spec": {"matchConstraints": {"resourceRules": [`+test.rule+`]}}`)
			binding := object(t, policyKind+"Binding", "b", 1, `"spec": {"policyName": "p"}`)
			for _, a := range []*admitting{
				{objects: map[string][]*unstructured.Unstructured{"v1 " + hookKind: {hook}}},
				{objects: map[string][]*unstructured.Unstructured{"v1 " + policyKind: {policy}, "v1 " + policyKind + "Binding": {binding}}},
			} {
				r := rulesOf(t, a)
				for _, kind := range []schema.GroupVersionKind{deployments, configMaps, custom} {
					want := false
					for _, seen := range test.sees {
						want = want || seen == kind
					}
					if sum, steady := r.Admission(kind); (sum != "") != want || !steady {
						t.Errorf("%s: %q, steady %t; want it seen: %t", kind.Kind, sum, steady, want)
					}
				}
			}
		})
	}
}

const everything = `{"apiGroups": ["*"], "operations": ["*"], "resources": ["*"]}`

// The hash is another one whenever something that may matter is.
func TestAdmissionIsKnownByIdentities(t *testing.T) {
	hooks := `"webhooks": [{"rules": [` + everything + `]}]`
	spec := `"spec": {"matchConstraints": {"resourceRules": [` + everything + `]}}`
	bound := `"spec": {"policyName": "p"}`
	make := func(hook, policy, binding int) *Rules {
		return rulesOf(t, &admitting{objects: map[string][]*unstructured.Unstructured{
			"v1 " + hookKind:   {object(t, hookKind, "h", hook, hooks)},
			"v1 " + policyKind: {object(t, policyKind, "p", policy, spec), object(t, policyKind, "unbound", 1, spec)},
			"v1 " + policyKind + "Binding": {
				object(t, policyKind+"Binding", "b", binding, bound), object(t, policyKind+"Binding", "of-another", hook+policy+binding, `"spec": {"policyName": "q"}`),
			},
		}})
	}
	seen := map[string]string{}
	for name, r := range map[string]*Rules{"first": make(1, 1, 1), "hook": make(2, 1, 1), "policy": make(1, 2, 1), "binding": make(1, 1, 2)} {
		sum, steady := r.Admission(deployments)
		if other, taken := seen[sum]; taken || sum == "" || !steady {
			t.Errorf("%s: %q is that of %q", name, sum, other)
		}
		seen[sum] = name
	}
	if again, _ := make(1, 1, 1).Admission(deployments); seen[again] != "first" {
		t.Errorf("the same has become %q", again)
	}
}

// A policy with parameters does what other objects say.
func TestParametersAreUnsteady(t *testing.T) {
	r := rulesOf(t, &admitting{objects: map[string][]*unstructured.Unstructured{
		"v1 " + policyKind:             {object(t, policyKind, "p", 1, `"spec": {"matchConstraints": {"resourceRules": [`+everything+`]}}`)},
		"v1 " + policyKind + "Binding": {object(t, policyKind+"Binding", "b", 1, `"spec": {"policyName": "p", "paramRef": {"name": "x"}}`)},
	}})
	if _, steady := r.Admission(deployments); steady {
		t.Error("it is taken for steady")
	}
}

func TestAdmissionThatCannotBeRead(t *testing.T) {
	forbidden := &apierrors.StatusError{ErrStatus: metav1.Status{Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden}}
	r := rulesOf(t, &admitting{fail: map[string]error{"v1 " + hookKind: forbidden}})
	if _, steady := r.Admission(deployments); steady {
		t.Error("what may not be read is taken for absent")
	}
	absent := &meta.NoKindMatchError{}
	r = rulesOf(t, &admitting{fail: map[string]error{"v1 " + policyKind + "Binding": absent}})
	if sum, steady := r.Admission(deployments); sum != "" || !steady {
		t.Errorf("what the server does not have: %q, %t", sum, steady)
	}
	broken := errors.New("connection lost")
	if _, err := ReadRules(t.Context(), &admitting{fail: map[string]error{"v1 " + hookKind: broken}}, providers.Identity{}); !errors.Is(err, broken) {
		t.Errorf("error is %v", err)
	}
}

// Servers from before policies were final may have them in another version.
func TestPoliciesOfOlderServers(t *testing.T) {
	a := &admitting{objects: map[string][]*unstructured.Unstructured{
		"v1beta1 " + policyKind:             {object(t, policyKind, "p", 1, `"spec": {"matchConstraints": {"resourceRules": [`+everything+`]}}`)},
		"v1beta1 " + policyKind + "Binding": {object(t, policyKind+"Binding", "b", 1, `"spec": {"policyName": "p"}`)},
	}}
	r, err := ReadRules(t.Context(), a, providers.Identity{Version: "v1.35.2+k3s1"})
	if err != nil {
		t.Fatal(err)
	}
	if sum, _ := r.Admission(deployments); sum == "" {
		t.Error("the policy is not seen")
	}
}

func TestChecksAreOfBuiltInKinds(t *testing.T) {
	r := rulesOf(t, &admitting{})
	const entry = `"managedFields": [{"manager": "kolla", "operation": "Apply", "apiVersion": %[1]q, "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {}}}]`
	for version, want := range map[string]bool{"apps/v1": true, "apiextensions.k8s.io/v1": true, "example.org/v1": false, "gateway.networking.k8s.io/v1": false} {
		kind := map[string]string{"apps/v1": "Deployment", "apiextensions.k8s.io/v1": "CustomResourceDefinition"}[version]
		if kind == "" {
			kind = "Widget"
		}
		live := decoded(t, fmt.Sprintf(`{"apiVersion": %[1]q, "kind": %[2]q, "metadata": {`+entry+`}, "spec": {}}`, version, kind))
		if check := r.Check(live, "kolla"); (check.Owned != "") != want || want && check.Server != "v1.37.1" {
			t.Errorf("%s %s: %+v", version, kind, check)
		}
	}
}
