package blocks

import (
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
var tlsModes = []string{configs.ModeNodePort, configs.ModeManaged}

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
	if b == nil {
		return nil, nil
	}
	if eval.AllKnown(e, exposure, "mode") && x.Mode != "" && !slices.Contains(tlsModes, x.Mode) {
		e.Report.Error(b.Header, "No TLS in this mode", "Exposure %q has the mode %q, and only %s have TLS. Remove the block, or let the load balancer encrypt.", x.Name, x.Mode, ofModes(slices.Clone(tlsModes)))
		return nil, nil
	}
	t := &configs.TLS{
		Source: configs.TLSGenerated, Secret: "exposure-" + x.Name, PrivateCA: true,
		HSTS: eval.Number(e, b, "hsts_max_age"), Range: b.Header,
	}
	if host := x.Host(); host != "" {
		t.Hosts = []string{host}
	}
	switch {
	case eval.IsSet(e, b, "secret_name"):
		t.Source, t.Secret, t.SecretRange = configs.TLSSecret, eval.String(e, b, "secret_name"), b.AttributeRange("secret_name")
		refuse(e, b, "secret_name", "certificate_file", "key_file", "ca_file")
		refuse(e, b, "secret_name", generatorOfTLS...)
		return t, nil
	case slices.ContainsFunc(fileArguments, func(f struct{ argument, key string }) bool { return eval.IsSet(e, b, f.argument) }):
		t.Source = configs.TLSFiles
		return t, filesOfTLS(e, b, x, t)
	}
	return t, generatedTLS(e, exposure, b, x, t)
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
	if x.FQDN != "" {
		c.DNSNames = append([]string{x.FQDN}, c.DNSNames...)
	}
	if x.VIP != "" {
		c.IPAddresses = append([]string{x.VIP}, c.IPAddresses...)
	}
	c.DNSNames, c.IPAddresses = unique(c.DNSNames), unique(c.IPAddresses)
	checkRenewal(e, b, c)
	s.Cert = c
	for _, from := range []struct {
		b    *source.Block
		name string
	}{{exposure, "vip"}, {exposure, "fqdn"}, {b, "ca"}, {b, "dns_names"}, {b, "ip_addresses"}, {b, "algorithm"}, {b, "validity_days"}, {b, "renew_before"}} {
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
