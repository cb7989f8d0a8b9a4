// Package nodes gives the nodes of a cluster their roles: it finds the nodes of each role, and
// labels them.
package nodes

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	corev1 "k8s.io/client-go/applyconfigurations/core/v1"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/openstack/internal/object"
)

// Node is a node of the cluster.
type Node struct {
	Name   string
	Labels map[string]string
	// Addresses are the IPv4 and IPv6 addresses that other machines see.
	Addresses []string
	// Recorded: the state says that kolla gave the node labels.
	Recorded bool
	// Managers returns the field managers that own labels, with these labels. It may be nil. named
	// limits it to one manager; empty: all. Labels that were written under the name of a cloud, but
	// not by an apply, do not belong to the cloud.
	Managers func(named string) map[string][]string
	// Pods lists the pods of the cloud's namespace on the node. ok is false if they cannot be
	// listed. It may be nil.
	Pods func() (pods []Pod, ok bool)
	// Images returns the digests of the images on the node by their references. It may be nil.
	Images func() map[string][]string
	// Selectors returns the node selectors of the live workloads in the cloud's namespace. ok is
	// false if not all can be listed. It may be nil.
	Selectors func() (selectors []map[string]string, ok bool)
}

// Nodes are the nodes of a cluster by their roles.
type Nodes struct {
	cloud   object.Cloud
	cluster []Node                    // nil without a cluster to ask
	byRole  map[string][]addrs.Object // sorted by name
}

// Of returns the nodes of the roles, and a partial object for every node with a role. A node
// with several roles gets all of its labels in one object, because a field manager owns the
// object of its apply as a whole.
//
// cluster has all nodes of the cluster; nil without a cluster to ask: roles then have the nodes
// that they name. decided: roles has all roles of the configuration. Otherwise no label of a live
// node is taken away.
func Of(cloud object.Cloud, roles []configs.Role, decided bool, cluster []Node) (Nodes, []providers.Object, hcl.Diagnostics) {
	n := Nodes{cloud: cloud, cluster: cluster, byRole: map[string][]addrs.Object{}}
	all := map[string]*marks{} // by node
	var diags hcl.Diagnostics
	for _, role := range roles {
		names, wrong := members(role, cluster)
		diags = append(diags, wrong...)
		for _, name := range names {
			n.byRole[role.Name] = append(n.byRole[role.Name], cloud.Node(name))
			if all[name] == nil {
				all[name] = &marks{labels: map[string]string{}, givenBy: map[string]string{}, at: role.Range}
			}
			diags = append(diags, all[name].add(name, role)...)
		}
	}
	diags = append(diags, n.correct(roles, decided, all)...)
	var out []providers.Object
	for _, name := range slices.Sorted(maps.Keys(all)) {
		out = append(out, n.object(name, all[name]))
	}
	return n, out, diags
}

// correct compares the labels of the live nodes with the labels of their roles. It adds labels that
// must stay for a while to the marks, and labels that an apply removes. It also looks at nodes
// without a role.
func (n Nodes) correct(roles []configs.Role, decided bool, all map[string]*marks) hcl.Diagnostics {
	l := labelling{cloud: n.cloud, roles: roles, decided: decided, all: all}
	diags := l.otherValues(n.cluster)
	for i := range n.cluster {
		node := &n.cluster[i]
		l.keep(node)
		if !decided || n.cloud.Decl.Foreign == "ignore" {
			continue
		}
		unwanted, warnings := l.strays(node)
		diags = append(diags, warnings...)
		if len(unwanted) == 0 {
			continue
		}
		if all[node.Name] == nil {
			all[node.Name] = &marks{at: n.cloud.Decl.Range}
		}
		all[node.Name].unwanted = unwanted
	}
	return append(diags, l.warnings()...)
}

// object returns the partial object of a node.
func (n Nodes) object(name string, m *marks) providers.Object {
	node := corev1.Node(name).WithLabels(m.labels)
	if len(m.taints) > 0 {
		node.WithAnnotations(map[string]string{providers.AnnotationTaints(n.cloud.Decl.Name): taintTexts(m.taints)})
	}
	return providers.Object{
		Address:  n.cloud.Node(name),
		Manifest: n.cloud.Manifest(node),
		Partial:  true,
		Unwanted: m.unwanted,
		Source:   object.Source(m.at),
	}
}

