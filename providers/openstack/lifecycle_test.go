package openstack_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
)

// written loads a cloud with the given blocks. The first block is in line 2.
func written(t *testing.T, blocks string, cloud ...string) *configs.Config {
	t.Helper()
	dir := t.TempDir()
	text := `cloud "c" { release = "2025.1" }` + "\n" + blocks
	if len(cloud) > 0 {
		text = "cloud \"c\" {\n  release = \"2025.1\"\n" + strings.Join(cloud, "\n") + "\n}\n" + blocks
	}
	if err := os.WriteFile(filepath.Join(dir, "cloud.hcl"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return load(t, dir)
}

// TestLifecycle checks that the rules of a lifecycle block reach all objects of the block, and do
// not change the digests of the objects.
func TestLifecycle(t *testing.T) {
	objects := render(t, written(t, `service "memcached" {
  replicas = 2
  lifecycle {
    prevent_destroy = true
    force_conflicts = ["helm", "spec.ports"]
  }
  workload "server" {
    lifecycle { ignore_fields = ["spec.replicas"] }
  }
}
service "mariadb" {}
`), facts())
	plain := render(t, written(t, "service \"memcached\" {\n  replicas = 2\n}\nservice \"mariadb\" {}\n"), facts())
	got := map[string]*providers.Lifecycle{}
	for i := range objects {
		if l := objects[i].Lifecycle; l != nil {
			l.Source = filepath.Base(l.Source)
			got[objects[i].Address.String()] = l
		}
		if objects[i].Digest() != plain[i].Digest() {
			t.Errorf("%s is desired otherwise", objects[i].Address)
		}
	}
	service := &providers.Lifecycle{PreventDestroy: true, ForceManagers: []string{"helm"}, ForceFields: []string{"spec.ports"}, Source: "cloud.hcl:5"}
	workload := *service
	workload.IgnoreFields = []string{"spec.replicas"}
	want := map[string]*providers.Lifecycle{
		"service.memcached/NetworkPolicy/memcached":              service,
		"service.memcached/Service/memcached":                    service,
		"service.memcached/PodDisruptionBudget/memcached-server": service,
		"service.memcached/Service/memcached-server":             service,
		"service.memcached/StatefulSet/memcached-server":         &workload,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lifecycles (-want +got):\n%s", diff)
	}
}

func TestLifecyclePaths(t *testing.T) {
	const deployment = `manifest "a" {
  object = { apiVersion = "apps/v1", kind = "Deployment", metadata = { name = "a" } }
  lifecycle { ignore_fields = [%q] }
}`
	tests := map[string]struct {
		path string
		want string // the detail; empty: the path is fine
	}{
		"a field":               {path: "spec.replicas"},
		"all below it":          {path: "spec.template.*"},
		"an element":            {path: `spec.template.spec.containers["api"].env["X"].value`},
		"a port":                {path: `spec.template.spec.containers[*].ports[80/TCP].hostPort`},
		"a key of a map":        {path: `metadata.annotations["example.org/*"]`},
		"a quantity":            {path: `spec.template.spec.containers.api.resources.limits.cpu`},
		"a probe's own field":   {path: `spec.template.spec.containers.api.readinessProbe.httpGet.path`},
		"a slip":                {path: "spec.replica", want: `spec of a Deployment has no field "replica". Did you mean "replicas"?`},
		"a slip at the start":   {path: "specs.replicas", want: `A Deployment has no field "specs". Did you mean "spec"?`},
		"below a single value":  {path: "spec.replicas.x", want: `spec.replicas of a Deployment is a single value, and has no field "x".`},
		"below a quantity":      {path: "spec.template.spec.containers.api.resources.limits.cpu.x", want: `is a single value`},
		"the name":              {path: "metadata.name", want: "metadata.name says which object it is."},
		"what the cluster says": {path: "status.replicas", want: "status.replicas is never kolla's: it is what the cluster says of the object."},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, diags := rendered(written(t, fmt.Sprintf(deployment, test.path)), facts())
			if test.want == "" {
				if len(diags) > 0 {
					t.Error(diags)
				}
				return
			}
			if len(diags) != 1 || !strings.Contains(diags[0].Detail, test.want) || diags[0].Subject.Start.Line != 4 {
				t.Errorf("diagnostics are %v", diags)
			}
		})
	}
	_, diags := rendered(written(t, `manifest "a" {
  object = { apiVersion = "example.org/v1", kind = "Widget", metadata = { name = "a" } }
  lifecycle { ignore_fields = ["anything.goes"] }
}`), facts())
	if len(diags) > 0 {
		t.Errorf("of a kind that nobody knows: %v", diags)
	}
}
