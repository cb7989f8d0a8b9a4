package blocks

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/layers"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/mark"
	"kolla.openstack.org/kolla/lang/schema"
	"kolla.openstack.org/kolla/lang/schema/forms"
)

// secretKind describes one kind of secrets.
type secretKind struct {
	// keys are the keys of the Secret in the cluster. They are nil if they depend on arguments.
	keys []string
	// values maps the attributes that expressions read to keys.
	values map[string]string
	// arguments are the arguments that only some kinds have.
	arguments []string
}

var (
	oneValue  = map[string]string{"value": configs.KeyValue}
	ofKeyPair = []string{"common_name", "validity_days", "renew_before", "algorithm"}
)

// secretKinds are the kinds of secrets.
var secretKinds = map[string]secretKind{
	"password": {keys: []string{configs.KeyValue}, values: oneValue, arguments: []string{"length"}},
	"hex":      {keys: []string{configs.KeyValue}, values: oneValue, arguments: []string{"length"}},
	"base64":   {keys: []string{configs.KeyValue}, values: oneValue, arguments: []string{"length"}},
	"uuid":     {keys: []string{configs.KeyValue}, values: oneValue},
	"fernet":   {arguments: []string{"count", "keys", "rotate", "keep"}},
	"ssh": {
		keys:      []string{configs.KeyPrivate, configs.KeyPublic},
		values:    map[string]string{"private_key": configs.KeyPrivate, "public_key": configs.KeyPublic},
		arguments: []string{"algorithm"},
	},
	"x509-ca": {
		keys:      []string{configs.KeyCertificate, configs.KeyKey},
		values:    map[string]string{"certificate": configs.KeyCertificate, "key": configs.KeyKey},
		arguments: ofKeyPair,
	},
	"x509": {
		keys:      []string{configs.KeyCA, configs.KeyCertificate, configs.KeyKey},
		values:    map[string]string{"certificate": configs.KeyCertificate, "key": configs.KeyKey, "ca_certificate": configs.KeyCA},
		arguments: slices.Concat(ofKeyPair, []string{"ca", "dns_names", "ip_addresses", "usages"}),
	},
}

const (
	defaultValidity   = 365  // days, of a certificate
	defaultCAValidity = 3650 // days, of the certificate of a CA
	caRenewal         = 730  // days before its end; certificates that it signs end no later than it
)

// readKeys is the attribute with the keys of a fernet secret.
const readKeys = "keys"

// NumberOfKeys returns the number of keys of a fernet secret, and 0 for other kinds.
func NumberOfKeys(e *eval.Env, b *source.Block, kind string) int {
	if kind != "fernet" {
		return 0
	}
	return eval.Number(e, b, fernetKeys(b))
}

// SecretValue returns the value of secret.NAME for expressions: the values of the kind, and the
// name of the Secret in the cluster. If the kind is unknown, it has any value. awaited are the
// marks of unknown data that it waits for. keys is the number of keys of a fernet secret.
func SecretValue(service, name, kind string, keys int, awaited cty.ValueMarks) cty.Value {
	ref := configs.SecretRef{Service: service, Secret: name}
	values := map[string]cty.Value{"name": cty.StringVal(ref.Object())}
	if kind == "" {
		for _, r := range schema.SecretReadings[1:] {
			values[r.Name] = cty.UnknownVal(cty.String).WithMarks(awaited).Mark(mark.Sensitive{})
		}
		values[readKeys] = cty.UnknownVal(cty.List(cty.String)).WithMarks(awaited).Mark(mark.Sensitive{})
	}
	for attribute, key := range secretKinds[kind].values {
		ref.Key = key
		values[attribute] = mark.Generated(ref).Token()
	}
	if keys > 0 {
		var list []cty.Value
		for number := keys - 1; number >= 0; number-- {
			ref.Key = strconv.Itoa(number)
			list = append(list, mark.Generated(ref).Token())
		}
		values[readKeys] = cty.ListVal(list)
	}
	return cty.ObjectVal(values)
}

