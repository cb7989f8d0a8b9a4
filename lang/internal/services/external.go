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
	"kolla.openstack.org/kolla/lang/internal/blocks"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/schema"
)

// externalKeys are the keys of the argument external that are not outputs.
var externalKeys = []string{"host", "port", "url", "public_url"}

// isExternal reports whether the service already exists elsewhere. A value that is not known yet
// counts as yes.
func isExternal(in *instance) bool {
	if !eval.MayBeExternal(in.block) {
		return false
	}
	v := in.user.Value(in.block.Attributes["external"].Expr)
	return !v.IsKnown() || !v.IsNull()
}

// evaluateExternal runs the stages of an external service. It returns the value that expressions
// read as service.NAME, which is unknown after an error.
func evaluateExternal(in *instance) cty.Value {
	in.out.External = true
	_, marks := in.user.Value(in.block.Attributes["external"].Expr).Unmark()
	unknown := cty.DynamicVal.WithMarks(marks) // it may be known after the apply
	setSelf(in, unknown)
	given, ok := blocks.ReadExternal(in.user, in.block)
	if !ok {
		return unknown
	}
	checkExternal(in)
	takeInputs(in)
	enablePorts(in)
	base, ok := externalBase(in, given)
	if !ok {
		return unknown
	}
	setSelf(in, cty.ObjectVal(base))
	enableBlocks(in)
	setSelf(in, cty.ObjectVal(base))
	evaluateSecrets(in)
	return externalOutputs(in, given, base)
}

// checkExternal reports arguments and blocks that have no effect because nothing is deployed.
func checkExternal(in *instance) {
	refuse := func(at hcl.Range, what string) {
		in.report.Error(at, "Not for an external service", "Service %q is external: kolla deploys nothing of it, so %s has no effect. Remove it, or remove the argument \"external\".", in.block.Label, what)
	}
	for _, name := range []string{"role", "replicas", "expose", "images", "with", "labels", "annotations"} {
		if attr := in.block.Attributes[name]; attr != nil && eval.IsSet(in.user, in.block, name) {
			refuse(attr.NameRange, fmt.Sprintf("%q", name))
		}
	}
	for _, b := range in.block.Blocks {
		if b.Type != schema.LifecycleType && b.Type != schema.SecretType {
			refuse(b.Header, b.Described())
		}
	}
}

// externalBase returns the attributes that all services have, from the argument and the ports of
// the definition.
func externalBase(in *instance, given *blocks.External) (map[string]cty.Value, bool) {
	host, ok := given.Host()
	if !ok {
		return nil, false
	}
	evaluatePorts(in)
	port := cty.NilVal
	if len(in.out.Ports) > 0 {
		port = known(in.out.Ports[0].Number)
	}
	if written, told := given.Given["port"]; told && !written.IsNull() {
		if port, ok = given.Port(); !ok {
			return nil, false
		}
		if len(in.out.Ports) > 0 {
			in.inner.Scope.Groups["port"][in.out.Ports[0].Name] = port
		}
	}
	ports := externalPorts(in, host)
	in.out.Ports = nil // there is no Service in the cluster for them
	base := map[string]cty.Value{
		"name":      cty.StringVal(in.out.Name),
		"namespace": cty.StringVal(in.set.Config.Cloud.Namespace),
		"host":      host,
		"replicas":  cty.NumberIntVal(0),
		"external":  cty.True,
		"ports":     ports,
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
			return nil, false
		}
		if name == "url" {
			base["public_url"] = base[name]
		}
	}
	return base, true
}

