package secrets_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/secrets"
)

// TestCheckServer checks certificates with each of the mistakes.
func TestCheckServer(t *testing.T) {
	live := cluster{}
	_, root := rootCA()
	live.write(t, root)
	_, web := leaf()
	live.write(t, web)
	other := func(change func(*providers.Certificate)) map[string][]byte {
		g, object := leaf()
		change(g.Cert)
		own := cluster{"root": live["root"]}
		own.write(t, object)
		return own["web"]
	}
	with := func(key string, value []byte) map[string][]byte {
		out := map[string][]byte{}
		for k, v := range live["web"] {
			out[k] = v
		}
		if out[key] = value; value == nil {
			delete(out, key)
		}
		return out
	}
	stranger := cluster{}
	_, again := rootCA()
	stranger.write(t, again)
	now := time.Now()
	const days = 24 * time.Hour
	cases := map[string]struct {
		values map[string][]byte
		hosts  []string
		now    time.Time
		want   []string // "KEY SUMMARY"
	}{
		"right":                 {values: live["web"], hosts: []string{"web.example.org", "2001:db8::1"}},
		"without its CA":        {values: with(configs.KeyCA, nil)},
		"an empty CA":           {values: with(configs.KeyCA, []byte("\n"))},
		"another name":          {values: live["web"], hosts: []string{"example.org"}, want: []string{"tls.crt The certificate is for other names"}},
		"another address":       {values: live["web"], hosts: []string{"192.0.2.1"}, want: []string{"tls.crt The certificate is for other names"}},
		"no names":              {values: other(func(c *providers.Certificate) { c.DNSNames, c.IPAddresses = nil, nil }), hosts: []string{"web"}, want: []string{"tls.crt The certificate is for other names"}},
		"for clients":           {values: other(func(c *providers.Certificate) { c.Usages = []string{"client"} }), want: []string{"tls.crt The certificate is not for servers"}},
		"another key":           {values: with(configs.KeyKey, live["root"][configs.KeyKey]), want: []string{"tls.key The key belongs to another certificate"}},
		"another CA":            {values: with(configs.KeyCA, stranger["root"][configs.KeyCertificate]), want: []string{"ca.crt The CA has not signed the certificate"}},
		"no CA in it":           {values: with(configs.KeyCA, []byte("hunter2")), want: []string{"ca.crt The CA has not signed the certificate"}},
		"nothing":               {values: nil, want: []string{"tls.key No private key", "tls.crt No certificate"}},
		"the files exchanged":   {values: map[string][]byte{"tls.crt": live["web"]["tls.key"], "tls.key": live["web"]["tls.crt"]}, want: []string{"tls.key No private key", "tls.crt No certificate"}},
		"a key with passphrase": {values: with(configs.KeyKey, []byte("-----BEGIN ENCRYPTED PRIVATE KEY-----\naGk=\n-----END ENCRYPTED PRIVATE KEY-----\n")), want: []string{"tls.key No private key"}},
		"nearly over":           {values: live["web"], now: now.Add(40 * days), want: []string{"tls.crt The certificate ends soon"}},
		"over":                  {values: live["web"], now: now.Add(51 * days), want: []string{"tls.crt The certificate has ended"}},
		"not begun":             {values: live["web"], now: now.Add(-days), want: []string{"tls.crt The certificate is not valid yet"}},
		"several":               {values: with(configs.KeyKey, live["root"][configs.KeyKey]), hosts: []string{"example.org"}, now: now.Add(51 * days), want: []string{"tls.key The key belongs to another certificate", "tls.crt The certificate is for other names", "tls.crt The certificate has ended"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if c.now.IsZero() {
				c.now = now
			}
			var got []string
			for _, m := range secrets.CheckServer(c.values, c.hosts, c.now) {
				got = append(got, m.Key+" "+m.Summary)
				if m.Kind == 0 || m.Detail == "" || strings.Contains(m.Detail, "hunter2") {
					t.Errorf("%+v", m)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	pem := secrets.ServerPEM(live["web"])
	if bytes.Count(pem, []byte("-----BEGIN")) != 2 || !bytes.HasPrefix(pem, []byte("-----BEGIN CERTIFICATE")) {
		t.Error("the certificate and its key are not in one file, in this order")
	}
}
