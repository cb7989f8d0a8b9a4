package lang

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/mark"
	"kolla.openstack.org/kolla/lang/schema"
)

// secretValue is what expressions read as secret.NAME: the values that the kind has,
// and the name of the Secret in the cluster. Of a kind that is not known it may have any;
// awaited are the marks of what it waits for.
func secretValue(service, name, kind string, awaited cty.ValueMarks) cty.Value {
	ref := configs.SecretRef{Service: service, Secret: name}
	values := map[string]cty.Value{"name": cty.StringVal(ref.Object())}
	if kind == "" {
		for _, r := range schema.SecretReadings[1:] {
			values[r.Name] = cty.UnknownVal(cty.String).WithMarks(awaited).Mark(mark.Sensitive{})
		}
	}
	for attribute, key := range secretKinds[kind].values {
		ref.Key = key
		values[attribute] = mark.Generated(ref).Token()
	}
	return cty.ObjectVal(values)
}

// argumentsRoot is the root of the nodes that are the arguments of secrets.
const argumentsRoot = "arguments of secret"

// addSecret makes two nodes of a secret that stands beside the services. What others
// read of it does not depend on what is generated, so that a certificate can be for the
// service that mounts it: the arguments are a node of their own, which nothing refers
// to.
func (g *graph) addSecret(m *module, b *source.Block) {
	type use struct {
		frame *frame
		item  item
		value *configs.SharedSecret
	}
	var uses []use
	r := g.reach(m)
	value := g.add(&node{id: m.written.Path() + b.ID(), module: m, root: b.Type.Name, name: b.Label, block: b, at: b.Header})
	for _, name := range []string{"kind", schema.NameAttribute.Name, "for_each", "count", "enabled"} {
		if attr := b.Attributes[name]; attr != nil {
			value.needs = append(value.needs, r.edges(attr.Expr)...)
		}
	}
	value.evaluate = func(f *frame) cty.Value {
		return g.repeated(f, b, func(it item) cty.Value {
			e := g.evaluator(f)
			e.scope = it.scope
			s := &configs.SharedSecret{Block: value.address(f, it)}
			s.Name, s.Kind = it.nameOf(e, b), e.string(b, "kind")
			if s.Name == "" || !g.claim("secret", s.Name, s.Block, b.Header) {
				return cty.DynamicVal
			}
			uses = append(uses, use{f, it, s})
			return secretValue("", s.Name, s.Kind, e.awaited(b, "kind"))
		})
	}
	arguments := g.add(&node{id: value.id + " (arguments)", module: m, root: argumentsRoot, argumentsOf: value.id, block: b, at: b.Header})
	arguments.needs = slices.Concat(arguments.needs, []edge{{to: value.id, at: b.Header}}, r.blockEdges(b), g.dependsOn(m, b))
	arguments.evaluate = func(f *frame) cty.Value {
		for _, u := range uses {
			if u.frame == f {
				g.sharedSecret(arguments, f, b, u.item, *u.value)
			}
		}
		return cty.NilVal
	}
}

// sharedSecret evaluates what is said of a secret that stands beside the services.
func (g *graph) sharedSecret(n *node, f *frame, b *source.Block, it item, s configs.SharedSecret) {
	e := g.evaluator(f)
	e.scope = it.scope
	b = e.expanded(b)
	name := s.Name
	s.Secret, s.Lifecycle = e.secret(b), lifecycle(layered{b, e})
	if l := b.One("lifecycle", ""); l != nil {
		e.preconditions(l)
	}
	s.Name, s.Range = name, b.Header
	s.Source = e.secretSource(b, s.Keys, g.config.Cloud.Namespace)
	e.checkArguments(b, s.Kind, s.Source != nil)
	s.Reasons = g.reasonsOf(n, f)
	s.Needs = needsOf(s.Reasons)
	g.config.Secrets = append(g.config.Secrets, s)
}

// secrets makes the secrets of the definition. Their values are known before their
// arguments are evaluated, so that they can refer to each other in any order.
func (in *instance) secrets() {
	blocks := slices.DeleteFunc(slices.Clone(in.definition.All("secret")), func(b *source.Block) bool { return in.isUntold(b.Label) })
	for _, b := range blocks {
		in.inner.scope.groups["secret"][b.Label] = secretValue(in.out.Name, b.Label, in.inner.string(b, "kind"), in.inner.awaited(b, "kind"))
	}
	for _, b := range blocks {
		if isKept(b.Label) {
			in.report.Error(b.LabelRange, "Unsuitable name", "Names that start with %s are kept for the passwords of databases, queues and users.", words.Sorted(keptPrefixes))
		}
		s := in.inner.secret(b)
		s.Source = in.inner.secretSource(b, s.Keys, in.config.Cloud.Namespace)
		if b.Base != nil && len(b.Top.Attributes) == 0 {
			in.withoutSource(b.Top)
		}
		given := isGiven(in.inner, b)
		if given && s.Source == nil && !saysSource(b) {
			in.report.Error(in.block.Header, "Secret that has to be given",
				"Definition %q takes secret %q from outside, and kolla makes up no value for it. Say in service %q where it comes from:\n\n%s",
				in.out.Definition, b.Label, in.block.Label, exampleOf(s))
		}
		if s.Source != nil && b.Base != nil { // what the definition says of it is for others
			in.user.checkArguments(b.Top, s.Kind, true)
		} else {
			in.inner.checkArguments(b, s.Kind, s.Source != nil || given)
		}
		in.out.Secrets = append(in.out.Secrets, s)
	}
}

