package lang

import (
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/internal/values"
	"kolla.openstack.org/kolla/lang/schema"
	"kolla.openstack.org/kolla/lang/syntax"
)

// gate says whether a block counts, as far as that can be told before anything is
// evaluated.
type gate byte

const (
	open gate = iota
	closed
	undecided
)

// gateOf reads the argument enabled of a block.
func gateOf(b *source.Block) gate {
	attr := b.Attributes[schema.EnabledAttribute.Name]
	if attr == nil {
		return open
	}
	v, diags := syntax.Constant(attr.Expr)
	switch {
	case diags.HasErrors() || !v.IsKnown() || v.IsNull() || v.Type() != cty.Bool:
		return undecided
	case v.True():
		return open
	}
	return closed
}

// enabled is a block without the blocks in it that do not count, of those that which is
// true for.
func (e *evaluator) enabled(b *source.Block, which func(*source.Block) bool) *source.Block {
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
		counts, known := e.counts(child)
		if known != cty.NilVal {
			out.Incomplete = known
		}
		if counts {
			out.Add(e.enabled(child, anyBlock))
		}
	}
	return out
}

func anyBlock(*source.Block) bool { return true }

// counts reports whether a block counts. open is what has to be known before that is
// known; NilVal: it is.
func (e *evaluator) counts(b *source.Block) (counts bool, open cty.Value) {
	attr := b.Attributes[schema.EnabledAttribute.Name]
	if attr == nil || !e.given(b, schema.EnabledAttribute.Name) {
		return true, cty.NilVal
	}
	v, ok := e.publicAttribute(b, schema.EnabledAttribute.Name, cty.Bool)
	if ok {
		return v.True(), cty.NilVal
	}
	if v := e.value(attr.Expr); !v.IsKnown() {
		return false, v
	}
	return false, cty.DynamicVal // it is wrong, which was reported
}

// narrowPorts takes the ports away that do not count, after which they are known. The
// replicas of the first workload that counts are known before.
func (in *instance) narrowPorts() {
	if !in.definition.Gated {
		return
	}
	in.replicasForAll()
	self := in.identity()
	delete(self, "replicas")
	in.setSelf(cty.ObjectVal(self))
	self["replicas"] = cty.NumberIntVal(0)
	if first := in.firstWorkload(); first != nil {
		in.replicas = map[string]int{first.Label: in.replicasOf(first)}
		self["replicas"] = in.replicasValue(first)
	}
	in.setSelf(cty.ObjectVal(self))
	in.definition = in.inner.enabled(in.definition, func(b *source.Block) bool { return b.Type == schema.PortType })
}

// firstWorkload is the first that counts, or nil.
func (in *instance) firstWorkload() *source.Block {
	for _, b := range in.definition.All("workload") {
		if counts, _ := in.inner.counts(b); counts {
			return b
		}
	}
	return nil
}

// narrow takes everything else away that does not count.
func (in *instance) narrow() {
	if !in.definition.Gated {
		return
	}
	self := in.inner.scope.singles["self"].AsValueMap()
	in.addPorts(self)
	in.setSelf(cty.ObjectVal(self))
	in.definition = in.inner.enabled(in.definition, func(b *source.Block) bool { return b.Type != schema.PortType })
	absent := cty.NullVal(cty.DynamicPseudoType)
	if !in.definition.Complete() {
		absent = cty.DynamicVal.WithMarks(values.Deferrals(in.definition.Incomplete))
	}
	for _, kind := range []string{"secret", "database", "queue", "user", "endpoint", "port"} {
		for _, name := range in.whole.Labels(kind) {
			if in.definition.One(kind, name) == nil {
				in.inner.scope.groups[kind][name] = absent
			}
		}
	}
}
