package services

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/blocks"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/pods"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/schema"
)

// externalKeys are the keys of the argument external that are not outputs.
var externalKeys = []string{"host", "port", "url", "public_url"}

// isExternal reports whether the service already exists elsewhere. A value that is not known yet
// counts as yes.
func isExternal(user *eval.Env, block *source.Block) bool {
	if !eval.MayBeExternal(block) {
		return false
	}
	v := user.Value(block.Attributes["external"].Expr)
	return !v.IsKnown() || !v.IsNull()
}

// adopt runs the stages of an external service, as deploy does. The value that expressions read as
// service.NAME is unknown after an error.
func adopt(u *use, e *eval.Env, _ merged, out configs.Service) (configs.Service, *pods.Service, cty.Value) {
	_, marks := e.OfService.Value(u.block.Attributes["external"].Expr).Unmark()
	unknown := cty.DynamicVal.WithMarks(marks) // it may be known after the apply
	e = withSelf(u, e, unknown)
	definition := u.over.whole
	given, ok := blocks.ReadExternal(e.OfService, u.block)
	if !ok {
		return out, podsOf(u, e, definition, nil, nil, nil, nil), unknown
	}
	checkExternal(u, e)
	e = takeInputs(u, e)
	definition, n, e := enablePorts(u, e, "")
	base, e, ok := externalBase(u, e, definition, given)
	if !ok {
		return out, podsOf(u, e, definition, nil, nil, nil, nil), unknown
	}
	e = withSelf(u, e, cty.ObjectVal(base))
	definition, e = enableBlocks(u, e, definition, access{}, n)
	e = withSelf(u, e, cty.ObjectVal(base))
	out.Secrets, e = evaluateSecrets(u, e, definition)
	var value cty.Value
	value, out.Outputs = externalOutputs(u, e, definition, given, base)
	checkReplicas(u, e, definition, n, nil)
	return out, podsOf(u, e, definition, nil, nil, nil, nil), value
}

// checkExternal reports arguments and blocks that have no effect because nothing is deployed.
func checkExternal(u *use, e *eval.Env) {
	refuse := func(at hcl.Range, what string) {
		e.Report.Error(at, "Not for an external service", "Service %q is external: kolla deploys nothing of it, so %s has no effect. Remove it, or remove the argument \"external\".", u.block.Label, what)
	}
	for _, name := range []string{"role", "replicas", "expose", "images", "with", "labels", "annotations"} {
		if attr := u.block.Attributes[name]; attr != nil && eval.IsSet(e.OfService, u.block, name) {
			refuse(attr.NameRange, fmt.Sprintf("%q", name))
		}
	}
	for _, b := range u.block.Blocks {
		if b.Type != schema.LifecycleType && b.Type != schema.SecretType {
			refuse(b.Header, b.Described())
		}
	}
}

// externalBase returns the attributes that all services have, from the argument and the ports of
// the definition, which expressions then can read.
func externalBase(u *use, e *eval.Env, definition *source.Block, given *blocks.External) (map[string]cty.Value, *eval.Env, bool) {
	host, ok := given.Host()
	if !ok {
		return nil, e, false
	}
	ports, e := evaluatePorts(u, e, definition) // there is no Service in the cluster for them
	port := cty.NilVal
	if len(ports) > 0 {
		port = known(ports[0].Number)
	}
	if written, told := given.Given["port"]; told && !written.IsNull() {
		if port, ok = given.Port(); !ok {
			return nil, e, false
		}
		if len(ports) > 0 {
			var group eval.Group
			e, group = withMore(e, definition, "port", u.locals)
			group[ports[0].Name] = port
		}
	}
	base := map[string]cty.Value{
		"name":      cty.StringVal(u.name),
		"namespace": cty.StringVal(u.set.Config.Cloud.Namespace),
		"host":      host,
		"replicas":  cty.NumberIntVal(0),
		"external":  cty.True,
		"ports":     externalPorts(ports, e.Scope.Groups["port"], host),
		"members":   cty.EmptyObjectVal,
	}
	if port != cty.NilVal {
		base["port"] = port
		base["address"] = blocks.HostAndPort(host, port)
		base["url"] = blocks.Prefixed("http://", base["address"])
		base["public_url"] = base["url"]
	}
	for _, name := range []string{"url", "public_url"} {
		v, told := given.Given[name]
		if !told || v.IsNull() {
			continue
		}
		if base[name], ok = given.Text(name); !ok {
			return nil, e, false
		}
		if name == "url" {
			base["public_url"] = base[name]
		}
	}
	return base, e, true
}

// externalPorts returns the value of service.NAME.ports for an external service.
func externalPorts(ports []configs.Port, numbers eval.Group, host cty.Value) cty.Value {
	values := map[string]cty.Value{}
	for _, p := range ports {
		address := blocks.HostAndPort(host, numbers[p.Name])
		url := blocks.Prefixed("http://", address)
		values[p.Name] = cty.ObjectVal(map[string]cty.Value{
			"number": numbers[p.Name], "host": host, "address": address, "url": url, "public_host": host, "public_url": url,
		})
	}
	return cty.ObjectVal(values)
}

