// Package rights computes the rights in the cluster that kolla needs for one configuration: the
// rules of a ClusterRole, and of a Role for each namespace, with the reason for each rule. The
// planner, the executor and providers/kubernetes send the requests that these rules allow. A
// test applies a cloud with no other rights.
package rights

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/state"
)

// Input is the information that determines the rights.
type Input struct {
	Cloud   string // name of the cloud block
	Objects []providers.Object
	// Known are the objects of the state. If the configuration no longer declares one, an apply
	// deletes it.
	Known []state.Object
	Roles []configs.Role
	// Namespace is the namespace of the cloud.
	Namespace string
	Reads     []Read
	// Resource returns the API's name for a kind, such as "configmaps".
	Resource func(schema.GroupVersionKind) string
	// ReadOnly omits the rights that only an apply needs.
	ReadOnly bool
	// State is the namespace of the state; empty: the state is in a file.
	State string
}

// Read is a kind that kolla lists and does not own.
type Read struct {
	GVK       schema.GroupVersionKind
	Namespace string // empty: the whole cluster
	Why       string
}

// Role is a Role, or a ClusterRole if it has no namespace.
type Role struct {
	Namespace, Name string
	Rules           []Rule
}

// Rule is a rule of a role in the RBAC API.
type Rule struct {
	Why       string // full sentences
	Groups    []string
	Resources []string
	Names     []string // empty: objects of all names
	URLs      []string
	Verbs     []string
}

// Verbs of an apply, and of a plan.
var (
	manage   = []string{"get", "list", "watch", "create", "patch", "delete"}
	remove   = []string{"get", "list", "watch", "patch", "delete"}
	manageBy = []string{"get", "watch", "create", "patch", "delete"} // for rules with names: a LIST has none
	compare  = []string{"get", "list"}
)

// Of returns the roles: first the ClusterRole, then a Role for each namespace.
func Of(in Input) []Role {
	b := &builder{Input: in, name: "kolla-" + in.Cloud}
	if in.ReadOnly {
		b.name += "-read-only"
	}
	roles := []Role{{Name: b.name, Rules: b.cluster()}}
	for _, namespace := range b.namespaces() {
		if rules := b.namespaced(namespace); len(rules) > 0 {
			roles = append(roles, Role{Namespace: namespace, Name: b.name, Rules: rules})
		}
	}
	return roles
}

type builder struct {
	Input
	name string
}

// namespaces returns the sorted namespaces with declared, known or read objects.
func (b *builder) namespaces() []string {
	all := []string{b.Namespace, b.State}
	for i := range b.Objects {
		all = append(all, b.Objects[i].Manifest.GetNamespace())
	}
	for i := range b.Known {
		all = append(all, b.Known[i].Namespace)
	}
	for _, r := range b.Reads {
		all = append(all, r.Namespace)
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(n string) bool { return n == "" })
}

// namesByKind maps kinds to names of objects.
type namesByKind map[schema.GroupVersionKind][]string

func (k namesByKind) add(kind schema.GroupVersionKind, name string) { k[kind] = append(k[kind], name) }

func (k namesByKind) has(groupKinds ...schema.GroupKind) bool {
	for kind := range k {
		if slices.Contains(groupKinds, kind.GroupKind()) {
			return true
		}
	}
	return false
}

// sorted returns the kinds, sorted by group and name.
func (k namesByKind) sorted() []schema.GroupVersionKind {
	return slices.SortedFunc(maps.Keys(k), func(a, b schema.GroupVersionKind) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Version, b.Version))
	})
}

// declared returns the objects of the configuration in a namespace; empty: outside of
// namespaces.
func (b *builder) declared(namespace string) namesByKind {
	found := namesByKind{}
	for i := range b.Objects {
		if o := &b.Objects[i]; o.Manifest.GetNamespace() == namespace {
			found.add(o.Manifest.GroupVersionKind(), o.Manifest.GetName())
		}
	}
	return found
}

// leaving returns the objects of the state in a namespace, or outside of namespaces, if the
// configuration declares no object of their kind there.
func (b *builder) leaving(namespace string) namesByKind {
	declared, found := b.declared(namespace), namesByKind{}
	for i := range b.Known {
		o := &b.Known[i]
		kind := schema.FromAPIVersionAndKind(o.APIVersion, o.Kind)
		if o.Namespace == namespace && declared[kind] == nil {
			found.add(kind, o.Name)
		}
	}
	return found
}

// known returns the names of the objects of a kind outside of namespaces, from the state.
func (b *builder) known(kind schema.GroupVersionKind) []string {
	var names []string
	for i := range b.Known {
		o := &b.Known[i]
		if o.Namespace == "" && schema.FromAPIVersionAndKind(o.APIVersion, o.Kind) == kind {
			names = append(names, o.Name)
		}
	}
	return names
}

// over returns rules with the same verbs for some kinds, one rule for each group. The first
// rule has the reason.
func (b *builder) over(why string, found []schema.GroupVersionKind, verbs ...string) []Rule {
	resources := map[string][]string{}
	for _, kind := range found {
		resources[kind.Group] = append(resources[kind.Group], b.Resource(kind))
	}
	var rules []Rule
	for _, group := range slices.Sorted(maps.Keys(resources)) {
		names := resources[group]
		slices.Sort(names)
		rules = append(rules, Rule{Why: why, Groups: []string{group}, Resources: slices.Compact(names), Verbs: verbs})
		why = ""
	}
	return rules
}

// named returns the names for a rule. It returns none if a name is known only after the apply.
func named(names []string) []string {
	if slices.ContainsFunc(names, func(name string) bool {
		return strings.Contains(name, providers.UnknownVersion) || name == configs.KnownAfterApply
	}) {
		return nil
	}
	names = slices.Clone(names)
	slices.Sort(names)
	return slices.Compact(names)
}

// destroyed returns the kinds that a destroy looks for, except the kinds that are listed
// anyway.
func destroyed(listed namesByKind) []schema.GroupVersionKind {
	return slices.DeleteFunc(kinds.Swept(), func(kind schema.GroupVersionKind) bool { return listed[kind] != nil })
}
