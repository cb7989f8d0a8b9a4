package lang

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"kolla.openstack.org/kolla/internal/spelling"
)

// decoder checks syntax trees against block types.
type decoder struct{ *reporter }

// sourceBlock is a block as it is written, in either syntax.
type sourceBlock struct {
	typ         string
	typeRange   hcl.Range
	labels      []string
	labelRanges []hcl.Range
	header      hcl.Range
	whole       hcl.Range
	body        hcl.Body
}

// content takes the body of a block apart.
func (d decoder) content(typ *BlockType, body hcl.Body) (hclsyntax.Attributes, []sourceBlock) {
	native, ok := body.(*hclsyntax.Body)
	if !ok {
		return d.jsonContent(typ, body)
	}
	var blocks []sourceBlock
	for _, b := range native.Blocks {
		blocks = append(blocks, sourceBlock{
			typ: b.Type, typeRange: b.TypeRange, labels: b.Labels, labelRanges: b.LabelRanges,
			header: b.DefRange(), whole: b.Range(), body: b.Body,
		})
	}
	return native.Attributes, blocks
}

// body checks what stands in a block, and fills it in.
func (d decoder) body(into *block, body hcl.Body) {
	typ := into.typ
	attributes, blocks := d.content(typ, body)
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
			into.add(child)
		}
	}
}

// block checks one block inside of a parent; nil when it cannot be used.
func (d decoder) block(parent *BlockType, source sourceBlock) *block {
	typ := parent.block(source.typ)
	if source.typ == dynamicType.Name && len(parent.growing()) > 0 {
		return d.dynamic(parent, source)
	}
	if typ == nil {
		d.unknownBlock(parent, source)
		return nil
	}
	out := &block{typ: typ, header: source.header, whole: source.whole}
	switch {
	case typ.Label == "" && len(source.labels) > 0:
		d.error(source.labelRanges[0], "Unexpected label",
			"A %s block has no label: write `%s {`.", typ.Name, typ.Name)
	case typ.Label != "" && len(source.labels) != 1:
		d.error(source.header, "Wrong number of labels",
			"A %s block has exactly one label, the name of the %s: `%s \"NAME\" {`.", typ.Name, typ.Label, typ.Name)
		return nil
	case typ.Label != "":
		out.label, out.labelRange = source.labels[0], source.labelRanges[0]
		d.checkLabel(out)
	}
	d.body(out, source.body)
	return out
}

// checkLabel reports a label that does not look as it has to.
func (r *reporter) checkLabel(b *block) bool {
	if form := b.typ.LabelForm; form.valid != nil && !form.valid(b.label) {
		r.error(b.labelRange, fmt.Sprintf("Unsuitable name of a %s", b.typ.Label), "%q is not %s.", b.label, form.Expected)
		return false
	}
	return true
}

// unique reports a second block of the same name, or a second one where there
// can be only one.
func (r *reporter) unique(parent, child *block) bool {
	if child.label == "" && !child.typ.Single || child.typ == dynamicType {
		return true
	}
	if first := parent.all(child.typ.Name); child.typ.Single && len(first) > 0 {
		r.error(child.header, fmt.Sprintf("Second %s block", child.typ.Name),
			"There can be only one %s block here, and the first is at %s.", child.typ.Name, position(first[0].header))
		return false
	}
	if first := parent.one(child.typ.Name, child.label); first != nil {
		r.error(child.header, fmt.Sprintf("Second %s named %q", child.typ.Label, child.label),
			"The first is at %s. Rename one of them, or put both into one block.", position(first.header))
		return false
	}
	return true
}

func (d decoder) unknownAttribute(parent *BlockType, attr *hclsyntax.Attribute) {
	switch {
	case parent.Name == "":
		d.error(attr.NameRange, "Argument outside of a block",
			"At the top of a file there are only blocks.%s Values that several places use belong into a locals block.",
			spelling.DidYouMean(attr.Name, parent.blockNames()))
	case parent.block(attr.Name) != nil:
		d.error(attr.NameRange, "Block expected", "%q is a block: write `%s {` without the equals sign.", attr.Name, attr.Name)
	default:
		d.error(attr.NameRange, "Unknown argument", "A %s block has no argument %q.%s %s",
			parent.Name, attr.Name, spelling.DidYouMean(attr.Name, append(parent.attributeNames(), parent.blockNames()...)),
			has("Its arguments are", parent.attributeNames()))
	}
}

func (d decoder) unknownBlock(parent *BlockType, source sourceBlock) {
	where := "A configuration"
	if parent.Name != "" {
		where = fmt.Sprintf("A %s block", parent.Name)
	}
	if parent.attribute(source.typ) != nil {
		d.error(source.typeRange, "Argument expected", "%q is an argument: write `%s = ...`.", source.typ, source.typ)
		return
	}
	if instead := terraformBlocks[source.typ]; instead != "" && parent.Name == "" {
		d.error(source.typeRange, "Unknown block", "There are no %s blocks: %s", source.typ, instead)
		return
	}
	d.error(source.typeRange, "Unknown block", "%s has no block %q.%s %s",
		where, source.typ, spelling.DidYouMean(source.typ, append(parent.blockNames(), parent.attributeNames()...)),
		has("Its blocks are", parent.blockNames()))
}

// terraformBlocks says what takes the place of blocks that those who know Terraform
// look for.
var terraformBlocks = map[string]string{
	"terraform": "kolla needs none of what stands in one. The state is a file beside the configuration.",
	"provider":  "-kubeconfig and -context say which cluster it is.",
	"resource":  "write service \"NAME\" for a service of the cloud, and manifest \"NAME\" for any other object of Kubernetes.",
	"ephemeral": "values that must not be kept are in secret blocks, and only the cluster has them.",
}

// has gives "Its blocks are: a, b and c.", or says that there are none.
func has(prefix string, names []string) string {
	if len(names) == 0 {
		return "It has none."
	}
	return prefix + ": " + listed(names) + "."
}
