package proof

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/kubernetes/scheme"

	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// Rules are what a server makes of an apply by, beyond what the object says: its
// own version, and the mutating webhooks and policies that its operators
// installed. As long as they are the same, so is what the server does.
type Rules struct {
	server   string
	mutators []mutator
	// hidden: the user may not list the mutators. Any object may meet one then.
	hidden bool
}

// mutator is one webhook configuration, or one policy with its bindings.
type mutator struct {
	identity string // changes whenever anything about it does
	// unsteady: what it does depends on other objects too, so that its identity says
	// too little.
	unsteady bool
	rules    []map[string]any // what it sees; in the words of the API
}

// Kinds that change objects on their way into the cluster.
const admissionGroup = "admissionregistration.k8s.io"

// policiesFinal is the first version of Kubernetes that serves mutating policies
// as v1.
var policiesFinal = version.MustParseGeneric("1.36.0")

// ReadRules asks for the mutating webhooks and policies: one LIST of each kind, and
// of policies only where one is bound. cluster is what the Reader reads.
func ReadRules(ctx context.Context, reader providers.Reader, cluster providers.Identity) (*Rules, error) {
	r := &Rules{server: cluster.Version}
	var webhooks, policies []mutator
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		webhooks, err = readWebhooks(ctx, reader)
		return err
	})
	group.Go(func() (err error) {
		policies, err = readPolicies(ctx, reader, cluster.Version)
		return err
	})
	err := group.Wait()
	switch {
	case apierrors.IsForbidden(err):
		r.hidden = true
	case err != nil:
		return nil, fmt.Errorf("read what changes objects on their way into the cluster: %w", err)
	}
	r.mutators = slices.Concat(webhooks, policies)
	return r, nil
}

func readWebhooks(ctx context.Context, reader providers.Reader) ([]mutator, error) {
	list, err := listAdmission(ctx, reader, "v1", "MutatingWebhookConfiguration")
	mutators := make([]mutator, 0, len(list))
	for _, u := range list {
		m := mutator{identity: identityOf(u)}
		webhooks, _, _ := unstructured.NestedFieldNoCopy(u.Object, "webhooks")
		for _, webhook := range mapsIn(webhooks) {
			m.rules = append(m.rules, mapsIn(webhook["rules"])...)
		}
		mutators = append(mutators, m)
	}
	return mutators, err
}

// readPolicies asks for the policies' bindings first: without one, a policy does
// nothing.
func readPolicies(ctx context.Context, reader providers.Reader, server string) ([]mutator, error) {
	served := []string{"v1"}
	if v, err := version.ParseGeneric(server); err == nil && v.LessThan(policiesFinal) {
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
	bound := map[string][]string{}
	unsteady := map[string]bool{}
	for _, b := range bindings {
		policy, _, _ := unstructured.NestedString(b.Object, "spec", "policyName")
		bound[policy] = append(bound[policy], identityOf(b))
		_, hasParameters, _ := unstructured.NestedFieldNoCopy(b.Object, "spec", "paramRef")
		unsteady[policy] = unsteady[policy] || hasParameters
	}
	var mutators []mutator
	for _, p := range policies {
		name := p.GetName()
		if len(bound[name]) == 0 {
			continue
		}
		slices.Sort(bound[name])
		rules, _, _ := unstructured.NestedFieldNoCopy(p.Object, "spec", "matchConstraints", "resourceRules")
		mutators = append(mutators, mutator{
			identity: identityOf(p) + " " + strings.Join(bound[name], " "),
			unsteady: unsteady[name],
			rules:    mapsIn(rules),
		})
	}
	return mutators
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

// Admission is a hash of the mutators that see objects of a kind; empty where none
// does. steady is false where there is no telling what they do.
func (r *Rules) Admission(kind schema.GroupVersionKind) (sum string, steady bool) {
	var seen []string
	for _, m := range r.mutators {
		if !m.sees(kind) {
			continue
		}
		if m.unsteady {
			return "", false
		}
		seen = append(seen, m.identity)
	}
	if len(seen) == 0 {
		return "", !r.hidden
	}
	slices.Sort(seen)
	hash := sha256.Sum256([]byte(strings.Join(seen, "\n")))
	return hex.EncodeToString(hash[:]), !r.hidden
}

// sees reports whether objects of the kind may be changed. Selectors, conditions
// and versions are no reason to say no: by other fields, or converted to another
// version, the object may match after all.
func (m mutator) sees(kind schema.GroupVersionKind) bool {
	return slices.ContainsFunc(m.rules, func(rule map[string]any) bool {
		return holdsAny(rule["apiGroups"], kind.Group, "*") &&
			holdsAny(rule["operations"], "CREATE", "UPDATE", "*") &&
			(!BuiltIn(kind) || holdsAny(rule["resources"], resourceOf(kind), "*", "*/*", resourceOf(kind)+"/*"))
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

// BuiltIn reports whether the kind is one of Kubernetes' own, so that the version
// of the server says all about what it makes of an object.
func BuiltIn(kind schema.GroupVersionKind) bool {
	switch kind.Group {
	case "apiextensions.k8s.io", "apiregistration.k8s.io":
		return true
	}
	return scheme.Scheme.Recognizes(kind)
}

// Check is what a later plan may know an object to be unchanged by: live is the
// object as an apply left it, or as a dry run would have left it. It is zero where
// there is no certainty. What becomes of custom resources is up to their definitions
// and to other servers.
func (r *Rules) Check(live *unstructured.Unstructured, manager string) state.Check {
	kind := live.GroupVersionKind()
	admission, steady := r.Admission(kind)
	if !steady || !BuiltIn(kind) || r.server == "" {
		return state.Check{}
	}
	sum, ok := fingerprint(live, manager)
	if !ok {
		return state.Check{}
	}
	return state.Check{Owned: sum, Server: r.server, Admission: admission}
}
