package layers

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/internal/values"
	"kolla.openstack.org/kolla/lang/schema"
	"kolla.openstack.org/kolla/lang/syntax"
)

// Bases puts together the definitions of the modules and those of the catalogue with the definitions
// that they start from. It changes the documents of the modules, and returns that of the catalogue.
// The root may be nil.
func Bases(report *diag.Reporter, root *source.Module, catalogue *source.Block) *source.Block {
	b := &bases{report: report, catalogue: &source.Module{Document: catalogue}}
	documents := map[*source.Module]*source.Block{}
	for m := range modules(root) {
		documents[m] = b.document(m)
	}
	out := b.catalogueOnce()
	for m, d := range documents {
		m.Document = d
	}
	return out
}

// catalogueOnce puts together the definitions of the catalogue, and keeps the result if it has no
// mistakes. Nobody changes it.
func (s *bases) catalogueOnce() *source.Block {
	if known, ok := catalogues.Load(s.catalogue.Document); ok {
		return known.(*source.Block)
	}
	own := &bases{report: diag.New(), catalogue: s.catalogue}
	out := own.document(s.catalogue)
	if diags := own.report.Sorted(); len(diags) > 0 {
		s.report.Add(diags...)
		return out
	}
	known, _ := catalogues.LoadOrStore(s.catalogue.Document, out)
	return known.(*source.Block)
}

// catalogues has the results of catalogueOnce, by the documents of source.Reader, which keeps them.
var catalogues sync.Map

// modules goes over a module and all that it uses. The module may be nil.
func modules(m *source.Module) func(func(*source.Module) bool) {
	return func(yield func(*source.Module) bool) {
		if m == nil || !yield(m) {
			return
		}
		for _, child := range m.Calls {
			modules(child)(yield)
		}
	}
}

// IsAbstract reports whether a definition is only for others to start from.
func IsAbstract(definition *source.Block) bool {
	attr := definition.Attributes[schema.AbstractAttribute.Name]
	if attr == nil {
		return false
	}
	v, _ := syntax.Constant(attr.Expr)
	return v.RawEquals(cty.True)
}

// bases puts definitions together.
type bases struct {
	report    *diag.Reporter
	catalogue *source.Module
}

// found is a definition and its module.
type found struct {
	*source.Block
	home *source.Module
}

// document returns the document of a module with definitions that are put together.
func (s *bases) document(m *source.Module) *source.Block {
	if !slices.ContainsFunc(m.Document.All(schema.DefinitionType.Name), starts) {
		return m.Document
	}
	out := m.Document.WithoutBlocks()
	for _, b := range m.Document.Blocks {
		if b.Type == schema.DefinitionType && starts(b) {
			b = s.definition(found{b, m})
		}
		out.Add(b)
	}
	return out
}

// starts reports whether a definition, or a block in it, starts from another one or is abstract.
func starts(definition *source.Block) bool {
	return from(definition) != nil || definition.Attributes[schema.AbstractAttribute.Name] != nil ||
		slices.ContainsFunc(definition.Blocks, func(b *source.Block) bool { return from(b) != nil })
}

// from returns the argument from of a block that is put together before the evaluation. That of a
// config file is none of these.
func from(b *source.Block) *hclsyntax.Attribute {
	if b.Type.Attribute(schema.FromAttribute.Name) == nil || b.Type.Name == "config" {
		return nil
	}
	return b.Attributes[schema.FromAttribute.Name]
}

