package lang

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/schema"
)

// block is a block that was checked against its type. Nothing in it is evaluated
// yet.
type block struct {
	typ        *schema.BlockType
	label      string
	labelRange hcl.Range
	header     hcl.Range
	whole      hcl.Range // to the closing brace
	attributes map[string]*hclsyntax.Attribute
	blocks     []*block // in the order of the source
	byType     map[string][]*block
	byLabel    map[childKey]*block // the first of each
	// unknown are the names of arguments and blocks in it that there are not.
	unknown []string
	// grows: it holds a dynamic block, at any depth.
	grows bool
	// gated: something in it, at any depth, says whether it counts.
	gated bool
	// open is what has to be known before it is known which blocks stand in it; NilVal:
	// these are all.
	open cty.Value
	// base and top are what a block is made of that a service overrides: the definition's
	// block and the service's. One that only the service has has no base.
	base, top *block
}

// childKey finds a block in its parent.
type childKey struct{ typ, label string }

// add puts a block into this one.
func (b *block) add(child *block) {
	if b.byType == nil {
		b.byType, b.byLabel = map[string][]*block{}, map[childKey]*block{}
	}
	name := child.typ.Name
	b.blocks = append(b.blocks, child)
	b.byType[name] = append(b.byType[name], child)
	key := childKey{name, child.label}
	if b.byLabel[key] == nil {
		b.byLabel[key] = child
	}
	b.grows = b.grows || child.grows || child.typ == schema.DynamicType
	b.gated = b.gated || child.gated || child.attributes[schema.EnabledAttribute.Name] != nil
}

// withoutBlocks is a copy of the block without the blocks in it.
func (b *block) withoutBlocks() *block {
	out := *b
	out.blocks, out.byType, out.byLabel = nil, nil, nil
	return &out
}

// id names the block in references and messages: "service.keystone".
func (b *block) id() string {
	if b.label == "" {
		return b.typ.Name
	}
	return b.typ.Name + "." + b.label
}

// complete reports whether it is known which blocks stand in this one.
func (b *block) complete() bool { return b.open == cty.NilVal }

// all are the blocks of one type inside of this one.
func (b *block) all(typ string) []*block { return b.byType[typ] }

// one is the block of a type with a label (or without, if label is empty), or nil.
func (b *block) one(typ, label string) *block { return b.byLabel[childKey{typ, label}] }

// labels are the labels of the blocks of one type.
func (b *block) labels(typ string) []string {
	var out []string
	for _, child := range b.all(typ) {
		out = append(out, child.label)
	}
	return out
}

// attributeRange is where an attribute's value stands; for one that was not
// written, the block's header.
func (b *block) attributeRange(name string) hcl.Range {
	if attr, ok := b.attributes[name]; ok {
		return attr.Expr.Range()
	}
	return b.header
}

// ordered are the attributes in the order of the source.
func (b *block) ordered() []*hclsyntax.Attribute {
	var out []*hclsyntax.Attribute
	for _, name := range slices.Sorted(maps.Keys(b.attributes)) {
		out = append(out, b.attributes[name])
	}
	slices.SortStableFunc(out, func(x, y *hclsyntax.Attribute) int {
		return x.NameRange.Start.Byte - y.NameRange.Start.Byte
	})
	return out
}

// describe names the block at the start of a sentence.
func (b *block) describe() string {
	if b.label == "" {
		return b.typ.Described()
	}
	return fmt.Sprintf("%s %q", b.typ.Name, b.label)
}

// misspelt reports whether something unknown in the block was probably meant to be an
// argument, which is then not missed as well.
func (b *block) misspelt(name string) bool {
	known := append(b.typ.AttributeNames(), b.typ.BlockNames()...)
	return slices.ContainsFunc(b.unknown, func(given string) bool { return words.Nearest(given, known) == name })
}