// externalOutputs adds the outputs. An output in the argument replaces the output of the
// definition.
func externalOutputs(in *instance, given *blocks.External, base map[string]cty.Value) cty.Value {
	in.out.Outputs = map[string]cty.Value{}
	absent := map[string]bool{} // whoever reads them is told so
	outputs := in.definition.Labels("output")
	anything := in.definition.Type != schema.DefinitionType // there is no definition, and the service says all
	for _, name := range slices.Sorted(maps.Keys(given.Given)) {
		switch {
		case slices.Contains(externalKeys, name):
		case base[name] != cty.NilVal:
			given.Unsuitable(name, "%q cannot be chosen: every service has it already.", name)
		case given.Given[name].IsNull() && (anything || slices.Contains(outputs, name)):
			absent[name] = true
		case anything || slices.Contains(outputs, name):
			in.out.Outputs[name], base[name] = given.Given[name], given.Given[name]
		default:
			names := append(slices.Clone(externalKeys), outputs...)
			given.Unsuitable(name, "%s", words.WithHint(words.DidYouMean(name, names),
				fmt.Sprintf("Nothing is called %q here. Definition %q has: %s.", name, in.out.Definition, words.Sorted(names))))
		}
	}
	for _, b := range in.definition.All("output") {
		attr := b.Attributes["value"]
		if _, told := in.out.Outputs[b.Label]; told || absent[b.Label] || attr == nil {
			continue
		}
		v := cty.DynamicVal
		if lacking := missingSecrets(in, attr.Expr); len(lacking) > 0 {
			in.missing = append(in.missing, missingUse{
				what: fmt.Sprintf("output %q", b.Label), secrets: lacking,
				instead: fmt.Sprintf("output %q: external = { %s = ... }, null if nobody reads it", b.Label, b.Label),
			})
		} else {
			v = in.inner.Value(attr.Expr)
		}
		in.out.Outputs[b.Label], base[b.Label] = v, v
	}
	return cty.ObjectVal(base)
}

// missingUse is a use of secrets that the external service does not have.
type missingUse struct {
	what    string // `user "nova" of service "nova"`
	secrets []string
	instead string // what can be said in place of them
}

// CheckExternal reports the missing secrets of each external service, once for each service.
func (c *Set) CheckExternal() {
	for _, in := range c.inOrder() {
		var what, secrets, instead []string
		for _, l := range in.missing {
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
		c.Report.Error(in.block.AttributeRange("external"), "Secret of an external service",
			"Service %q is external, and kolla does not know %s, which %s %s. Give service %q what it takes for that:\n\n%s\n\nor say instead, if it is there already:\n\n%s",
			in.out.Name, secretsNamed(secrets), words.Sorted(what), needs(len(what)), in.block.Label, blocks.SecretExamples(secrets), strings.Join(instead, "\n"))
	}
}

// needs returns the verb for a number of subjects.
func needs(count int) string {
	if count == 1 {
		return "needs"
	}
	return "need"
}

// passwordInstead returns an example of a secret block that gives a password.
func passwordInstead(in *instance, secret string) string {
	return fmt.Sprintf("in service %q: secret %q { from_env = %q }", in.block.Label, secret, strings.ToUpper(strings.ReplaceAll(secret, "-", "_")))
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
func missingSecrets(in *instance, exprs ...hcl.Expression) []string {
	var out []string
	for _, expr := range exprs {
		for _, t := range in.user.Memo.References(expr) {
			if name, ok := addrs.NameOf(t); ok && t.RootName() == "secret" && isMissing(in, name) && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

// isMissing reports whether the service is external and does not have a secret of its definition.
func isMissing(in *instance, secret string) bool {
	return in.out.External && slices.Contains(in.definition.Labels("secret"), secret) && in.block.One("secret", secret) == nil
}

// missingSecretsFor returns the secrets in blocks that the external service does not have.
func missingSecretsFor(in *instance, blocks []*source.Block) []string {
	var exprs []hcl.Expression
	var mounted []string
	for _, b := range blocks {
		for _, m := range b.All("mount") {
			if isMissing(in, m.Label) {
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
	names := append(missingSecrets(in, exprs...), mounted...)
	slices.Sort(names)
	return slices.Compact(names)
}
