package lang

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/internal/values"
	"kolla.openstack.org/kolla/lang/mark"
	"kolla.openstack.org/kolla/lang/schema"
)

// triggers are what the last of the blocks whose lifecycle says so is replaced with, in
// one use of the module that they stand in, and in the instance that the evaluator is
// for. What is wrong with them besides their keys was reported with the references in
// them.
func (g *graph) triggers(f *frame, e *evaluator, blocks ...*source.Block) []addrs.Target {
	var out []addrs.Target
	for _, b := range blocks {
		if b == nil {
			continue
		}
		l := b.One("lifecycle", "")
		if l == nil || l.Attributes[schema.TriggersName] == nil || isNullLiteral(l.Attributes[schema.TriggersName].Expr) {
			continue
		}
		out = nil
		items, _ := hcl.ExprList(l.Attributes[schema.TriggersName].Expr)
		for _, expr := range items {
			if t, ok := g.trigger(f.module, expr, e); ok {
				out = append(out, t.In(f.address))
			}
		}
	}
	return out
}

// triggerEdges are the references in the lifecycle of a service or manifest, and of
// what stands in it.
func (g *graph) triggerEdges(m *module, b *source.Block) []edge {
	var out []edge
	for _, l := range lifecyclesIn(b) {
		attr := l.Attributes[schema.TriggersName]
		if attr == nil || isNullLiteral(attr.Expr) {
			continue
		}
		items, diags := hcl.ExprList(attr.Expr)
		if diags.HasErrors() {
			g.unsuitableTrigger(attr.Expr.Range(), "It must be a list of references, such as [service.mariadb].")
			continue
		}
		for _, expr := range items {
			t, ok := g.trigger(m, expr, nil)
			switch {
			case !ok:
			case addrs.Covers(b.ID(), t.Block):
				g.unsuitableTrigger(t.Range, "Nothing can be replaced because of itself.")
			default:
				out = append(out, g.edgesTo(m, t)...)
			}
		}
	}
	return out
}

// checkTriggers reports what names an instance that there is not, once it is known
// which there are.
func (g *graph) checkTriggers() {
	check := func(l configs.Lifecycle) {
		for _, t := range l.ReplaceTriggeredBy {
			g.there(t, nil)
		}
	}
	for _, s := range g.config.Services {
		check(s.Lifecycle)
		for _, w := range s.Workloads {
			check(w.Lifecycle)
		}
	}
	for _, m := range g.config.Manifests {
		check(m.Lifecycle)
	}
}

func lifecyclesIn(b *source.Block) []*source.Block {
	var out []*source.Block
	for _, child := range b.Blocks {
		if child.Type == schema.LifecycleType {
			out = append(out, child)
		} else {
			out = append(out, lifecyclesIn(child)...)
		}
	}
	return out
}

// trigger reads one entry, relative to the module that it stands in, and reports what
// is not declared there. Keys that are computed are known to the evaluator of an instance
// only: without it, the entry is all that it may mean.
func (g *graph) trigger(m *module, expr hcl.Expression, e *evaluator) (addrs.Target, bool) {
	quiet := &evaluator{report: g.report, decisions: g.decisions, functions: g.functions, memo: g.memo, scope: newScope(nil)}
	var t addrs.Target
	switch ref, isReference, ok := reference(expr, e); {
	case !ok:
		return t, false
	case isReference:
		if t, ok = g.targetOf(ref, expr.Range()); !ok {
			return t, false
		}
	case len(expr.Variables()) > 0:
		g.unsuitableTrigger(expr.Range(), "An entry is written out: service.NAME, manifest.NAME, secret.NAME or module.NAME, with [\"KEY\"] of a repeated one, or [each.key], or an object's address in quotes. Nothing but a key is computed.")
		return t, false
	default:
		if t, ok = g.readTarget(expr, quiet); !ok {
			return t, false
		}
	}
	for i, s := range addrs.Steps(t.Block) {
		if !slices.Contains([]string{"service", "manifest", "secret", "module"}, s.Type) {
			g.unsuitableTrigger(t.Range, "Each entry is a service, a manifest, a secret, a module, or an object of one.")
			return t, false
		}
		if i > 0 && m == nil {
			return t, false // a module that could not be read
		}
		if m.written.Document.One(s.Type, s.Name) == nil {
			g.report.Undeclared(t.Range, s.Type, s.Name, m.written.Document.Labels(s.Type))
			return t, false
		}
		m = m.calling(s.Name)
	}
	return t, true
}

// reference reads an expression as a reference whose keys may be computed, such as
// service.redis[each.key]. Without an evaluator such keys are left out; with it, the
// reference is not ok if one of them cannot be known, which was reported.
func reference(expr hcl.Expression, e *evaluator) (t hcl.Traversal, isReference, ok bool) {
	if t, diags := hcl.AbsTraversalForExpr(expr); !diags.HasErrors() {
		return t, true, true
	}
	var source hcl.Expression
	around := func(inner hclsyntax.Expression) hcl.Expression { return inner }
	if x, is := expr.(*iterated); is {
		expr, around = x.Expression, func(inner hclsyntax.Expression) hcl.Expression { return x.around(inner) }
	}
	switch x := expr.(type) {
	case *hclsyntax.IndexExpr:
		source = around(x.Collection)
	case *hclsyntax.RelativeTraversalExpr:
		source = around(x.Source)
	default:
		return nil, false, true
	}
	if t, isReference, ok = reference(source, e); !ok || !isReference {
		return nil, isReference, ok
	}
	t = slices.Clone(t)
	switch x := expr.(type) {
	case *hclsyntax.RelativeTraversalExpr:
		t = append(t, x.Traversal...)
	case *hclsyntax.IndexExpr:
		if e == nil {
			break
		}
		key, ok := e.computedKey(around(x.Key))
		if !ok {
			return nil, true, false
		}
		t = append(t, hcl.TraverseIndex{Key: key, SrcRange: x.Key.Range()})
	}
	return t, true, true
}

// computedKey evaluates the key of an instance.
func (e *evaluator) computedKey(expr hcl.Expression) (key cty.Value, ok bool) {
	v := e.value(expr)
	switch {
	case !v.IsKnown():
		if mark.IsDeferred(v) {
			e.report.Error(expr.Range(), "Not an address", "It depends on something that is known only after the apply, and addresses have to be known before.")
		}
		return v, false
	case !e.public(v, expr.Range(), "an address"):
		return v, false
	case v.IsNull() || v.Type() != cty.String && v.Type() != cty.Number:
		e.report.Error(expr.Range(), "Not an address", "A key is a text or a whole number, and this is %s.", values.KindOf(v))
		return v, false
	}
	return v, true
}

// edgesTo are the edges to all that a target is, in a module.
func (g *graph) edgesTo(m *module, t addrs.Target) []edge {
	steps := addrs.Steps(t.Block)
	last := len(steps) - 1
	for _, s := range steps[:last] {
		m = m.calling(s.Name)
	}
	if steps[last].Type == "module" {
		return g.insideOf(m.calling(steps[last].Name), t.Range, t.Block)
	}
	return []edge{{to: m.written.Path() + steps[last].ID(), at: t.Range, key: steps[last].Suffix, within: addrs.Join(steps[:last])}}
}

func (g *graph) unsuitableTrigger(at hcl.Range, detail string) {
	g.report.Error(at, fmt.Sprintf("Unsuitable value for %q", schema.TriggersName), "%s", detail)
}
