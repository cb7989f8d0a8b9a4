package blocks

import (
	"cmp"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/mark"
	"kolla.openstack.org/kolla/lang/schema"
)

// tlsModes are the modes whose entry point encrypts.
var tlsModes = []string{configs.ModeNodePort, configs.ModeManaged, configs.ModeIngress, configs.ModeGateway}

// longestShortName is the part of an exposure's name that fits into the common name of its CA: X.509
// allows 64 characters.
const longestShortName = 48

// generatorOfTLS are the arguments about a generated certificate.
var generatorOfTLS = []string{"ca", "dns_names", "ip_addresses", "algorithm", "validity_days", "renew_before"}

// fileArguments are the arguments with files, and the keys of the Secret that get their content.
var fileArguments = []struct{ argument, key string }{
	{"certificate_file", configs.KeyCertificate},
	{"key_file", configs.KeyKey},
	{"ca_file", configs.KeyCA},
}

// tls evaluates the block tls of an exposure. It returns nil if there is none. The secrets are those
// that kolla puts into the cluster for it.
func tls(e *eval.Env, exposure *source.Block, x *configs.Exposure) (*configs.TLS, []configs.SharedSecret) {
	b := exposure.One(schema.TLSType.Name, "")
	checkListeners(e, exposure, x, b != nil)
	if b == nil {
		return nil, nil
	}
	if eval.AllKnown(e, exposure, "mode") && x.Mode != "" && !slices.Contains(tlsModes, x.Mode) {
		e.Report.Error(b.Header, "No TLS in this mode", "Exposure %q has the mode %q: its load balancer passes connections on as they are, and the services behind it do not encrypt. Remove the block, or change the mode: TLS is for %s.",
			x.Name, x.Mode, ofModes(slices.Clone(tlsModes)))
		return nil, nil
	}
	t := &configs.TLS{
		Source: configs.TLSGenerated, Secret: "exposure-" + x.Name, PrivateCA: true,
		HSTS: eval.Number(e, b, "hsts_max_age"), Range: b.Header,
	}
	if x.Mode == configs.ModeIngress {
		if t.HSTS = 0; eval.IsSet(e, b, "hsts_max_age") {
			e.Report.Error(b.Attributes["hsts_max_age"].NameRange, "Argument does not fit the mode", "Exposure %q has the mode %q, and an Ingress sets no headers. Remove \"hsts_max_age\", and let the controller send the header Strict-Transport-Security.", x.Name, x.Mode)
		}
	}
	files := func(f struct{ argument, key string }) bool { return eval.IsSet(e, b, f.argument) }
	issued := eval.IsSet(e, b, "issuer")
	if !issued && eval.IsSet(e, b, "issuer_kind") {
		e.Report.Error(b.Attributes["issuer_kind"].NameRange, "Argument without effect", "There is no issuer. Name it with \"issuer\", or remove \"issuer_kind\".")
	}
	switch {
	case issued:
		issuedTLS(e, exposure, b, t)
		return t, nil
	case eval.IsSet(e, b, "secret_name"):
		t.Source, t.Secret, t.SecretRange = configs.TLSSecret, eval.String(e, b, "secret_name"), b.AttributeRange("secret_name")
		refuse(e, b, "secret_name", "certificate_file", "key_file", "ca_file")
		refuse(e, b, "secret_name", generatorOfTLS...)
		return t, nil
	case slices.ContainsFunc(fileArguments, files):
		t.Source = configs.TLSFiles
		return t, filesOfTLS(e, b, x, t)
	}
	return t, generatedTLS(e, exposure, b, x, t)
}

