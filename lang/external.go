package lang

import (
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/gocty"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/internal/values"
	"kolla.openstack.org/kolla/lang/schema"
)

// An external service is a server that is there already. Others refer to it as to any
// service, and nothing of it is deployed: of its definition only the ports, the outputs
// and what it provides count, and of its secrets those that it was told.

// readings are the values of an external service that are not its definition's.
var readings = []string{"host", "port", "url", "public_url"}

// mayBeExternal reports whether a service says where it is. It may still say null.
func mayBeExternal(b *source.Block) bool {
	attr := b.Attributes["external"]
	return attr != nil && !isNullLiteral(attr.Expr)
}

// isExternal decides whether the service is external. Of one of which nobody can say, no
// more is known than that.
func (in *instance) isExternal() bool {
	if !mayBeExternal(in.block) {
		return false
	}
	v := in.user.value(in.block.Attributes["external"].Expr)
	return !v.IsKnown() || !v.IsNull()
}

// external makes what there is of an external service: the secrets that it was told. It
// returns what others read, which is unknown where it is wrong.
func (in *instance) external() cty.Value {
	in.out.External = true
	_, marks := in.user.value(in.block.Attributes["external"].Expr).Unmark()
	unknown := cty.DynamicVal.WithMarks(marks) // it may be known after the apply
	in.setSelf(unknown)
	given, ok := in.externalGiven()
	if !ok {
		return unknown
	}
	in.checkExternal()
	in.takeInputs()
	in.narrowPorts()
	base, ok := in.externalBase(given)
	if !ok {
		return unknown
	}
	in.setSelf(cty.ObjectVal(base))
	in.narrow()
	in.setSelf(cty.ObjectVal(base))
	in.secrets()
	return in.externalOutputs(given, base)
}

// externalGiven is what the argument says.
func (in *instance) externalGiven() (given map[string]cty.Value, ok bool) {
	at := in.block.AttributeRange("external")
	v := in.user.value(in.block.Attributes["external"].Expr)
	bare, marks := v.Unmark()
	switch {
	case !v.IsKnown():
		in.user.undecided(v, at, `"external"`)
		return nil, false
	case !bare.Type().IsObjectType() && !bare.Type().IsMapType():
		in.unsuitableAt(at, "It must say where the service is, as { host = \"db.example.org\" }, and this is %s.", values.KindOf(v))
		return nil, false
	}
	given = map[string]cty.Value{}
	for name, member := range bare.AsValueMap() {
		given[name] = member.WithMarks(marks)
	}
	return given, true
}

// pairOf is where a key of the argument and its value stand, or else the whole argument.
func (in *instance) pairOf(name string) (key, value hcl.Range) {
	expr := in.block.Attributes["external"].Expr
	for _, item := range writtenItems(expr) {
		if key, ok := values.StaticKey(item.KeyExpr); ok && key == name {
			return item.KeyExpr.Range(), item.ValueExpr.Range()
		}
	}
	return expr.Range(), expr.Range()
}

// writtenItems are the entries of a map that is written out, also as a branch of a
// condition.
func writtenItems(expr hcl.Expression) []hclsyntax.ObjectConsItem {
	if condition, ok := expr.(*hclsyntax.ConditionalExpr); ok {
		return append(writtenItems(condition.TrueResult), writtenItems(condition.FalseResult)...)
	}
	items, _ := itemsOf(expr)
	return items
}

// checkExternal reports what only a service that is deployed can say.
func (in *instance) checkExternal() {
	refuse := func(at hcl.Range, what string) {
		in.report.Error(at, "Not for an external service", "Nothing of service %q is deployed, so that %s says nothing. Take it out, or the argument \"external\".", in.block.Label, what)
	}
	for _, name := range []string{"role", "replicas", "expose", "images", "with", "labels", "annotations"} {
		if attr := in.block.Attributes[name]; attr != nil && in.user.given(in.block, name) {
			refuse(attr.NameRange, fmt.Sprintf("%q", name))
		}
	}
	for _, b := range in.block.Blocks {
		if b.Type != schema.LifecycleType && b.Type != schema.SecretType {
			refuse(b.Header, b.Described())
		}
	}
}

