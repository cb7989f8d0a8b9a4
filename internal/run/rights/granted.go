package rights

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

const rbac = "rbac.authorization.k8s.io"

// Kinds that the server accepts only from users with certain further rights.
var (
	validatingPolicy = schema.GroupKind{Group: "admissionregistration.k8s.io", Kind: "ValidatingAdmissionPolicy"}
	mutatingPolicy   = schema.GroupKind{Group: "admissionregistration.k8s.io", Kind: "MutatingAdmissionPolicy"}
	trustBundle      = schema.GroupKind{Group: "certificates.k8s.io", Kind: "ClusterTrustBundle"}
)

// granted returns the rules for objects that the server accepts only from users who have certain
// rights themselves. Of these are roles and bindings: the server does not let users grant rights
// that they do not have. So kolla gets the rights that the roles of the configuration grant, and
// the verb bind for each bound role, by name. It gets the verb escalate only for a role whose
// rules are unknown.
func (b *builder) granted(namespace string) []Rule {
	var rules []Rule
	for i := range b.Objects {
		u := b.Objects[i].Manifest
		if u.GetNamespace() != namespace {
			continue
		}
		switch u.GroupVersionKind().GroupKind() {
		case kinds.Role, kinds.ClusterRole:
			rules = append(rules, b.contained(u)...)
		case kinds.RoleBinding, kinds.ClusterRoleBinding:
			rules = append(rules, b.bound(u)...)
		case validatingPolicy, mutatingPolicy:
			rules = append(rules, b.parameters(u)...)
		case trustBundle:
			rules = append(rules, attested(u)...)
		}
	}
	return rules
}

// contained returns the rules of a role that an apply writes.
func (b *builder) contained(role *unstructured.Unstructured) []Rule {
	list, isList := role.Object["rules"].([]any)
	escalate := Rule{
		Groups: []string{rbac}, Resources: []string{b.Resource(role.GroupVersionKind())}, Names: named([]string{role.GetName()}), Verbs: []string{"escalate"},
	}
	switch {
	case role.Object["aggregationRule"] != nil:
		escalate.Why = fmt.Sprintf("%s %s takes its rules from other roles, whatever they give. Kubernetes lets only those write it who may give any right.", role.GetKind(), role.GetName())
		return []Rule{escalate}
	case role.Object["rules"] != nil && !isList:
		escalate.Why = fmt.Sprintf("Which rights %s %s gives is known only after the apply.", role.GetKind(), role.GetName())
		return []Rule{escalate}
	}
	why := fmt.Sprintf("%s %s gives these rights. Kubernetes lets kolla write it only if kolla has them too.", role.GetKind(), role.GetName())
	var rules []Rule
	for _, item := range list {
		content, _ := item.(map[string]any)
		rules = append(rules, Rule{
			Why:    why,
			Groups: texts(content["apiGroups"]), Resources: texts(content["resources"]), Names: texts(content["resourceNames"]),
			URLs: texts(content["nonResourceURLs"]), Verbs: texts(content["verbs"]),
		})
		why = ""
	}
	return rules
}

// bound returns the rule for a binding. A role of the configuration needs it too: a plan tries
// the binding before the role exists, and the server cannot look up the role's rights.
func (b *builder) bound(binding *unstructured.Unstructured) []Rule {
	kind, _, _ := unstructured.NestedString(binding.Object, "roleRef", "kind")
	name, _, _ := unstructured.NestedString(binding.Object, "roleRef", "name")
	role := providers.Ref{GVK: schema.GroupVersionKind{Group: rbac, Version: "v1", Kind: kind}, Name: name}
	if kind == kinds.Role.Kind {
		role.Namespace = binding.GetNamespace()
	}
	why := "%s %s gives the rights of %s %s, which the configuration does not declare."
	if slices.ContainsFunc(b.Objects, func(o providers.Object) bool { return o.Ref() == role }) {
		why = "%s %s gives the rights of %s %s. A plan tries it before that role exists."
	}
	return []Rule{{
		Why:    fmt.Sprintf(why, binding.GetKind(), binding.GetName(), kind, name),
		Groups: []string{rbac}, Resources: []string{b.Resource(role.GVK)}, Names: named([]string{name}), Verbs: []string{"bind"},
	}}
}

// parameters returns the rule for an admission policy with parameters. The server requires users
// who write the policy to have read access to all objects of the parameters' kind. Users who write
// a binding need get or list access to the objects that the binding names.
func (b *builder) parameters(policy *unstructured.Unstructured) []Rule {
	apiVersion, _, _ := unstructured.NestedString(policy.Object, "spec", "paramKind", "apiVersion")
	kind, _, _ := unstructured.NestedString(policy.Object, "spec", "paramKind", "kind")
	if kind == "" {
		return nil
	}
	return b.over(fmt.Sprintf("%s %s has parameters. Kubernetes lets kolla write it and its bindings only if kolla can read all objects of their kind.", policy.GetKind(), policy.GetName()),
		[]schema.GroupVersionKind{schema.FromAPIVersionAndKind(apiVersion, kind)}, "get", "list")
}

// attested returns the rule for a bundle of certificates that belongs to a signer.
func attested(bundle *unstructured.Unstructured) []Rule {
	signer, _, _ := unstructured.NestedString(bundle.Object, "spec", "signerName")
	if signer == "" {
		return nil
	}
	return []Rule{{
		Why:    fmt.Sprintf("%s %s belongs to a signer. Kubernetes lets only users write it who may attest for that signer.", bundle.GetKind(), bundle.GetName()),
		Groups: []string{trustBundle.Group}, Resources: []string{"signers"}, Names: named([]string{signer}), Verbs: []string{"attest"},
	}}
}

func texts(value any) []string {
	list, _ := value.([]any)
	var out []string
	for _, item := range list {
		text, _ := item.(string)
		out = append(out, text)
	}
	return out
}
