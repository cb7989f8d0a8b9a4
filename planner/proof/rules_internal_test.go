package proof

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// admitting is a Reader with webhooks and policies, by version and kind.
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

const (
	hookKind    = "MutatingWebhookConfiguration"
	policyKind  = "MutatingAdmissionPolicy"
	bindingKind = "MutatingAdmissionPolicyBinding"
	everything  = `{"apiGroups": ["*"], "operations": ["*"], "resources": ["*"]}`
)

var (
	deployments = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	configMaps  = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	widgets     = schema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: "Widget"}

	server = providers.Identity{Version: "v1.37.1"}
	now    = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	before = now.Add(-time.Hour)
)

// object returns an object with a creation time, a UID and a generation. The rest of it is JSON.
func object(t *testing.T, kind, name string, generation int, made time.Time, rest string) *unstructured.Unstructured {
	t.Helper()
	return decoded(t, fmt.Sprintf(`{"apiVersion": "admissionregistration.k8s.io/v1", "kind": %q, "metadata": {"name": %q, "uid": "uid-%[2]s", "generation": %d, "creationTimestamp": %q}, %s}`,
		kind, name, generation, made.Format(time.RFC3339), rest))
}

// hook returns a Reader with webhooks, policyOf one with a policy and its binding.
func hook(t *testing.T, webhook string) *admitting {
	return &admitting{objects: map[string][]*unstructured.Unstructured{
		"v1 " + hookKind: {object(t, hookKind, "h", 1, before, `"webhooks": [{"rules": []}, {`+webhook+`}]`)},
	}}
}

func policyOf(t *testing.T, spec, binding string) *admitting {
	return &admitting{objects: map[string][]*unstructured.Unstructured{
		"v1 " + policyKind:  {object(t, policyKind, "p", 1, before, `"spec": {`+spec+`}`), object(t, policyKind, "unbound", 1, before, `"spec": {`+spec+`}`)},
		"v1 " + bindingKind: {object(t, bindingKind, "b", 1, before, `"spec": {"policyName": "p"`+binding+`}`), object(t, bindingKind, "of-none", 1, before, `"spec": {"policyName": "q"}`)},
	}}
}