// checkListeners checks the listeners that the block gateway of an exposure names.
func checkListeners(e *eval.Env, exposure *source.Block, x *configs.Exposure, encrypts bool) {
	g := exposure.One("gateway", "")
	if g == nil || x.Mode != configs.ModeGateway {
		return
	}
	switch plain := eval.IsSet(e, g, "http_section"); {
	case plain && !encrypts:
		e.Report.Error(g.Attributes["http_section"].NameRange, "Argument without effect", "Nothing is redirected to https://, because the exposure has no block \"tls\". Remove \"http_section\", or add the block.")
	case encrypts && !eval.IsSet(e, g, "section"):
		e.Report.Error(g.Header, "Missing argument", "With a block \"tls\", a gateway block needs the argument \"section\": the name of the listener with TLS. Otherwise listeners for plain HTTP would lead to the services too.")
	case plain && eval.AllKnown(e, g, "section", "http_section") && eval.String(e, g, "section") == eval.String(e, g, "http_section"):
		eval.Unsuitable(e, g, "http_section", "It is the listener with TLS. Name one for plain HTTP, or remove the argument.")
	}
}

// issuedTLS evaluates the request for a certificate of cert-manager.
func issuedTLS(e *eval.Env, exposure, b *source.Block, t *configs.TLS) {
	refuse(e, b, "issuer", "secret_name", "certificate_file", "key_file", "ca_file", "ca")
	t.Source, t.Secret = configs.TLSIssued, t.Secret+"-tls"
	t.SecretRange = b.AttributeRange("issuer")
	i := &configs.Issuer{
		Kind: eval.String(e, b, "issuer_kind"), Name: eval.String(e, b, "issuer"),
		DNSNames: unique(eval.List(e, b, "dns_names")), IPAddresses: unique(eval.List(e, b, "ip_addresses")),
		Algorithm: eval.String(e, b, "algorithm"),
		Range:     t.SecretRange,
	}
	if eval.IsSet(e, b, "validity_days") {
		i.Days = eval.Number(e, b, "validity_days")
	}
	if eval.IsSet(e, b, "renew_before") {
		i.RenewBefore = eval.Number(e, b, "renew_before")
	}
	if days := cmp.Or(i.Days, daysOfIssued); i.RenewBefore >= days && eval.AllKnown(e, b, "renew_before", "validity_days") {
		eval.Unsuitable(e, b, "renew_before", "The certificate is valid for %d days, so cert-manager refuses to renew it %d days before its end.", days, i.RenewBefore)
	}
	for _, from := range argumentsOfTLS(exposure, b, "issuer", "issuer_kind") {
		i.Deferred = append(i.Deferred, mark.DeferredBy(cty.DynamicVal.WithMarks(eval.Awaited(e, from.b, from.name)))...)
	}
	i.Deferred = unique(i.Deferred)
	t.Issuer = i
}

// daysOfIssued is the validity that cert-manager asks for by default.
const daysOfIssued = 90

// argument is an argument of a block.
type argument struct {
	b    *source.Block
	name string
}

// argumentsOfTLS returns the arguments that a certificate depends on: names of the block tls, and those
// about the names of the certificate and its validity.
func argumentsOfTLS(exposure, b *source.Block, names ...string) []argument {
	out := []argument{{exposure, "vip"}, {exposure, "fqdn"}, {exposure, "domain"}}
	for _, name := range append(names, "dns_names", "ip_addresses", "algorithm", "validity_days", "renew_before") {
		out = append(out, argument{b, name})
	}
	return out
}

// refuse reports arguments that have no effect beside another one.
func refuse(e *eval.Env, b *source.Block, beside string, names ...string) {
	for _, name := range names {
		if eval.IsSet(e, b, name) {
			e.Report.Error(b.Attributes[name].NameRange, "Argument without effect", "The certificate comes from %q. Remove %q.", beside, name)
		}
	}
}

