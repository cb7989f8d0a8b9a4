package openstack_test

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/openstack"
	"kolla.openstack.org/kolla/providers/secrets"
)

// factsOfSecrets returns the facts about a cluster with a CA that another program made.
func factsOfSecrets() openstack.Facts {
	f := facts()
	f.Now = time.Now()
	f.Given = func(source *configs.SecretSource) (string, error) { return "hunter2 of " + source.Env, nil }
	f.Values = func(namespace, name string) map[string][]byte {
		if namespace == "pki" && name == "pki" {
			return map[string][]byte{configs.KeyCertificate: []byte("hunter2"), configs.KeyKey: []byte("hunter2")}
		}
		return nil
	}
	return f
}

func TestSecretsAreNotInWhatIsStored(t *testing.T) {
	objects := render(t, load(t, "testdata/secrets"), factsOfSecrets())
	text := dump(t, objects)
	for _, value := range []string{"hunter2", "from-a-variable"} {
		if bytes.Contains(text, []byte(value)) {
			t.Errorf("the objects, as plans store them, hold %q", value)
		}
	}
	given := 0
	for _, o := range objects {
		for _, data := range o.Data {
			if data.Given() {
				given++
			}
		}
	}
	if given != 2 {
		t.Errorf("%d values are given by the configuration's variables and environment, want 2", given)
	}
}

func TestOrderOfSecrets(t *testing.T) {
	dependsOn := map[string][]addrs.Object{}
	for _, o := range render(t, load(t, "testdata/secrets"), factsOfSecrets()) {
		dependsOn[logical(o)] = o.DependsOn
	}
	for from, to := range map[string]addrs.Object{
		"service.web/Secret/web-tls":              {Block: "secret.root", Kind: "Secret", Name: "root"},
		"service.web/Secret/web-outer":            {Block: "secret.corporate", Kind: "Secret", Name: "corporate"},
		"service.web/Deployment/web-api":          {Block: "secret.corporate", Kind: "Secret", Name: "corporate"},
		"secret.brought/Secret/brought":           {Block: "manifest.bringer", Kind: "ExternalSecret", Name: "brought"},
		"secret.token/Secret/token":               {Block: "service.web", Kind: "Deployment", Name: "web-api"},
		"service.other/Deployment/other-api":      {Block: "secret.token", Kind: "Secret", Name: "token"},
		"manifest.bringer/ExternalSecret/brought": {Block: "secret.root", Kind: "Secret", Name: "root"},
	} {
		if !slices.Contains(dependsOn[from], to) {
			t.Errorf("%s depends on %v, and not on %s", from, dependsOn[from], to)
		}
	}
	for _, a := range dependsOn["service.other/Deployment/other-api"] {
		if a.Block == "secret.root" {
			t.Error("a name of the definition means the secret beside the services")
		}
	}
}

// TestRenewalIsPlanned checks that a plan renews a certificate that will expire soon, or whose CA
// is renewed, and no other certificate.
func TestRenewalIsPlanned(t *testing.T) {
	config := load(t, "testdata/secrets")
	revisions := func(f openstack.Facts) (revision, note, why string) {
		for _, o := range render(t, config, f) {
			switch logical(o) {
			case "service.web/Secret/web-tls":
				revision, why = o.Manifest.GetAnnotations()[providers.AnnotationRevision], o.RenewalReason()
			case "service.web/Deployment/web-api":
				note, _, _ = unstructured.NestedString(o.Manifest.Object, "spec", "template", "metadata", "annotations", "kolla.openstack.org/secret-tls")
			}
		}
		return revision, note, why
	}
	f := factsOfSecrets()
	before, _, why := revisions(f)
	if why != "" {
		t.Errorf("what is not there is renewed: %s", why)
	}
	live := map[string]map[string][]byte{}
	values := f.Values
	f.Values = func(namespace, name string) map[string][]byte {
		if found, ok := live[name]; ok && namespace == config.Cloud.Namespace {
			return found
		}
		return values(namespace, name)
	}
	for _, o := range render(t, config, f) {
		if name := o.Manifest.GetName(); name == "root" || name == "web-tls" {
			manifest, _, err := secrets.Resolve(&o, f.Values, true)
			if err != nil {
				t.Fatal(err)
			}
			live[name] = providers.ValuesOf(manifest)
		}
	}
	if revision, _, why := revisions(f); why != "" || revision != before {
		t.Errorf("what is as it should be has the revision %s, before %s, and is renewed: %q", revision, before, why)
	}
	f.Now = f.Now.AddDate(0, 0, 360)
	revision, note, why := revisions(f)
	if why == "" || revision == before || note != revision {
		t.Errorf("a certificate that ends has the revision %s, before %s, on its pods %s, and is renewed: %q", revision, before, note, why)
	}
	delete(live, "root")
	if _, _, why := revisions(f); why != "its CA is made anew" {
		t.Errorf("without its CA it is renewed: %q", why)
	}
}