// externalOutputs returns the value of the service with its outputs. An output in the argument
// replaces the output of the definition.
func externalOutputs(u *use, e *eval.Env, definition *source.Block, given *blocks.External, base map[string]cty.Value) (self cty.Value, out map[string]cty.Value) {
	values := maps.Clone(base)
	out = map[string]cty.Value{}
	absent := map[string]bool{} // whoever reads them is told so
	outputs := definition.Labels("output")
	anything := definition.Type != schema.DefinitionType // there is no definition, and the service says all
	for _, name := range slices.Sorted(maps.Keys(given.Given)) {
		switch {
		case slices.Contains(externalKeys, name):
		case base[name] != cty.NilVal:
			given.Unsuitable(name, "%q cannot be chosen: every service has it already.", name)
		case given.Given[name].IsNull() && (anything || slices.Contains(outputs, name)):
			absent[name] = true
		case anything || slices.Contains(outputs, name):
			out[name], values[name] = given.Given[name], given.Given[name]
		default:
			names := append(slices.Clone(externalKeys), outputs...)
			given.Unsuitable(name, "%s", words.WithHint(words.DidYouMean(name, names),
				fmt.Sprintf("Nothing is called %q here. Definition %q has: %s.", name, u.decl.written.Label, words.Sorted(names))))
		}
	}
	for _, b := range definition.All("output") {
		attr := b.Attributes["value"]
		if _, told := out[b.Label]; told || absent[b.Label] || attr == nil {
			continue
		}
		v := cty.DynamicVal
		if lacking := missingSecrets(u, definition, attr.Expr); len(lacking) > 0 {
			u.set.missing = append(u.set.missing, missingUse{
				service: u.name, what: fmt.Sprintf("output %q", b.Label), secrets: lacking,
				instead: fmt.Sprintf("output %q: external = { %s = ... }, null if nobody reads it", b.Label, b.Label),
			})
		} else {
			v = e.Value(attr.Expr)
		}
		out[b.Label], values[b.Label] = v, v
	}
	return cty.ObjectVal(values), out
}

// missingUse is a use of secrets that the external service does not have.
type missingUse struct {
	service string // the external one
	what    string // `user "nova" of service "nova"`
	secrets []string
	instead string // what can be said in place of them
}

// missingUseBy returns the use of secrets by a database, queue or user of a service, whose password
// would do instead.
func missingUseBy(u *use, from *source.Block, server string, lacking []string, password string) missingUse {
	return missingUse{
		service: server, what: fmt.Sprintf("%s of service %q", from.Described(), u.name), secrets: lacking,
		instead: fmt.Sprintf("in service %q: secret %q { from_env = %q }", u.block.Label, password, strings.ToUpper(strings.ReplaceAll(password, "-", "_"))),
	}
}

// CheckExternal reports the missing secrets of each external service, once for each service.
func (c *Set) CheckExternal() {
	for _, s := range c.inOrder() {
		var what, secrets, instead []string
		for _, l := range c.missing {
			if l.service != s.out.Name {
				continue
			}
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
		c.Report.Error(s.use.block.AttributeRange("external"), "Secret of an external service",
			"Service %q is external, and kolla does not know %s, which %s %s. Give service %q what it takes for that:\n\n%s\n\nor say instead, if it is there already:\n\n%s",
			s.out.Name, secretsNamed(secrets), words.Sorted(what), needs(len(what)), s.use.block.Label, blocks.SecretExamples(secrets), strings.Join(instead, "\n"))
	}
}

// needs returns the verb for a number of subjects.
func needs(count int) string {
	if count == 1 {
		return "needs"
	}
	return "need"
}

// secretsNamed names secrets in the middle of a sentence.
func secretsNamed(names []string) string {
	if len(names) == 1 {
		return fmt.Sprintf("the secret %q", names[0])
	}
	return "the secrets " + words.Sorted(names)
}

// missingSecrets are secrets of the definition in expressions that the external service does not
// have. A deployed service has all secrets.
func missingSecrets(u *use, definition *source.Block, exprs ...hcl.Expression) []string {
	var out []string
	for _, expr := range exprs {
		for _, t := range u.set.Constant.Memo.References(expr) {
			if name, ok := addrs.NameOf(t); ok && t.RootName() == "secret" && isMissing(u, definition, name) && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

// isMissing reports whether the service is external and does not have a secret of its definition.
func isMissing(u *use, definition *source.Block, secret string) bool {
	return u.external && slices.Contains(definition.Labels("secret"), secret) && u.block.One("secret", secret) == nil
}

// missingSecretsFor returns the secrets in blocks that the external service does not have.
func missingSecretsFor(s *service, blocks []*source.Block) []string {
	var exprs []hcl.Expression
	var mounted []string
	for _, b := range blocks {
		for _, m := range b.All("mount") {
			if isMissing(s.use, s.pods.Definition, m.Label) {
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
	names := append(missingSecrets(s.use, s.pods.Definition, exprs...), mounted...)
	slices.Sort(names)
	return slices.Compact(names)
}
