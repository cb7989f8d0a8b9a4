package openstack_test

import (
	"slices"
	"strings"
	"testing"

	"kolla.openstack.org/kolla/lang"
)

const answering = `
manifest "hooks" {
  depends_on = [DEPENDS]
  object = {
    apiVersion = "admissionregistration.k8s.io/v1", kind = "MutatingWebhookConfiguration", metadata = { name = "hooks" }
    webhooks   = [{ name = "a.example.org", clientConfig = { service = { namespace = "c", name = "web" } } }]
  }
}

manifest "group" {
  object = {
    apiVersion = "apiregistration.k8s.io/v1", kind = "APIService", metadata = { name = "v1.example.org" }
    spec       = { service = { namespace = "c", name = "web" } }
  }
}

manifest "web" {
  depends_on = [NEEDS]
  object     = { apiVersion = "v1", kind = "Service", metadata = { name = "web" }, spec = { selector = { app = "web" } } }
}

manifest "pods" {
  object = { apiVersion = "apps/v1", kind = "Deployment", metadata = { name = "web" }, spec = { template = { metadata = { labels = { app = "web", tier = "1" } } } } }
}

manifest "others" {
  object = { apiVersion = "apps/v1", kind = "Deployment", metadata = { name = "other" }, spec = { template = { metadata = { labels = { app = "other" } } } } }
}
`

// TestAnsweredBy holds that the API server asks a Service of a manifest only when the Service
// and the workloads behind it are there, unless they need the object by which it asks.
func TestAnsweredBy(t *testing.T) {
	service := lang.Address{Block: "manifest.web", Kind: "Service", Name: "web"}
	pods := lang.Address{Block: "manifest.pods", Kind: "Deployment", Name: "web"}
	for name, c := range map[string]struct {
		needs string // by the Service
		hooks []lang.Address
	}{
		"apart":        {"", []lang.Address{service, pods}},
		"needed by it": {"manifest.others", []lang.Address{pods}},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.NewReplacer("DEPENDS", "", "NEEDS", c.needs).Replace(answering)
			if c.needs != "" { // the Service needs the others, and these need the webhook
				text = strings.NewReplacer("manifest \"others\" {", "manifest \"others\" {\n  depends_on = [manifest.hooks]").Replace(text)
			}
			objects := render(t, written(t, text, `namespace = "c"`), facts())
			got := find(t, objects, "MutatingWebhookConfiguration/hooks").DependsOn
			if !slices.Equal(got, c.hooks) {
				t.Errorf("the webhook waits for %v, want %v", got, c.hooks)
			}
			if got := find(t, objects, "APIService/v1.example.org").DependsOn; !slices.Equal(got, []lang.Address{service, pods}) {
				t.Errorf("the APIService waits for %v", got)
			}
		})
	}
}
