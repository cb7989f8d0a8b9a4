package eval

import (
	"fmt"

	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/internal/values"
	"kolla.openstack.org/kolla/lang/mark"
)

// Role evaluates an attribute that names a role: role.NAME. Definitions can also write "NAME".
func Role(e *Env, b *source.Block, name string) string {
	if b.Attributes[name] == nil {
		return ""
	}
	v := e.Value(b.Attributes[name].Expr)
	bare, _ := v.Unmark()
	if e.InDefinition && bare.IsKnown() && !bare.IsNull() && bare.Type() == cty.String && CheckNotSecret(e, v, b.AttributeRange(name), "a role") {
		role, ok := e.Lookup("role", bare.AsString(), nil, b.AttributeRange(name))
		if !ok {
			role, ok = roleInstance(e.Scope, bare.AsString())
		}
		if !ok {
			notFound(e, "role", bare.AsString(), e.Scope.Names("role"), b.AttributeRange(name))
			return ""
		}
		v = role
	}
	return NameFrom(e, b, name, v, values.RoleType, "role")
}

// roleInstance finds an instance of a role by its name: "rack-a" is role.rack["a"]. Its value is there,
// because the name comes from it.
func roleInstance(s *Scope, name string) (role cty.Value, ok bool) {
	for ; s != nil; s = s.Parent {
		for _, instances := range s.Groups["role"] {
			instances, _ := instances.Unmark()
			if !instances.IsKnown() || instances.IsNull() || !instances.CanIterateElements() {
				continue
			}
			for it := instances.ElementIterator(); it.Next(); {
				_, role := it.Element()
				bare, _ := role.UnmarkDeep()
				if !bare.Type().Equals(values.RoleType) || !bare.IsKnown() || bare.IsNull() {
					continue
				}
				if same := bare.GetAttr("name").Equals(cty.StringVal(name)); same.IsKnown() && same.True() {
					return role, true
				}
			}
		}
	}
	return cty.NilVal, false
}

// Exposure evaluates an attribute that names an exposure.
func Exposure(e *Env, b *source.Block, name string) string {
	if b.Attributes[name] == nil {
		return ""
	}
	return NameFrom(e, b, name, e.Value(b.Attributes[name].Expr), values.ExposureType, "exposure")
}

// NameFrom returns the name in the value of role.NAME or exposure.NAME.
func NameFrom(e *Env, b *source.Block, name string, v cty.Value, want cty.Type, kind string) string {
	if !v.IsKnown() {
		ReportDeferred(e, v, b.AttributeRange(name), fmt.Sprintf("%q", name))
	}
	v, _ = v.UnmarkDeep()
	switch {
	case !v.IsKnown() || v.IsNull():
		return ""
	case v.Type().Equals(want):
		return v.GetAttr("name").AsString()
	case v.Type() == cty.String:
		named := "NAME"
		if _, ok := e.Scope.Member(kind, v.AsString()); ok {
			named = v.AsString()
		}
		Unsuitable(e, b, name, "It must be a reference without quotes: %s.%s.", kind, named)
	default:
		Unsuitable(e, b, name, "It must be %s.NAME, and this is %s.", kind, values.KindOf(v))
	}
	return ""
}

// Read returns the value of an attribute, or of something made of several attributes, for
// expressions. It is unknown as long as one of the attributes is.
func Read(e *Env, b *source.Block, value cty.Value, names ...string) cty.Value {
	for _, name := range names {
		attr := b.Attributes[name]
		if attr == nil {
			continue
		}
		for _, d := range mark.Deferrals(e.Value(attr.Expr)) {
			bare, marks := value.Unmark()
			value = cty.UnknownVal(bare.Type()).WithMarks(marks).Mark(d)
		}
	}
	return value
}
