package lang

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/schema"
)

// decoder checks syntax trees against block types.
type decoder struct {
	report *diag.Reporter
	// overriding: the blocks are a service's, and override some of its definition: what an
	// argument has to say may stand there.
	overriding bool
}

// decode checks the blocks of several files as if they stood in one.
func decode(report *diag.Reporter, typ *schema.BlockType, bodies []hcl.Body) *block {
	root := &block{typ: typ}
	d := decoder{report: report}
	for _, body := range bodies {
		d.body(root, body)
	}
	return root
}

// arguments are those of a file that has no blocks, and the places of blocks that are
// there all the same.
func arguments(report *diag.Reporter, body hcl.Body) (attributes hclsyntax.Attributes, blocks []hcl.Range) {
	attributes, found := decoder{report: report}.content(&schema.BlockType{AnyAttribute: true}, body)
	for _, b := range found {
		blocks = append(blocks, b.header)
	}
	return attributes, blocks
}

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
func (d decoder) content(typ *schema.BlockType, body hcl.Body) (hclsyntax.Attributes, []sourceBlock) {
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
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		attr := attributes[name]
		if !typ.AnyAttribute && typ.Attribute(name) == nil && !typ.MayBeInput(name) {
			d.unknownAttribute(typ, attr)
			into.unknown = append(into.unknown, name)
			continue
		}
		into.attributes[name] = attr
	}
	for _, source := range blocks {
		if typ.Block(source.typ) == nil && source.typ != schema.DynamicType.Name {
			into.unknown = append(into.unknown, source.typ)
		}
		if child := d.block(typ, source); child != nil && child.uniqueIn(d.report, into) {
			into.add(child)
		}
	}
	for _, a := range typ.Attributes {
		if a.Required && attributes[a.Name] == nil && attributes[a.Unless] == nil && !into.misspelt(a.Name) && !d.overriding {
			d.report.Error(into.header, "Missing argument", "%s needs the argument %q: %s", into.describe(), a.Name, a.Doc)
		}
	}
}

// block checks one block inside of a parent; nil when it cannot be used.
func (d decoder) block(parent *schema.BlockType, source sourceBlock) *block {
	typ := parent.Block(source.typ)
	if source.typ == schema.DynamicType.Name && len(parent.DynamicNames()) > 0 {
		return d.dynamic(parent, source)
	}
	if typ == nil {
		d.unknownBlock(parent, source)
		return nil
	}
	if typ == schema.LifecycleType && parent == schema.WorkloadType && !d.overriding {
		typ = schema.PlainLifecycleType
	}
	d.overriding = (d.overriding || parent == schema.ServiceType) && typ != schema.LifecycleType
	out := &block{typ: typ, header: source.header, whole: source.whole}
	switch {
	case typ.Label == "" && len(source.labels) > 0:
		d.report.Error(source.labelRanges[0], "Unexpected label",
			"%s has no label: write `%s {`.", typ.Described(), typ.Name)
	case typ.Label != "" && len(source.labels) != 1:
		d.report.Error(source.header, "Wrong number of labels",
			"%s has exactly one label, the name of the %s: `%s \"NAME\" {`.", typ.Described(), typ.Label, typ.Name)
		return nil
	case typ.Label != "":
		out.label, out.labelRange = source.labels[0], source.labelRanges[0]
		out.checkLabel(d.report)
	}
	d.body(out, source.body)
	return out
}

// checkLabel reports a label that does not look as it has to.
func (b *block) checkLabel(r *diag.Reporter) bool {
	if form := b.typ.LabelForm; form.Valid != nil && !form.Valid(b.label) {
		r.Error(b.labelRange, fmt.Sprintf("Unsuitable name of a %s", b.typ.Label), "%q is not %s.", b.label, form.Expected)
		return false
	}
	return true
}

