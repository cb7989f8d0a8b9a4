package configs

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
)

// Role is a set of nodes and the labels that make them. One of Nodes, Match and Roles is
// set.
type Role struct {
	Block  string            // address: `role.control`, `module.edge.role.compute["a"]`
	Name   string            // unique in the configuration
	Nodes  []string          // by name
	Match  map[string]string // by labels that the nodes already have
	Roles  []Role            // those of any of these
	Labels map[string]string // put on the nodes; also the selector of workloads
	Taints []Taint           // put on the nodes, in order
	Range  hcl.Range
}

// Selects reports whether a node of that name and with those labels is one of the
// role's.
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

// Named are the nodes that the role names, or a role that it is made of.
func (r *Role) Named() []string {
	out := slices.Clone(r.Nodes)
	for i := range r.Roles {
		out = append(out, r.Roles[i].Named()...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Matches reports whether the role, or one that it is made of, matches nodes by labels: they
// are known where the cluster is.
func (r *Role) Matches() bool {
	return len(r.Match) > 0 || slices.ContainsFunc(r.Roles, func(part Role) bool { return part.Matches() })
}

// Tolerated are the taints that pods of the role meet: its own, and those of the roles
// that it is made of.
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

// Taint keeps pods that do not tolerate it off a node.
type Taint struct {
	Key    string
	Value  string // may be empty
	Effect string // "NoSchedule", "PreferNoSchedule"
}

// String is the taint as kubectl has it.
func (t Taint) String() string {
	if t.Value != "" {
		return t.Key + "=" + t.Value + ":" + t.Effect
	}
	return t.Key + ":" + t.Effect
}