// Secret evaluates the arguments of a secret block for the generation.
func Secret(e *eval.Env, b *source.Block) configs.Secret {
	s := configs.Secret{Name: b.Label, Kind: eval.String(e, b, "kind"), Loss: eval.String(e, b, "loss"), Range: RangeOf(b)}
	s.Keys = secretKinds[s.Kind].keys
	switch s.Kind {
	case "password", "hex", "base64":
		s.Length = eval.Number(e, b, "length")
	case "fernet":
		s.Count = eval.Number(e, b, fernetKeys(b))
		for i := range s.Count {
			s.Keys = append(s.Keys, strconv.Itoa(i))
		}
		s.Rotate, s.Keep = eval.Number(e, b, "rotate"), eval.List(e, b, "keep")
		checkRotation(e, b, s)
	case "ssh":
		s.Algorithm = algorithmOf(e, b, schema.KeyAlgorithms[0])
	case "x509-ca", "x509":
		s.Algorithm = algorithmOf(e, b, schema.KeyAlgorithms[1])
		if !SaysSource(b) && !IsGiven(e, b) {
			s.Cert = certificateOf(e, b, s.Kind)
		}
	}
	return s
}

// checkRotation reports keys that would be dropped by the rotation that replaces them.
func checkRotation(e *eval.Env, b *source.Block, s configs.Secret) {
	if s.Rotate == 0 || s.Count >= configs.RotatedKeys || !eval.AllKnown(e, b, fernetKeys(b)) {
		return
	}
	eval.Unsuitable(e, b, "rotate", "A rotation needs at least %d keys: the staged one, the primary one and the one before it. The secret has %d: set %s.", configs.RotatedKeys, s.Count, fernetKeys(b))
}

// IsGiven reports whether kolla never generates the secret.
func IsGiven(e *eval.Env, b *source.Block) bool {
	return b.Type == schema.SecretType && eval.Bool(e, b, schema.GivenAttribute.Name)
}

// ExampleOf returns an example of a block with a source for a secret.
func ExampleOf(s configs.Secret) string {
	if len(s.Keys) == 1 {
		return SecretExamples([]string{s.Name})
	}
	return fmt.Sprintf("  secret %q {\n    from_secret = { name = %q }\n  }", s.Name, s.Name)
}

// SaysSource reports whether a block has a source for its value.
func SaysSource(b *source.Block) bool {
	return slices.ContainsFunc(schema.SourceAttributes, func(a schema.Attribute) bool {
		return b.Attributes[a.Name] != nil && !layers.IsNullLiteral(b.Attributes[a.Name].Expr)
	})
}

// fernetKeys returns the argument with the number of keys.
func fernetKeys(b *source.Block) string {
	if b.Type == schema.SharedSecretType {
		return "keys"
	}
	return "count"
}

func algorithmOf(e *eval.Env, b *source.Block, fallback string) string {
	if chosen := eval.String(e, b, "algorithm"); chosen != "" {
		return chosen
	}
	return fallback
}

// certificateOf evaluates the arguments of a certificate.
func certificateOf(e *eval.Env, b *source.Block, kind string) *configs.Certificate {
	c := &configs.Certificate{
		CommonName:  eval.String(e, b, "common_name"),
		DNSNames:    eval.List(e, b, "dns_names"),
		IPAddresses: eval.List(e, b, "ip_addresses"),
		RenewBefore: eval.Number(e, b, "renew_before"),
		Days:        defaultCAValidity,
	}
	if kind == "x509" {
		c.CA, c.Usages, c.Days = authorityOf(e, b), usagesOf(e, b), defaultValidity
		if !eval.IsSet(e, b, "dns_names") && !eval.IsSet(e, b, "ip_addresses") && slices.Contains(c.Usages, "server") {
			e.Report.Error(b.Header, "Certificate for nobody", "Clients compare the certificate of a server with the name that they connect to: give dns_names or ip_addresses. One for clients only has usages = [\"client\"].")
		}
	}
	if days := eval.Number(e, b, "validity_days"); days > 0 {
		c.Days = days
	}
	checkRenewal(e, b, c)
	return c
}