// definition puts a definition over its base definitions. The result is incomplete after an error.
func (s *bases) definition(d found) *source.Block {
	if attr := d.Attributes[schema.AbstractAttribute.Name]; attr != nil {
		if v, diags := syntax.Constant(attr.Expr); diags.HasErrors() || v.Type() != cty.Bool || v.IsNull() {
			s.report.Error(attr.Expr.Range(), "Unsuitable value for \"abstract\"", "It must be true or false, because it is read before anything is evaluated.")
		}
	}
	lineage, ok := s.lineage(d)
	if !ok {
		out := d.WithoutBlocks()
		for _, b := range d.Blocks {
			out.Add(b)
		}
		out.Incomplete = cty.DynamicVal
		return out
	}
	if IsAbstract(d.Block) {
		return d.Block // which nothing evaluates
	}
	name := d.Label
	for i, base := range lineage {
		if IsAbstract(base.Block) {
			lineage[i].Block = s.named(base.Block, name, d)
		} else {
			name = base.Label
		}
	}
	out := lineage[len(lineage)-1].at(d.home)
	for _, top := range slices.Backward(lineage[:len(lineage)-1]) {
		out = s.over(out, top.at(d.home))
	}
	out = StartBlocks(s.report, out, configs.LayerDefinition)
	out = withoutDisabled(out)
	s.check(d, lineage, out)
	return out
}

// lineage returns a definition, the one that it starts from, and so on. It is not ok if one of these
// is missing, or if they form a circle.
func (s *bases) lineage(d found) (out []found, ok bool) {
	out = []found{d}
	for d := d; from(d.Block) != nil; {
		base, ok := s.base(d)
		if !ok {
			return out, false
		}
		if i := slices.IndexFunc(out, func(b found) bool { return b.Block == base.Block }); i >= 0 {
			var circle []*source.Block
			for _, b := range out[i:] {
				circle = append(circle, b.Block)
			}
			circular(s.report, "Definitions", circle)
			return out, false
		}
		out, d = append(out, base), base
	}
	return out, true
}

// circular reports blocks that start from each other, once for all of them.
func circular(report *diag.Reporter, what string, circle []*source.Block) {
	first := slices.MinFunc(circle, func(a, b *source.Block) int { return strings.Compare(a.Label, b.Label) })
	i := slices.Index(circle, first)
	chain := fmt.Sprintf("%q", first.Label)
	for _, b := range slices.Concat(circle[i+1:], circle[:i+1]) {
		chain += fmt.Sprintf(" from %q", b.Label)
	}
	report.Error(from(first).Expr.Range(), "Circular reference", "%s would start from themselves: %s. Take one `from` away.", what, chain)
}

// base returns the definition that another one starts from: of its module, a module around it, or
// the catalogue. A definition that has the name of its base replaces it.
func (s *bases) base(d found) (found, bool) {
	name, ok := nameOfBase(s.report, d.Block)
	if !ok {
		return found{}, false
	}
	var known []string
	homes := []*source.Module{}
	for m := d.home; m != nil; m = m.Parent {
		homes = append(homes, m)
	}
	if d.home != s.catalogue {
		homes = append(homes, s.catalogue)
	}
	for _, m := range homes {
		if b := m.Document.One(schema.DefinitionType.Name, name); b != nil && b != d.Block {
			return found{b, m}, true
		}
		known = append(known, m.Document.Labels(schema.DefinitionType.Name)...)
	}
	s.report.Undeclared(d.AttributeRange(schema.FromAttribute.Name), "definition", name, slices.DeleteFunc(known, func(label string) bool { return label == d.Label }))
	return found{}, false
}

// nameOfBase returns the literal argument from.
func nameOfBase(report *diag.Reporter, b *source.Block) (string, bool) {
	name, ok := values.StaticKey(from(b).Expr)
	if !ok {
		report.Error(from(b).Expr.Range(), "Unsuitable value for \"from\"", "It must be a plain string in quotes, because it is read before anything is evaluated.")
	}
	return name, ok
}

// at returns the definition for another module. Its expressions keep their own.
func (d found) at(home *source.Module) *source.Block {
	if d.home == home {
		return d.Block
	}
	return Rewritten(d.Block, func(expr hclsyntax.Expression) hclsyntax.Expression {
		return &LayerExpr{Expression: expr, Layer: configs.LayerDefinition, Home: d.home}
	})
}

// named returns an abstract definition for the definition that starts from it: * in labels and
// definition.name in expressions are its name.
func (s *bases) named(abstract *source.Block, name string, d found) *source.Block {
	out := withElement(abstract, "definition", name)
	return s.labelled(out, name, d)
}

