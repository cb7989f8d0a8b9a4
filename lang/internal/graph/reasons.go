package graph

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/source"
)

// ArgumentsRoot is the root of nodes that evaluate the arguments of secrets.
const ArgumentsRoot = "arguments of secret"

// Reasons say why a node needs services, manifests and secrets in one frame: it refers to
// them, directly or through other nodes. They are sorted by address.
//
// A secret needs none of the services that its arguments name, because their addresses are
// known before the apply. It needs only its depends_on and the needs of its data blocks.
func (n *Node) Reasons(f *Frame) []configs.Reason {
	type way struct {
		to      Edge
		ordered bool
	}
	seen := map[way]bool{}
	var out []configs.Reason
	// ordered: a data block is on the way. It is read after its needs are applied.
	var visit func(at *Node, first *configs.Reason, ordered bool)
	visit = func(at *Node, first *configs.Reason, ordered bool) {
		for _, need := range at.Needs {
			next := f.graph.nodes[need.To]
			visited := way{Edge{To: need.To, Key: need.Key, Within: need.Within}, ordered}
			if need.Order || next == nil || next == n || next.ID == n.ArgumentsOf || seen[visited] {
				continue
			}
			reason := configs.Reason{DependsOn: n.dependsOnAt(need.At), Range: need.At}
			if first != nil {
				reason = *first
			}
			if n.Root == ArgumentsRoot && next.Root == "service" && !ordered && !reason.DependsOn {
				continue
			}
			seen[visited] = true
			if !slices.Contains([]string{"service", "manifest", "secret"}, next.Root) {
				if first == nil {
					reason.Through = strings.TrimSuffix(need.To, ".*")
				}
				visit(next, &reason, ordered || next.Root == "data")
				continue
			}
			for _, i := range next.instances {
				if i.frame.sees(f) && i.is(need) {
					reason.Needs = i.address
					out = append(out, reason)
				}
			}
		}
	}
	visit(n, nil, false)
	slices.SortStableFunc(out, func(x, y configs.Reason) int { return cmp.Compare(x.Needs, y.Needs) })
	return slices.CompactFunc(out, func(x, y configs.Reason) bool { return x.Needs == y.Needs })
}

// NeedsOf returns the addresses in the reasons.
func NeedsOf(reasons []configs.Reason) []string {
	var out []string
	for _, r := range reasons {
		out = append(out, r.Needs)
	}
	return out
}

// is reports whether a reference means the instance.
func (i instance) is(need Edge) bool {
	if need.Key != "" && need.Key != i.suffix {
		return false
	}
	use := "." + i.address
	return strings.Contains(use, "."+need.Within+".") || !strings.HasSuffix(need.Within, "]")
}

// dependsOnAt reports whether a place is in the depends_on of the node's block, or of a module
// block around it.
func (n *Node) dependsOnAt(at hcl.Range) bool {
	blocks := []*source.Block{n.Block}
	for m := n.Module; m.Written.Call != nil; m = m.Parent {
		blocks = append(blocks, m.Written.Call)
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

// Undecided returns the blocks, without keys, that depend on values that are not known yet. Open
// has the IDs of nodes with such values. Undecided adds all nodes that refer to them. A module
// that is undecided stands for everything in it: "module.edge.*".
func Undecided(ordered []*Node, open map[string]bool) []string {
	if len(open) == 0 {
		return nil
	}
	for again := true; again; {
		again = false
		for _, n := range ordered {
			if open[n.ID] || n.ID == observedID || !slices.ContainsFunc(n.Needs, func(e Edge) bool { return open[e.To] }) {
				continue
			}
			open[n.ID] = true
		}
		for _, n := range ordered { // a secret is undecided with its arguments
			if n.Root == ArgumentsRoot && open[n.ID] && !open[n.ArgumentsOf] {
				open[n.ArgumentsOf], again = true, true
			}
		}
	}
	var out []string
	for _, n := range ordered {
		if !open[n.ID] {
			continue
		}
		switch n.Root {
		case "service", "manifest", "secret", "role", "call":
			out = append(out, n.ID)
		}
	}
	return out
}