func rulesOf(t *testing.T, a *admitting) *Rules {
	t.Helper()
	r, err := ReadRules(t.Context(), a, server, now)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// one returns a live object of a kind. kolla owns all its content.
func one(t *testing.T, kind schema.GroupVersionKind, resourceVersion string) *unstructured.Unstructured {
	t.Helper()
	version, name := kind.ToAPIVersionAndKind()
	return decoded(t, fmt.Sprintf(`{"apiVersion": %[1]q, "kind": %[2]q, "metadata": {"name": "a", "namespace": "ns", "resourceVersion": %[3]q, "managedFields": [
		{"manager": "kolla", "operation": "Apply", "apiVersion": %[1]q, "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {}}}]}, "spec": {}}`, version, name, resourceVersion))
}

func namespace(t *testing.T, labels string, written time.Time) *unstructured.Unstructured {
	t.Helper()
	return decoded(t, `{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ns", "labels": {`+labels+`}, "creationTimestamp": "2020-01-01T00:00:00Z",
		"managedFields": [{"manager": "m", "operation": "Update", "apiVersion": "v1", "time": "`+written.Format(time.RFC3339)+`", "fieldsType": "FieldsV1", "fieldsV1": {}}]}}`)
}

func TestWhichKindsAMutatorSees(t *testing.T) {
	tests := map[string]struct {
		rule string
		sees []schema.GroupVersionKind
	}{
		"one resource":       {`{"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["UPDATE"], "resources": ["deployments"]}`, []schema.GroupVersionKind{deployments}},
		"another version":    {`{"apiGroups": ["apps"], "apiVersions": ["v1beta1"], "operations": ["CREATE", "UPDATE"], "resources": ["deployments"]}`, []schema.GroupVersionKind{deployments}},
		"everything":         {everything, []schema.GroupVersionKind{deployments, configMaps, widgets}},
		"with subresources":  {`{"apiGroups": ["", "apps"], "operations": ["UPDATE"], "resources": ["*/*"]}`, []schema.GroupVersionKind{deployments, configMaps}},
		"what is new":        {`{"apiGroups": ["*"], "operations": ["CREATE"], "resources": ["*"]}`, nil},
		"deletions":          {`{"apiGroups": ["*"], "operations": ["DELETE", "CONNECT"], "resources": ["*"]}`, nil},
		"pods":               {`{"apiGroups": [""], "operations": ["*"], "resources": ["pods"]}`, nil},
		"a custom resource":  {`{"apiGroups": ["example.org"], "operations": ["*"], "resources": ["whatever-its-plural-is"]}`, []schema.GroupVersionKind{widgets}},
		"nothing":            {`{}`, nil},
		"not even a rule":    {`7`, nil},
		"another API group":  {`{"apiGroups": ["batch"], "operations": ["*"], "resources": ["*"]}`, nil},
		"the core API group": {`{"apiGroups": [""], "operations": ["*"], "resources": ["*"]}`, []schema.GroupVersionKind{configMaps}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for kind, a := range map[string]*admitting{
				hookKind:    hook(t, `"rules": [`+test.rule+`]`),
				policyKind:  policyOf(t, `"matchConstraints": {"resourceRules": [`+test.rule+`]}`, ""),
				bindingKind: policyOf(t, `"matchConstraints": {"resourceRules": [`+everything+`]}`, `, "matchResources": {"resourceRules": [`+test.rule+`]}`),
			} {
				if kind == bindingKind && test.rule == "7" {
					continue // without rules, the policy decides
				}
				r := rulesOf(t, a)
				for _, gvk := range []schema.GroupVersionKind{deployments, configMaps, widgets} {
					want := true
					for _, seen := range test.sees {
						want = want && seen != gvk
					}
					if got := r.Undisturbed(one(t, gvk, "1"), namespace(t, "", before)); got != want {
						t.Errorf("%s, %s: undisturbed is %t", kind, gvk.Kind, got)
					}
				}
			}
		})
	}
}

// TestWebhooksAreKnownByTheirConfiguration checks that a webhook is known by its configuration,
// unless its result depends on more than the object.
func TestWebhooksAreKnownByTheirConfiguration(t *testing.T) {
	fingerprint := func(webhook string, generation int64, labels string) state.Fingerprint {
		a := hook(t, webhook)
		a.objects["v1 "+hookKind][0].SetGeneration(generation)
		return rulesOf(t, a).Fingerprint(one(t, deployments, "1"), namespace(t, labels, before), "kolla", Terms{})
	}
	const all = `"rules": [` + everything + `]`
	first := fingerprint(all, 1, "")
	if first.Admission == "" || fingerprint(all, 1, "") != first {
		t.Errorf("the fingerprints of the same are %+v and %+v", first, fingerprint(all, 1, ""))
	}
	if other := fingerprint(all, 2, ""); other.Admission == "" || other.Admission == first.Admission {
		t.Errorf("after a change the fingerprint is %+v, was %+v", other, first)
	}
	if c := fingerprint(all+`, "matchConditions": [{"name": "c", "expression": "request.userInfo.username == 'a'"}]`, 1, ""); c.Known() {
		t.Errorf("with a condition about the request, the fingerprint is %+v", c)
	}
	if c := fingerprint(all+`, "namespaceSelector": {"matchExpressions": [{"key": "ignore", "operator": "DoesNotExist"}]}`, 1, `"ignore": "yes"`); !c.Known() || c.Admission != "" {
		t.Errorf("in a namespace that it ignores, the fingerprint is %+v", c)
	}
}

