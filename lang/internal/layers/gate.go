package layers

import (
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/schema"
	"kolla.openstack.org/kolla/lang/syntax"
)

// Gate says whether a block is used, if that is known before the evaluation.
type Gate byte

// GateOpen: the block is used. GateClosed: it is disabled. GateUndecided: it is not known yet.
const (
	GateOpen Gate = iota
	GateClosed
	GateUndecided
)

// GateOf reads the argument enabled of a block.
func GateOf(b *source.Block) Gate {
	attr := b.Attributes[schema.EnabledAttribute.Name]
	if attr == nil {
		return GateOpen
	}
	v, diags := syntax.Constant(attr.Expr)
	switch {
	case diags.HasErrors() || !v.IsKnown() || v.IsNull() || v.Type() != cty.Bool:
		return GateUndecided
	case v.True():
		return GateOpen
	}
	return GateClosed
}
