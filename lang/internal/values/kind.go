package values

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"kolla.openstack.org/kolla/lang/mark"
	"kolla.openstack.org/kolla/lang/syntax"
)

// KindOf names the type of a value for a message.
func KindOf(value cty.Value) string {
	switch t := value.Type(); {
	case value.IsNull():
		return "null"
	case t.Equals(RoleType):
		return "a role"
	case t.Equals(ExposureType):
		return "an exposure"
	case t.IsPrimitiveType():
		return "a " + t.FriendlyName()
	case t.IsObjectType() || t.IsMapType():
		return "a map"
	default:
		return "a list"
	}
}

// IsMap reports whether a value is a map or an object.
func IsMap(v cty.Value) bool { return v.Type().IsObjectType() || v.Type().IsMapType() }

// IsList reports whether a value is a list, a set or a tuple.
func IsList(v cty.Value) bool {
	return v.Type().IsTupleType() || v.Type().IsListType() || v.Type().IsSetType()
}

// Plain reports whether a value and everything in it is known, without marks and tokens.
func Plain(v cty.Value) bool {
	if v.IsMarked() || !v.IsKnown() {
		return false
	}
	switch t := v.Type(); {
	case v.IsNull():
		return true
	case t == cty.String:
		return !mark.HasToken(v.AsString())
	case t.IsPrimitiveType():
		return true
	case !v.CanIterateElements():
		return false
	}
	for it := v.ElementIterator(); it.Next(); {
		if key, element := it.Element(); !Plain(key) || !Plain(element) {
			return false
		}
	}
	return true
}

// RoleType is the type of role.NAME.
var RoleType = cty.Object(map[string]cty.Type{
	"name": cty.String, "labels": cty.Map(cty.String), "nodes": cty.List(cty.String),
})

// ExposureType is the type of exposure.NAME.
var ExposureType = cty.Object(map[string]cty.Type{
	"name": cty.String, "vip": cty.String, "fqdn": cty.String, "domain": cty.String, "host": cty.String, "mode": cty.String,
})

// Deferrals returns the marks for the data that a value or a part of it waits for.
func Deferrals(v cty.Value) cty.ValueMarks {
	marks := cty.ValueMarks{}
	for _, d := range mark.Deferrals(v) {
		marks[d] = struct{}{}
	}
	return marks
}

// StaticKey returns the key of an object constructor, if the key is a constant.
func StaticKey(expr hcl.Expression) (string, bool) {
	v, diags := syntax.Constant(expr)
	if diags.HasErrors() || v.IsNull() || !v.IsKnown() {
		return "", false
	}
	v, err := convert.Convert(v, cty.String)
	if err != nil {
		return "", false
	}
	return v.AsString(), true
}

// WriteType writes the type of a value as Terraform's console does. The type of a sensitive
// object or collection stays hidden, because the names of its attributes do. The value is
// cty.NilVal for a type without a value, such as the element type of a list.
func WriteType(b *strings.Builder, t cty.Type, v cty.Value, depth int) {
	if v != cty.NilVal && v.HasMark(mark.Sensitive{}) && !t.IsPrimitiveType() {
		b.WriteString("(sensitive type)")
		return
	}
	part := func(get func(bare cty.Value) cty.Value) cty.Value {
		if v == cty.NilVal {
			return cty.NilVal
		}
		if bare, _ := v.Unmark(); bare.IsKnown() && !bare.IsNull() {
			return get(bare)
		}
		return cty.NilVal
	}
	in := "\n" + strings.Repeat("    ", depth+1)
	out := "\n" + strings.Repeat("    ", depth)
	switch {
	case t == cty.DynamicPseudoType:
		b.WriteString("dynamic")
	case t.IsObjectType() && len(t.AttributeTypes()) > 0:
		b.WriteString("object({")
		for _, name := range slices.Sorted(maps.Keys(t.AttributeTypes())) {
			b.WriteString(in + name + ": ")
			WriteType(b, t.AttributeType(name), part(func(bare cty.Value) cty.Value { return bare.GetAttr(name) }), depth+1)
			b.WriteString(",")
		}
		b.WriteString(out + "})")
	case t.IsObjectType():
		b.WriteString("object({})")
	case t.IsTupleType() && t.Length() > 0:
		b.WriteString("tuple([")
		for i, element := range t.TupleElementTypes() {
			b.WriteString(in)
			WriteType(b, element, part(func(bare cty.Value) cty.Value { return bare.Index(cty.NumberIntVal(int64(i))) }), depth+1)
			b.WriteString(",")
		}
		b.WriteString(out + "])")
	case t.IsTupleType():
		b.WriteString("tuple([])")
	case t.IsCollectionType():
		kind := "list"
		switch {
		case t.IsMapType():
			kind = "map"
		case t.IsSetType():
			kind = "set"
		}
		b.WriteString(kind + "(")
		WriteType(b, t.ElementType(), cty.NilVal, depth)
		b.WriteString(")")
	default:
		b.WriteString(t.FriendlyName())
	}
}