// externalBase is what every service is to others, as far as the service says it; its
// definition gives its port.
func (in *instance) externalBase(given map[string]cty.Value) (map[string]cty.Value, bool) {
	host, ok := in.externalHost(given)
	if !ok {
		return nil, false
	}
	in.ports()
	port := cty.NilVal
	if len(in.out.Ports) > 0 {
		port = known(in.out.Ports[0].Number)
	}
	if written, told := given["port"]; told && !written.IsNull() {
		if port, ok = in.externalPort(written); !ok {
			return nil, false
		}
		if len(in.out.Ports) > 0 {
			in.inner.scope.groups["port"][in.out.Ports[0].Name] = port
		}
	}
	ports := in.externalPorts(host)
	in.out.Ports = nil // there is no Service in the cluster for them
	base := map[string]cty.Value{
		"name":      cty.StringVal(in.out.Name),
		"namespace": cty.StringVal(in.config.Cloud.Namespace),
		"host":      host,
		"replicas":  cty.NumberIntVal(0),
		"external":  cty.True,
		"ports":     ports,
		"members":   cty.EmptyObjectVal,
	}
	if port != cty.NilVal {
		base["port"] = port
		base["address"] = hostAndPort(host, port)
		base["url"] = prefixed("http://", base["address"])
		base["public_url"] = base["url"]
	}
	for _, name := range []string{"url", "public_url"} {
		v, told := given[name]
		if !told || v.IsNull() {
			continue
		}
		if base[name], ok = in.externalText(name, v); !ok {
			return nil, false
		}
		if name == "url" {
			base["public_url"] = base[name]
		}
	}
	return base, true
}

// externalHost checks the host.
func (in *instance) externalHost(given map[string]cty.Value) (cty.Value, bool) {
	host, told := given["host"]
	if !told || host.IsKnown() && host.IsNull() {
		in.user.unsuitable(in.block, "external", "It must say where the service is: host = \"db.example.org\".")
		return cty.NilVal, false
	}
	host, ok := in.externalText("host", host)
	if bare, _ := host.Unmark(); ok && bare.IsKnown() {
		// An IPv6 address would need brackets in some places, and none in others.
		if !schema.FormSubdomain.Valid(bare.AsString()) {
			_, at := in.pairOf("host")
			given := ""
			if !host.IsMarked() {
				given = fmt.Sprintf(", not %q", bare.AsString())
			}
			in.unsuitableAt(at, "host must be a name such as db.example.org, or an IPv4 address, without a scheme or a port%s.", given)
			return cty.NilVal, false
		}
	}
	return host, ok
}

// unsuitableAt reports a value of a key of the argument.
func (in *instance) unsuitableAt(at hcl.Range, detail string, args ...any) {
	in.report.Error(at, "Unsuitable value for \"external\"", detail, args...)
}

func (in *instance) externalText(name string, v cty.Value) (cty.Value, bool) {
	text, err := convert.Convert(v, cty.String)
	if bare, _ := text.Unmark(); err != nil || bare.IsKnown() && bare.AsString() == "" {
		_, at := in.pairOf(name)
		in.unsuitableAt(at, "%s must be a text.", name)
		return cty.NilVal, false
	}
	return text, true
}

func (in *instance) externalPort(v cty.Value) (cty.Value, bool) {
	number, err := convert.Convert(v, cty.Number)
	bare, _ := number.Unmark()
	if err == nil && !bare.IsKnown() {
		return number, true
	}
	var n int
	if err != nil || gocty.FromCtyValue(bare, &n) != nil || n < 1 || n > 65535 {
		_, at := in.pairOf("port")
		in.unsuitableAt(at, "port must be a whole number from 1 to 65535.")
		return cty.NilVal, false
	}
	return number, true
}

// hostAndPort is host:port.
func hostAndPort(host, port cty.Value) cty.Value {
	host, hostMarks := host.Unmark()
	port, portMarks := port.Unmark()
	out := cty.UnknownVal(cty.String)
	if host.IsKnown() && port.IsKnown() {
		out = cty.StringVal(net.JoinHostPort(host.AsString(), values.FormatPrimitive(port)))
	}
	return out.WithMarks(hostMarks, portMarks)
}

func prefixed(prefix string, v cty.Value) cty.Value {
	v, marks := v.Unmark()
	if v.IsKnown() {
		v = cty.StringVal(prefix + v.AsString())
	}
	return v.WithMarks(marks)
}

// externalOutputs adds the outputs to what others read: those that the service says
// itself, and else the definition's.
func (in *instance) externalOutputs(given, base map[string]cty.Value) cty.Value {
	in.out.Outputs = map[string]cty.Value{}
	absent := map[string]bool{} // whoever reads them is told so
	outputs := in.definition.Labels("output")
	anything := in.definition.Type != schema.DefinitionType // there is no definition, and the service says all
	for _, name := range keysOf(given) {
		key, _ := in.pairOf(name)
		switch {
		case slices.Contains(readings, name):
		case base[name] != cty.NilVal:
			in.unsuitableAt(key, "%q cannot be chosen: every service has it already.", name)
		case given[name].IsNull() && (anything || slices.Contains(outputs, name)):
			absent[name] = true
		case anything || slices.Contains(outputs, name):
			in.out.Outputs[name], base[name] = given[name], given[name]
		default:
			names := append(slices.Clone(readings), outputs...)
			in.unsuitableAt(key, "%s", words.WithHint(words.DidYouMean(name, names),
				fmt.Sprintf("Nothing is called %q here. Definition %q has: %s.", name, in.out.Definition, words.Sorted(names))))
		}
	}
	for _, b := range in.definition.All("output") {
		attr := b.Attributes["value"]
		if _, told := in.out.Outputs[b.Label]; told || absent[b.Label] || attr == nil {
			continue
		}
		v := cty.DynamicVal
		if untold := in.untold(attr.Expr); len(untold) > 0 {
			in.untolds = append(in.untolds, untoldUse{
				what: fmt.Sprintf("output %q", b.Label), secrets: untold,
				instead: fmt.Sprintf("output %q: external = { %s = ... }, null if nobody reads it", b.Label, b.Label),
			})
		} else {
			v = in.inner.value(attr.Expr)
		}
		in.out.Outputs[b.Label], base[b.Label] = v, v
	}
	return cty.ObjectVal(base)
}

