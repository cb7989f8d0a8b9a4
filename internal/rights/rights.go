// Package rights works out which rights in the cluster kolla needs for one configuration:
// the rules of a ClusterRole, and of a Role for each namespace, with the reason for each
// rule. The planner, the executor and providers/kubernetes send the requests that these
// rules allow; a test applies a cloud with nothing more.
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

// Input is what the rights depend on.
type Input struct {
	Cloud   string // name of the cloud block
	Objects []providers.Object
	// Known are the objects of the state: some may be declared no longer, and have to be
	// deleted.
	Known []state.Object
	Roles []configs.Role
	// Namespace is that of the cloud.
	Namespace string
	Reads     []Read
	// Resource is the name under which the API has the objects of a kind, "configmaps".
	Resource func(schema.GroupVersionKind) string
	// ReadOnly leaves out what only an apply needs.
	ReadOnly bool
}

// Read is something that is listed and is not kolla's.
type Read struct {
	GVK       schema.GroupVersionKind
	Namespace string // empty: the whole cluster
	Why       string
}

// Role is a Role, or without a namespace a ClusterRole.
type Role struct {
	Namespace, Name string
	Rules           []Rule
}

// Rule is a rule of a role, as the RBAC API has it.
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
	manageBy = []string{"get", "watch", "create", "patch", "delete"} // by name: LISTs have none
	compare  = []string{"get", "list"}
)

// Of works out the roles: first the ClusterRole, then a Role for each namespace.
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

// namespaces are those in which something is declared, known or read, in order.
func (b *builder) namespaces() []string {
	all := []string{b.Namespace}
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

// namesByKind are names of objects.
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

// sorted are the kinds in the order of their groups and names.
func (k namesByKind) sorted() []schema.GroupVersionKind {
	return slices.SortedFunc(maps.Keys(k), func(a, b schema.GroupVersionKind) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Version, b.Version))
	})
}

// declared are the objects of the configuration in a namespace, or outside of all.
func (b *builder) declared(namespace string) namesByKind {
	found := namesByKind{}
	for i := range b.Objects {
		if o := &b.Objects[i]; o.Manifest.GetNamespace() == namespace {
			found.add(o.Manifest.GroupVersionKind(), o.Manifest.GetName())
		}
	}
	return found
}

// leaving are the objects of the state in a namespace, or outside of all, of kinds that
// the configuration does not declare there.
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

// known are the names of the objects of a kind outside of namespaces, by the state.
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

// over are rules with the same verbs for kinds, one a group. The first one says why.
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

// named are the names of a rule: none where one is known only after the apply.
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

// destroyed are the kinds in which a destroy looks, but for those that are listed anyway.
func destroyed(listed namesByKind) []schema.GroupVersionKind {
	return slices.DeleteFunc(kinds.Swept(), func(kind schema.GroupVersionKind) bool { return listed[kind] != nil })
}