// meansOwn reports whether a reference means a secret of the definition, which takes
// the place of one beside the services that has its name.
func (in *instance) meansOwn(e edge) bool {
	return slices.ContainsFunc(in.definition.Labels("secret"), func(name string) bool {
		return strings.HasSuffix("."+e.to, ".secret."+name)
	})
}

// mountEdges are the secrets beside the services that are mounted.
func (in *instance) mountEdges() []edge {
	var out []edge
	var within func(*source.Block)
	within = func(b *source.Block) {
		for _, child := range b.Blocks {
			switch {
			case gateOf(child) != open:
			case child.Type != schema.MountType:
				within(child)
			default:
				for _, id := range in.inner.reach.find("secret", child.Label, nil) {
					out = append(out, edge{to: id, at: child.LabelRange})
				}
			}
		}
	}
	within(in.definition)
	return out
}

// passwordPrefix is what the names of databases' passwords begin with.
const passwordPrefix = "db-"

// sourceOfSecret is what the service says about where a secret comes from.
func (in *instance) sourceOfSecret(name string, keys []string) *configs.SecretSource {
	b := in.block.One("secret", name)
	if b == nil {
		return nil
	}
	source := in.user.secretSource(b, keys, in.config.Cloud.Namespace)
	if source == nil && !saysSource(b) {
		in.withoutSource(b)
	}
	return source
}

func (in *instance) withoutSource(b *source.Block) {
	in.report.Error(b.Header, "Missing argument", "It says where the value comes from: one of from_env, from_file, from_secret and value.")
}

// mount finds the secret that a mount block names.
func (in *instance) mount(b *source.Block, e *evaluator) (configs.SecretMount, bool) {
	m := configs.SecretMount{Service: in.out.Name, Secret: b.Label, Path: e.string(b, "path")}
	if slices.Contains(in.definition.Labels("secret"), b.Label) {
		return m, true
	}
	if in.whole.One("secret", b.Label) != nil {
		return m, false // it does not count
	}
	v, ok := e.lookup("secret", b.Label, nil, b.LabelRange)
	if !ok || v.IsKnown() && (v.IsNull() || !v.Type().IsObjectType() || !v.Type().HasAttribute("name")) {
		if in.definition.Complete() {
			in.report.Undeclared(b.LabelRange, "secret", b.Label, e.scope.names("secret"))
		}
		return m, false
	}
	if !v.IsKnown() {
		return m, false
	}
	m.Service, m.Secret = "", v.GetAttr("name").AsString()
	return m, true
}

// secret evaluates what a secret block says about what is generated.
func (e *evaluator) secret(b *source.Block) configs.Secret {
	s := configs.Secret{Name: b.Label, Kind: e.string(b, "kind"), Loss: e.string(b, "loss"), Range: rangeOf(b)}
	s.Keys = secretKinds[s.Kind].keys
	switch s.Kind {
	case "password", "hex", "base64":
		s.Length = e.number(b, "length")
	case "fernet":
		s.Count = e.number(b, fernetKeys(b))
		for i := range s.Count {
			s.Keys = append(s.Keys, strconv.Itoa(i))
		}
	case "ssh":
		s.Algorithm = e.algorithm(b, schema.KeyAlgorithms[0])
	case "x509-ca", "x509":
		s.Algorithm = e.algorithm(b, schema.KeyAlgorithms[1])
		if !saysSource(b) && !isGiven(e, b) {
			s.Cert = e.certificate(b, s.Kind)
		}
	}
	return s
}

// isGiven reports whether a secret is never generated.
func isGiven(e *evaluator, b *source.Block) bool {
	return b.Type == schema.SecretType && e.bool(b, schema.GivenAttribute.Name)
}

// exampleOf is a block that gives a secret.
func exampleOf(s configs.Secret) string {
	if len(s.Keys) == 1 {
		return secretExamples([]string{s.Name})
	}
	return fmt.Sprintf("  secret %q {\n    from_secret = { name = %q }\n  }", s.Name, s.Name)
}