// unique reports a second block of the same name, or a second one where there
// can be only one.
func (b *block) uniqueIn(r *diag.Reporter, parent *block) bool {
	if b.label == "" && !b.typ.Single || b.typ == schema.DynamicType {
		return true
	}
	if first := parent.all(b.typ.Name); b.typ.Single && len(first) > 0 {
		r.Error(b.header, fmt.Sprintf("Second %s block", b.typ.Name),
			"There can be only one %s block here, and the first is at %s.", b.typ.Name, diag.Position(first[0].header))
		return false
	}
	if first := parent.one(b.typ.Name, b.label); first != nil {
		r.Error(b.header, fmt.Sprintf("Second %s named %q", b.typ.Label, b.label),
			"The first is at %s. Rename one of them, or put both into one block.", diag.Position(first.header))
		return false
	}
	return true
}

func (d decoder) unknownAttribute(parent *schema.BlockType, attr *hclsyntax.Attribute) {
	switch {
	case parent.Block(attr.Name) != nil:
		d.report.Error(attr.NameRange, "Block expected", "%q is a block: write `%s` without the equals sign.", attr.Name, parent.Block(attr.Name).Header())
	case parent.Name == "":
		d.report.Error(attr.NameRange, "Argument outside of a block",
			"At the top of a file there are only blocks.%s Values that several places use belong into a locals block.",
			words.DidYouMean(attr.Name, parent.BlockNames()))
	case terraformArguments[attr.Name] != "" && parent.Name == "lifecycle":
		d.report.Error(attr.NameRange, "Unknown argument", "There is no %q: %s", attr.Name, terraformArguments[attr.Name])
	default:
		d.report.Error(attr.NameRange, "Unknown argument", "%s has no argument %q.%s %s",
			parent.Described(), attr.Name, words.DidYouMean(attr.Name, append(parent.AttributeNames(), parent.BlockNames()...)),
			has("Its arguments are", parent.AttributeNames()))
	}
}

func (d decoder) unknownBlock(parent *schema.BlockType, source sourceBlock) {
	where := "A configuration"
	if parent.Name != "" {
		where = parent.Described()
	}
	if a := parent.Attribute(source.typ); a != nil {
		value := "..."
		switch a.Type {
		case schema.TypeMap, schema.TypeTexts, schema.TypeSettings, schema.TypeAny, schema.TypeObject:
			value = "{"
		}
		d.report.Error(source.typeRange, "Argument expected", "%q is an argument: write `%s = %s`.", source.typ, source.typ, value)
		return
	}
	if instead := terraformBlocks[source.typ]; instead != "" && (parent.Name == "") == !slices.Contains(terraformInner, source.typ) {
		d.report.Error(source.typeRange, "Unknown block", "There are no %s blocks: %s", source.typ, instead)
		return
	}
	d.report.Error(source.typeRange, "Unknown block", "%s has no block %q.%s %s",
		where, source.typ, words.DidYouMean(source.typ, append(parent.BlockNames(), parent.AttributeNames()...)),
		has("Its blocks are", parent.BlockNames()))
}

// terraformBlocks says what takes the place of blocks that those who know Terraform
// look for.
var terraformBlocks = map[string]string{
	"terraform":   "kolla needs none of what stands in one. The state is a file beside the configuration.",
	"provider":    "-kubeconfig and -context say which cluster it is.",
	"resource":    "write service \"NAME\" for a service of the cloud, and manifest \"NAME\" for any other object of Kubernetes.",
	"provisioner": "what has to run before or after the workloads of a service is a job block in its definition.",
	"connection":  "kolla logs in nowhere; all that it does, it does through the Kubernetes API.",
	"ephemeral":   "values that must not be kept are in secret blocks, and only the cluster has them.",
}

// terraformInner are those of them that stand in other blocks.
var terraformInner = []string{"provisioner", "connection"}

// terraformArguments are arguments of Terraform's lifecycle blocks.
var terraformArguments = map[string]string{
	"ignore_changes":        "write ignore_fields = [\"spec.replicas\"], with the paths of fields of Kubernetes objects.",
	"create_before_destroy": "Kubernetes rolls the pods of a workload one after the other by itself.",
}

// has gives "Its blocks are: a, b and c.", or says that there are none.
func has(prefix string, names []string) string {
	if len(names) == 0 {
		return "It has none."
	}
	return prefix + ": " + words.Sorted(names) + "."
}
