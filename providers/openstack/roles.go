package openstack

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	corev1 "k8s.io/client-go/applyconfigurations/core/v1"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
)

// roleMarks are what the roles of a node put on it.
type roleMarks struct {
	labels map[string]string
	taints []configs.Taint
	// givenBy are the names of the roles, by label, and by key and effect of a taint.
	givenBy map[string]string
	source  string
}

// roles makes one partial object for every node that has a role: a node with
// several roles gets the labels of all of them at once, because what one field
// manager applies it owns as a whole.
func (r *renderer) roles() {
	nodes := map[string]*roleMarks{}
	for _, role := range r.config.Roles {
		for _, node := range r.members(role) {
			if nodes[node] == nil {
				nodes[node] = &roleMarks{labels: map[string]string{}, givenBy: map[string]string{}, source: source(role.Range)}
			}
			r.markNode(node, nodes[node], role)
			r.nodes[role.Name] = append(r.nodes[role.Name], r.nodeAddress(node))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(nodes)) {
		node := corev1.Node(name).WithLabels(nodes[name].labels)
		if taints := nodes[name].taints; len(taints) > 0 {
			node.WithAnnotations(map[string]string{providers.AnnotationTaints(r.config.Cloud.Name): taintTexts(taints)})
		}
		r.add(providers.Object{
			Address:  r.nodeAddress(name),
			Manifest: r.convert(node),
			Partial:  true,
			Source:   nodes[name].source,
		})
	}
}

// markNode adds the labels and taints of a role to those that a node gets.
func (r *renderer) markNode(node string, marks *roleMarks, role configs.Role) {
	for _, key := range slices.Sorted(maps.Keys(role.Labels)) {
		value := role.Labels[key]
		if old, set := marks.labels[key]; set && old != value {
			r.error(role.Range, "Roles disagree about a label",
				fmt.Sprintf("Role %q wants %s=%s on node %s, role %q wants %s. A node that has both roles needs labels that do not contradict each other.",
					role.Name, key, value, node, marks.givenBy[key], old))
			continue
		}
		marks.labels[key] = value
		marks.givenBy[key] = role.Name
	}
	for _, t := range role.Taints {
		id := t.Key + ":" + t.Effect
		i := slices.IndexFunc(marks.taints, func(other configs.Taint) bool { return other.Key == t.Key && other.Effect == t.Effect })
		switch {
		case i < 0:
			marks.taints = append(marks.taints, t)
			marks.givenBy[id] = role.Name
		case marks.taints[i] != t:
			r.error(role.Range, "Roles disagree about a taint",
				fmt.Sprintf("Role %q wants %s on node %s, role %q wants %s. A node has one taint of a key and an effect.", role.Name, t, node, marks.givenBy[id], marks.taints[i]))
		}
	}
}

// taintTexts are taints in the form that an annotation has.
func taintTexts(taints []configs.Taint) string {
	var out []string
	for _, t := range taints {
		out = append(out, t.String())
	}
	slices.Sort(out)
	return strings.Join(out, ",")
}

// checkTwins reports DaemonSets of one definition that have nodes in common in the cluster.
// What the configuration alone shows was reported when it was read.
func (r *renderer) checkTwins() {
	if r.facts.Nodes == nil {
		return
	}
	before := map[hcl.Range][]*configs.Service{} // by the place of the definition
	for i := range r.config.Services {
		b := &r.config.Services[i]
		if !slices.ContainsFunc(b.Workloads, func(w configs.Workload) bool { return w.Kind == "DaemonSet" }) {
			continue
		}
		for _, a := range before[b.DefinedAt] {
			r.checkTwin(a, b)
		}
		before[b.DefinedAt] = append(before[b.DefinedAt], b)
	}
}

func (r *renderer) checkTwin(a, b *configs.Service) {
	for _, w := range b.Workloads {
		i := slices.IndexFunc(a.Workloads, func(other configs.Workload) bool { return other.Name == w.Name })
		if i < 0 || w.Kind != "DaemonSet" || a.Workloads[i].Kind != "DaemonSet" {
			continue
		}
		others := r.nodesOf(a, a.Workloads[i])
		nodes := slices.DeleteFunc(r.nodesOf(b, w), func(name string) bool { return !slices.Contains(others, name) })
		if len(nodes) > 0 {
			r.error(b.Range, configs.TwinsSummary, configs.Twins(a, b, w.Name, source(a.Range), nodes))
			return
		}
	}
}

// checkSpread warns of pods that find no node in the cluster without another one of them. A
// node may be gone for a while, and other changes must still be possible.
func (r *renderer) checkSpread() {
	for i := range r.config.Services {
		s := &r.config.Services[i]
		for _, w := range s.Workloads {
			if nodes := r.nodesOf(s, w); r.facts.Nodes != nil && w.SpreadRequired && w.SpreadBy == "" && w.Replicas > len(nodes) {
				r.warn(s.Range, "More pods than nodes", fmt.Sprintf("Workload %q of service %q has %d pods, of which no two may run on one node (spread = \"required\"), and its nodes are: %s. The others wait, and so does an apply. Take fewer replicas, or add nodes to its role.",
					w.Name, s.Name, w.Replicas, upToTen(nodes)))
			}
		}
	}
}

// nodesOf are the names of the nodes that a workload runs on.
func (r *renderer) nodesOf(s *configs.Service, w configs.Workload) []string {
	return r.nodeNames(cmp.Or(w.Role, s.Role))
}

// nodeNames are the names of the nodes of a role, or of all nodes.
func (r *renderer) nodeNames(role string) []string {
	var names []string
	for _, node := range r.nodes[role] {
		names = append(names, node.Name)
	}
	if role == "" {
		for _, node := range r.facts.Nodes {
			names = append(names, node.Name)
		}
	}
	slices.Sort(names)
	return names
}
