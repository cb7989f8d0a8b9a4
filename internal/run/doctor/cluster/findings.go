package cluster

import (
	"slices"

	"kolla.openstack.org/kolla/internal/base/words"
)

// Severity says whether a finding keeps the cloud from working.
type Severity string

// The severities. An Error keeps a part of the cloud from working; a Warning may do so.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Finding is a fault that a check found.
type Finding struct {
	Severity Severity `json:"severity"`
	Subject  string   `json:"subject"`   // object or block with the fault: "role.control", "Node ctl-1"
	Problem  string   `json:"problem"`   // the fault, without a full stop
	Reason   string   `json:"reason"`    // effect of the fault on the cloud, in sentences
	Next     string   `json:"next_step"` // next step, in sentences
}

// Grouped collects names by key, each name once for a key.
type Grouped[K comparable] struct {
	Keys []K // in the order of their first name
	Of   map[K][]string
}

// Add adds a name, unless the key has it.
func (g *Grouped[K]) Add(key K, name string) {
	if g.Of == nil {
		g.Of = map[K][]string{}
	}
	if _, has := g.Of[key]; !has {
		g.Keys = append(g.Keys, key)
	}
	if !slices.Contains(g.Of[key], name) {
		g.Of[key] = append(g.Of[key], name)
	}
}

// ByNode collects the names of nodes by findings: nodes with equal findings share a finding.
type ByNode struct{ Grouped[Finding] }

// Findings returns the findings. Their subjects are the nodes.
func (b *ByNode) Findings() []Finding {
	var out []Finding
	for _, finding := range b.Keys {
		finding.Subject = Subject(b.Of[finding])
		out = append(out, finding)
	}
	return out
}

// Subject names nodes at the beginning of a finding.
func Subject(nodes []string) string {
	return words.Plural(len(nodes), "Node ", "Nodes ") + words.Few(nodes, 5)
}
