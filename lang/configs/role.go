package configs

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
)

// Role is a set of nodes, and the labels and taints for them. One of Nodes, Match and Roles is
// set.
type Role struct {
	Block  string            // address: `role.control`, `module.edge.role.compute["a"]`
	Name   string            // unique in the configuration
	Nodes  []string          // by name
	Match  map[string]string // labels that the nodes already have
	Roles  []Role            // the union of these
	Labels map[string]string // set on the nodes; also the selector of workloads
	Taints []Taint           // set on the nodes, in order
	Range  hcl.Range
}

// Selects reports whether a node with this name and these labels belongs to the role.
func (r *Role) Selects(name string, labels map[string]string) bool {
	if slices.ContainsFunc(r.Roles, func(part Role) bool { return part.Selects(name, labels) }) {
		return true
	}
	for key, value := range r.Match {
		if got, ok := labels[key]; !ok || got != value {
			return false
		}
	}
	return len(r.Match) > 0 || slices.Contains(r.Nodes, name)
}

// Named returns the nodes that the role or one of its parts names.
func (r *Role) Named() []string {
	out := slices.Clone(r.Nodes)
	for i := range r.Roles {
		out = append(out, r.Roles[i].Named()...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Matches reports whether the role or one of its parts selects nodes by labels. Only a cluster
// knows these nodes.
func (r *Role) Matches() bool {
	return len(r.Match) > 0 || slices.ContainsFunc(r.Roles, func(part Role) bool { return part.Matches() })
}

// Tolerated returns the taints of the role and its parts. Pods of the role tolerate them.
func (r *Role) Tolerated() []Taint {
	out := slices.Clone(r.Taints)
	for i := range r.Roles {
		for _, t := range r.Roles[i].Tolerated() {
			if !slices.Contains(out, t) {
				out = append(out, t)
			}
		}
	}
	return out
}

// Taint keeps pods without a toleration off a node.
type Taint struct {
	Key    string
	Value  string // may be empty
	Effect string // "NoSchedule", "PreferNoSchedule"
}

// String returns the taint in the form of kubectl.
func (t Taint) String() string {
	if t.Value != "" {
		return t.Key + "=" + t.Value + ":" + t.Effect
	}
	return t.Key + ":" + t.Effect
}
