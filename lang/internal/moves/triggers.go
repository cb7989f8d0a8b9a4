package moves

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/graph"
	"kolla.openstack.org/kolla/lang/internal/layers"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/internal/values"
	"kolla.openstack.org/kolla/lang/mark"
	"kolla.openstack.org/kolla/lang/schema"
)

// Triggers returns the targets that replace an object. They come from the last of the blocks whose
// lifecycle has such a list. The environment evaluates computed keys, and only mistakes in those
// are reported. TriggerEdges reports all others.
func (r *Reader) Triggers(f *graph.Frame, e *eval.Env, blocks ...*source.Block) []addrs.Target {
	var out []addrs.Target
	for _, b := range blocks {
		if b == nil {
			continue
		}
		l := b.One("lifecycle", "")
		if l == nil || l.Attributes[schema.TriggersName] == nil || layers.IsNullLiteral(l.Attributes[schema.TriggersName].Expr) {
			continue
		}
		out = nil
		items, _ := hcl.ExprList(l.Attributes[schema.TriggersName].Expr)
		for _, expr := range items {
			if t, ok := r.trigger(f.Module, expr, e); ok {
				out = append(out, t.In(f.Address))
			}
		}
	}
	return out
}

// TriggerEdges returns the references in the lifecycle blocks of a service or manifest.
func (r *Reader) TriggerEdges(m *graph.Module, b *source.Block) []graph.Edge {
	var out []graph.Edge
	for _, l := range lifecyclesIn(b) {
		attr := l.Attributes[schema.TriggersName]
		if attr == nil || layers.IsNullLiteral(attr.Expr) {
			continue
		}
		items, diags := hcl.ExprList(attr.Expr)
		if diags.HasErrors() {
			r.unsuitableTrigger(attr.Expr.Range(), "It must be a list of references, such as [service.mariadb].")
			continue
		}
		for _, expr := range items {
			t, ok := r.trigger(m, expr, nil)
			switch {
			case !ok:
			case addrs.Covers(b.ID(), t.Block):
				r.unsuitableTrigger(t.Range, "Nothing can be replaced because of itself.")
			default:
				out = append(out, edgesTo(m, t)...)
			}
		}
	}
	return out
}

// lifecyclesIn returns the lifecycle blocks in a block, at any depth.
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

// trigger reads an entry that is relative to a module, and reports blocks that are not declared
// there. Without an environment, an entry with a computed key stands for all instances.
func (r *Reader) trigger(m *graph.Module, expr hcl.Expression, e *eval.Env) (addrs.Target, bool) {
	var t addrs.Target
	switch ref, isReference, ok := reference(expr, e); {
	case !ok:
		return t, false
	case isReference:
		if t, ok = r.targetOf(ref, expr.Range()); !ok {
			return t, false
		}
	case len(expr.Variables()) > 0:
		r.unsuitableTrigger(expr.Range(), "An entry is written out: service.NAME, manifest.NAME, secret.NAME or module.NAME, with [\"KEY\"] of a repeated one, or [each.key], or an object's address in quotes. Nothing but a key is computed.")
		return t, false
	default:
		if t, ok = r.read(expr, r.Constant); !ok {
			return t, false
		}
	}
	for i, s := range addrs.Steps(t.Block) {
		if !slices.Contains([]string{"service", "manifest", "secret", "module"}, s.Type) {
			r.unsuitableTrigger(t.Range, "Each entry is a service, a manifest, a secret, a module, or an object of one.")
			return t, false
		}
		if i > 0 && m == nil {
			return t, false // a module that could not be read
		}
		if m.Written.Document.One(s.Type, s.Name) == nil {
			r.Report.Undeclared(t.Range, s.Type, s.Name, m.Written.Document.Labels(s.Type))
			return t, false
		}
		m = m.Calling(s.Name)
	}
	return t, true
}

// reference reads an expression as a reference, such as service.redis[each.key]. Without an
// environment it leaves out computed keys. The result is not ok if a computed key is not known,
// which was reported.
func reference(expr hcl.Expression, e *eval.Env) (t hcl.Traversal, isReference, ok bool) {
	if t, diags := hcl.AbsTraversalForExpr(expr); !diags.HasErrors() {
		return t, true, true
	}
	var source hcl.Expression
	around := func(inner hclsyntax.Expression) hcl.Expression { return inner }
	if x, is := expr.(*layers.DynamicExpr); is {
		expr, around = x.Expression, func(inner hclsyntax.Expression) hcl.Expression { return x.Around(inner) }
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
		key, ok := computedKey(e, around(x.Key))
		if !ok {
			return nil, true, false
		}
		t = append(t, hcl.TraverseIndex{Key: key, SrcRange: x.Key.Range()})
	}
	return t, true, true
}

// computedKey evaluates the key of an instance.
func computedKey(e *eval.Env, expr hcl.Expression) (key cty.Value, ok bool) {
	v := e.Value(expr)
	switch {
	case !v.IsKnown():
		if mark.IsDeferred(v) {
			e.Report.Error(expr.Range(), "Not an address", "It depends on something that is known only after the apply, and addresses have to be known before.")
		}
		return v, false
	case !eval.CheckNotSecret(e, v, expr.Range(), "an address"):
		return v, false
	case v.IsNull() || v.Type() != cty.String && v.Type() != cty.Number:
		e.Report.Error(expr.Range(), "Not an address", "A key must be a string or a whole number, and this is %s.", values.KindOf(v))
		return v, false
	}
	return v, true
}

// edgesTo returns the edges from a module to all blocks that a target covers.
func edgesTo(m *graph.Module, t addrs.Target) []graph.Edge {
	steps := addrs.Steps(t.Block)
	last := len(steps) - 1
	for _, s := range steps[:last] {
		m = m.Calling(s.Name)
	}
	if steps[last].Type == "module" {
		return m.Calling(steps[last].Name).Inside(t.Range, t.Block)
	}
	return []graph.Edge{{To: m.Path() + steps[last].ID(), At: t.Range, Key: steps[last].Suffix, Within: addrs.Join(steps[:last])}}
}

// unsuitableTrigger reports an entry of replace_triggered_by.
func (r *Reader) unsuitableTrigger(at hcl.Range, detail string) {
	r.Report.Error(at, fmt.Sprintf("Unsuitable value for %q", schema.TriggersName), "%s", detail)
}
