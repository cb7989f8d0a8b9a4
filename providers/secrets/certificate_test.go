package secrets_test

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/secrets"
)

// certificateSecret is a Secret whose values the generator makes together.
func certificateSecret(name string, g *providers.Generator, keys ...string) *providers.Object {
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret"}}
	u.SetName(name)
	u.SetNamespace("openstack")
	u.SetAnnotations(map[string]string{providers.AnnotationRevision: "r"})
	o := &providers.Object{Manifest: u, Data: map[string]providers.SecretData{}}
	for _, key := range keys {
		o.Data[key] = providers.SecretData{Generate: g}
	}
	return o
}

func rootCA() (*providers.Generator, *providers.Object) {
	g := &providers.Generator{Kind: "x509-ca", Algorithm: "ecdsa", Cert: &providers.Certificate{CommonName: "root", Days: 100, RenewBefore: 10}}
	return g, certificateSecret("root", g, configs.KeyCertificate, configs.KeyKey)
}

func leaf() (*providers.Generator, *providers.Object) {
	g := &providers.Generator{Kind: "x509", Algorithm: "ed25519", Cert: &providers.Certificate{
		Issuer:     &providers.SecretKey{Namespace: "openstack", Name: "root", Key: configs.KeyCertificate},
		CommonName: "web", DNSNames: []string{"web.example.org", "a.example.org"}, IPAddresses: []string{"2001:db8:0::1"},
		Days: 50, RenewBefore: 10, Usages: []string{"server", "client"},
	}}
	return g, certificateSecret("web", g, configs.KeyCA, configs.KeyCertificate, configs.KeyKey)
}

// cluster holds the values of Secrets by name.
type cluster map[string]map[string][]byte

func (c cluster) values(_, name string) map[string][]byte { return c[name] }

// write resolves an object as an apply does.
func (c cluster) write(t *testing.T, o *providers.Object) {
	t.Helper()
	manifest, pending, err := secrets.Resolve(o, c.values, true)
	if err != nil || len(pending) > 0 {
		t.Fatalf("%s: pending %v, error %v", o.Ref(), pending, err)
	}
	c[o.Manifest.GetName()] = providers.ValuesOf(manifest)
}

