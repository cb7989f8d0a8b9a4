package blocks

import (
	"fmt"
	"net"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/gocty"

	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/layers"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/internal/values"
	"kolla.openstack.org/kolla/lang/schema/forms"
	"kolla.openstack.org/kolla/lang/syntax"
)

// External is the argument external of a service block.
type External struct {
	Given map[string]cty.Value
	expr  hcl.Expression
	env   *eval.Env
	block *source.Block
}

// ReadExternal evaluates the argument. The result is not ok if the value is not known or is
// not an object.
func ReadExternal(e *eval.Env, b *source.Block) (x *External, ok bool) {
	x = &External{Given: map[string]cty.Value{}, expr: b.Attributes["external"].Expr, env: e, block: b}
	at := b.AttributeRange("external")
	v := e.Value(x.expr)
	bare, marks := v.Unmark()
	switch {
	case !v.IsKnown():
		eval.ReportDeferred(e, v, at, `"external"`)
		return nil, false
	case !bare.Type().IsObjectType() && !bare.Type().IsMapType():
		x.unsuitable(at, "It must say where the service is, as { host = \"db.example.org\" }, and this is %s.", values.KindOf(v))
		return nil, false
	}
	for name, member := range bare.AsValueMap() {
		x.Given[name] = member.WithMarks(marks)
	}
	return x, true
}

// pair returns the place of a key of the argument, and of its value. If they are not literal, it is
// the place of the argument.
func (x *External) pair(name string) (key, value hcl.Range) {
	for _, item := range writtenItems(x.expr) {
		if key, ok := values.StaticKey(item.KeyExpr); ok && key == name {
			return item.KeyExpr.Range(), item.ValueExpr.Range()
		}
	}
	return x.expr.Range(), x.expr.Range()
}

// writtenItems returns the entries of a literal object, possibly in a branch of a condition.
func writtenItems(expr hcl.Expression) []hclsyntax.ObjectConsItem {
	expr = syntax.Written(expr)
	if condition, ok := expr.(*hclsyntax.ConditionalExpr); ok {
		return append(writtenItems(condition.TrueResult), writtenItems(condition.FalseResult)...)
	}
	items, _ := layers.WrittenItems(expr)
	return items
}

// Unsuitable reports a key of the argument.
func (x *External) Unsuitable(name, detail string, args ...any) {
	key, _ := x.pair(name)
	x.unsuitable(key, detail, args...)
}

// unsuitable reports a part of the argument.
func (x *External) unsuitable(at hcl.Range, detail string, args ...any) {
	x.env.Report.Error(at, "Unsuitable value for \"external\"", detail, args...)
}

// Host returns the host, which is required: a DNS name or an IPv4 address. An IPv6 address would
// need brackets in some places only.
func (x *External) Host() (cty.Value, bool) {
	host, told := x.Given["host"]
	if !told || host.IsKnown() && host.IsNull() {
		eval.Unsuitable(x.env, x.block, "external", "It must say where the service is: host = \"db.example.org\".")
		return cty.NilVal, false
	}
	host, ok := x.Text("host")
	if bare, _ := host.Unmark(); ok && bare.IsKnown() {
		if !forms.Subdomain.Valid(bare.AsString()) {
			_, at := x.pair("host")
			given := ""
			if !host.IsMarked() {
				given = fmt.Sprintf(", not %q", bare.AsString())
			}
			x.unsuitable(at, "host must be a name such as db.example.org, or an IPv4 address, without a scheme or a port%s.", given)
			return cty.NilVal, false
		}
	}
	return host, ok
}

// Text returns the value of a key that must be a string.
func (x *External) Text(name string) (cty.Value, bool) {
	text, err := convert.Convert(x.Given[name], cty.String)
	if bare, _ := text.Unmark(); err != nil || bare.IsKnown() && bare.AsString() == "" {
		_, at := x.pair(name)
		x.unsuitable(at, "%s must be a string.", name)
		return cty.NilVal, false
	}
	return text, true
}

// Port returns the value of the key port.
func (x *External) Port() (cty.Value, bool) {
	number, err := convert.Convert(x.Given["port"], cty.Number)
	bare, _ := number.Unmark()
	if err == nil && !bare.IsKnown() {
		return number, true
	}
	var n int
	if err != nil || gocty.FromCtyValue(bare, &n) != nil || n < 1 || n > 65535 {
		_, at := x.pair("port")
		x.unsuitable(at, "port must be a whole number from 1 to 65535.")
		return cty.NilVal, false
	}
	return number, true
}

// HostAndPort returns the text HOST:PORT of two values.
func HostAndPort(host, port cty.Value) cty.Value {
	host, hostMarks := host.Unmark()
	port, portMarks := port.Unmark()
	out := cty.UnknownVal(cty.String)
	if host.IsKnown() && port.IsKnown() {
		out = cty.StringVal(net.JoinHostPort(host.AsString(), values.FormatPrimitive(port)))
	}
	return out.WithMarks(hostMarks, portMarks)
}

// Prefixed returns a text with a prefix.
func Prefixed(prefix string, v cty.Value) cty.Value {
	v, marks := v.Unmark()
	if v.IsKnown() {
		v = cty.StringVal(prefix + v.AsString())
	}
	return v.WithMarks(marks)
}