// checkRenewal reports a certificate that every plan would renew.
func checkRenewal(e *eval.Env, b *source.Block, c *configs.Certificate) {
	if c.RenewBefore < c.Days || !eval.AllKnown(e, b, "renew_before", "validity_days") {
		return
	}
	name := "renew_before"
	if b.Attributes[name] == nil {
		name = "validity_days"
	}
	eval.Unsuitable(e, b, name, "The certificate is valid for %d days and would be renewed from %d days before its end on: with every plan.", c.Days, c.RenewBefore)
}

// authorityOf returns the secret that signs a certificate.
func authorityOf(e *eval.Env, b *source.Block) *configs.SecretRef {
	attr := b.Attributes["ca"]
	if attr == nil {
		e.Report.Error(b.Header, "Missing argument", "A certificate needs the argument \"ca\": the secret of kind x509-ca that signs it, as in ca = secret.NAME.")
		return nil
	}
	v := e.Value(attr.Expr)
	if !v.IsKnown() {
		return nil
	}
	t := v.Type()
	signs := t.IsObjectType() && !v.IsNull() && t.HasAttribute("certificate") && t.HasAttribute("key")
	if signs && !v.GetAttr("certificate").IsKnown() {
		return nil // its kind is unknown
	}
	if signs && !t.HasAttribute("ca_certificate") {
		_, marks := v.GetAttr("certificate").Unmark()
		for m := range marks {
			if made, ok := m.(mark.Generated); ok {
				return (*configs.SecretRef)(&made)
			}
		}
	}
	eval.Unsuitable(e, b, "ca", "It must be a secret of kind x509-ca, as in secret.NAME.")
	return nil
}

func usagesOf(e *eval.Env, b *source.Block) []string {
	if !eval.IsSet(e, b, "usages") {
		return schema.KeyUsages[:1]
	}
	chosen := eval.List(e, b, "usages")
	for _, usage := range chosen {
		if !slices.Contains(schema.KeyUsages, usage) {
			eval.Unsuitable(e, b, "usages", "%s", words.WithHint(words.DidYouMean(usage, schema.KeyUsages), fmt.Sprintf("%q is not one of: %s.", usage, strings.Join(schema.KeyUsages, ", "))))
		}
	}
	return chosen
}

