package rights

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/providers/kubernetes"
)

// cluster returns the rules of the ClusterRole.
func (b *builder) cluster() []Rule {
	rules := []Rule{
		{Why: "The UID of this namespace identifies the cluster: the state of another cluster is refused.", Groups: []string{""}, Resources: []string{"namespaces"}, Names: []string{"kube-system"}, Verbs: []string{"get"}},
		{Why: "A plan reads which namespaces there are.", Groups: []string{""}, Resources: []string{"namespaces"}, Verbs: []string{"list"}},
		{
			Why:    "Without these a plan cannot know that an object is unchanged: they may change objects that are written.",
			Groups: []string{"admissionregistration.k8s.io"}, Resources: []string{"mutatingadmissionpolicies", "mutatingadmissionpolicybindings", "mutatingwebhookconfigurations"}, Verbs: []string{"list"},
		},
	}
	rules = append(rules, b.nodes()...)
	declared, leaving := b.declared(""), b.leaving("")
	for _, kind := range declared.sorted() {
		rules = append(rules, b.outside(kind, append(declared[kind], b.known(kind)...), manageBy)...)
	}
	for _, kind := range leaving.sorted() {
		rules = append(rules, b.outside(kind, leaving[kind], without(manageBy, "create"))...)
	}
	rules = append(rules, b.classes()...)
	if definitions := kinds.CustomResourceDefinition.WithVersion("v1"); b.hasCustom() && declared[definitions] == nil && leaving[definitions] == nil {
		rules = append(rules, b.over("A plan also compares fields that custom resources have only in the version in which the cluster stores them.", []schema.GroupVersionKind{definitions}, "list")...)
	}
	for _, r := range b.Reads {
		if r.Namespace == "" && declared[r.GVK] == nil && leaving[r.GVK] == nil {
			rules = append(rules, b.over(r.Why, []schema.GroupVersionKind{r.GVK}, "list")...)
		}
	}
	if !b.ReadOnly {
		rules = append(rules, b.granted("")...)
	}
	return rules
}

// hasCustom reports whether the cloud has objects of kinds that are not Kubernetes' own.
func (b *builder) hasCustom() bool {
	return slices.ContainsFunc(b.Objects, func(o providers.Object) bool {
		_, builtIn := kubernetes.BuiltinResource(o.Manifest.GroupVersionKind())
		return !builtIn
	})
}

// without returns the verbs without some of them.
func without(verbs []string, some ...string) []string {
	return slices.DeleteFunc(slices.Clone(verbs), func(verb string) bool { return slices.Contains(some, verb) })
}

// split divides namespaces into those with a Role from this package and those without.
func (b *builder) split(names []string) (held, free []string) {
	for _, name := range names {
		if slices.Contains(b.namespaces(), name) {
			held = append(held, name)
		} else {
			free = append(free, name)
		}
	}
	return held, free
}

// outside returns the rules for objects of a kind outside of namespaces, other than nodes.
func (b *builder) outside(kind schema.GroupVersionKind, names, verbs []string) []Rule {
	switch kind.GroupKind() {
	case kinds.Node:
		return nil
	case kinds.Namespace:
		// A Role of these is in its namespace. So the namespace exists before an apply, and
		// stays after a destroy.
		held, free := b.split(names)
		return append(b.owned(kind, held, "These are of the cloud, and hold Roles: an apply changes and awaits them.", without(verbs, "create", "delete")),
			b.owned(kind, free, managed, verbs)...)
	}
	return append(b.over("A plan lists the objects of a kind; these live outside of namespaces.", []schema.GroupVersionKind{kind}, "list"),
		b.owned(kind, names, managed, verbs)...)
}

const managed = "These are of the cloud: an apply makes, changes, awaits and deletes them."

// owned returns the rule for the objects of the cloud of a kind outside of namespaces.
func (b *builder) owned(kind schema.GroupVersionKind, names []string, why string, verbs []string) []Rule {
	if len(names) == 0 {
		return nil
	}
	if b.ReadOnly {
		why, verbs = "These are of the cloud.", []string{"get"}
	}
	if named(names) == nil {
		why += " Not all of their names are known before an apply, so the rule has no names."
	}
	return []Rule{{Why: why, Groups: []string{kind.Group}, Resources: []string{b.Resource(kind)}, Names: named(names), Verbs: verbs}}
}

