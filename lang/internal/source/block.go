// Package source reads the files of a configuration and of its modules, in HCL's native and in
// its JSON syntax. A Reader gives a tree of Modules, each with a tree of Blocks. Each Block was
// checked against its type in package schema: arguments and blocks that the type does not have
// are reported and left out. Nothing is evaluated.
package source

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/schema"
)

// Block is a block as it is written.
type Block struct {
	Type       *schema.BlockType
	Label      string
	LabelRange hcl.Range
	Header     hcl.Range
	Whole      hcl.Range // from its first line to the closing brace
	Attributes map[string]*hclsyntax.Attribute
	Blocks     []*Block // in the order of the source
	byType     map[string][]*Block
	byLabel    map[childKey]*Block // the first of each
	// Unknown are the names of arguments and blocks in it that its type does not have.
	Unknown []string
	// HasDynamic reports a dynamic block in it, at any depth.
	HasDynamic bool
	// Gated reports a block in it, at any depth, that has the argument enabled.
	Gated bool
	// Incomplete is the value that decides which more blocks it has, and that is not known
	// yet. It is NilVal if Blocks are all.
	Incomplete cty.Value
	// Base and Top are the parts of a merged block: the definition's block and the block of
	// the service that overrides it. A block that only the service has has no Base.
	Base, Top *Block
}

// childKey identifies a block in its parent.
type childKey struct{ typ, label string }

// Add puts a block into this one.
func (b *Block) Add(child *Block) {
	if b.byType == nil {
		b.byType, b.byLabel = map[string][]*Block{}, map[childKey]*Block{}
	}
	name := child.Type.Name
	b.Blocks = append(b.Blocks, child)
	b.byType[name] = append(b.byType[name], child)
	key := childKey{name, child.Label}
	if b.byLabel[key] == nil {
		b.byLabel[key] = child
	}
	b.HasDynamic = b.HasDynamic || child.HasDynamic || child.Type == schema.DynamicType
	b.Gated = b.Gated || child.Gated || child.Attributes[schema.EnabledAttribute.Name] != nil
}

// WithoutBlocks returns a copy of the block without the blocks in it.
func (b *Block) WithoutBlocks() *Block {
	out := *b
	out.Blocks, out.byType, out.byLabel = nil, nil, nil
	return &out
}

// ID names the block in references and messages: "service.keystone".
func (b *Block) ID() string {
	if b.Label == "" {
		return b.Type.Name
	}
	return b.Type.Name + "." + b.Label
}

// Complete reports whether all blocks in this one are known.
func (b *Block) Complete() bool { return b.Incomplete == cty.NilVal }

// All returns the blocks of one type in this one.
func (b *Block) All(typ string) []*Block { return b.byType[typ] }

// One returns the block in this one of a type and with a label, or nil. The label is empty for
// types without labels.
func (b *Block) One(typ, label string) *Block { return b.byLabel[childKey{typ, label}] }

// Labels returns the labels of the blocks of one type.
func (b *Block) Labels(typ string) []string {
	var out []string
	for _, child := range b.All(typ) {
		out = append(out, child.Label)
	}
	return out
}

// AttributeRange returns the place of the value of an argument. If the argument is not set, it is
// the header of the block.
func (b *Block) AttributeRange(name string) hcl.Range {
	if attr, ok := b.Attributes[name]; ok {
		return attr.Expr.Range()
	}
	return b.Header
}

// Ordered returns the arguments in the order of the source.
func (b *Block) Ordered() []*hclsyntax.Attribute {
	var out []*hclsyntax.Attribute
	for _, name := range slices.Sorted(maps.Keys(b.Attributes)) {
		out = append(out, b.Attributes[name])
	}
	slices.SortStableFunc(out, func(x, y *hclsyntax.Attribute) int {
		return x.NameRange.Start.Byte - y.NameRange.Start.Byte
	})
	return out
}

// Described names the block at the start of a sentence.
func (b *Block) Described() string {
	if b.Label == "" {
		return b.Type.Described()
	}
	return fmt.Sprintf("%s %q", b.Type.Name, b.Label)
}

// Misspelt reports whether an unknown name in the block is probably this argument, misspelt.
// The argument is then not reported as missing.
func (b *Block) Misspelt(name string) bool {
	known := append(b.Type.AttributeNames(), b.Type.BlockNames()...)
	return slices.ContainsFunc(b.Unknown, func(given string) bool { return words.Nearest(given, known) == name })
}