// TestAdmissionIsKnownByIdentities checks that the hash changes with everything that may affect
// admission.
func TestAdmissionIsKnownByIdentities(t *testing.T) {
	const spec = `"matchConstraints": {"resourceRules": [` + everything + `]}`
	fingerprint := func(policy, binding int, resourceVersion string) state.Fingerprint {
		a := policyOf(t, spec, "")
		a.objects["v1 "+policyKind][0].SetGeneration(int64(policy))
		a.objects["v1 "+bindingKind][0].SetGeneration(int64(binding))
		a.objects["v1 "+policyKind][1].SetGeneration(int64(policy + binding))
		return rulesOf(t, a).Fingerprint(one(t, deployments, resourceVersion), namespace(t, "", before), "kolla", Terms{})
	}
	first := fingerprint(1, 1, "1")
	if first.Admission == "" || fingerprint(1, 1, "1") != first {
		t.Fatalf("the fingerprints of the same are %+v and %+v", first, fingerprint(1, 1, "1"))
	}
	for name, other := range map[string]state.Fingerprint{
		"another policy": fingerprint(2, 1, "1"), "another binding": fingerprint(1, 2, "1"), "another version of the object": fingerprint(1, 1, "2"),
	} {
		if other.Admission == "" || other.Admission == first.Admission {
			t.Errorf("%s: the fingerprint is %+v, was %+v", name, other, first)
		}
	}
}

// TestNamespacesAreSelected checks that a selector follows the labels of the namespace. API servers
// need a moment to notice changed labels.
func TestNamespacesAreSelected(t *testing.T) {
	const selector = `"namespaceSelector": {"matchLabels": {"inject": "yes"}}`
	const rules = `"resourceRules": [` + everything + `]`
	for name, a := range map[string]*admitting{
		"by the policy":  policyOf(t, `"matchConstraints": {`+rules+`, `+selector+`}`, ""),
		"by the binding": policyOf(t, `"matchConstraints": {`+rules+`}`, `, "matchResources": {`+selector+`}`),
	} {
		t.Run(name, func(t *testing.T) {
			r, live := rulesOf(t, a), one(t, deployments, "1")
			in := namespace(t, `"inject": "yes"`, before)
			out := namespace(t, `"inject": "no"`, before)
			inside, outside := r.Fingerprint(live, in, "kolla", Terms{}), r.Fingerprint(live, out, "kolla", Terms{})
			if r.Undisturbed(live, in) || inside.Admission == "" {
				t.Errorf("in a namespace that is selected, the fingerprint is %+v", inside)
			}
			if !r.Undisturbed(live, out) || outside.Admission != "" || outside.Owned == "" {
				t.Errorf("in another namespace, the fingerprint is %+v", outside)
			}
			if fingerprint := r.Fingerprint(live, nil, "kolla", Terms{}); fingerprint.Admission == "" {
				t.Errorf("in no namespace, the fingerprint is %+v", fingerprint)
			}
			for _, labels := range []string{`"inject": "yes"`, `"inject": "no"`} {
				late := namespace(t, labels, now.Add(-time.Second))
				if fingerprint := r.Fingerprint(live, late, "kolla", Terms{}); fingerprint.Known() || r.Undisturbed(live, late) {
					t.Errorf("with labels that were just written, the fingerprint is %+v", fingerprint)
				}
				writes := func(operation metav1.ManagedFieldsOperationType, fields string) *unstructured.Unstructured {
					stamp, u := metav1.NewTime(now.Add(-time.Second)), namespace(t, labels, before)
					u.SetManagedFields([]metav1.ManagedFieldsEntry{{
						Manager: "m", Operation: operation, Time: &stamp, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields),
					}})
					return u
				}
				const annotation = `{"f:metadata": {"f:annotations": {"f:seen": {}}}}`
				if fingerprint := r.Fingerprint(live, writes("Update", annotation), "kolla", Terms{}); !fingerprint.Known() {
					t.Error("an annotation that was just written is taken for a label")
				}
				for operation, fields := range map[metav1.ManagedFieldsOperationType]string{
					"Update": `{"f:metadata": {"f:annotations": {"f:seen": {}}, "f:labels": {"f:inject": {}}}}`, "Apply": annotation,
				} {
					if fingerprint := r.Fingerprint(live, writes(operation, fields), "kolla", Terms{}); fingerprint.Known() {
						t.Errorf("with %s of %s, the fingerprint is %+v", operation, fields, fingerprint)
					}
				}
			}
		})
	}
}

