package moves

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/graph"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/mark"
)

// Reader reads addresses in arguments.
type Reader struct {
	Graph    *graph.Graph
	Report   *diag.Reporter
	Constant *eval.Env // knows no names
}

// movable are the types of blocks that have objects in the cluster.
var movable = []string{"service", "manifest", "role", "secret", "module"}

// argument reads the address in an argument of a block in a frame: a reference such as
// service.keystone, or a string. The address need not exist.
func (r *Reader) argument(f *graph.Frame, b *source.Block, name string) (addrs.Target, bool) {
	attr := b.Attributes[name]
	if attr == nil {
		return addrs.Target{}, false
	}
	t, ok := r.read(attr.Expr, f.Env())
	return t.In(f.Address), ok
}

// read reads an address that is relative to the module of the environment.
func (r *Reader) read(expr hcl.Expression, e *eval.Env) (addrs.Target, bool) {
	at := expr.Range()
	if t, diags := hcl.AbsTraversalForExpr(expr); !diags.HasErrors() {
		return r.targetOf(t, at)
	}
	var out addrs.Target
	if v := e.Value(expr); v.Type() == cty.String && !v.IsNull() && v.IsKnown() && eval.CheckNotSecret(e, v, at, "an address") {
		var err error
		if out, err = addrs.ParseTarget(v.AsString()); err != nil {
			r.Report.Error(at, "Not an address", "%s.", words.Sentence(err))
			return addrs.Target{}, false
		}
	} else if !v.IsKnown() {
		if mark.IsDeferred(v) {
			r.Report.Error(at, "Not an address", "It depends on something that is known only after the apply, and addresses have to be known before.")
		}
		return addrs.Target{}, false
	}
	return r.movable(out, at)
}

// targetOf reads an address that is written as a reference.
func (r *Reader) targetOf(t hcl.Traversal, at hcl.Range) (addrs.Target, bool) {
	block, _ := addrs.BlockOf(t)
	return r.movable(addrs.Target{Block: block}, at)
}

// movable reports an address of a block that has no objects in the cluster.
func (r *Reader) movable(out addrs.Target, at hcl.Range) (addrs.Target, bool) {
	out.Range = at
	if kind := addrs.TypeOf(out.Block); !slices.Contains(movable, kind) {
		r.Report.Error(at, "Not an address", "%s", words.WithHint(words.DidYouMean(kind, movable),
			`Write a block as service.NAME, manifest.NAME, role.NAME, secret.NAME or module.NAME, with ["KEY"] where it is repeated; an object in quotes, as "BLOCK/KIND/NAME".`))
		return addrs.Target{}, false
	}
	return out, true
}
