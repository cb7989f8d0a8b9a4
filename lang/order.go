package lang

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/internal/dag"
	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/source"
)

// dependsOn reads a depends_on list. It is not evaluated: only names are needed.
func (g *graph) dependsOn(m *module, b *source.Block) []edge {
	attr := b.Attributes["depends_on"]
	if attr == nil || isNullLiteral(attr.Expr) {
		return nil
	}
	items, diags := hcl.ExprList(attr.Expr)
	if diags.HasErrors() {
		g.report.Error(attr.Expr.Range(), "Unsuitable value for \"depends_on\"", "It must be a list of references, such as [service.mariadb].")
		return nil
	}
	var out []edge
	for _, item := range items {
		out = append(out, g.dependency(m, b, item)...)
	}
	return out
}

// dependency reads one element of a depends_on list.
func (g *graph) dependency(m *module, b *source.Block, expr hcl.Expression) []edge {
	t, diags := hcl.AbsTraversalForExpr(expr)
	name, ok := addrs.NameOf(t)
	kinds := []string{"service", "manifest", "module"}
	if diags.HasErrors() || !ok || !slices.Contains(kinds, t.RootName()) || len(t) > 3 || len(t) == 3 && keyOf(t) == "" {
		g.report.Error(expr.Range(), "Unsuitable value for \"depends_on\"", "Each element must be service.NAME, manifest.NAME or module.NAME, without quotes; of a repeated one also NAME[\"KEY\"].")
		return nil
	}
	kind := t.RootName()
	switch {
	case m.written.Document.One(kind, name) == nil:
		known := m.written.Document.Labels(kind)
		g.report.Error(expr.Range(), fmt.Sprintf("There is no %s %q", kind, name), "%s",
			words.WithHint(words.DidYouMean(name, known), words.Known(nounOf(kind), known)))
	case kind+"."+name == b.ID():
		g.report.Error(expr.Range(), "Unsuitable value for \"depends_on\"", "Nothing can depend on itself.")
	case kind == "module":
		return g.insideOf(m.calling(name), expr.Range(), kind+"."+name+keyOf(t))
	default:
		return []edge{{to: m.written.Path() + kind + "." + name, at: expr.Range(), key: keyOf(t)}}
	}
	return nil
}

// insideOf are edges to all services and manifests of a module, or of one use of it.
func (g *graph) insideOf(m *module, at hcl.Range, within string) []edge {
	if m == nil {
		return nil // it could not be read
	}
	var out []edge
	for _, kind := range []string{"service", "manifest"} {
		for _, name := range m.written.Document.Labels(kind) {
			out = append(out, edge{to: m.written.Path() + kind + "." + name, at: at, within: within})
		}
	}
	for _, child := range m.calls {
		out = append(out, g.insideOf(child, at, within)...)
	}
	return out
}

// sortedNodes orders the nodes. Cycles are reported and cut, so that what is not
// on one is still evaluated.
func (g *graph) sortedNodes() []*node {
	for {
		var d dag.Graph[string]
		for _, n := range g.order {
			d.Add(n.id)
			if n.broken {
				continue
			}
			for _, need := range n.needs {
				if g.nodes[need.to] != nil {
					d.Connect(n.id, need.to)
				}
			}
		}
		ids, err := d.Order()
		var cycle *dag.CycleError[string]
		if errors.As(err, &cycle) {
			g.reportCycle(cycle.Cycle)
			continue
		}
		var out []*node
		for _, id := range ids {
			out = append(out, g.nodes[id])
		}
		return out
	}
}

// reportCycle says how a cycle goes round, and takes its nodes out of the order.
func (g *graph) reportCycle(cycle []string) {
	var steps []string
	var subject *hcl.Range
	for i, id := range cycle[:len(cycle)-1] {
		n := g.nodes[id]
		n.broken = true
		for _, need := range n.needs {
			if need.to != cycle[i+1] {
				continue
			}
			steps = append(steps, fmt.Sprintf("%s refers to %s at %s", id, need.to, diag.Position(need.at)))
			if subject == nil && !configs.InCatalogue(need.at) {
				subject = need.at.Ptr()
			}
			break
		}
	}
	if subject == nil {
		subject = g.nodes[cycle[0]].at.Ptr()
	}
	g.circular(*subject, cycle, steps)
}

// checkOrder reports secrets that are to be there before what they wait for: what reads
// them does not wait for their arguments.
func (g *graph) checkOrder() {
	reasons := map[string][]configs.Reason{}
	for _, s := range g.config.Secrets {
		reasons[s.Block] = s.Reasons
	}
	if len(reasons) == 0 {
		return
	}
	for _, s := range g.config.Services {
		reasons[s.Block] = s.Reasons
	}
	for _, m := range g.config.Manifests {
		reasons[m.Block] = m.Reasons
	}
	var d dag.Graph[string]
	for _, block := range keysOf(reasons) {
		d.Add(block)
		for _, r := range reasons[block] {
			if _, known := reasons[r.Needs]; known {
				d.Connect(block, r.Needs)
			}
		}
	}
	_, err := d.Order()
	var cycle *dag.CycleError[string]
	if !errors.As(err, &cycle) {
		return
	}
	var steps []string
	var subject hcl.Range
	for i, block := range cycle.Cycle[:len(cycle.Cycle)-1] {
		at := slices.IndexFunc(reasons[block], func(r configs.Reason) bool { return r.Needs == cycle.Cycle[i+1] })
		r := reasons[block][at]
		if i == 0 {
			subject = r.Range
		}
		through := ""
		if r.Through != "" {
			through = ", through " + r.Through
		}
		steps = append(steps, fmt.Sprintf("%s refers to %s at %s%s", block, r.Needs, diag.Position(r.Range), through))
	}
	g.circular(subject, cycle.Cycle, steps)
}

func (g *graph) circular(subject hcl.Range, cycle, steps []string) {
	g.report.Error(subject, "Circular reference", "%s: each of them needs the next one first. Take out one of these:\n\n  %s",
		strings.Join(cycle, " → "), strings.Join(steps, "\n  "))
}