// CheckSecretArguments reports arguments for the generation that have no effect for the kind
// of the secret, or because kolla does not generate the secret.
func CheckSecretArguments(e *eval.Env, b *source.Block, kind string, given bool) {
	if kind == "" {
		return // the kind is unknown or does not exist
	}
	about := schema.GeneratorAttributes
	if b.Type == schema.SharedSecretType {
		about = schema.SharedGeneratorAttributes()
	}
	for _, attr := range b.Ordered() {
		switch belongs := slices.Contains(secretKinds[kind].arguments, attr.Name); {
		case attr.Name == "kind" || !slices.ContainsFunc(about, func(a schema.Attribute) bool { return a.Name == attr.Name }):
		case given && attr.Name != "keys":
			e.Report.Error(attr.NameRange, "Argument without effect", "The value of secret %q is given, so that nothing is generated. Take %q away.", b.Label, attr.Name)
		case !belongs:
			e.Report.Error(attr.NameRange, "Argument does not fit the kind", "Secret %q is of kind %s. %s", b.Label, kind, argumentsOf(b, kind))
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

// SecretSource evaluates the source of a secret that kolla does not generate. It is nil if
// kolla generates the secret, or after a reported error.
func SecretSource(e *eval.Env, b *source.Block, keys []string, namespace string) *configs.SecretSource {
	if value := b.Attributes["value"]; value != nil {
		e.Report.Hide(value.Expr.Range())
	}
	var said []schema.Attribute
	for _, a := range schema.SourceAttributes {
		if eval.IsSet(e, b, a.Name) {
			said = append(said, a)
		}
	}
	if len(said) == 0 {
		return nil
	}
	if len(said) > 1 {
		e.Report.Error(b.Attributes[said[1].Name].NameRange, "Two sources of a secret", "Its value comes from %s already: take one of the two away.", said[0].Name)
		return nil
	}
	name := said[0].Name
	source := &configs.SecretSource{Range: b.Header}
	whole := false
	switch name {
	case "from_env":
		source.Env = eval.String(e, b, name)
	case "from_file":
		source.File = eval.String(e, b, name)
	case "from_secret":
		source.Existing = existingSecret(e, b, namespace)
		whole = source.Existing != nil && source.Existing.Key == ""
	case "value":
		source.Value = givenValue(e, b)
	}
	if later := eval.Awaited(e, b, name); len(later) > 0 {
		source.Value = knownLater(later)
		source.Env, source.File, source.Existing = "", "", nil
		return source
	}
	if len(keys) > 1 && !whole && eval.AllKnown(e, b, name) {
		e.Report.Error(b.Attributes[name].NameRange, "One value for several keys",
			"The secret has the keys %s. Put them into a Secret of the cluster, and name that by from_secret, without a key.", words.Sorted(keys))
		return nil
	}
	if source.Env == "" && source.File == "" && source.Existing == nil && source.Value == nil {
		return nil
	}
	return source
}

// existingSecret evaluates from_secret.
func existingSecret(e *eval.Env, b *source.Block, namespace string) *configs.ExistingSecret {
	fields := eval.Strings(e, b, "from_secret")
	known := []string{"name", "namespace", "key"}
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(known, field) {
			eval.Unsuitable(e, b, "from_secret", "%s", words.WithHint(words.DidYouMean(field, known), fmt.Sprintf("It has name, namespace and key, and no %q.", field)))
			return nil
		}
	}
	out := &configs.ExistingSecret{Name: fields["name"], Namespace: fields["namespace"], Key: fields["key"]}
	if out.Namespace == "" {
		out.Namespace = namespace
	}
	for _, part := range []struct {
		field, value string
		form         forms.Form
	}{{"name", out.Name, forms.Subdomain}, {"namespace", out.Namespace, forms.Namespace}} {
		if part.value == "" && part.field == "name" && len(fields) > 0 {
			eval.Unsuitable(e, b, "from_secret", "It needs a %s: { name = \"...\", namespace = \"...\", key = \"...\" }.", part.field)
			return nil
		}
		if part.value != "" && !part.form.Valid(part.value) {
			eval.Unsuitable(e, b, "from_secret", "The %s %q is not %s.", part.field, part.value, part.form.Expected)
			return nil
		}
	}
	if out.Name == "" {
		return nil
	}
	return out
}

// givenValue evaluates a value from the configuration.
func givenValue(e *eval.Env, b *source.Block) configs.Text {
	v, ok := eval.Attribute(e, b, "value", cty.String)
	if !ok {
		if mark.IsDeferred(v) {
			return configs.Text{{Deferred: mark.DeferredBy(v), Sensitive: true}}
		}
		return nil
	}
	if mark.IsGenerated(v) {
		eval.Unsuitable(e, b, "value", "It is made from another secret, which is known only at apply. Refer to that one where this one is used.")
		return nil
	}
	bare, _ := v.Unmark()
	if bare.AsString() == "" {
		eval.Unsuitable(e, b, "value", "It is empty.")
		return nil
	}
	if !mark.IsSensitive(v) {
		e.Report.WarnUnquoted(b.Attributes["value"].NameRange, "A secret in the configuration",
			"Whoever reads the configuration reads it, and it is still there in every older version of the file. Take it from outside: from_env, from_file, from_secret, or a variable with sensitive = true. Without any of them it is generated.")
	}
	return configs.Text{{Literal: bare.AsString(), Sensitive: true}}
}

// SecretExamples are examples of blocks with sources for secrets.
func SecretExamples(names []string) string {
	var out []string
	for _, name := range names {
		out = append(out, fmt.Sprintf("  secret %q {\n    from_env = %q\n  }", name, strings.ToUpper(strings.ReplaceAll(name, "-", "_"))))
	}
	return strings.Join(out, "\n")
}

// PasswordKeys returns the keys of the Secret of a password.
func PasswordKeys() []string { return secretKinds["password"].keys }
