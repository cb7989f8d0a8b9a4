package eval

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/internal/values"
	"kolla.openstack.org/kolla/lang/mark"
	"kolla.openstack.org/kolla/lang/schema"
)

// A definition that starts from another one, the cloud's defaults and a service override blocks of
// a definition with blocks of the same type and label, and add others. One layer is put over another
// before anything is evaluated. Expressions of the upper layer then stand among those of the
// definition, each as a LayerExpr, which names the environment that evaluates it.

// LayerExpr is an expression of another layer, or of another module, in a block of the definition.
// The environment of that layer or module evaluates it (Env.Of).
type LayerExpr struct {
	hclsyntax.Expression
	Layer string // configs.LayerDefinition, LayerCloud or LayerService
	// Home is the module of an expression of LayerDefinition. Nil: it is the module of the
	// definition.
	Home *source.Module
	// Below is the expression of weaker layers, if both count: maps are merged by key, and lists
	// of names are joined.
	Below hclsyntax.Expression
}

// layered returns an expression as one of a layer.
func layered(expr hclsyntax.Expression, layer string) hclsyntax.Expression {
	if layer == configs.LayerDefinition {
		return expr // it may be a LayerExpr already
	}
	return &LayerExpr{Expression: expr, Layer: layer}
}

// stacked puts an expression over a weaker one, if both count.
func stacked(below, above hclsyntax.Expression) *LayerExpr {
	out := LayerExpr{Expression: above, Layer: configs.LayerDefinition}
	if x, ok := above.(*LayerExpr); ok {
		out = *x
	}
	if out.Below != nil {
		below = stacked(below, out.Below)
	}
	out.Below = below
	return &out
}

// inside returns an expression with other expressions in the place of those of its layers.
func inside(expr hclsyntax.Expression, other func(hclsyntax.Expression) hclsyntax.Expression) hclsyntax.Expression {
	x, ok := expr.(*LayerExpr)
	if !ok {
		return other(expr)
	}
	out := *x
	out.Expression = other(x.Expression)
	if x.Below != nil {
		out.Below = inside(x.Below, other)
	}
	return &out
}

// UnwrapExpression returns the expression inside, so that HCL finds its kind. Two expressions have
// no kind.
func (x *LayerExpr) UnwrapExpression() hcl.Expression {
	if x.Below != nil {
		return nil
	}
	return x.Expression
}

// Variables returns the references in the expressions of all layers.
func (x *LayerExpr) Variables() []hcl.Traversal {
	if x.Below == nil {
		return x.Expression.Variables()
	}
	return append(x.Below.Variables(), x.Expression.Variables()...)
}

// IsStacked reports whether several layers of an expression count.
func IsStacked(expr hcl.Expression) bool {
	x, ok := expr.(*LayerExpr)
	return ok && x.Below != nil
}

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

// Layers returns the expressions of an argument by layer, the weakest first. Each definition that the
// definition starts from is a layer of its own.
func Layers(b *source.Block, name string) []*LayerExpr {
	attr := b.Attributes[name]
	if attr == nil {
		return nil
	}
	return layersOf(attr.Expr)
}

func layersOf(expr hclsyntax.Expression) []*LayerExpr {
	x, ok := expr.(*LayerExpr)
	switch {
	case !ok:
		return []*LayerExpr{{Expression: expr, Layer: configs.LayerDefinition}}
	case x.Below == nil:
		return []*LayerExpr{x}
	}
	return append(layersOf(x.Below), &LayerExpr{Expression: x.Expression, Layer: x.Layer, Home: x.Home})
}

// Of returns the environment for the expressions of a layer in blocks of the definition, or for
// those of a definition in another module, which it starts from. Home is nil for expressions of the
// definition's own module.
func (e *Env) Of(layer string, home *source.Module) *Env {
	switch {
	case home != nil && e.Around != nil:
		return e.inModule(home)
	case e.OfService == nil || layer == configs.LayerDefinition:
		return e
	case layer == configs.LayerCloud:
		return e.OfCloud
	}
	return e.OfService
}

// inModule returns the environment for expressions of a definition in another module: it knows the
// names of this definition, and around these the names of the module.
func (e *Env) inModule(home *source.Module) *Env {
	out, scope, around := *e, *e.Scope, e.Around(home)
	if e.hasLocals {
		locals := *e.Scope.Parent
		locals.Parent, around = around, &locals
	}
	out.Scope, scope.Parent = &scope, around
	return &out
}

// EnvOf returns the environment that evaluates an argument.
func EnvOf(e *Env, b *source.Block, name string) *Env {
	if attr := b.Attributes[name]; attr != nil {
		if x, ok := attr.Expr.(*LayerExpr); ok {
			return e.Of(x.Layer, x.Home)
		}
	}
	return e
}

// overlaidValue evaluates an expression of another layer or module, alone or merged over those of
// weaker layers.
func (e *Env) overlaidValue(expr hcl.Expression) (v cty.Value, ok bool) {
	x, ok := expr.(*LayerExpr)
	switch {
	case !ok:
		return cty.NilVal, false
	case x.Below == nil:
		return e.Of(x.Layer, x.Home).Value(x.Expression), true
	}
	return joinedValues(e.Value(x.Below), e.Of(x.Layer, x.Home).Value(x.Expression)), true
}

// joinedValues puts a value over another one: maps are merged by key, and lists are joined.
// null removes the whole value, and a value of another type replaces it.
func joinedValues(below, above cty.Value) cty.Value {
	switch {
	case !above.IsKnown() || above.IsNull():
		return above
	case !below.IsKnown():
		return below
	case below.IsNull():
		return above
	case values.IsMap(below) && values.IsMap(above):
		merged := map[string]cty.Value{}
		for _, v := range []cty.Value{below, above} {
			for _, m := range mark.Members(v) {
				merged[m.Key] = m.Value
			}
		}
		maps.DeleteFunc(merged, func(_ string, v cty.Value) bool { return v.IsNull() })
		return cty.ObjectVal(merged)
	case values.IsList(below) && values.IsList(above):
		var all []cty.Value
		for _, v := range slices.Concat(mark.Elements(below), mark.Elements(above)) {
			if !slices.ContainsFunc(all, v.RawEquals) {
				all = append(all, v)
			}
		}
		return cty.TupleVal(all)
	}
	return above
}

// KeptPrefixes are the first parts of the names of passwords for databases, queues and users.
var KeptPrefixes = []string{PasswordPrefix, "queue-", "user-"}

// IsReserved reports whether the name of a secret is reserved for a password.
func IsReserved(name string) bool {
	return slices.ContainsFunc(KeptPrefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// IsNullLiteral reports whether an expression is the literal null.
func IsNullLiteral(expr hcl.Expression) bool {
	switch x := expr.(type) {
	case *LayerExpr:
		return x.Below == nil && IsNullLiteral(x.Expression)
	case *DynamicExpr:
		return IsNullLiteral(x.Expression)
	case *hclsyntax.LiteralValueExpr:
		return x.Val.IsNull()
	}
	return false
}

// PasswordPrefix is the first part of the names of passwords for databases.
const PasswordPrefix = "db-"
