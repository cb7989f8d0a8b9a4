package source

import (
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"kolla.openstack.org/kolla/lang/schema"
)

// dynamic checks a dynamic block. It is nil if the block cannot be used. The result contains
// one block, which has the type that the label names and holds the content.
func (d decoder) dynamic(parent *schema.BlockType, source sourceBlock) *Block {
	if len(source.labels) != 1 {
		d.report.Error(source.header, "Wrong number of labels", "A dynamic block has one label, the type of the blocks that it stands for: `dynamic %q {`.", parent.DynamicNames()[0])
		return nil
	}
	out := &Block{Type: schema.DynamicType, Label: source.labels[0], LabelRange: source.labelRanges[0], Header: source.header, Whole: source.whole}
	typ := parent.Block(out.Label)
	if typ == nil || typ.IsStatic() {
		d.report.Undeclared(out.LabelRange, "block", out.Label, parent.DynamicNames())
		return nil
	}
	attributes, blocks := d.content(schema.DynamicType, source.body)
	d.body(out, &hclsyntax.Body{Attributes: attributes})
	if (out.Attributes["labels"] != nil) != (typ.Label != "") {
		what := "its argument labels is left out"
		if typ.Label != "" {
			what = "it needs the argument labels = [NAME]"
		}
		d.report.Error(source.header, "Labels of a dynamic block", "A %s block has %s: %s.", typ.Name, labelled(typ), what)
		return nil
	}
	for _, b := range blocks {
		switch {
		case b.typ != "content":
			d.unknownBlock(schema.DynamicType, b)
		case len(out.Blocks) > 0:
			d.report.Error(b.header, "Second content block", "There can be only one content block here.")
		default:
			content := &Block{Type: typ, Header: b.header, Whole: b.whole}
			inner := d
			inner.overriding = d.overriding || parent == schema.ServiceType
			inner.body(content, b.body)
			out.Add(content)
		}
	}
	if len(out.Blocks) == 0 {
		d.report.Error(source.header, "Missing block", "A dynamic block needs a block `content {` with what stands in each of the blocks.")
		return nil
	}
	return out
}

// labelled says whether blocks of a type have a label.
func labelled(typ *schema.BlockType) string {
	if typ.Label == "" {
		return "no label"
	}
	return "a label, the name of the " + typ.Label
}
