package openstack_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
)

// cleanups returns the jobs that remove leftovers of services, by name without the hash.
func cleanups(objects []providers.Object) map[string]providers.Object {
	out := map[string]providers.Object{}
	for _, o := range objects {
		if strings.HasSuffix(o.Family.Name, "-cleanup") {
			out[o.Family.Name] = o
		}
	}
	return out
}

// there returns the list of existing services that a cleanup job gets.
func there(t *testing.T, o providers.Object) map[string]any {
	t.Helper()
	containers, _, _ := unstructured.NestedSlice(o.Manifest.Object, "spec", "template", "spec", "containers")
	if len(containers) == 0 {
		t.Fatalf("there is no job: %v", o.Address)
	}
	for _, e := range containers[0].(map[string]any)["env"].([]any) {
		e := e.(map[string]any)
		var value struct{ There map[string]any }
		switch e["name"] {
		case "THERE":
			e["value"] = `{"there": ` + e["value"].(string) + `}`
		case "WANTED":
		default:
			continue
		}
		if err := json.Unmarshal([]byte(e["value"].(string)), &value); err != nil {
			t.Fatal(err)
		}
		return value.There
	}
	t.Fatal("the job knows nothing")
	return nil
}

// TestCleanup checks that a cleanup job of a server runs if the services with entries on the server
// change, even if the last of them is removed, and in no other case. Nothing waits for the job. It
// keeps the entries of services that were removed without being destroyed.
func TestCleanup(t *testing.T) {
	text, err := os.ReadFile("testdata/registered/cloud.hcl")
	if err != nil {
		t.Fatal(err)
	}
	const stack = "service \"stack\" {\n  role   = role.control\n  expose = exposure.public\n}\n"
	made := facts()
	made.Made = func(block string) []addrs.Object {
		return []addrs.Object{
			{Block: block, Kind: "Job", Name: "keystone-registration-cleanup-0123456789"},
			{Block: block, Kind: "Job", Name: "rabbitmq-queue-cleanup-0123456789"},
		}
	}
	jobs := func(changes ...string) map[string]providers.Object {
		t.Helper()
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "cloud.hcl"), []byte(strings.NewReplacer(changes...).Replace(string(text))), 0o600); err != nil {
			t.Fatal(err)
		}
		objects := render(t, load(t, dir), made)
		found := cleanups(objects)
		for _, o := range objects {
			for _, a := range o.DependsOn {
				if strings.Contains(a.Name, "-cleanup-") {
					t.Errorf("%s waits for %s", o.Address, a)
				}
			}
		}
		return found
	}
	before := jobs()
	want := map[string]any{
		"services": []any{"stack"}, "names": []any{}, "released": false,
		"users":     []any{map[string]any{"domain": "Default", "name": "stack"}, map[string]any{"domain": "stacks", "name": "stack_domain_admin"}},
		"endpoints": []any{map[string]any{"type": "orchestration", "name": "stack"}, map[string]any{"type": "cloudformation", "name": "stack-cfn"}},
	}
	if diff := cmp.Diff(want, there(t, before["keystone-registration-cleanup"])); diff != "" {
		t.Errorf("Keystone's job (-want +got):\n%s", diff)
	}
	if got := there(t, before["rabbitmq-queue-cleanup"]); !cmp.Equal(got["names"], []any{"stack"}) || !cmp.Equal(got["services"], []any{"stack"}) {
		t.Errorf("RabbitMQ's job knows %v", got)
	}
	for name, o := range jobs("/v1/%(tenant_id)s", "/v2") {
		if o.Address != before[name].Address {
			t.Errorf("another URL is another %s", name)
		}
	}
	for what, by := range map[string]string{"without the service": "", "let go": "removed {\n  from = service.stack\n  lifecycle {\n    destroy = false\n  }\n}\n"} {
		for name, o := range jobs(stack, by) {
			got := there(t, o)
			if o.Address == before[name].Address || len(got["services"].([]any)) > 0 || got["released"] != (by != "") {
				t.Errorf("%s: %s knows %v", what, name, got)
			}
		}
	}
	noQueue := jobs("  queue \"stack\" {}\n", "", "queue.stack.url", `"none"`, "merge(queue.stack.settings, { heartbeat_in_pthread = true })", "{}")
	if got := there(t, noQueue["rabbitmq-queue-cleanup"]); len(got["services"].([]any)) > 0 || noQueue["keystone-registration-cleanup"].Address != before["keystone-registration-cleanup"].Address {
		t.Errorf("the last queue of a service is gone: RabbitMQ's job knows %v", got)
	}
	made.Made = nil
	if got := jobs(stack, ""); len(got) > 0 {
		t.Errorf("nobody ever had anything there, and %d jobs run", len(got))
	}
	external := "service \"keystone\" {\n  external = { host = \"keystone.example.org\", admin_password = null }\n  secret \"admin\" {\n    from_env = \"ADMIN\"\n  }\n}\n"
	made.Given = func(*configs.SecretSource) (string, error) { return "secret", nil }
	keystone := "service \"keystone\" {\n  role   = role.control\n  expose = exposure.public\n}\n"
	if got := jobs(keystone, external); len(there(t, got["keystone-registration-cleanup"])["users"].([]any)) != 2 {
		t.Errorf("a Keystone that is external: %v", got)
	}
}