// members returns the sorted names of the nodes of a role. Unknown nodes and a match without
// nodes are errors.
func members(role configs.Role, cluster []Node) ([]string, hcl.Diagnostics) {
	if cluster == nil {
		return role.Named(), nil
	}
	var diags hcl.Diagnostics
	var names, all []string
	for _, node := range cluster {
		all = append(all, node.Name)
		if role.Selects(node.Name, node.Labels) {
			names = append(names, node.Name)
		}
	}
	slices.Sort(all)
	slices.Sort(names)
	for _, name := range role.Nodes {
		if !slices.Contains(all, name) {
			diags = append(diags, object.Error(role.Range, fmt.Sprintf("Role %q names a node that the cluster does not have", role.Name),
				fmt.Sprintf("There is no node %q.%s The cluster's nodes are: %s. If it was taken out of the cluster for good, take it out of nodes here: what ran on it moves to the nodes that are left. If it is to come back, it has to join the cluster first.", name, words.DidYouMean(name, all), upToTen(all))))
		}
	}
	if role.Match != nil && len(names) == 0 {
		diags = append(diags, object.Error(role.Range, fmt.Sprintf("Role %q matches no node", role.Name),
			fmt.Sprintf("No node has the labels %s. The cluster's nodes are: %s. `kubectl get nodes --show-labels` shows what they carry; label one, or change `match`.",
				formatLabels(role.Match), upToTen(all))))
	}
	return names, diags
}

// upToTen lists at most ten names, or returns "none".
func upToTen(names []string) string { return cmp.Or(words.Few(names, 10), "none") }

func formatLabels(labels map[string]string) string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		out = append(out, key+"="+labels[key])
	}
	return strings.Join(out, ",")
}

// Names returns the sorted names of the nodes of a role. For an empty role it returns all nodes.
func (n Nodes) Names(role string) []string {
	var names []string
	for _, node := range n.byRole[role] {
		names = append(names, node.Name)
	}
	if role == "" {
		for _, node := range n.cluster {
			names = append(names, node.Name)
		}
	}
	slices.Sort(names)
	return names
}

// Addresses returns the addresses of the nodes of a role.
func (n Nodes) Addresses(role string) []addrs.Object { return n.byRole[role] }

// marks are the labels and taints that roles put on a node.
type marks struct {
	labels map[string]string
	taints []configs.Taint
	// givenBy are the names of the roles, by label, and by key and effect of a taint.
	givenBy map[string]string
	// unwanted are labels that others gave the node, and no role.
	unwanted []string
	at       hcl.Range
}

// add adds the labels and taints of a role to the marks of a node.
func (m *marks) add(node string, role configs.Role) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, key := range slices.Sorted(maps.Keys(role.Labels)) {
		value := role.Labels[key]
		if old, set := m.labels[key]; set && old != value {
			diags = append(diags, object.Error(role.Range, "Roles disagree about a label",
				fmt.Sprintf("Role %q wants %s=%s on node %s, role %q wants %s. A node that has both roles needs labels that do not contradict each other.",
					role.Name, key, value, node, m.givenBy[key], old)))
			continue
		}
		m.labels[key] = value
		m.givenBy[key] = role.Name
	}
	for _, t := range role.Taints {
		id := t.Key + ":" + t.Effect
		i := slices.IndexFunc(m.taints, func(other configs.Taint) bool { return other.Key == t.Key && other.Effect == t.Effect })
		switch {
		case i < 0:
			m.taints = append(m.taints, t)
			m.givenBy[id] = role.Name
		case m.taints[i] != t:
			diags = append(diags, object.Error(role.Range, "Roles disagree about a taint",
				fmt.Sprintf("Role %q wants %s on node %s, role %q wants %s. A node has one taint of a key and an effect.", role.Name, t, node, m.givenBy[id], m.taints[i])))
		}
	}
	return diags
}

// taintTexts formats taints for an annotation.
func taintTexts(taints []configs.Taint) string {
	var out []string
	for _, t := range taints {
		out = append(out, t.String())
	}
	slices.Sort(out)
	return strings.Join(out, ",")
}
