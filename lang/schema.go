package lang

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// BlockType describes one type of block: what may stand in it, and what it means.
// Configurations are checked against these descriptions, and the reference of the
// language is made from them.
type BlockType struct {
	Name string
	// Label says what the label names, "service"; empty: the block has none.
	Label string
	// LabelForm is what the label has to look like.
	LabelForm Form
	// Single: at most one in its parent.
	Single bool
	Doc    string
	// AnyAttribute: the names of the arguments are the user's.
	AnyAttribute bool
	Attributes   []Attribute
	Blocks       []*BlockType
}

// Attribute describes one argument of a block type.
type Attribute struct {
	Name     string
	Type     AttributeType
	Required bool
	Default  any      // string, int or bool; nil: there is none
	OneOf    []string // the only values there are
	Min, Max int      // bounds of a number; Max 0: none above
	Form     Form     // of the string, or of each value in a list or map
	Doc      string
}

// AttributeType says what kind of value an attribute takes.
type AttributeType string

// The types of attributes.
const (
	TypeString     AttributeType = "string"
	TypeNumber     AttributeType = "number" // a whole number
	TypeBool       AttributeType = "bool"
	TypeList       AttributeType = "list of strings"
	TypeMap        AttributeType = "map of strings"
	TypeAny        AttributeType = "any"
	TypeText       AttributeType = "string that may hold secrets"
	TypeTexts      AttributeType = "map of strings that may hold secrets"
	TypeSettings   AttributeType = "map of config values that may hold secrets"
	TypeRole       AttributeType = "role"
	TypeExposure   AttributeType = "exposure"
	TypeReferences AttributeType = "list of services and manifests"
	TypeConstraint AttributeType = "type"
	TypeForce      AttributeType = "bool or list of strings"
	TypeAddress    AttributeType = "address of a block or of an object"
	TypeLiteral    AttributeType = "string without references" // read before anything is evaluated
)

func (t *BlockType) attribute(name string) *Attribute {
	for i := range t.Attributes {
		if t.Attributes[i].Name == name {
			return &t.Attributes[i]
		}
	}
	return nil
}

func (t *BlockType) block(name string) *BlockType {
	for _, b := range t.Blocks {
		if b.Name == name {
			return b
		}
	}
	return nil
}

func (t *BlockType) attributeNames() []string {
	var names []string
	for _, a := range t.Attributes {
		names = append(names, a.Name)
	}
	return names
}

func (t *BlockType) blockNames() []string {
	var names []string
	for _, b := range t.Blocks {
		names = append(names, b.Name)
	}
	return names
}

// block is a block that was checked against its type. Nothing in it is evaluated
// yet.
type block struct {
	typ        *BlockType
	label      string
	labelRange hcl.Range
	header     hcl.Range
	whole      hcl.Range // to the closing brace
	attributes map[string]*hclsyntax.Attribute
	blocks     []*block // in the order of the source
}

// id names the block in references and messages: "service.keystone".
func (b *block) id() string {
	if b.label == "" {
		return b.typ.Name
	}
	return b.typ.Name + "." + b.label
}

// all are the blocks of one type inside of this one.
func (b *block) all(typ string) []*block {
	var out []*block
	for _, child := range b.blocks {
		if child.typ.Name == typ {
			out = append(out, child)
		}
	}
	return out
}

// one is the block of a type with a label (or without, if label is empty), or nil.
func (b *block) one(typ, label string) *block {
	for _, child := range b.all(typ) {
		if child.label == label {
			return child
		}
	}
	return nil
}

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
	for _, name := range keysOf(b.attributes) {
		out = append(out, b.attributes[name])
	}
	slices.SortStableFunc(out, func(x, y *hclsyntax.Attribute) int {
		return x.NameRange.Start.Byte - y.NameRange.Start.Byte
	})
	return out
}

// decoder checks syntax trees against block types.
type decoder struct{ *reporter }

// body checks what stands in a block, and fills it in.
func (d decoder) body(into *block, attributes hclsyntax.Attributes, blocks hclsyntax.Blocks) {
	typ := into.typ
	into.attributes = map[string]*hclsyntax.Attribute{}
	for _, name := range keysOf(attributes) {
		attr := attributes[name]
		if !typ.AnyAttribute && typ.attribute(name) == nil {
			d.unknownAttribute(typ, attr)
			continue
		}
		into.attributes[name] = attr
	}
	for _, a := range typ.Attributes {
		if a.Required && attributes[a.Name] == nil {
			d.error(into.header, "Missing argument", "%s needs the argument %q: %s", describe(into), a.Name, a.Doc)
		}
	}
	for _, source := range blocks {
		if child := d.block(typ, source); child != nil && d.unique(into, child) {
			into.blocks = append(into.blocks, child)
		}
	}
}