// untoldUse is what cannot be made or read, because an external service was not told secrets.
type untoldUse struct {
	what    string // `user "nova" of service "nova"`
	secrets []string
	instead string // what can be said in place of them
}

// checkUntolds reports what each external service lacks, once.
func (g *graph) checkUntolds() {
	for _, in := range g.inOrder() {
		var what, secrets, instead []string
		for _, l := range in.untolds {
			what, instead = append(what, l.what), append(instead, "  "+l.instead)
			for _, name := range l.secrets {
				if !slices.Contains(secrets, name) {
					secrets = append(secrets, name)
				}
			}
		}
		if len(what) == 0 {
			continue
		}
		slices.Sort(secrets)
		g.report.Error(in.block.AttributeRange("external"), "Secret of an external service",
			"Service %q is external, and kolla does not know %s, which %s %s. Give service %q what it takes for that:\n\n%s\n\nor say instead, if it is there already:\n\n%s",
			in.out.Name, secretsNamed(secrets), words.Sorted(what), needs(len(what)), in.block.Label, secretExamples(secrets), strings.Join(instead, "\n"))
	}
}

func needs(count int) string {
	if count == 1 {
		return "needs"
	}
	return "need"
}

// passwordInstead is the block that says a password in place of what would set it.
func (in *instance) passwordInstead(secret string) string {
	return fmt.Sprintf("in service %q: secret %q { from_env = %q }", in.block.Label, secret, strings.ToUpper(strings.ReplaceAll(secret, "-", "_")))
}

// secretsNamed names secrets in the middle of a sentence.
func secretsNamed(names []string) string {
	if len(names) == 1 {
		return fmt.Sprintf("the secret %q", names[0])
	}
	return "the secrets " + words.Sorted(names)
}

// secretExamples are blocks that give secrets.
func secretExamples(names []string) string {
	var out []string
	for _, name := range names {
		out = append(out, fmt.Sprintf("  secret %q {\n    from_env = %q\n  }", name, strings.ToUpper(strings.ReplaceAll(name, "-", "_"))))
	}
	return strings.Join(out, "\n")
}

// untold are the definition's secrets in expressions that the external service was not
// told; none for a service that is deployed.
func (in *instance) untold(exprs ...hcl.Expression) []string {
	var out []string
	for _, expr := range exprs {
		for _, t := range in.memo.references(expr) {
			if name, ok := addrs.NameOf(t); ok && t.RootName() == "secret" && in.isUntold(name) && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

// isUntold reports whether the service is external, and was not told a secret of its
// definition.
func (in *instance) isUntold(secret string) bool {
	return in.out.External && slices.Contains(in.definition.Labels("secret"), secret) && in.block.One("secret", secret) == nil
}

// untoldFor are the secrets that blocks take and the external service was not told.
func (in *instance) untoldFor(blocks []*source.Block) []string {
	var exprs []hcl.Expression
	var mounted []string
	for _, b := range blocks {
		for _, m := range b.All("mount") {
			if in.isUntold(m.Label) {
				mounted = append(mounted, m.Label)
			}
		}
		for _, attr := range b.Ordered() {
			exprs = append(exprs, attr.Expr)
		}
		for _, child := range b.Blocks {
			for _, attr := range child.Ordered() {
				exprs = append(exprs, attr.Expr)
			}
		}
	}
	names := append(in.untold(exprs...), mounted...)
	slices.Sort(names)
	return slices.Compact(names)
}

// deploysNothing reports whether a definition describes a service that exists already: it
// has ports, and no workload listens on them.
func deploysNothing(b *source.Block) bool {
	return b.Complete() && len(b.All("port")) > 0 && !slices.ContainsFunc(b.Blocks, func(child *source.Block) bool {
		return !slices.Contains([]string{"input", "locals", "output", "port"}, child.Type.Name)
	})
}
