package objects

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"kolla.openstack.org/kolla/internal/run/doctor/cluster"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/providers/secrets"
)

var secretKind = kinds.Secret.WithVersion("v1")

// ReadSecrets reads the namespaces with Secrets that the configuration uses or makes.
func ReadSecrets(f *cluster.Facts) []providers.Scope {
	var scopes []providers.Scope
	for _, ref := range secretRefs(f) {
		if scope := (providers.Scope{GVK: secretKind, Namespace: ref.Namespace}); !slices.Contains(scopes, scope) {
			scopes = append(scopes, scope)
		}
	}
	return scopes
}

// secretRefs returns the Secrets that the objects of the configuration declare, mount, or take values
// from, each once.
func secretRefs(f *cluster.Facts) []providers.Ref {
	found := map[providers.Ref]bool{}
	add := func(namespace, name string) {
		found[providers.Ref{GVK: secretKind, Namespace: namespace, Name: name}] = true
	}
	for _, x := range f.Config.Exposures {
		if x.TLS != nil {
			add(f.Config.Cloud.Namespace, x.TLS.Secret)
		}
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
	return slices.SortedFunc(maps.Keys(found), func(a, b providers.Ref) int { return cmp.Compare(a.String(), b.String()) })
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

// Certificates reports certificates that have ended, that end soon, or that do not fit their key.
func Certificates(f *cluster.Facts) ([]cluster.Finding, error) {
	var out []cluster.Finding
	var unread []error
	for _, scope := range ReadSecrets(f) {
		_, err := f.List(scope.GVK, scope.Namespace)
		unread = append(unread, err)
	}
	for _, ref := range secretRefs(f) {
		if _, err := f.List(secretKind, ref.Namespace); err != nil {
			continue
		}
		values := providers.ValuesOf(f.Live.Get(ref))
		for _, key := range slices.Sorted(maps.Keys(values)) {
			subject := fmt.Sprintf("Secret %s/%s, %s", ref.Namespace, ref.Name, key)
			out = append(out, findEnd(f.Now, subject, secrets.Certificates(values[key]), warning(f, providers.SecretKey{Namespace: ref.Namespace, Name: ref.Name, Key: key}))...)
		}
		if values[configs.KeyKey] == nil || len(secrets.Certificates(values[configs.KeyCertificate])) == 0 {
			continue
		}
		if _, err := tls.X509KeyPair(values[configs.KeyCertificate], values[configs.KeyKey]); err != nil {
			out = append(out, cluster.Finding{
				Severity: cluster.Error, Subject: fmt.Sprintf("Secret %s/%s", ref.Namespace, ref.Name),
				Problem: fmt.Sprintf("%s does not fit %s", configs.KeyKey, configs.KeyCertificate),
				Reason:  "Programs refuse to start with them, or refuse connections.",
				Next:    "Replace both together, in the place that the configuration takes them from, and apply.",
			})
		}
	}
	return out, errors.Join(unread...)
}

// renewal returns how long before its end kolla renews the certificate in a value; 0: kolla does not
// make it.
func renewal(f *cluster.Facts, of providers.SecretKey) time.Duration {
	for i := range f.Objects {
		o := &f.Objects[i]
		if o.Ref().GVK != secretKind || o.Ref().Namespace != of.Namespace || o.Ref().Name != of.Name {
			continue
		}
		g := o.Data[of.Key].Generate
		switch {
		case g == nil || g.Cert == nil:
			return 0
		case of.Key == configs.KeyCA && g.Cert.Issuer != nil: // a copy of the certificate of the CA
			return renewal(f, *g.Cert.Issuer)
		}
		return time.Duration(g.Cert.RenewBefore) * 24 * time.Hour
	}
	return 0
}

// warning returns how long before its end a certificate in a value is reported. Those that kolla makes are
// reported from the day on which a plan renews them, and those of cert-manager after it should have.
func warning(f *cluster.Facts, of providers.SecretKey) func(*x509.Certificate) time.Duration {
	for _, x := range f.Config.Exposures {
		if x.TLS != nil && x.TLS.Issuer != nil && x.TLS.Secret == of.Name && f.Config.Cloud.Namespace == of.Namespace && of.Key != configs.KeyCA {
			renewal := time.Duration(x.TLS.Issuer.RenewBefore) * 24 * time.Hour
			return func(cert *x509.Certificate) time.Duration { return secrets.OverdueWithin(cert, renewal) }
		}
	}
	renewal := renewal(f, of)
	return func(cert *x509.Certificate) time.Duration { return cmp.Or(renewal, secrets.EndsWithin(cert)) }
}

// findEnd reports the certificate of a value that ends first, if one has ended or ends soon. warning is as
// in warning.
func findEnd(now time.Time, subject string, certs []*x509.Certificate, warning func(*x509.Certificate) time.Duration) []cluster.Finding {
	var first *x509.Certificate
	number := 0
	for i, cert := range certs {
		if now.Add(warning(cert)).Before(cert.NotAfter) || first != nil && !cert.NotAfter.Before(first.NotAfter) {
			continue
		}
		first, number = cert, i+1
	}
	if first == nil {
		return nil
	}
	name := "the certificate"
	if len(certs) > 1 {
		name = fmt.Sprintf("certificate %d of %d", number, len(certs))
	}
	end := first.NotAfter.UTC().Format("2006-01-02 15:04 UTC")
	finding := cluster.Finding{
		Severity: cluster.Warning, Subject: subject,
		Problem: name + " ends on " + end,
		Reason:  "From then on, clients refuse connections that it secures.",
		Next:    "kolla apply renews certificates that kolla makes, in time before their end, and cert-manager its own: kubectl describe certificate has the reason if it does not. Replace others in the place that the configuration takes them from, and apply.",
	}
	if now.After(first.NotAfter) {
		finding.Severity = cluster.Error
		finding.Problem = name + " has ended on " + end
		finding.Reason = "Clients refuse connections that it secures."
	}
	return []cluster.Finding{finding}
}
