package openstack_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/openstack"
	"kolla.openstack.org/kolla/providers/secrets"
)

// dashboard is a cloud with a dashboard and an API. TLS stands for the block of the exposure.
const dashboard = `
cloud "c" { release = "2025.1" }

exposure "public" {
  vip  = "192.0.2.10"
  fqdn = "cloud.example.org"
  TLS
}

service "mariadb" {}
service "memcached" {}
service "keystone" { expose = exposure.public }
service "glance" { expose = exposure.public }
service "horizon" {
  expose = exposure.public
  port "web" { public = 443 }
}
`

// loadDashboard loads the cloud with a block, whose first line is line 7.
func loadDashboard(t *testing.T, block string) *configs.Config {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "cloud.hcl"), []byte(strings.Replace(dashboard, "TLS", block, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	return load(t, dir)
}

// textsIn appends all texts in a value.
func textsIn(to []string, value any) []string {
	switch value := value.(type) {
	case string:
		return append(to, value)
	case map[string]any:
		for _, item := range value {
			to = textsIn(to, item)
		}
	case []any:
		for _, item := range value {
			to = textsIn(to, item)
		}
	}
	return to
}

// TestServicesBehindTLS checks that services know of the encryption in front of them, and only then.
func TestServicesBehindTLS(t *testing.T) {
	plain, secure := render(t, loadDashboard(t, ""), facts()), render(t, loadDashboard(t, "tls {}"), facts())
	text := func(objects []providers.Object) string {
		var all []string
		for _, o := range objects {
			all = textsIn(all, o.Manifest.Object)
		}
		return strings.Join(all, "\n")
	}
	for _, setting := range []string{
		"SECURE_PROXY_SSL_HEADER = ('HTTP_X_FORWARDED_PROTO', 'https')", "SESSION_COOKIE_SECURE = True", "CSRF_COOKIE_SECURE = True",
		"enable_proxy_headers_parsing = true", "https://cloud.example.org:5000/v3", "https://cloud.example.org:9292",
	} {
		if !strings.Contains(text(secure), setting) || strings.Contains(text(plain), setting) {
			t.Errorf("%s: with TLS %t, without %t", setting, strings.Contains(text(secure), setting), strings.Contains(text(plain), setting))
		}
	}
	for _, setting := range []string{"http://cloud.example.org", "enable_proxy_headers_parsing = false"} {
		if strings.Contains(text(secure), setting) || !strings.Contains(text(plain), setting) {
			t.Errorf("%s: with TLS %t, without %t", setting, strings.Contains(text(secure), setting), strings.Contains(text(plain), setting))
		}
	}
	for _, name := range []string{"exposure-public", "exposure-public-ca"} {
		o := find(t, secure, "Secret/"+name)
		if o.Manifest.Object["type"] != "kubernetes.io/tls" || !o.Certified() || o.Source == "" {
			t.Errorf("%s: type %v, source %v", name, o.Manifest.Object["type"], o.Source)
		}
	}
	ca := find(t, secure, "Secret/exposure-public-ca").Address
	if leaf := find(t, secure, "Secret/exposure-public"); !slices.Contains(leaf.DependsOn, ca) {
		t.Error("the certificate is signed before there is a CA")
	}
}

// generated makes a certificate for a host that is valid for 90 days, with its key, and adds it to made by
// its name. issuer is in made; nil: the certificate is a CA.
func generated(t *testing.T, made map[string]map[string][]byte, name, host string, issuer *providers.SecretKey) map[string][]byte {
	t.Helper()
	g := &providers.Generator{Kind: "x509", Algorithm: "ecdsa", Cert: &providers.Certificate{Issuer: issuer, CommonName: host, DNSNames: []string{host}, Days: 90, RenewBefore: 1, Usages: []string{"server"}}}
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret"}}
	u.SetName(name)
	o := &providers.Object{Manifest: u, Data: map[string]providers.SecretData{configs.KeyCertificate: {Generate: g}, configs.KeyKey: {Generate: g}}}
	manifest, _, err := secrets.Resolve(o, func(_, name string) map[string][]byte { return made[name] }, true)
	if err != nil {
		t.Fatal(err)
	}
	made[name] = providers.ValuesOf(manifest)
	return made[name]
}

// certificateFor makes a certificate of a CA for a host.
func certificateFor(t *testing.T, host string) map[string][]byte {
	t.Helper()
	made := map[string]map[string][]byte{}
	generated(t, made, "ca", "ca", nil)
	return generated(t, made, "leaf", host, &providers.SecretKey{Name: "ca", Key: configs.KeyCertificate})
}

// TestGivenCertificates checks the diagnostics for certificates that others make, and their places.
func TestGivenCertificates(t *testing.T) {
	now := time.Now()
	made := map[string]map[string][]byte{}
	ca := generated(t, made, "ca", "ca", nil)
	signed := func(name, host string) map[string][]byte {
		return generated(t, made, name, host, &providers.SecretKey{Name: "ca", Key: configs.KeyCertificate})
	}
	right, other := signed("right", "cloud.example.org"), signed("other", "other.example.org")
	const (
		files = "tls {\n    certificate_file = \"a.crt\"\n    key_file         = \"a.key\"\n    ca_file          = \"ca.crt\"\n  }"
		named = "tls {\n    secret_name = \"edge\"\n  }"
	)
	for name, c := range map[string]struct {
		block    string
		crt, key map[string][]byte
		later    time.Duration
		want     string
		line     int
		warns    bool
	}{
		"files":                   {block: files, crt: right, key: right},
		"files, another key":      {block: files, crt: right, key: other, want: "The key belongs to another certificate", line: 9},
		"files, another name":     {block: files, crt: other, key: other, want: "The certificate is for other names", line: 8},
		"files, past their end":   {block: files, crt: right, key: right, later: 91 * 24 * time.Hour, want: "The certificate has ended", line: 8},
		"files, near their end":   {block: files, crt: right, key: right, later: 80 * 24 * time.Hour, want: "The certificate ends soon", line: 8, warns: true},
		"files, another CA":       {block: files, crt: ca, key: ca, want: "The certificate is for other names", line: 8},
		"a Secret":                {block: named, crt: right, key: right},
		"a Secret, another key":   {block: named, crt: right, key: other, want: "The key belongs to another certificate", line: 8},
		"a Secret past its end":   {block: named, crt: right, key: right, later: 91 * 24 * time.Hour, want: "The certificate has ended", line: 8, warns: true},
		"a Secret, another name":  {block: named, crt: other, key: other, want: "The certificate is for other names", line: 8},
		"a Secret does not exist": {block: named, want: "The Secret of the certificate does not exist yet", line: 8, warns: true},
	} {
		t.Run(name, func(t *testing.T) {
			f := facts()
			f.Now = now.Add(c.later)
			f.Given = func(source *configs.SecretSource) (string, error) {
				return string(map[string][]byte{"a.crt": c.crt[configs.KeyCertificate], "a.key": c.key[configs.KeyKey], "ca.crt": ca[configs.KeyCertificate]}[source.File]), nil
			}
			f.Values = func(_, name string) map[string][]byte {
				if name != "edge" || c.crt == nil {
					return nil
				}
				return map[string][]byte{configs.KeyCertificate: c.crt[configs.KeyCertificate], configs.KeyKey: c.key[configs.KeyKey]}
			}
			objects, diags := openstack.Render(loadDashboard(t, c.block), f)
			found := false
			for _, d := range diags {
				if strings.Contains(d.Detail, "PRIVATE KEY-----\n") {
					t.Errorf("a key is quoted: %s", d.Detail)
				}
				if d.Summary != c.want {
					continue
				}
				found = true
				if d.Subject.Start.Line != c.line {
					t.Errorf("%q at line %d, want %d", d.Summary, d.Subject.Start.Line, c.line)
				}
			}
			if found != (c.want != "") || diags.HasErrors() != (c.want != "" && !c.warns) || c.want == "" && len(diags) > 0 {
				t.Errorf("want %q, got %v", c.want, diags)
			}
			if strings.Contains(string(dump(t, objects)), "PRIVATE KEY") {
				t.Error("the objects, as plans store them, hold the key")
			}
		})
	}
}