// nodes returns the rules for nodes: roles find nodes and add labels and taints to them.
func (b *builder) nodes() []Rule {
	kind := kinds.Node.WithVersion("v1")
	names := slices.Concat(b.declared("")[kind], b.known(kind))
	rule := Rule{Groups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"list"}}
	if !b.ReadOnly {
		rule.Verbs = []string{"list", "watch"} // pods that are not ready may be on a node that is down
	}
	switch {
	case len(b.Roles) > 0 || len(names) > 0:
		rule.Why = "Roles find their nodes by names or labels."
	case !b.runsPods():
		return nil
	default:
		rule.Why = "An apply and kolla status say which label no node has, and which nodes are down."
	}
	rules := []Rule{rule}
	matches := slices.ContainsFunc(b.Roles, byLabels)
	switch {
	case len(names) == 0 && !matches:
		return rules
	case matches:
		names = nil
	}
	rule = Rule{Why: "An apply puts the labels and taints of roles on nodes.", Groups: []string{""}, Resources: []string{"nodes"}, Names: named(names), Verbs: []string{"get", "patch"}}
	if b.ReadOnly {
		rule.Why, rule.Verbs = "A plan compares the labels and taints of nodes.", []string{"get"}
	} else if matches {
		rule.Why += " Roles that match by labels may get any node, so the rule has no names."
	}
	return append(rules, rule)
}

// runsPods reports whether the cloud has workloads, for whose pods an apply waits, and which kolla status shows.
func (b *builder) runsPods() bool {
	return slices.ContainsFunc(b.namespaces(), func(namespace string) bool {
		return b.declared(namespace).has(workloads...) || b.leaving(namespace).has(workloads...)
	})
}

// byLabels reports whether a role finds nodes by their labels.
func byLabels(r configs.Role) bool { return len(r.Match) > 0 || slices.ContainsFunc(r.Roles, byLabels) }

// classes returns the rules for cluster-wide settings on which some kinds depend, such as
// storage classes.
func (b *builder) classes() []Rule {
	var rules []Rule
	var wanted, unnamed, services, addresses, inbound bool
	var names []string
	for i := range b.Objects {
		u := b.Objects[i].Manifest
		switch u.GroupVersionKind().GroupKind() {
		case kinds.PersistentVolumeClaim:
			class, _, _ := unstructured.NestedString(u.Object, "spec", "storageClassName")
			wanted, unnamed = true, unnamed || class == ""
			names = append(names, class)
		case kinds.Service:
			address, _, _ := unstructured.NestedString(u.Object, "spec", "clusterIP")
			services, addresses = true, addresses || address != "" && address != "None"
		case kinds.Ingress:
			inbound = true
		}
	}
	if unnamed {
		names = nil
	}
	if wanted && !b.ReadOnly {
		rules = append(rules, Rule{
			Why:    "A storage class says whether a volume waits for its first pod. Without this right an apply does not wait for the claim.",
			Groups: []string{"storage.k8s.io"}, Resources: []string{"storageclasses"}, Names: named(names), Verbs: []string{"get"},
		})
	}
	if inbound {
		rules = append(rules, Rule{
			Why:    "Whether the cluster has the class of an Ingress, and whether an Ingress that declares none would get another one today.",
			Groups: []string{"networking.k8s.io"}, Resources: []string{"ingressclasses"}, Verbs: []string{"list"},
		})
	}
	if services {
		rules = append(rules, Rule{
			Why:    "kolla discover prints the variables that all pods have: those of the Service of the API server.",
			Groups: []string{""}, Resources: []string{"services"}, Names: []string{"kubernetes"}, Verbs: []string{"get"},
		})
	}
	if addresses {
		rules = append(rules, Rule{
			Why:    "Whether the cluster IP that a Service asks for is free.",
			Groups: []string{""}, Resources: []string{"services"}, Verbs: []string{"list"},
		})
	}
	return rules
}
