package eval

import (
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/schema"
)

// Enabled returns a block without its disabled inner blocks. It keeps the inner blocks for
// which the function returns false.
func Enabled(e *Env, b *source.Block, which func(*source.Block) bool) *source.Block {
	if !b.Gated {
		return b
	}
	out := b.WithoutBlocks()
	out.Gated = false
	for _, child := range b.Blocks {
		if !which(child) {
			out.Add(child)
			continue
		}
		counts, known := IsEnabled(e, child)
		if known != cty.NilVal {
			out.Incomplete = known
		}
		if counts {
			out.Add(Enabled(e, child, anyBlock))
		}
	}
	return out
}

func anyBlock(*source.Block) bool { return true }

// IsEnabled reports whether a block is used. open has the marks of the values that must be known
// before the answer is final; NilVal: it is final.
func IsEnabled(e *Env, b *source.Block) (counts bool, open cty.Value) {
	attr := b.Attributes[schema.EnabledAttribute.Name]
	if attr == nil || !IsSet(e, b, schema.EnabledAttribute.Name) {
		return true, cty.NilVal
	}
	v, ok := PublicAttribute(e, b, schema.EnabledAttribute.Name, cty.Bool)
	if ok {
		return v.True(), cty.NilVal
	}
	if v := e.Value(attr.Expr); !v.IsKnown() {
		return false, v
	}
	return false, cty.DynamicVal // it is wrong, which was reported
}
