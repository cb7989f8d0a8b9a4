package lang

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// Reason says why a service, manifest or secret needs another one.
type Reason struct {
	Needs     string // address, as in Needs
	DependsOn bool   // it stands in depends_on, and nothing else refers to it
	Through   string // what the reference is to, where that needs the other in turn: "local.url"
	Range     hcl.Range
}

// reasonsOf says why a node needs the services, manifests and secrets beside the
// services that it refers to, directly or through anything that is none of them, in
// one use of its module. They are in the order of their addresses.
func (g *graph) reasonsOf(n *node, f *frame) []Reason {
	seen := map[edge]bool{}
	var out []Reason
	var visit func(at *node, first *Reason)
	visit = func(at *node, first *Reason) {
		for _, need := range at.needs {
			next := g.nodes[need.to]
			visited := edge{to: need.to, key: need.key, within: need.within}
			if next == nil || next == n || seen[visited] {
				continue
			}
			seen[visited] = true
			reason := Reason{DependsOn: n.dependsOnAt(need.at), Range: need.at}
			if first != nil {
				reason = *first
			}
			if !slices.Contains([]string{"service", "manifest", "secret"}, next.root) {
				if first == nil {
					reason.Through = strings.TrimSuffix(need.to, ".*")
				}
				visit(next, &reason)
				continue
			}
			for _, m := range next.made {
				if m.frame.sees(f) && m.is(need) {
					reason.Needs = m.address
					out = append(out, reason)
				}
			}
		}
	}
	visit(n, nil)
	slices.SortStableFunc(out, func(x, y Reason) int { return cmp.Compare(x.Needs, y.Needs) })
	return slices.CompactFunc(out, func(x, y Reason) bool { return x.Needs == y.Needs })
}

// needsOf are the addresses of what there are reasons to need.
func needsOf(reasons []Reason) []string {
	var out []string
	for _, r := range reasons {
		out = append(out, r.Needs)
	}
	return out
}

// dependsOnAt reports whether a place is in the depends_on of the node's block, or of
// a module that it stands in.
func (n *node) dependsOnAt(at hcl.Range) bool {
	blocks := []*block{n.block}
	for m := n.module; m.call != nil; m = m.parent {
		blocks = append(blocks, m.call)
	}
	return slices.ContainsFunc(blocks, func(b *block) bool {
		attr := b.attributes["depends_on"]
		if attr == nil {
			return false
		}
		list := attr.Expr.Range()
		return list.Filename == at.Filename && list.ContainsPos(at.Start)
	})
}