func TestDue(t *testing.T) {
	rootGenerator, root := rootCA()
	g, web := leaf()
	live := cluster{}
	live.write(t, root)
	live.write(t, web)
	other := cluster{}
	other.write(t, root)
	now := time.Now()
	days := func(n int) time.Time { return now.Add(time.Duration(n) * 24 * time.Hour) }

	changed := func(change func(*providers.Certificate)) *providers.Generator {
		cert := *g.Cert
		change(&cert)
		return &providers.Generator{Kind: g.Kind, Algorithm: g.Algorithm, Cert: &cert}
	}
	for name, test := range map[string]struct {
		generator *providers.Generator
		own       map[string][]byte
		issuer    map[string][]byte
		anew      bool
		now       time.Time
		want      string
	}{
		"as it should be":    {generator: g, now: days(39)},
		"it ends soon":       {generator: g, now: days(41), want: "it ends on " + days(50).UTC().Format(time.DateOnly)},
		"it has ended":       {generator: g, now: days(60), want: "it ends on " + days(50).UTC().Format(time.DateOnly)},
		"no values":          {generator: g, own: map[string][]byte{}},
		"its CA is new":      {generator: g, anew: true, want: "its CA is made anew"},
		"another CA":         {generator: g, issuer: other["root"], want: "it is not signed by its CA as that is now"},
		"no CA":              {generator: g, issuer: map[string][]byte{}, want: "it is not signed by its CA as that is now"},
		"the key of another": {generator: g, own: map[string][]byte{configs.KeyCertificate: live["web"][configs.KeyCertificate], configs.KeyKey: live["root"][configs.KeyKey]}, want: "tls.key is not the key of tls.crt"},
		"no certificate":     {generator: g, own: map[string][]byte{configs.KeyCertificate: []byte("x"), configs.KeyKey: []byte("y")}, want: "tls.crt holds no certificate in PEM"},
		"names in another order": {generator: changed(func(c *providers.Certificate) {
			c.DNSNames = []string{"a.example.org", "web.example.org"}
		})},
		"another name":      {generator: changed(func(c *providers.Certificate) { c.DNSNames = []string{"b.example.org"} }), want: "it has another list of dns_names"},
		"another address":   {generator: changed(func(c *providers.Certificate) { c.IPAddresses = nil }), want: "it has another list of ip_addresses"},
		"another use":       {generator: changed(func(c *providers.Certificate) { c.Usages = []string{"client"} }), want: "it has another list of usages"},
		"another algorithm": {generator: &providers.Generator{Kind: "x509", Algorithm: "rsa", Cert: g.Cert}, want: "it has another algorithm"},
		// A certificate never outlives its CA. To renew it before that is of no use.
		"its CA ends first": {generator: changed(func(c *providers.Certificate) { c.RenewBefore = 49 }), now: days(99)},
	} {
		t.Run(name, func(t *testing.T) {
			own, issuer, at := test.own, test.issuer, test.now
			if own == nil {
				own = live["web"]
			}
			if issuer == nil {
				issuer = live["root"]
			}
			if at.IsZero() {
				at = now
			}
			if name == "its CA ends first" {
				long := changed(func(c *providers.Certificate) { c.Days, c.RenewBefore = 1000, 49 })
				late := cluster{"root": live["root"]}
				late.write(t, certificateSecret("web", long, configs.KeyCA, configs.KeyCertificate, configs.KeyKey))
				test.generator, own = long, late["web"]
			}
			if got := secrets.Due(test.generator, own, issuer, test.anew, at); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
	if got := secrets.Due(rootGenerator, live["root"], nil, false, days(91)); got == "" {
		t.Error("a CA that ends soon is not renewed")
	}
}

func TestRenewalIsNoPartOfWhatIsDesired(t *testing.T) {
	g, web := leaf()
	before := web.Digest()
	g.Renew = "it ends on 2027-01-31"
	if web.Digest() != before {
		t.Error("the digest depends on whether the certificate is renewed")
	}
	if web.RenewalReason() != g.Renew {
		t.Errorf("Renews is %q", web.RenewalReason())
	}
}

// TestMadeTogether checks that a plan knows none of the values of a new Secret, and that an
// apply keeps all of its values or makes all of them.
func TestMadeTogether(t *testing.T) {
	g, web := leaf()
	_, root := rootCA()
	live := cluster{}
	live.write(t, root)
	if _, pending, err := secrets.Resolve(web, live.values, false); err != nil || len(pending) != 3 {
		t.Errorf("a plan has the pending keys %v, error %v", pending, err)
	}
	live.write(t, web)
	first := live["web"]
	manifest, pending, err := secrets.Resolve(web, live.values, false)
	if err != nil || len(pending) > 0 || manifest.GetAnnotations()[providers.AnnotationNotAfter] == "" {
		t.Errorf("of what is there %v is pending, error %v, annotations %v", pending, err, manifest.GetAnnotations())
	}
	live.write(t, web)
	if string(live["web"][configs.KeyKey]) != string(first[configs.KeyKey]) {
		t.Error("what was there is not kept")
	}
	g.Renew = "asked"
	if _, pending, _ := secrets.Resolve(web, live.values, false); len(pending) != 3 {
		t.Errorf("of what is renewed only %v is pending", pending)
	}
	live.write(t, web)
	if string(live["web"][configs.KeyKey]) == string(first[configs.KeyKey]) {
		t.Error("what is renewed has the old key")
	}
	g.Renew = ""
	delete(live["web"], configs.KeyKey)
	live.write(t, web)
	if got := secrets.Due(g, live["web"], live["root"], false, time.Now()); got != "" {
		t.Errorf("what was made in place of what was lost does not fit: %s", got)
	}
	delete(live, "root")
	delete(live, "web")
	if _, _, err := secrets.Resolve(web, live.values, true); err == nil {
		t.Error("a certificate is made without its CA")
	}
}