// TestUnsteadyPolicies checks policies whose result depends on more than the policy and the object.
func TestUnsteadyPolicies(t *testing.T) {
	const constraints = `"matchConstraints": {"resourceRules": [` + everything + `]}`
	live := one(t, deployments, "1")
	for name, test := range map[string]struct {
		spec, binding string
		steady        bool
	}{
		"by the object":        {constraints + `, "matchConditions": [{"name": "c", "expression": "object.spec.resources.requests.cpu == '1'"}]`, "", true},
		"parameters":           {constraints, `, "paramRef": {"name": "x"}`, false},
		"by the user":          {constraints + `, "matchConditions": [{"name": "c", "expression": "request.userInfo.username != 'me'"}]`, "", false},
		"by permissions":       {constraints + `, "variables": [{"name": "v", "expression": "authorizer.group('').resource('x').check('get').allowed()"}]`, "", false},
		"by the namespace":     {constraints + `, "mutations": [{"applyConfiguration": {"expression": "Object{x: namespaceObject.metadata.labels['x']}"}}]`, "", false},
		"by what it is called": {constraints + `, "matchConditions": [{"name": "request", "expression": "true"}]`, "", false},
	} {
		fingerprint := rulesOf(t, policyOf(t, test.spec, test.binding)).Fingerprint(live, nil, "kolla", Terms{})
		if got := fingerprint.Known(); got != test.steady {
			t.Errorf("%s: the fingerprint is %+v", name, fingerprint)
		}
	}
}

// TestNewPoliciesSettleFirst checks that kolla records no fingerprint right after a policy changed.
// A server that does not know the policy yet would give a wrong answer.
func TestNewPoliciesSettleFirst(t *testing.T) {
	const constraints = `"matchConstraints": {"resourceRules": [` + everything + `]}`
	live := one(t, deployments, "1")
	for name, change := range map[string]func(*admitting){
		"a new policy": func(a *admitting) {
			a.objects["v1 "+policyKind][0].SetCreationTimestamp(metav1.NewTime(now.Add(-time.Second)))
		},
		"a new binding": func(a *admitting) {
			a.objects["v1 "+bindingKind][0].SetCreationTimestamp(metav1.NewTime(now.Add(time.Second)))
		},
		"a changed policy": func(a *admitting) {
			stamp := metav1.NewTime(now.Add(-time.Second))
			a.objects["v1 "+policyKind][0].SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "kubectl", Time: &stamp}})
		},
	} {
		a := policyOf(t, constraints, "")
		if fingerprint := rulesOf(t, a).Fingerprint(live, nil, "kolla", Terms{}); fingerprint.Admission == "" {
			t.Errorf("before, the fingerprint is %+v", fingerprint)
		}
		change(a)
		if fingerprint := rulesOf(t, a).Fingerprint(live, nil, "kolla", Terms{}); fingerprint.Known() {
			t.Errorf("with %s, the fingerprint is %+v", name, fingerprint)
		}
	}
}

// TestWrittenIsCertainWithoutMutatorsOnly checks that the result of another apply is certain after
// a write only if no mutator sees the object.
func TestWrittenIsCertainWithoutMutatorsOnly(t *testing.T) {
	live := one(t, deployments, "1")
	for name, test := range map[string]struct {
		a     *admitting
		known bool
	}{
		"none":               {&admitting{}, true},
		"of another kind":    {hook(t, `"rules": [{"apiGroups": [""], "operations": ["*"], "resources": ["pods"]}]`), true},
		"a webhook":          {hook(t, `"rules": [`+everything+`]`), false},
		"of new objects":     {hook(t, `"rules": [{"apiGroups": ["apps"], "operations": ["CREATE"], "resources": ["*"]}]`), false},
		"of some namespaces": {hook(t, `"rules": [`+everything+`], "namespaceSelector": {"matchLabels": {"a": "b"}}`), false},
		"a policy":           {policyOf(t, `"matchConstraints": {"resourceRules": [`+everything+`]}`, ""), false},
	} {
		r := rulesOf(t, test.a)
		if fingerprint := r.Written(live, "kolla", Terms{}); fingerprint.Known() != test.known {
			t.Errorf("%s: the fingerprint is %+v", name, fingerprint)
		}
		if r.Meets(deployments) == test.known {
			t.Errorf("%s: a new object meets it: %t", name, r.Meets(deployments))
		}
	}
}

