package proof

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/version"

	"kolla.openstack.org/kolla/providers"
)

// mutator is one webhook, or one policy as one of its bindings has it.
type mutator struct {
	identity string    // changes whenever anything about it does
	written  time.Time // when somebody last changed it
	// unsteady: what it does depends on more than itself and the object, so that its
	// identity says too little.
	unsteady bool
	scopes   []scope // it sees what is in all of them
}

// scope says which objects something is for.
type scope struct {
	rules      []map[string]any // in the words of the API
	all        bool             // kinds; there are no rules
	namespaces labels.Selector  // nil: all of them
}

// Kinds that change objects on their way into the cluster.
const admissionGroup = "admissionregistration.k8s.io"

// policiesFinal is the first version of Kubernetes that serves mutating policies
// as v1.
var policiesFinal = version.MustParseGeneric("1.36.0")

// outside matches the names that an expression of a policy or webhook has for what is
// neither that nor the object.
var outside = regexp.MustCompile(`\b(authorizer|namespaceObject|params|request)\b`)

// readWebhooks asks for the webhooks. What one does is up to a program somewhere, of
// which its configuration is all that there is to see.
func readWebhooks(ctx context.Context, reader providers.Reader) ([]mutator, error) {
	list, err := listAdmission(ctx, reader, "v1", "MutatingWebhookConfiguration")
	var mutators []mutator
	for _, u := range list {
		webhooks, _, _ := unstructured.NestedFieldNoCopy(u.Object, "webhooks")
		for _, webhook := range mapsIn(webhooks) {
			mutators = append(mutators, mutator{
				identity: identityOf(u),
				written:  lastWritten(u),
				unsteady: speaksOf(webhook["matchConditions"], outside),
				scopes:   []scope{scopeOf(webhook, "rules")},
			})
		}
	}
	return mutators, err
}

// readPolicies asks for the policies' bindings first: without one, a policy does
// nothing.
func readPolicies(ctx context.Context, reader providers.Reader, server providers.Identity) ([]mutator, error) {
	served := []string{"v1"}
	if v, err := version.ParseGeneric(cmp.Or(server.Emulates, server.Version)); err == nil && v.LessThan(policiesFinal) {
		served = []string{"v1beta1", "v1alpha1"}
	}
	for _, v := range served {
		bindings, err := listAdmission(ctx, reader, v, "MutatingAdmissionPolicyBinding")
		if err != nil {
			return nil, err
		}
		if len(bindings) > 0 {
			policies, err := listAdmission(ctx, reader, v, "MutatingAdmissionPolicy")
			return boundPolicies(policies, bindings), err
		}
	}
	return nil, nil
}

