package lang

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
)

// triggersName is the argument of lifecycle blocks that this file is about.
const triggersName = "replace_triggered_by"

// triggers are what the last of the blocks whose lifecycle says so is replaced with, in
// one use of the module that they stand in. What is wrong with them was reported with
// the references in them.
func (g *graph) triggers(f *frame, blocks ...*block) []Target {
	var out []Target
	for _, b := range blocks {
		if b == nil {
			continue
		}
		l := b.one("lifecycle", "")
		if l == nil || l.attributes[triggersName] == nil || isNullLiteral(l.attributes[triggersName].Expr) {
			continue
		}
		out = nil
		items, _ := hcl.ExprList(l.attributes[triggersName].Expr)
		for _, expr := range items {
			if t, ok := g.trigger(f.module, expr); ok {
				out = append(out, t.in(f))
			}
		}
	}
	return out
}

// triggerEdges are the references in the lifecycle of a service or manifest, and of
// what stands in it.
func (g *graph) triggerEdges(m *module, b *block) []edge {
	var out []edge
	for _, l := range lifecyclesIn(b) {
		attr := l.attributes[triggersName]
		if attr == nil || isNullLiteral(attr.Expr) {
			continue
		}
		items, diags := hcl.ExprList(attr.Expr)
		if diags.HasErrors() {
			g.unsuitableTrigger(attr.Expr.Range(), "It must be a list of references, such as [service.mariadb].")
			continue
		}
		for _, expr := range items {
			t, ok := g.trigger(m, expr)
			switch {
			case !ok:
			case (Target{Block: b.id()}).covers(t.Block):
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
	check := func(l Lifecycle) {
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

func lifecyclesIn(b *block) []*block {
	var out []*block
	for _, child := range b.blocks {
		if child.typ == lifecycleType {
			out = append(out, child)
		} else {
			out = append(out, lifecyclesIn(child)...)
		}
	}
	return out
}

// trigger reads one entry, relative to the module that it stands in, and reports what
// is not declared there.
func (g *graph) trigger(m *module, expr hcl.Expression) (Target, bool) {
	if _, diags := hcl.AbsTraversalForExpr(expr); diags.HasErrors() && len(expr.Variables()) > 0 {
		g.unsuitableTrigger(expr.Range(), "An entry is written out: service.NAME, manifest.NAME, secret.NAME or module.NAME, with [\"KEY\"] of a repeated one, or an object's address in quotes. It is not computed.")
		return Target{}, false
	}
	t, ok := g.readTarget(expr, &evaluator{reporter: g.reporter, functions: g.functions, memo: g.memo, scope: newScope(nil)})
	if !ok {
		return t, false
	}
	for i, s := range stepsOf(t.Block) {
		if !slices.Contains([]string{"service", "manifest", "secret", "module"}, s.typ) {
			g.unsuitableTrigger(t.Range, "Each entry is a service, a manifest, a secret, a module, or an object of one.")
			return t, false
		}
		if i > 0 && m == nil {
			return t, false // a module that could not be read
		}
		if m.document.one(s.typ, s.name) == nil {
			g.undeclared(t.Range, s.typ, s.name, m.document.labels(s.typ))
			return t, false
		}
		m = m.calling(s.name)
	}
	return t, true
}

// edgesTo are the edges to all that a target is, in a module.
func (g *graph) edgesTo(m *module, t Target) []edge {
	steps := stepsOf(t.Block)
	last := len(steps) - 1
	for _, s := range steps[:last] {
		m = m.calling(s.name)
	}
	if steps[last].typ == "module" {
		return g.insideOf(m.calling(steps[last].name), t.Range, t.Block)
	}
	return []edge{{to: m.path() + steps[last].id(), at: t.Range, key: steps[last].suffix(), within: joinSteps(steps[:last])}}
}

func (g *graph) unsuitableTrigger(at hcl.Range, detail string) {
	g.error(at, fmt.Sprintf("Unsuitable value for %q", triggersName), "%s", detail)
}