func TestAdmissionThatCannotBeRead(t *testing.T) {
	forbidden := &apierrors.StatusError{ErrStatus: metav1.Status{Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden}}
	live := one(t, deployments, "1")
	r := rulesOf(t, &admitting{fail: map[string]error{"v1 " + hookKind: forbidden}})
	if !r.Hidden() || r.Undisturbed(live, nil) || r.Fingerprint(live, nil, "kolla", Terms{}).Known() || r.Written(live, "kolla", Terms{}).Known() {
		t.Error("what may not be read is taken for absent")
	}
	absent := &meta.NoKindMatchError{}
	r = rulesOf(t, &admitting{fail: map[string]error{"v1 " + bindingKind: absent}})
	if r.Hidden() || !r.Undisturbed(live, nil) {
		t.Error("what the server does not have is taken for hidden")
	}
	broken := errors.New("connection lost")
	if _, err := ReadRules(t.Context(), &admitting{fail: map[string]error{"v1 " + hookKind: broken}}, server, now); !errors.Is(err, broken) {
		t.Errorf("error is %v", err)
	}
}

// TestPoliciesOfOlderServers checks that kolla finds policies in older API versions on old servers,
// and on servers that emulate an old version.
func TestPoliciesOfOlderServers(t *testing.T) {
	a := policyOf(t, `"matchConstraints": {"resourceRules": [`+everything+`]}`, "")
	for _, kind := range []string{policyKind, bindingKind} {
		a.objects["v1beta1 "+kind] = a.objects["v1 "+kind]
		delete(a.objects, "v1 "+kind)
	}
	for _, old := range []providers.Identity{{Version: "v1.35.2+k3s1"}, {Version: "v1.37.1", Emulates: "1.35"}} {
		r, err := ReadRules(t.Context(), a, old, now)
		if err != nil {
			t.Fatal(err)
		}
		if r.Undisturbed(one(t, deployments, "1"), nil) {
			t.Errorf("the policy is not seen on %+v", old)
		}
	}
}

func TestChecksAreOfBuiltInKinds(t *testing.T) {
	r := rulesOf(t, &admitting{})
	for kind, want := range map[schema.GroupVersionKind]bool{
		deployments: true, {Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}: true,
		widgets: false, {Group: "gateway.networking.k8s.io", Version: "v1", Kind: "Gateway"}: false,
	} {
		if fingerprint := r.Fingerprint(one(t, kind, "1"), nil, "kolla", Terms{}); fingerprint.Known() != want || want && fingerprint.Server != "v1.37.1" {
			t.Errorf("%s: %+v", kind, fingerprint)
		}
	}
}

// TestChecksAreOfTheEmulatedVersion checks that a server that emulates an older version counts as
// another server.
func TestChecksAreOfTheEmulatedVersion(t *testing.T) {
	emulating := server
	emulating.Emulates = "1.36"
	r, err := ReadRules(t.Context(), &admitting{}, emulating, now)
	if err != nil {
		t.Fatal(err)
	}
	if fingerprint := r.Fingerprint(one(t, deployments, "1"), nil, "kolla", Terms{}); !strings.HasPrefix(fingerprint.Server, "v1.37.1") || fingerprint.Server == "v1.37.1" {
		t.Errorf("the fingerprint is %+v", fingerprint)
	}
}