func boundPolicies(policies, bindings []*unstructured.Unstructured) []mutator {
	named := map[string]*unstructured.Unstructured{}
	for _, p := range policies {
		named[p.GetName()] = p
	}
	var mutators []mutator
	for _, b := range bindings {
		name, _, _ := unstructured.NestedString(b.Object, "spec", "policyName")
		p := named[name]
		if p == nil {
			continue
		}
		m := mutator{
			identity: identityOf(p) + " " + identityOf(b),
			written:  later(lastWritten(p), lastWritten(b)),
			unsteady: speaksOf(p.Object["spec"], outside),
		}
		// Parameters are other objects.
		_, hasParameters, _ := unstructured.NestedFieldNoCopy(b.Object, "spec", "paramRef")
		m.unsteady = m.unsteady || hasParameters
		constraints, _, _ := unstructured.NestedMap(p.Object, "spec", "matchConstraints")
		m.scopes = append(m.scopes, scopeOf(constraints, "resourceRules"))
		if narrower, ok, _ := unstructured.NestedMap(b.Object, "spec", "matchResources"); ok {
			s := scopeOf(narrower, "resourceRules")
			s.all = len(s.rules) == 0
			m.scopes = append(m.scopes, s)
		}
		mutators = append(mutators, m)
	}
	return mutators
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// speaksOf reports whether some text in a value matches.
func speaksOf(value any, words *regexp.Regexp) bool {
	switch value := value.(type) {
	case string:
		return words.MatchString(value)
	case []any:
		return slices.ContainsFunc(value, func(v any) bool { return speaksOf(v, words) })
	case map[string]any:
		for _, v := range value {
			if speaksOf(v, words) {
				return true
			}
		}
	}
	return false
}

// scopeOf reads the scope of a webhook, a policy or a binding. A selector that
// cannot be read selects everything.
func scopeOf(content map[string]any, rules string) scope {
	s := scope{rules: mapsIn(content[rules])}
	text, _ := content["namespaceSelector"].(map[string]any)
	var selector metav1.LabelSelector
	if runtime.DefaultUnstructuredConverter.FromUnstructured(text, &selector) != nil {
		return s
	}
	if parsed, err := metav1.LabelSelectorAsSelector(&selector); err == nil && !parsed.Empty() {
		s.namespaces = parsed
	}
	return s
}

// listAdmission lists the objects of a kind; none where the server has no such kind.
func listAdmission(ctx context.Context, reader providers.Reader, version, kind string) ([]*unstructured.Unstructured, error) {
	list, err := reader.List(ctx, schema.GroupVersionKind{Group: admissionGroup, Version: version, Kind: kind}, "")
	if meta.IsNoMatchError(err) {
		return nil, nil
	}
	return list, err
}

// identityOf is another one whenever somebody changed the object's specification,
// or made it anew.
func identityOf(u *unstructured.Unstructured) string {
	return fmt.Sprintf("%s %s %d", u.GetKind(), u.GetUID(), u.GetGeneration())
}

// mapsIn are the elements of a list that are maps.
func mapsIn(list any) []map[string]any {
	elements, _ := list.([]any)
	var found []map[string]any
	for _, element := range elements {
		if m, ok := element.(map[string]any); ok {
			found = append(found, m)
		}
	}
	return found
}

// sees reports whether one of the operations on objects of the kind may be changed.
// Selectors of objects, conditions and versions are no reason to say no: by other
// fields, or converted to another version, the object may match after all.
func (m mutator) sees(kind schema.GroupVersionKind, operations ...string) bool {
	return !slices.ContainsFunc(m.scopes, func(s scope) bool { return !s.covers(kind, operations) })
}

func (s scope) covers(kind schema.GroupVersionKind, operations []string) bool {
	return s.all || slices.ContainsFunc(s.rules, func(rule map[string]any) bool {
		return holdsAny(rule["apiGroups"], kind.Group, "*") &&
			holdsAny(rule["operations"], append(operations, "*")...) &&
			(!BuiltIn(kind) || holdsAny(rule["resources"], resourceOf(kind), "*", "*/*", resourceOf(kind)+"/*"))
	})
}

// selective reports whether the mutator is not for all namespaces.
func (m mutator) selective() bool {
	return slices.ContainsFunc(m.scopes, func(s scope) bool { return s.namespaces != nil })
}

// selects reports whether the mutator is for a namespace. Objects outside of
// namespaces are not selected by one, and neither are namespaces themselves.
func (m mutator) selects(namespace *unstructured.Unstructured) bool {
	return namespace == nil || !slices.ContainsFunc(m.scopes, func(s scope) bool {
		return s.namespaces != nil && !s.namespaces.Matches(labels.Set(namespace.GetLabels()))
	})
}

// resourceOf is the resource of a built-in kind: its plural, but for one.
func resourceOf(kind schema.GroupVersionKind) string {
	if kind.Kind == "Endpoints" {
		return "endpoints"
	}
	plural, _ := meta.UnsafeGuessKindToResource(kind)
	return plural.Resource
}

func holdsAny(list any, values ...string) bool {
	elements, _ := list.([]any)
	return slices.ContainsFunc(elements, func(element any) bool {
		text, _ := element.(string)
		return slices.Contains(values, text)
	})
}
