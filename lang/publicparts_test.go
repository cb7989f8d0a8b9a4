package lang_test

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/lang/configs"
)

// TestPublicParts checks that what is public of a secret is read from the cluster, and
// is known after the apply as long as it is not there, or not what it will be.
func TestPublicParts(t *testing.T) {
	const configuration = `
cloud "test" {
  release   = "2025.1"
  namespace = "own"
}
locals {
  ca = nonsensitive({ a = [secret.ca.certificate], b = "${secret.ca.certificate}+${service.web.key}" })
  c  = nonsensitive(sensitive("x"))
}
secret "ca" {
  kind = "x509-ca"
  name = "authority"
}
definition "web" {
  secret "login" {
    kind = "ssh"
  }
  output "key" {
    value = secret.login.public_key
  }
}
service "web" {}
manifest "trust" {
  object = {
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = "trust" }
    data       = { a = local.ca.a[0], b = base64encode(local.ca.b), c = local.c }
  }
}
`
	encoded := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	live := map[string]map[string]any{
		"Secret own/authority": {"data": map[string]any{"tls.crt": encoded("CERT"), "tls.key": encoded("hunter2")}},
		"Secret own/web-login": {"data": map[string]any{"ssh-publickey": encoded("KEY")}},
	}
	const unknown = configs.KnownAfterApply
	tests := map[string]struct {
		missing string
		later   string
		fails   error
		want    map[string]any
		waits   []string
		err     string
	}{
		"there":       {want: map[string]any{"a": "CERT", "b": encoded("CERT+KEY"), "c": "x"}},
		"not there":   {missing: "Secret own/authority", want: map[string]any{"a": unknown, "b": unknown, "c": "x"}, waits: []string{"secret.ca"}},
		"the other":   {missing: "Secret own/web-login", want: map[string]any{"a": "CERT", "b": unknown, "c": "x"}, waits: []string{"service.web/Secret/web-login"}},
		"made anew":   {later: "secret.ca", want: map[string]any{"a": unknown, "b": unknown, "c": "x"}, waits: []string{"secret.ca"}},
		"not read":    {fails: errors.New("you may not"), err: "Secret own/authority cannot be read: you may not"},
		"not decoded": {missing: "broken", err: `has no text under "tls.crt"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			options := lang.Options{Later: map[string]bool{test.later: true}, Read: func(q configs.DataQuery) ([]map[string]any, error) {
				object := live[q.String()]
				if test.missing == "broken" {
					object = map[string]any{"data": map[string]any{"tls.crt": "*"}}
				}
				if test.fails != nil || object == nil || q.String() == test.missing {
					return nil, test.fails
				}
				return []map[string]any{object}, nil
			}}
			config, diags := load(t, options, configuration)
			if test.err != "" {
				if !strings.Contains(diags.Error(), test.err) {
					t.Errorf("want %q: %v", test.err, diags)
				}
				return
			}
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			o := config.Manifests[0].Objects[0]
			if diff := cmp.Diff(test.want, o.Content["data"]); diff != "" {
				t.Errorf("data (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.waits, o.Deferred); diff != "" {
				t.Errorf("waits for (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"secret.ca", "service.web"}, config.Manifests[0].Needs); diff != "" {
				t.Errorf("needs (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.waits, config.DeferredData()); diff != "" {
				t.Errorf("deferred (-want +got):\n%s", diff)
			}
		})
	}
}