// saysSource reports whether a block says where the value comes from.
func saysSource(b *source.Block) bool {
	return slices.ContainsFunc(schema.SourceAttributes, func(a schema.Attribute) bool {
		return b.Attributes[a.Name] != nil && !isNullLiteral(b.Attributes[a.Name].Expr)
	})
}

// fernetKeys is the argument that says how many keys there are.
func fernetKeys(b *source.Block) string {
	if b.Type == schema.SharedSecretType {
		return "keys"
	}
	return "count"
}

func (e *evaluator) algorithm(b *source.Block, fallback string) string {
	if chosen := e.string(b, "algorithm"); chosen != "" {
		return chosen
	}
	return fallback
}

// certificate evaluates what a certificate is made for.
func (e *evaluator) certificate(b *source.Block, kind string) *configs.Certificate {
	c := &configs.Certificate{
		CommonName:  e.string(b, "common_name"),
		DNSNames:    e.list(b, "dns_names"),
		IPAddresses: e.list(b, "ip_addresses"),
		RenewBefore: e.number(b, "renew_before"),
		Days:        defaultCAValidity,
	}
	if kind == "x509" {
		c.CA, c.Usages, c.Days = e.authority(b), e.usages(b), defaultValidity
		if !e.given(b, "dns_names") && !e.given(b, "ip_addresses") && slices.Contains(c.Usages, "server") {
			e.report.Error(b.Header, "Certificate for nobody", "Clients compare the certificate of a server with the name that they connect to: give dns_names or ip_addresses. One for clients only has usages = [\"client\"].")
		}
	}
	if days := e.number(b, "validity_days"); days > 0 {
		c.Days = days
	}
	if c.RenewBefore >= c.Days && e.settled(b, "renew_before", "validity_days") {
		name := "renew_before"
		if b.Attributes[name] == nil {
			name = "validity_days"
		}
		e.unsuitable(b, name, "The certificate is valid for %d days and would be renewed from %d days before its end on: with every plan.", c.Days, c.RenewBefore)
	}
	return c
}

// authority is the secret that signs a certificate.
func (e *evaluator) authority(b *source.Block) *configs.SecretRef {
	attr := b.Attributes["ca"]
	if attr == nil {
		e.report.Error(b.Header, "Missing argument", "A certificate needs the argument \"ca\": the secret of kind x509-ca that signs it, as in ca = secret.NAME.")
		return nil
	}
	v := e.value(attr.Expr)
	if !v.IsKnown() {
		return nil
	}
	t := v.Type()
	signs := t.IsObjectType() && !v.IsNull() && t.HasAttribute("certificate") && t.HasAttribute("key")
	if signs && !v.GetAttr("certificate").IsKnown() {
		return nil // nobody knows what kind it is
	}
	if signs && !t.HasAttribute("ca_certificate") {
		_, marks := v.GetAttr("certificate").Unmark()
		for m := range marks {
			if made, ok := m.(mark.Generated); ok {
				return (*configs.SecretRef)(&made)
			}
		}
	}
	e.unsuitable(b, "ca", "It must be a secret of kind x509-ca, as in secret.NAME.")
	return nil
}

func (e *evaluator) usages(b *source.Block) []string {
	if !e.given(b, "usages") {
		return schema.KeyUsages[:1]
	}
	chosen := e.list(b, "usages")
	for _, usage := range chosen {
		if !slices.Contains(schema.KeyUsages, usage) {
			e.unsuitable(b, "usages", "%s", words.WithHint(words.DidYouMean(usage, schema.KeyUsages), fmt.Sprintf("%q is not one of: %s.", usage, strings.Join(schema.KeyUsages, ", "))))
		}
	}
	return chosen
}

// checkArguments reports arguments about what is generated that say nothing for the
// kind of the secret, or because it is not generated.
func (e *evaluator) checkArguments(b *source.Block, kind string, given bool) {
	if kind == "" {
		return // it is not known, or there is no such kind
	}
	about := schema.GeneratorAttributes
	if b.Type == schema.SharedSecretType {
		about = schema.SharedGeneratorAttributes()
	}
	for _, attr := range b.Ordered() {
		switch belongs := slices.Contains(secretKinds[kind].arguments, attr.Name); {
		case attr.Name == "kind" || !slices.ContainsFunc(about, func(a schema.Attribute) bool { return a.Name == attr.Name }):
		case given && attr.Name != "keys":
			e.report.Error(attr.NameRange, "Argument without effect", "The value of secret %q is given, so that nothing is generated. Take %q away.", b.Label, attr.Name)
		case !belongs:
			e.report.Error(attr.NameRange, "Argument does not fit the kind", "Secret %q is of kind %s. %s", b.Label, kind, argumentsOf(b, kind))
		}
	}
}

