package lang

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/mark"
)

// target reads an address in an argument: a reference such as service.keystone, or a
// text. What it names need not exist.
func (g *graph) target(f *frame, b *source.Block, name string) (addrs.Target, bool) {
	attr := b.Attributes[name]
	if attr == nil {
		return addrs.Target{}, false
	}
	t, ok := g.readTarget(attr.Expr, g.evaluator(f))
	return t.In(f.address), ok
}

// readTarget reads an address that is relative to the module that it stands in.
func (g *graph) readTarget(expr hcl.Expression, e *evaluator) (addrs.Target, bool) {
	at := expr.Range()
	if t, diags := hcl.AbsTraversalForExpr(expr); !diags.HasErrors() {
		return g.targetOf(t, at)
	}
	var out addrs.Target
	if v := e.value(expr); v.Type() == cty.String && !v.IsNull() && v.IsKnown() && e.public(v, at, "an address") {
		var err error
		if out, err = addrs.ParseTarget(v.AsString()); err != nil {
			g.report.Error(at, "Not an address", "%s.", words.Sentence(err))
			return addrs.Target{}, false
		}
	} else if !v.IsKnown() {
		if mark.IsDeferred(v) {
			g.report.Error(at, "Not an address", "It depends on something that is known only after the apply, and addresses have to be known before.")
		}
		return addrs.Target{}, false
	}
	return g.movable(out, at)
}

// targetOf reads an address that is written as a reference.
func (g *graph) targetOf(t hcl.Traversal, at hcl.Range) (addrs.Target, bool) {
	block, _ := addrs.BlockOf(t)
	return g.movable(addrs.Target{Block: block}, at)
}

// movable reports an address of something that has no objects.
func (g *graph) movable(out addrs.Target, at hcl.Range) (addrs.Target, bool) {
	out.Range = at
	if kind := addrs.TypeOf(out.Block); !slices.Contains(movable, kind) {
		g.report.Error(at, "Not an address", "%s", words.WithHint(words.DidYouMean(kind, movable),
			`Write a block as service.NAME, manifest.NAME, role.NAME, secret.NAME or module.NAME, with ["KEY"] where it is repeated; an object in quotes, as "BLOCK/KIND/NAME".`))
		return addrs.Target{}, false
	}
	return out, true
}
