package layers

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/schema"
)

// Merge returns a block of a definition with a block of a layer over it, LayerCloud or LayerService.
// Both stay as they are. Nil as the upper block changes nothing. strays are the blocks of the layer
// that override nothing and are not complete, probably because of a spelling mistake.
func Merge(base, top *source.Block, layer string) (out *source.Block, strays []Stray) {
	if top == nil || !slices.ContainsFunc(top.Blocks, Overrides) {
		return base, nil
	}
	return over(base, top, layer, Overrides)
}

// Stray is a block of a service that overrides nothing and is not complete.
type Stray struct {
	Block *source.Block
	Known []string // labels of the blocks that it could override
}

// Overrides reports whether a block of a service overrides a block of its definition, or is an
// additional one.
func Overrides(b *source.Block) bool {
	return schema.DefinitionType.Block(b.Type.Name) == b.Type && b.Type != schema.InputType && (b.Type != schema.SecretType || !IsReserved(b.Label))
}

// over puts the inner blocks of a layer over those of another block of the same type.
func over(base, top *source.Block, layer string, counts func(*source.Block) bool) (out *source.Block, strays []Stray) {
	merged := base.WithoutBlocks()
	children := make([]*source.Block, 0, len(base.Blocks)+len(top.Blocks))
	for _, child := range base.Blocks {
		if above := top.One(child.Type.Name, child.Label); above != nil && counts(above) && overridden(child) {
			inner, lost := overBlock(child, above, layer)
			child, strays = inner, append(strays, lost...)
		}
		children = append(children, child)
	}
	for i, child := range top.Blocks {
		switch {
		case !counts(child) || overridden(child) && base.One(child.Type.Name, child.Label) != nil:
		case layer == configs.LayerDefinition:
			children = slices.Insert(children, placeOf(children, top.Blocks, i), child)
		case len(Lacking(child)) > 0:
			strays = append(strays, Stray{child, base.Labels(child.Type.Name)})
		default:
			children = append(children, own(child, layer))
		}
	}
	for _, child := range children {
		merged.Add(child)
	}
	if top.Incomplete != cty.NilVal {
		merged.Incomplete = top.Incomplete
	}
	return merged, strays
}

// placeOf returns the place among the blocks of a definition for a block that only the definition
// above has: after the block of the same type that is before it there, or else before the next one.
func placeOf(children, above []*source.Block, i int) int {
	place := func(b *source.Block) int {
		if typeName(b) != typeName(above[i]) {
			return -1
		}
		return slices.IndexFunc(children, func(child *source.Block) bool {
			return child == b || overridden(b) && child.Type == b.Type && child.Label == b.Label
		})
	}
	for _, b := range slices.Backward(above[:i]) {
		if at := place(b); at >= 0 {
			return at + 1
		}
	}
	for _, b := range above[i+1:] {
		if at := place(b); at >= 0 {
			return at
		}
	}
	return len(children)
}

// typeName returns the name of the type of a block, or of the blocks that a dynamic block stands for.
func typeName(b *source.Block) string {
	if b.Type == schema.DynamicType {
		return b.Label
	}
	return b.Type.Name
}

// overridden reports whether a block of the same type and label is merged with a block. Dynamic
// blocks have no label of their own.
func overridden(b *source.Block) bool {
	return (b.Label != "" || b.Type.Single) && b.Type != schema.DynamicType
}

// overBlock puts an inner block of a layer over the block of the definition. Diagnostics name the
// place in the service, and never that in the cloud's defaults.
func overBlock(base, top *source.Block, layer string) (out *source.Block, strays []Stray) {
	counts := func(b *source.Block) bool {
		return b.Type.Name != schema.LifecycleType.Name || layer == configs.LayerDefinition
	}
	out, strays = over(base, top, layer, counts)
	switch layer {
	case configs.LayerService:
		out.Base, out.Top = base, top
		out.Header, out.Whole = top.Header, top.Whole
	case configs.LayerDefinition:
		out.Type, out.Label, out.LabelRange, out.Unknown = top.Type, top.Label, top.LabelRange, top.Unknown
		out.Header, out.Whole = top.Header, top.Whole
	}
	out.Attributes = maps.Clone(base.Attributes)
	if out.Attributes == nil {
		out.Attributes = map[string]*hclsyntax.Attribute{}
	}
	dropAlternatives(out, top)
	for name, attr := range top.Attributes {
		copied := *attr
		copied.Expr = layered(attr.Expr, layer)
		if below, typ := out.Attributes[name], out.Type.Attribute(name); below != nil && typ != nil && stacks(typ) {
			copied.Expr = stacked(below.Expr, copied.Expr)
		}
		out.Attributes[name] = &copied
	}
	return out, strays
}

// own returns a block that only the layer has.
func own(b *source.Block, layer string) *source.Block {
	out := Rewritten(b, func(expr hclsyntax.Expression) hclsyntax.Expression { return layered(expr, layer) })
	if layer == configs.LayerService {
		out.Top = b
	}
	return out
}

// stacks reports whether the values of the service and of the definition both count.
func stacks(a *schema.Attribute) bool {
	switch a.Type {
	case schema.TypeMap, schema.TypeTexts, schema.TypeSettings, schema.TypeObject, schema.TypeTolerations:
		return true
	case schema.TypeList:
		return a.Names != ""
	}
	return false
}

// dropAlternatives removes an argument of the definition if the service has another of the
// alternatives.
func dropAlternatives(out, top *source.Block) {
	said := func(name string) bool {
		attr := top.Attributes[name]
		return attr != nil && !IsNullLiteral(attr.Expr)
	}
	if !slices.ContainsFunc(out.Type.Alternatives, func(group []string) bool { return slices.ContainsFunc(group, said) }) {
		return
	}
	for _, group := range out.Type.Alternatives {
		if slices.ContainsFunc(group, said) {
			continue
		}
		for _, name := range group {
			delete(out.Attributes, name)
		}
	}
}

// Lacking returns the arguments that a block needs and lacks, also in other spellings.
func Lacking(b *source.Block) []string {
	var out []string
	for _, a := range b.Type.Attributes {
		if a.Required && b.Attributes[a.Name] == nil && b.Attributes[a.Unless] == nil && !b.Misspelt(a.Name) {
			out = append(out, a.Name)
		}
	}
	return out
}

// KeptPrefixes are the first parts of the names of passwords for databases, queues and users.
var KeptPrefixes = []string{PasswordPrefix, "queue-", "user-"}

// IsReserved reports whether the name of a secret is reserved for a password.
func IsReserved(name string) bool {
	return slices.ContainsFunc(KeptPrefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// PasswordPrefix is the first part of the names of passwords for databases.
const PasswordPrefix = "db-"
