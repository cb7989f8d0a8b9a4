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

// mutator is one mutating webhook, or one mutating policy together with one binding.
type mutator struct {
	identity string    // changes with every change of the configuration
	written  time.Time // the last change of the configuration
	// unsteady: the result depends on more than the configuration and the object, so
	// equal identities do not mean equal results.
	unsteady bool
	scopes   []scope // an object must be in all of them
}

// scope selects the objects that a mutator applies to.
type scope struct {
	rules      []map[string]any // as in the API
	all        bool             // all kinds: there are no rules
	namespaces labels.Selector  // nil: all of them
}

// admissionGroup is the API group of the kinds that change objects on admission.
const admissionGroup = "admissionregistration.k8s.io"

// policiesFinal is the first version of Kubernetes that serves mutating policies
// as v1.
var policiesFinal = version.MustParseGeneric("1.36.0")

// outside matches the variables of CEL expressions that stand for neither the object nor
// the policy or webhook itself.
var outside = regexp.MustCompile(`\b(authorizer|namespaceObject|params|request)\b`)

// readWebhooks lists the mutating webhooks. Only their configuration can be seen, not the
// programs behind them.
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

// readPolicies lists the bindings of mutating policies first: without a binding, a policy
// has no effect.
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
		// Parameters are other objects, which may change at any time.
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

// speaksOf reports whether any string in a value matches.
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

// scopeOf reads the scope of a webhook, a policy or a binding. An unreadable selector selects
// everything.
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

// listAdmission lists the objects of a kind. A kind that the server does not have has no
// objects.
func listAdmission(ctx context.Context, reader providers.Reader, version, kind string) ([]*unstructured.Unstructured, error) {
	list, err := reader.List(ctx, schema.GroupVersionKind{Group: admissionGroup, Version: version, Kind: kind}, "")
	if meta.IsNoMatchError(err) {
		return nil, nil
	}
	return list, err
}

// identityOf returns a string that changes when the object's specification changes or the object is
// created again.
func identityOf(u *unstructured.Unstructured) string {
	return fmt.Sprintf("%s %s %d", u.GetKind(), u.GetUID(), u.GetGeneration())
}

// mapsIn returns the elements of a list that are maps.
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

// sees reports whether the mutator may change objects of the kind in one of the
// operations. It ignores object selectors, match conditions and versions: after a change
// of other fields, or a conversion to another version, the object may match.
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

// selective reports whether the mutator applies to some namespaces only.
func (m mutator) selective() bool {
	return slices.ContainsFunc(m.scopes, func(s scope) bool { return s.namespaces != nil })
}

// selects reports whether the mutator applies to objects of a namespace. Namespace
// selectors do not restrict objects without a namespace, nor namespaces themselves; for
// these, namespace is nil.
func (m mutator) selects(namespace *unstructured.Unstructured) bool {
	return namespace == nil || !slices.ContainsFunc(m.scopes, func(s scope) bool {
		return s.namespaces != nil && !s.namespaces.Matches(labels.Set(namespace.GetLabels()))
	})
}

// resourceOf returns the resource of a built-in kind: the plural of the kind, except for
// Endpoints.
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