// filesOfTLS returns the secret with the content of files.
func filesOfTLS(e *eval.Env, b *source.Block, x *configs.Exposure, t *configs.TLS) []configs.SharedSecret {
	refuse(e, b, "certificate_file", generatorOfTLS...)
	t.PrivateCA = eval.IsSet(e, b, "ca_file")
	t.FileRanges = map[string]hcl.Range{}
	s := secretOfTLS(x, t.Secret, "x509", b.Header)
	s.Keys = nil
	s.Source = &configs.SecretSource{Files: map[string]string{}, Range: b.AttributeRange("certificate_file")}
	var later cty.ValueMarks
	for _, f := range fileArguments {
		if !eval.IsSet(e, b, f.argument) {
			if f.key != configs.KeyCA {
				e.Report.Error(b.Header, "Missing argument", "A certificate needs two files: certificate_file with the certificate, and key_file with its private key. %q is missing.", f.argument)
			}
			continue
		}
		s.Keys = append(s.Keys, f.key)
		s.Source.Files[f.key] = eval.String(e, b, f.argument)
		t.FileRanges[f.key] = b.AttributeRange(f.argument)
		if awaited := eval.Awaited(e, b, f.argument); len(awaited) > 0 {
			later = awaited
		}
	}
	slices.Sort(s.Keys)
	if len(later) > 0 {
		s.Source.Files, s.Source.Value = nil, knownLater(later)
	}
	return []configs.SharedSecret{s}
}

// generatedTLS returns the secrets of a generated certificate: the certificate, and before it the CA,
// unless the configuration names a CA.
func generatedTLS(e *eval.Env, exposure, b *source.Block, x *configs.Exposure, t *configs.TLS) []configs.SharedSecret {
	var out []configs.SharedSecret
	authority := &configs.SecretRef{Secret: t.Secret + "-ca", Key: configs.KeyCertificate}
	if b.Attributes["ca"] != nil && eval.IsSet(e, b, "ca") {
		authority = authorityOf(e, b)
	} else {
		ca := secretOfTLS(x, authority.Secret, "x509-ca", b.Header)
		ca.Loss = "clients no longer trust the exposure until they get the new CA"
		ca.Cert = &configs.Certificate{CommonName: "CA of exposure " + x.Name[:min(len(x.Name), longestShortName)], Days: defaultCAValidity, RenewBefore: caRenewal}
		out = append(out, ca)
	}
	s := secretOfTLS(x, t.Secret, "x509", b.Header)
	s.Algorithm = eval.String(e, b, "algorithm")
	c := &configs.Certificate{
		CA:          authority,
		DNSNames:    eval.List(e, b, "dns_names"),
		IPAddresses: eval.List(e, b, "ip_addresses"),
		Days:        eval.Number(e, b, "validity_days"),
		RenewBefore: eval.Number(e, b, "renew_before"),
		Usages:      schema.KeyUsages[:1],
	}
	switch { // the names of clients come first
	case x.Domain != "":
		c.DNSNames = append([]string{"*." + x.Domain}, c.DNSNames...)
	case x.FQDN != "":
		c.DNSNames = append([]string{x.FQDN}, c.DNSNames...)
	}
	if x.VIP != "" && x.Domain == "" {
		c.IPAddresses = append([]string{x.VIP}, c.IPAddresses...)
	}
	c.DNSNames, c.IPAddresses = unique(c.DNSNames), unique(c.IPAddresses)
	checkRenewal(e, b, c)
	s.Cert = c
	for _, from := range argumentsOfTLS(exposure, b, "ca") {
		if later := eval.Awaited(e, from.b, from.name); len(later) > 0 {
			s.Cert, s.Source = nil, &configs.SecretSource{Value: knownLater(later), Range: b.Header}
		}
	}
	if authority == nil && s.Source == nil {
		return nil // the mistake in `ca` was reported
	}
	return append(out, s)
}

// secretOfTLS returns a secret of an exposure without its values.
func secretOfTLS(x *configs.Exposure, name, kind string, at hcl.Range) configs.SharedSecret {
	s := configs.SharedSecret{Exposure: x.Name, Secret: configs.Secret{Name: name, Kind: kind, Keys: secretKinds[kind].keys, Range: at}}
	s.Algorithm = schema.KeyAlgorithms[1]
	return s
}

// knownLater is the value of a secret that an apply gets to know.
func knownLater(later cty.ValueMarks) configs.Text {
	return configs.Text{{Deferred: mark.DeferredBy(cty.DynamicVal.WithMarks(later)), Sensitive: true}}
}

// unique removes repeated elements.
func unique(list []string) []string {
	var out []string
	for _, s := range list {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