// describe names a block at the start of a sentence.
func describe(b *block) string {
	if b.label == "" {
		article := "A"
		if strings.ContainsAny(b.typ.Name[:1], "aeio") {
			article = "An"
		}
		return fmt.Sprintf("%s %s block", article, b.typ.Name)
	}
	return fmt.Sprintf("%s %q", b.typ.Name, b.label)
}

// block checks one block inside of a parent; nil when it cannot be used.
func (d decoder) block(parent *BlockType, source *hclsyntax.Block) *block {
	typ := parent.block(source.Type)
	if typ == nil {
		d.unknownBlock(parent, source)
		return nil
	}
	out := &block{typ: typ, header: source.DefRange(), whole: source.Range()}
	switch {
	case typ.Label == "" && len(source.Labels) > 0:
		d.error(source.LabelRanges[0], "Unexpected label",
			"A %s block has no label: write `%s {`.", typ.Name, typ.Name)
	case typ.Label != "" && len(source.Labels) != 1:
		d.error(source.DefRange(), "Wrong number of labels",
			"A %s block has exactly one label, the name of the %s: `%s \"NAME\" {`.", typ.Name, typ.Label, typ.Name)
		return nil
	case typ.Label != "":
		out.label, out.labelRange = source.Labels[0], source.LabelRanges[0]
		d.checkLabel(out)
	}
	d.body(out, source.Body.Attributes, source.Body.Blocks)
	return out
}

func (d decoder) checkLabel(b *block) {
	if form := b.typ.LabelForm; form.valid != nil && !form.valid(b.label) {
		d.error(b.labelRange, fmt.Sprintf("Unsuitable name of a %s", b.typ.Label), "%q is not %s.", b.label, form.Expected)
	}
}

// unique reports a second block of the same name, or a second one where there
// can be only one.
func (d decoder) unique(parent, child *block) bool {
	if child.label == "" && !child.typ.Single {
		return true
	}
	for _, first := range parent.all(child.typ.Name) {
		switch {
		case child.typ.Single:
			d.error(child.header, fmt.Sprintf("Second %s block", child.typ.Name),
				"There can be only one %s block here, and the first is at %s.", child.typ.Name, position(first.header))
			return false
		case first.label == child.label:
			d.error(child.header, fmt.Sprintf("Second %s named %q", child.typ.Label, child.label),
				"The first is at %s. Rename one of them, or put both into one block.", position(first.header))
			return false
		}
	}
	return true
}

func (d decoder) unknownAttribute(parent *BlockType, attr *hclsyntax.Attribute) {
	switch {
	case parent.Name == "":
		d.error(attr.NameRange, "Argument outside of a block",
			"At the top of a file there are only blocks.%s Values that several places use belong into a locals block.",
			DidYouMean(attr.Name, parent.blockNames()))
	case parent.block(attr.Name) != nil:
		d.error(attr.NameRange, "Block expected", "%q is a block: write `%s {` without the equals sign.", attr.Name, attr.Name)
	default:
		d.error(attr.NameRange, "Unknown argument", "A %s block has no argument %q.%s %s",
			parent.Name, attr.Name, DidYouMean(attr.Name, append(parent.attributeNames(), parent.blockNames()...)),
			has("Its arguments are", parent.attributeNames()))
	}
}

func (d decoder) unknownBlock(parent *BlockType, source *hclsyntax.Block) {
	where := "A configuration"
	if parent.Name != "" {
		where = fmt.Sprintf("A %s block", parent.Name)
	}
	if parent.attribute(source.Type) != nil {
		d.error(source.TypeRange, "Argument expected", "%q is an argument: write `%s = ...`.", source.Type, source.Type)
		return
	}
	d.error(source.TypeRange, "Unknown block", "%s has no block %q.%s %s",
		where, source.Type, DidYouMean(source.Type, append(parent.blockNames(), parent.attributeNames()...)),
		has("Its blocks are", parent.blockNames()))
}

// has gives "Its blocks are: a, b and c.", or says that there are none.
func has(prefix string, names []string) string {
	if len(names) == 0 {
		return "It has none."
	}
	return prefix + ": " + listed(names) + "."
}