// labelled returns a block in which * in labels is a name.
func (s *bases) labelled(b *source.Block, name string, d found) *source.Block {
	out := b.WithoutBlocks()
	for _, child := range b.Blocks {
		child = s.labelled(child, name, d)
		if strings.Contains(child.Label, schema.NameMark) && child.Type != schema.PatchType && child.Type != schema.DynamicType {
			child.Label = strings.ReplaceAll(child.Label, schema.NameMark, name)
			if form := child.Type.LabelForm; form.Valid != nil && !form.Valid(child.Label) {
				s.report.Error(d.AttributeRange(schema.FromAttribute.Name), fmt.Sprintf("Unsuitable name of a %s", child.Type.Label), "The definition gets %s %q from %s, and that is not %s.", child.Type.Name, child.Label, diag.Position(child.Header), form.Expected)
			}
		}
		out.Add(child)
	}
	return out
}

// withElement returns a block whose expressions can read the name of another one, as in a dynamic
// block.
func withElement(b *source.Block, element, name string) *source.Block {
	value := cty.ObjectVal(map[string]cty.Value{"name": cty.StringVal(name)})
	wrap := func(expr hclsyntax.Expression) hclsyntax.Expression {
		if slices.ContainsFunc(expr.Variables(), func(t hcl.Traversal) bool { return t.RootName() == element }) {
			return &DynamicExpr{expr, element, value}
		}
		return expr
	}
	return Rewritten(b, func(expr hclsyntax.Expression) hclsyntax.Expression { return inside(expr, wrap) })
}

// over puts a definition over the one that it starts from. Local values replace those of the same
// name.
func (s *bases) over(base, top *source.Block) *source.Block {
	own := map[string]bool{}
	for _, b := range top.All(schema.OwnLocalsType.Name) {
		for name := range b.Attributes {
			own[name] = true
		}
	}
	below := base.WithoutBlocks()
	below.Attributes = maps.Clone(base.Attributes)
	delete(below.Attributes, schema.FromAttribute.Name)
	delete(below.Attributes, schema.AbstractAttribute.Name)
	for _, b := range base.Blocks {
		if b.Type == schema.OwnLocalsType && len(own) > 0 {
			kept := *b
			kept.Attributes = maps.Clone(b.Attributes)
			maps.DeleteFunc(kept.Attributes, func(name string, _ *hclsyntax.Attribute) bool { return own[name] })
			b = &kept
		}
		below.Add(b)
	}
	out, _ := overBlock(below, top, configs.LayerDefinition)
	delete(out.Attributes, schema.FromAttribute.Name)
	return out
}

// withoutDisabled returns a definition without the workloads and jobs, and the blocks in them, that
// are disabled for certain. Lists may name other blocks that are disabled, and dynamic blocks may
// start from disabled ones.
func withoutDisabled(b *source.Block) *source.Block {
	if slices.ContainsFunc(b.All(schema.DynamicType.Name), func(d *source.Block) bool { return from(d.Blocks[0]) != nil }) {
		return b
	}
	out := b.WithoutBlocks()
	out.Gated = false
	for _, child := range b.Blocks {
		within := b.Type != schema.DefinitionType
		switch {
		case !within && child.Type != schema.WorkloadType && child.Type != schema.JobType:
			out.Add(child)
		case GateOf(child) != GateClosed:
			out.Add(withoutDisabled(child))
		}
	}
	return out
}

