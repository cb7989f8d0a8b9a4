package source

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/schema"
)

// decoder checks syntax trees against types of blocks.
type decoder struct {
	report *diag.Reporter
	// overriding is set inside of a service. Its blocks override those of the definition, so
	// that required arguments may be missing.
	overriding bool
	// partial is set inside of a definition that starts from another one, or that others start
	// from: required arguments may come from there.
	partial bool
	// abstract is set inside of a definition that others start from: its labels may have a *.
	abstract bool
}

// Decode checks the blocks of several files as if they were one file.
func Decode(report *diag.Reporter, typ *schema.BlockType, bodies []hcl.Body) *Block {
	root := &Block{Type: typ}
	d := decoder{report: report}
	for _, body := range bodies {
		d.body(root, body)
	}
	return root
}

// Arguments returns the arguments at the top of a file, and the places of the blocks there.
func Arguments(report *diag.Reporter, body hcl.Body) (attributes hclsyntax.Attributes, blocks []hcl.Range) {
	attributes, found := decoder{report: report}.content(&schema.BlockType{AnyAttribute: true}, body)
	for _, b := range found {
		blocks = append(blocks, b.header)
	}
	return attributes, blocks
}

// sourceBlock is a block in either syntax, before it is checked.
type sourceBlock struct {
	typ         string
	typeRange   hcl.Range
	labels      []string
	labelRanges []hcl.Range
	header      hcl.Range
	whole       hcl.Range
	body        hcl.Body
}

// content splits the body of a block into arguments and blocks.
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

// body checks the body of a block, and fills the block in.
func (d decoder) body(into *Block, body hcl.Body) {
	typ := into.Type
	attributes, blocks := d.content(typ, body)
	into.Attributes = map[string]*hclsyntax.Attribute{}
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		attr := attributes[name]
		if !typ.AnyAttribute && typ.Attribute(name) == nil && !typ.MayBeInput(name) {
			d.unknownAttribute(typ, attr)
			into.Unknown = append(into.Unknown, name)
			continue
		}
		into.Attributes[name] = attr
	}
	for _, source := range blocks {
		if typ.Block(source.typ) == nil && source.typ != schema.DynamicType.Name {
			into.Unknown = append(into.Unknown, source.typ)
		}
		if child := d.block(typ, source); child != nil && CheckUnique(d.report, into, child) {
			into.Add(child)
		}
	}
	for _, a := range typ.Attributes {
		if a.Required && attributes[a.Name] == nil && attributes[a.Unless] == nil && !into.Misspelt(a.Name) && !d.overriding && !d.partial {
			d.report.Error(into.Header, "Missing argument", "%s needs the argument %q: %s", into.Described(), a.Name, a.Doc)
		}
	}
}

// block checks one block inside of a parent. It is nil if the block cannot be used.
func (d decoder) block(parent *schema.BlockType, source sourceBlock) *Block {
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
	if typ == schema.DefinitionType {
		attributes, _ := d.content(typ, source.body)
		d.abstract = attributes[schema.AbstractAttribute.Name] != nil
		d.partial = d.abstract || attributes[schema.FromAttribute.Name] != nil
	}
	out := &Block{Type: typ, Header: source.header, Whole: source.whole}
	switch {
	case typ.Label == "" && len(source.labels) > 0:
		d.report.Error(source.labelRanges[0], "Unexpected label",
			"%s has no label: write `%s {`.", typ.Described(), typ.Name)
	case typ.Label != "" && len(source.labels) != 1:
		d.report.Error(source.header, "Wrong number of labels",
			"%s has exactly one label, the name of the %s: `%s \"NAME\" {`.", typ.Described(), typ.Label, typ.Name)
		return nil
	case typ.Label != "":
		out.Label, out.LabelRange = source.labels[0], source.labelRanges[0]
		if !d.abstract || !strings.Contains(out.Label, schema.NameMark) {
			CheckLabel(d.report, out)
		}
	}
	d.body(out, source.body)
	return out
}

// CheckLabel reports a label that does not have the form that the type wants.
func CheckLabel(r *diag.Reporter, b *Block) bool {
	if form := b.Type.LabelForm; form.Valid != nil && !form.Valid(b.Label) {
		r.Error(b.LabelRange, fmt.Sprintf("Unsuitable name of a %s", b.Type.Label), "%q is not %s.", b.Label, form.Expected)
		return false
	}
	return true
}

// CheckUnique reports a block that its parent must not get: a second block of the same name, or a
// second block of a type that occurs once.
func CheckUnique(r *diag.Reporter, parent, b *Block) bool {
	if b.Label == "" && !b.Type.Single || b.Type == schema.DynamicType {
		return true
	}
	if first := parent.All(b.Type.Name); b.Type.Single && len(first) > 0 {
		r.Error(b.Header, fmt.Sprintf("Second %s block", b.Type.Name),
			"There can be only one %s block here, and the first is at %s.", b.Type.Name, diag.Position(first[0].Header))
		return false
	}
	if first := parent.One(b.Type.Name, b.Label); first != nil {
		r.Error(b.Header, fmt.Sprintf("Second %s named %q", b.Type.Label, b.Label),
			"The first is at %s. Rename one of them, or put both into one block.", diag.Position(first.Header))
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
			words.Has("Its arguments are", parent.AttributeNames()))
	}
}

func (d decoder) unknownBlock(parent *schema.BlockType, source sourceBlock) {
	where := "A configuration"
	switch {
	case parent == schema.PolicyFileType:
		where = "A file of -policy"
	case parent.Name != "":
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
		words.Has("Its blocks are", parent.BlockNames()))
}

// terraformBlocks are blocks of Terraform that kolla does not have, each with its
// replacement.
var terraformBlocks = map[string]string{
	"terraform":   "kolla needs none of what stands in one. The state is a file beside the configuration.",
	"provider":    "-kubeconfig and -context say which cluster it is.",
	"resource":    "write service \"NAME\" for a service of the cloud, and manifest \"NAME\" for any other object of Kubernetes.",
	"provisioner": "what has to run before or after the workloads of a service is a job block in its definition.",
	"connection":  "kolla logs in nowhere; all that it does, it does through the Kubernetes API.",
	"ephemeral":   "values that must not be kept are in secret blocks, and only the cluster has them.",
}

// terraformInner are the terraformBlocks that stand in other blocks.
var terraformInner = []string{"provisioner", "connection"}

// terraformArguments are arguments of lifecycle blocks of Terraform, each with its
// replacement.
var terraformArguments = map[string]string{
	"ignore_changes":        "write ignore_fields = [\"spec.replicas\"], with the paths of fields of Kubernetes objects.",
	"create_before_destroy": "Kubernetes rolls the pods of a workload one after the other by itself.",
}
