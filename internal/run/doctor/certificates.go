package doctor

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"maps"
	"slices"
	"time"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

var secretKind = kinds.Secret.WithVersion("v1")

// endsSoon is how long before its end a certificate is reported.
const endsSoon = 30 * 24 * time.Hour

// readSecrets reads the namespaces with Secrets that the configuration uses or makes.
func readSecrets(f *Facts) []providers.Scope {
	var scopes []providers.Scope
	for _, ref := range f.secrets() {
		if scope := (providers.Scope{GVK: secretKind, Namespace: ref.Namespace}); !slices.Contains(scopes, scope) {
			scopes = append(scopes, scope)
		}
	}
	return scopes
}

// secrets returns the Secrets that the objects of the configuration declare, mount, or take values
// from, each once.
func (f *Facts) secrets() []providers.Ref {
	found := map[providers.Ref]bool{}
	add := func(namespace, name string) {
		found[providers.Ref{GVK: secretKind, Namespace: namespace, Name: name}] = true
	}
	for i := range f.Objects {
		o := &f.Objects[i]
		if o.Ref().GVK == secretKind {
			add(o.Ref().Namespace, o.Ref().Name)
		}
		for _, value := range o.Data {
			for _, part := range value.Parts {
				if part.From != nil {
					add(part.From.Namespace, part.From.Name)
				}
			}
		}
		if o.Ref().Namespace != "" {
			references(o.Manifest.Object, func(name string) { add(o.Ref().Namespace, name) })
		}
	}
	return slices.SortedFunc(maps.Keys(found), func(a, b providers.Ref) int { return bytes.Compare([]byte(a.String()), []byte(b.String())) })
}

// references calls found with each name of a Secret in a manifest: of volumes, of variables of
// containers, and of an Ingress.
func references(value any, found func(name string)) {
	switch value := value.(type) {
	case map[string]any:
		for key, item := range value {
			switch inner, _ := item.(map[string]any); key {
			case "secretName":
				if name, ok := item.(string); ok && name != "" {
					found(name)
				}
			case "secretRef", "secretKeyRef", "secret":
				if name, ok := inner["name"].(string); ok && name != "" {
					found(name)
				}
			}
			references(item, found)
		}
	case []any:
		for _, item := range value {
			references(item, found)
		}
	}
}

// findCertificates reports certificates that have ended or end soon, and those that do not fit
// their key. It looks at the first certificate of each value.
func findCertificates(f *Facts) ([]Finding, error) {
	var out []Finding
	for _, scope := range readSecrets(f) {
		if _, err := f.list(scope.GVK, scope.Namespace); err != nil {
			return nil, err
		}
	}
	for _, ref := range f.secrets() {
		values := providers.ValuesOf(f.Live.Get(ref))
		for _, key := range slices.Sorted(maps.Keys(values)) {
			if cert := firstCertificate(values[key]); cert != nil {
				out = append(out, findEnd(f.Now, fmt.Sprintf("Secret %s/%s, %s", ref.Namespace, ref.Name, key), cert)...)
			}
		}
		if values[configs.KeyCertificate] == nil || values[configs.KeyKey] == nil || firstCertificate(values[configs.KeyCertificate]) == nil {
			continue
		}
		if _, err := tls.X509KeyPair(values[configs.KeyCertificate], values[configs.KeyKey]); err != nil {
			out = append(out, Finding{
				Severity: Error, Subject: fmt.Sprintf("Secret %s/%s", ref.Namespace, ref.Name),
				Problem: fmt.Sprintf("%s does not fit %s", configs.KeyKey, configs.KeyCertificate),
				Reason:  "Programs refuse to start with them, or refuse connections.",
				Next:    "Replace both together, in the place that the configuration takes them from, and apply.",
			})
		}
	}
	return out, nil
}

// firstCertificate returns the first certificate of a text in PEM; nil: it has none.
func firstCertificate(text []byte) *x509.Certificate {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "CERTIFICATE" {
		return nil
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil
	}
	return cert
}

// findEnd reports a certificate that has ended, or that ends soon.
func findEnd(now time.Time, subject string, cert *x509.Certificate) []Finding {
	finding := Finding{
		Severity: Warning, Subject: subject,
		Problem: "the certificate ends on " + cert.NotAfter.UTC().Format("2006-01-02 15:04 UTC"),
		Reason:  "From then on, clients refuse connections that it secures.",
		Next:    "kolla apply renews certificates that kolla makes, in time before their end. Replace others in the place that the configuration takes them from, and apply.",
	}
	switch {
	case now.After(cert.NotAfter):
		finding.Severity = Error
		finding.Problem = "the certificate has ended on " + cert.NotAfter.UTC().Format("2006-01-02 15:04 UTC")
		finding.Reason = "Clients refuse connections that it secures."
	case now.Add(endsSoon).Before(cert.NotAfter):
		return nil
	}
	return []Finding{finding}
}