// check reports what is missing in a definition that is put together, and blocks that override
// nothing.
func (s *bases) check(d found, lineage []found, whole *source.Block) {
	for _, b := range d.Blocks {
		known := map[string]bool{}
		for _, base := range lineage[1:] {
			for _, label := range base.Labels(b.Type.Name) {
				known[label] = true
			}
		}
		lacking := Lacking(b)
		removes := GateOf(b) == GateClosed && b.Attributes[schema.FromAttribute.Name] == nil
		if len(known) > 0 && !known[b.Label] && (len(lacking) > 0 || removes) && b.Type.Label != "" {
			names := slices.Sorted(maps.Keys(known))
			detail := fmt.Sprintf("Definition %q has: %s.", lineage[1].Label, words.Sorted(names))
			if len(lacking) > 0 {
				detail += fmt.Sprintf(" Another one needs: %s.", words.Sorted(lacking))
			}
			s.report.Error(b.LabelRange, fmt.Sprintf("There is no %s %q", b.Type.Label, b.Label), "%s", words.WithHint(words.DidYouMean(b.Label, names), detail))
			continue
		}
		if whole := whole.One(b.Type.Name, b.Label); whole != nil {
			s.complete(d, whole)
		}
	}
	for _, b := range whole.Blocks {
		if d.One(b.Type.Name, b.Label) == nil {
			s.complete(d, b)
		}
	}
}

// complete reports the arguments that a block lacks, at any depth.
func (s *bases) complete(d found, b *source.Block) {
	if GateOf(b) == GateClosed {
		return
	}
	for _, name := range Lacking(b) {
		doc := b.Type.Attribute(name).Doc
		if within(b.Header, d.Whole) {
			s.report.Error(b.Header, "Missing argument", "%s needs the argument %q: %s", b.Described(), name, doc)
		} else {
			s.report.Error(d.AttributeRange(schema.FromAttribute.Name), "Missing argument", "%s (%s) has no argument %q, so this definition has to set it: %s", b.Described(), diag.Position(b.Header), name, doc)
		}
	}
	for _, child := range b.Blocks {
		s.complete(d, child)
	}
}

// within reports whether a range is in another one of the same file.
func within(inner, outer hcl.Range) bool {
	return inner.Filename == outer.Filename && outer.Start.Byte <= inner.Start.Byte && inner.End.Byte <= outer.End.Byte
}

// StartBlocks puts together the workloads and jobs of a definition with those that they start from, if
// the layer says so: LayerDefinition, or LayerService in a definition with the overrides of a service.
// Expressions in a workload or job can read its name as workload.name or job.name.
func StartBlocks(report *diag.Reporter, definition *source.Block, layer string) *source.Block {
	starts := func(b *source.Block) bool { return from(b) != nil && layerOf(from(b).Expr) == layer }
	if !slices.ContainsFunc(definition.Blocks, starts) {
		return definition
	}
	out := definition.WithoutBlocks()
	for _, b := range definition.Blocks {
		switch {
		case starts(b):
			b = startBlock(report, definition, b)
		case b.Type == schema.WorkloadType, b.Type == schema.JobType:
			b = withElement(b, b.Type.Name, b.Label)
		}
		out.Add(b)
	}
	return out
}

// startBlock puts a block over the one that it starts from.
func startBlock(report *diag.Reporter, definition, b *source.Block) *source.Block {
	lineage := []*source.Block{b}
	for top := b; from(top) != nil; {
		name, ok := nameOfBase(report, top)
		if !ok {
			return b
		}
		base := definition.One(b.Type.Name, name)
		switch {
		case base == nil && !definition.Complete():
			return b
		case base == nil || base == top:
			known := slices.DeleteFunc(definition.Labels(b.Type.Name), func(label string) bool { return label == top.Label })
			report.Undeclared(top.AttributeRange(schema.FromAttribute.Name), b.Type.Label, name, known)
			return b
		case slices.Contains(lineage, base):
			circular(report, "Blocks", lineage[slices.Index(lineage, base):])
			return b
		}
		lineage, top = append(lineage, base), base
	}
	out := withElement(lineage[len(lineage)-1], b.Type.Name, b.Label)
	for _, top := range slices.Backward(lineage[:len(lineage)-1]) {
		below := *out
		below.Attributes = maps.Clone(out.Attributes)
		delete(below.Attributes, schema.EnabledAttribute.Name)
		out, _ = overBlock(&below, withElement(top, b.Type.Name, b.Label), configs.LayerDefinition)
		out.Base, out.Top = top.Base, top.Top
		if top.Top != nil && top.Base == nil { // the definition's part of a block of the service
			out.Base = &below
		}
	}
	delete(out.Attributes, schema.FromAttribute.Name)
	return out
}
