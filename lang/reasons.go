package lang

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/source"
)

// reasonsOf says why a node needs the services, manifests and secrets beside the
// services that it refers to, directly or through anything that is none of them, in
// one use of its module. They are in the order of their addresses. A secret needs none of
// the services that it is made for, whose addresses and the like are known before any
// apply: only what its depends_on names, and what the data need that it is made of.
func (g *graph) reasonsOf(n *node, f *frame) []configs.Reason {
	type way struct {
		to      edge
		ordered bool
	}
	seen := map[way]bool{}
	var out []configs.Reason
	// ordered: what is read from the cluster is on the way, after what that needs.
	var visit func(at *node, first *configs.Reason, ordered bool)
	visit = func(at *node, first *configs.Reason, ordered bool) {
		for _, need := range at.needs {
			next := g.nodes[need.to]
			visited := way{edge{to: need.to, key: need.key, within: need.within}, ordered}
			if next == nil || next == n || next.id == n.argumentsOf || seen[visited] {
				continue
			}
			reason := configs.Reason{DependsOn: n.dependsOnAt(need.at), Range: need.at}
			if first != nil {
				reason = *first
			}
			if n.root == argumentsRoot && next.root == "service" && !ordered && !reason.DependsOn {
				continue
			}
			seen[visited] = true
			if !slices.Contains([]string{"service", "manifest", "secret"}, next.root) {
				if first == nil {
					reason.Through = strings.TrimSuffix(need.to, ".*")
				}
				visit(next, &reason, ordered || next.root == "data")
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
	visit(n, nil, false)
	slices.SortStableFunc(out, func(x, y configs.Reason) int { return cmp.Compare(x.Needs, y.Needs) })
	return slices.CompactFunc(out, func(x, y configs.Reason) bool { return x.Needs == y.Needs })
}

// needsOf are the addresses of what there are reasons to need.
func needsOf(reasons []configs.Reason) []string {
	var out []string
	for _, r := range reasons {
		out = append(out, r.Needs)
	}
	return out
}

// dependsOnAt reports whether a place is in the depends_on of the node's block, or of
// a module that it stands in.
func (n *node) dependsOnAt(at hcl.Range) bool {
	blocks := []*source.Block{n.block}
	for m := n.module; m.written.Call != nil; m = m.parent {
		blocks = append(blocks, m.written.Call)
	}
	return slices.ContainsFunc(blocks, func(b *source.Block) bool {
		attr := b.Attributes["depends_on"]
		if attr == nil {
			return false
		}
		list := attr.Expr.Range()
		return list.Filename == at.Filename && list.ContainsPos(at.Start)
	})
}
