package graph

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/internal/base/dag"
	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/layers"
	"kolla.openstack.org/kolla/lang/internal/source"
)

// DependsOn reads the argument depends_on of a block in a module, without evaluation.
func DependsOn(report *diag.Reporter, m *Module, b *source.Block) []Edge {
	attr := b.Attributes["depends_on"]
	if attr == nil || layers.IsNullLiteral(attr.Expr) {
		return nil
	}
	items, diags := hcl.ExprList(attr.Expr)
	if diags.HasErrors() {
		report.Error(attr.Expr.Range(), "Unsuitable value for \"depends_on\"", "It must be a list of references, such as [service.mariadb].")
		return nil
	}
	var out []Edge
	for _, item := range items {
		out = append(out, dependency(report, m, b, item)...)
	}
	return out
}

// dependency reads one element of depends_on.
func dependency(report *diag.Reporter, m *Module, b *source.Block, expr hcl.Expression) []Edge {
	t, diags := hcl.AbsTraversalForExpr(expr)
	name, ok := addrs.NameOf(t)
	kinds := []string{"service", "manifest", "module"}
	if diags.HasErrors() || !ok || !slices.Contains(kinds, t.RootName()) || len(t) > 3 || len(t) == 3 && keyOf(t) == "" {
		report.Error(expr.Range(), "Unsuitable value for \"depends_on\"", "Each element must be service.NAME, manifest.NAME or module.NAME, without quotes; of a repeated one also NAME[\"KEY\"].")
		return nil
	}
	kind := t.RootName()
	switch {
	case m.Written.Document.One(kind, name) == nil:
		known := m.Written.Document.Labels(kind)
		report.Error(expr.Range(), fmt.Sprintf("There is no %s %q", kind, name), "%s",
			words.WithHint(words.DidYouMean(name, known), words.Known(eval.NounOf(kind), known)))
	case kind+"."+name == b.ID():
		report.Error(expr.Range(), "Unsuitable value for \"depends_on\"", "Nothing can depend on itself.")
	case kind == "module":
		return m.Calling(name).Inside(expr.Range(), kind+"."+name+keyOf(t))
	default:
		return []Edge{{To: m.Path() + kind + "." + name, At: expr.Range(), Key: keyOf(t)}}
	}
	return nil
}

// Inside are edges to all services and manifests in a module, or in one use of it. There are
// none for nil: the module could not be read.
func (m *Module) Inside(at hcl.Range, within string) []Edge {
	if m == nil {
		return nil
	}
	var out []Edge
	for _, kind := range []string{"service", "manifest"} {
		for _, name := range m.Written.Document.Labels(kind) {
			out = append(out, Edge{To: m.Path() + kind + "." + name, At: at, Within: within})
		}
	}
	for _, child := range m.Calls {
		out = append(out, child.Inside(at, within)...)
	}
	return out
}

// sorted orders the nodes by their edges. It reports each cycle and evaluates the other nodes
// anyway.
func sorted(g *Graph) []*Node {
	for {
		var d dag.Graph[string]
		for _, n := range g.order {
			d.Add(n.ID)
			if n.broken {
				continue
			}
			for _, need := range n.Needs {
				if g.nodes[need.To] != nil {
					d.Connect(n.ID, need.To)
				}
			}
		}
		ids, err := d.Order()
		var cycle *dag.CycleError[string]
		if errors.As(err, &cycle) {
			breakCycle(g, cycle.Cycle)
			continue
		}
		var out []*Node
		for _, id := range ids {
			out = append(out, g.nodes[id])
		}
		return out
	}
}

// breakCycle reports a cycle and marks its nodes as broken.
func breakCycle(g *Graph, cycle []string) {
	var steps []string
	var subject *hcl.Range
	for i, id := range cycle[:len(cycle)-1] {
		n := g.nodes[id]
		n.broken = true
		for _, need := range n.Needs {
			if need.To != cycle[i+1] {
				continue
			}
			steps = append(steps, fmt.Sprintf("%s refers to %s at %s", id, need.To, diag.Position(need.At)))
			if subject == nil && !configs.InCatalogue(need.At) {
				subject = need.At.Ptr()
			}
			break
		}
	}
	if subject == nil {
		subject = g.nodes[cycle[0]].At.Ptr()
	}
	circular(g.env.Report, *subject, cycle, steps)
}

// circular reports a cycle. Steps are its references.
func circular(report *diag.Reporter, subject hcl.Range, cycle, steps []string) {
	report.Error(subject, "Circular reference", "%s: each of them needs the next one first. Take out one of these:\n\n  %s",
		strings.Join(cycle, " → "), strings.Join(steps, "\n  "))
}

// CheckReasons reports blocks whose objects would wait for each other in a circle, by the
// reasons of each block. Evaluation does not find such a circle if a secret is on it, because
// readers of a secret do not wait for its arguments.
func CheckReasons(report *diag.Reporter, reasons map[string][]configs.Reason) {
	var d dag.Graph[string]
	for _, block := range slices.Sorted(maps.Keys(reasons)) {
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
	circular(report, subject, cycle.Cycle, steps)
}