func argumentsOf(b *source.Block, kind string) string {
	arguments := slices.DeleteFunc(slices.Clone(secretKinds[kind].arguments), func(name string) bool { return b.Type.Attribute(name) == nil })
	if len(arguments) == 0 {
		return "That has no arguments about what is generated."
	}
	return fmt.Sprintf("What is generated for that is said by: %s.", words.Sorted(arguments))
}

// secretSource evaluates where values come from that are not generated; nil: they are
// generated, or what is said is wrong, which was reported.
func (e *evaluator) secretSource(b *source.Block, keys []string, namespace string) *configs.SecretSource {
	if value := b.Attributes["value"]; value != nil {
		e.report.Hide(value.Expr.Range())
	}
	var said []schema.Attribute
	for _, a := range schema.SourceAttributes {
		if e.given(b, a.Name) {
			said = append(said, a)
		}
	}
	if len(said) == 0 {
		return nil
	}
	if len(said) > 1 {
		e.report.Error(b.Attributes[said[1].Name].NameRange, "Two sources of a secret", "Its value comes from %s already: take one of the two away.", said[0].Name)
		return nil
	}
	name := said[0].Name
	source := &configs.SecretSource{Range: b.Header}
	whole := false
	switch name {
	case "from_env":
		source.Env = e.string(b, name)
	case "from_file":
		source.File = e.string(b, name)
	case "from_secret":
		source.Existing = e.existing(b, namespace)
		whole = source.Existing != nil && source.Existing.Key == ""
	case "value":
		source.Value = e.givenValue(b)
	}
	if later := e.awaited(b, name); len(later) > 0 {
		source.Value = configs.Text{{Deferred: mark.DeferredBy(cty.DynamicVal.WithMarks(later)), Sensitive: true}}
		source.Env, source.File, source.Existing = "", "", nil
		return source
	}
	if len(keys) > 1 && !whole && e.settled(b, name) {
		e.report.Error(b.Attributes[name].NameRange, "One value for several keys",
			"The secret has the keys %s. Put them into a Secret of the cluster, and name that by from_secret, without a key.", words.Sorted(keys))
		return nil
	}
	if source.Env == "" && source.File == "" && source.Existing == nil && source.Value == nil {
		return nil
	}
	return source
}

// existing evaluates from_secret.
func (e *evaluator) existing(b *source.Block, namespace string) *configs.ExistingSecret {
	fields := e.strings(b, "from_secret")
	known := []string{"name", "namespace", "key"}
	for _, field := range keysOf(fields) {
		if !slices.Contains(known, field) {
			e.unsuitable(b, "from_secret", "%s", words.WithHint(words.DidYouMean(field, known), fmt.Sprintf("It has name, namespace and key, and no %q.", field)))
			return nil
		}
	}
	out := &configs.ExistingSecret{Name: fields["name"], Namespace: fields["namespace"], Key: fields["key"]}
	if out.Namespace == "" {
		out.Namespace = namespace
	}
	for _, part := range []struct {
		field, value string
		form         schema.Form
	}{{"name", out.Name, schema.FormSubdomain}, {"namespace", out.Namespace, schema.FormNamespace}} {
		if part.value == "" && part.field == "name" && len(fields) > 0 {
			e.unsuitable(b, "from_secret", "It needs a %s: { name = \"...\", namespace = \"...\", key = \"...\" }.", part.field)
			return nil
		}
		if part.value != "" && !part.form.Valid(part.value) {
			e.unsuitable(b, "from_secret", "The %s %q is not %s.", part.field, part.value, part.form.Expected)
			return nil
		}
	}
	if out.Name == "" {
		return nil
	}
	return out
}

// givenValue evaluates a value that the configuration itself has.
func (e *evaluator) givenValue(b *source.Block) configs.Text {
	v, ok := e.attribute(b, "value", cty.String)
	if !ok {
		if mark.IsDeferred(v) {
			return configs.Text{{Deferred: mark.DeferredBy(v), Sensitive: true}}
		}
		return nil
	}
	if mark.IsGenerated(v) {
		e.unsuitable(b, "value", "It is made from another secret, which is known only at apply. Refer to that one where this one is used.")
		return nil
	}
	bare, _ := v.Unmark()
	if bare.AsString() == "" {
		e.unsuitable(b, "value", "It is empty.")
		return nil
	}
	if !mark.IsSensitive(v) {
		e.report.WarnUnquoted(b.Attributes["value"].NameRange, "A secret in the configuration",
			"Whoever reads the configuration reads it, and it is still there in every older version of the file. Take it from outside: from_env, from_file, from_secret, or a variable with sensitive = true. Without any of them it is generated.")
	}
	return configs.Text{{Literal: bare.AsString(), Sensitive: true}}
}
