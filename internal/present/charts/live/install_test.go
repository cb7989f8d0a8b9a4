package live_test

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
)

// small is a cloud with a namespace of its own.
const small = `
cloud "NAME" {
  release   = "2025.1"
  namespace = "NAME"
  defaults { role = role.control }
}
role "control" { nodes = ["node-1", "node-2", "node-3"] }
service "mariadb" {}
service "memcached" {}
service "rabbitmq" {}
service "keystone" {}
service "placement" {}
service "glance" {}
service "note" {}
secret "shared" {}
definition "note" {
  config "note.txt" {
    format  = "raw"
    path    = "/etc/note.txt"
    content = secret.shared.value
  }
  workload "main" {
    kind   = "Deployment"
    image  = "base"
    user   = 1000
    config = ["note.txt"]
  }
}
`

// prepare makes the namespace and the labels of nodes, as NOTES.txt says.
func prepare(t *testing.T, objects []providers.Object, namespace string) {
	t.Helper()
	clustertest.Kubectl(t, "create", "namespace", namespace)
	t.Cleanup(func() { clustertest.Kubectl(t, "delete", "namespace", namespace, "--wait=false") })
	for _, o := range objects {
		if kind := o.Address.Kind; kind == "Node" || kind == "Namespace" || o.Stage == configs.StageChecks {
			for key, value := range o.Manifest.GetLabels() {
				if kind == "Node" || strings.HasPrefix(key, "pod-security.") {
					clustertest.Kubectl(t, "label", "--overwrite", kind, o.Address.Name, fmt.Sprintf("%s=%s", key, value))
				}
			}
		}
	}
}

// get returns a field of an object.
func get(t *testing.T, namespace, object, path string) string {
	t.Helper()
	return clustertest.Kubectl(t, "-n", namespace, "get", object, "--ignore-not-found", "-o", "jsonpath="+path)
}

// TestHelmInstall installs a cloud, changes an option, rolls back, and removes the cloud.
func TestHelmInstall(t *testing.T) {
	const namespace = "t-helm"
	chart, objects := export(t, write(t, strings.ReplaceAll(small, "NAME", namespace)))
	prepare(t, objects, namespace)
	if out, ok := helm(t, "install", "cloud", chart, "--namespace=default"); ok || !strings.Contains(out, "install with --namespace "+namespace) {
		t.Errorf("installed in another namespace: %s", out)
	}
	succeeds(t, "install", "cloud", chart, "--namespace="+namespace, "--wait", "--wait-for-jobs", "--timeout=5m")

	password := get(t, namespace, "secret/keystone-admin", "{.data.value}")
	database := get(t, namespace, "secret/keystone-db-keystone", "{.data.password}")
	if password == "" || database == "" {
		t.Fatalf("the passwords are %q and %q", password, database)
	}
	mounted := func(name string) string {
		t.Helper()
		return get(t, namespace, "deployment/keystone-api", `{.spec.template.spec.volumes[?(@.name=="`+name+`")]..name}`)
	}
	files, jobs := mounted("keystone-conf"), clustertest.Kubectl(t, "-n", namespace, "get", "jobs", "-o", "name")
	secret := get(t, namespace, "deployment/keystone-api", `{.spec.template.spec.volumes[?(@.name=="secrets-conf-secret")].secret.secretName}`)
	content := clustertest.Kubectl(t, "-n", namespace, "get", "secret", secret, "-o", `go-template={{index .data "secrets.conf" | base64decode}}`)
	plain := clustertest.Kubectl(t, "-n", namespace, "get", "secret", "keystone-db-keystone", "-o", "go-template={{.data.password | base64decode}}")
	if !strings.Contains(content, "://keystone:"+plain+"@mariadb."+namespace) {
		t.Error("the derived Secret does not have the generated password")
	}

	succeeds(t, "upgrade", "cloud", chart, "--namespace="+namespace, "--wait", "--timeout=5m", `--set=keystone.config.keystone\.conf.token.expiration=60`)
	if mounted("keystone-conf") == files {
		t.Error("a changed option did not change the name of the ConfigMap")
	}
	if now := clustertest.Kubectl(t, "-n", namespace, "get", "jobs", "-o", "name"); now != jobs {
		t.Errorf("an option that no job reads ran jobs:\n%s\nbefore:\n%s", now, jobs)
	}
	if now := get(t, namespace, "secret/keystone-admin", "{.data.value}"); now != password {
		t.Error("the upgrade changed a password")
	}
	if now := get(t, namespace, "deployment/keystone-api", `{.spec.template.spec.volumes[?(@.name=="secrets-conf-secret")].secret.secretName}`); now != secret {
		t.Error("the upgrade changed the name of a derived Secret")
	}

	succeeds(t, "upgrade", "cloud", chart, "--namespace="+namespace, "--wait", "--timeout=5m", "--set=keystone.images.keystone.tag=2025.1-rocky-9.1")
	if now := clustertest.Kubectl(t, "-n", namespace, "get", "jobs", "-o", "name"); now == jobs {
		t.Error("a new image ran no jobs")
	}

	succeeds(t, "rollback", "cloud", "1", "--namespace="+namespace, "--wait", "--timeout=5m")
	if mounted("keystone-conf") != files {
		t.Error("the rollback did not bring the ConfigMap back")
	}

	succeeds(t, "uninstall", "cloud", "--namespace="+namespace, "--wait", "--timeout=5m")
	if left := clustertest.Kubectl(t, "-n", namespace, "get", "deployments,statefulsets,jobs,services", "-o", "name"); left != "" {
		t.Errorf("the release left behind: %s", left)
	}
	if now := get(t, namespace, "secret/keystone-admin", "{.data.value}"); now != password {
		t.Error("the password is gone with the release")
	}
	succeeds(t, "install", "cloud", chart, "--namespace="+namespace, "--wait", "--timeout=5m")
	if now := get(t, namespace, "secret/keystone-admin", "{.data.value}"); now != password {
		t.Error("the password is another one after the release was installed again")
	}
}

// TestReleases installs services as releases of their own, and with existing Secrets.
func TestReleases(t *testing.T) {
	const namespace = "t-helm-releases"
	chart, objects := export(t, write(t, strings.ReplaceAll(small, "NAME", namespace)))
	prepare(t, objects, namespace)
	clustertest.Kubectl(t, "-n", namespace, "create", "secret", "generic", "mine", "--from-literal=value=s3cret")
	if out, ok := helm(t, "install", "glance", chart+"/charts/glance", "--namespace="+namespace); ok || !strings.Contains(out, "Install the chart of keystone first") {
		t.Errorf("a service was installed before those whose Secrets it reads:\n%s", out)
	}
	if out, ok := helm(t, "install", "note", chart+"/charts/note", "--namespace="+namespace); ok || !strings.Contains(out, "Install the chart of "+namespace+" first") {
		t.Errorf("a service made up a Secret of the cloud:\n%s", out)
	}
	if out, ok := helm(t, "install", "keystone", chart+"/charts/keystone", "--namespace="+namespace, "--set=global.secrets.keystone-admin=absent"); ok || !strings.Contains(out, "Secret absent has no key value") {
		t.Errorf("a Secret that does not exist was taken:\n%s", out)
	}
	for _, service := range []string{"memcached", "mariadb", "keystone"} {
		succeeds(t, "install", service, chart+"/charts/"+service, "--namespace="+namespace, "--set=global.secrets.keystone-admin=mine", "--wait", "--timeout=5m")
	}
	if made := get(t, namespace, "secret/keystone-admin", "{.metadata.name}"); made != "" {
		t.Error("a Secret was made although an existing one is named")
	}
	before := get(t, namespace, "deployment/keystone-api", "{.spec.template}")
	succeeds(t, "upgrade", "keystone", chart+"/charts/keystone", "--namespace="+namespace, "--set=global.secrets.keystone-admin=mine", "--wait", "--timeout=5m")
	if now := get(t, namespace, "deployment/keystone-api", "{.spec.template}"); now != before {
		t.Errorf("an upgrade without a change changed the pods:\n%s\n%s", before, now)
	}
}

// TestServerTakesTheObjects has the API server validate all objects of the largest example strictly.
func TestServerTakesTheObjects(t *testing.T) {
	chart, objects := export(t, "../../../../examples/multinode")
	prepare(t, objects, "openstack")
	out := succeeds(t, "template", "cloud", chart, "--namespace=openstack")
	file := filepath.Join(t.TempDir(), "objects.yaml")
	if err := os.WriteFile(file, []byte(out), 0o600); err != nil {
		t.Fatal(err)
	}
	answer := clustertest.Kubectl(t, "apply", "--server-side", "--dry-run=server", "--validate=strict", "-f", file)
	if taken, all := strings.Count(answer, "serverside-applied"), len(objectsOf(t, out)); taken != all {
		t.Errorf("the server takes %d of %d objects:\n%s", taken, all, answer)
	}
}

// TestWait runs the program of waiting pods against the API server, with the rights that they have.
func TestWait(t *testing.T) {
	const namespace = "t-helm-wait"
	chart, objects := export(t, write(t, strings.ReplaceAll(small, "NAME", namespace)), "mariadb", "memcached")
	prepare(t, objects, namespace)
	succeeds(t, "install", "cloud", chart, "--namespace="+namespace, "--wait", "--wait-for-jobs", "--timeout=5m")
	home := t.TempDir()
	put := func(name, content string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(home, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("token", clustertest.Kubectl(t, "-n", namespace, "create", "token", "kolla-wait"))
	put("ca.crt", clustertest.Kubectl(t, "-n", namespace, "get", "configmap", "kube-root-ca.crt", "-o", `go-template={{index .data "ca.crt"}}`))
	server, err := url.Parse(clustertest.Config(t).Host)
	if err != nil {
		t.Fatal(err)
	}
	wait := func(names ...string) (string, error) {
		cmd := exec.Command("python3", append([]string{"../files/wait.py"}, names...)...)
		cmd.Env = append(os.Environ(), "KOLLA_WAIT="+home, "NAMESPACE="+namespace, "SECONDS=3",
			"KUBERNETES_SERVICE_HOST="+server.Hostname(), "KUBERNETES_SERVICE_PORT="+server.Port())
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := wait("statefulsets/mariadb-server", "statefulsets/memcached-server", "jobs/mariadb-upgrade-*"); err != nil || out != "" {
		t.Errorf("waits for pods that are ready: %v\n%s", err, out)
	}
	for _, c := range []struct{ name, want string }{
		{"deployments/absent", "gave up: deployments/absent is not there"},
		{"jobs/mariadb-upgrad-*", "gave up: jobs/mariadb-upgrad-* is not there"},
		{"jobs/mariadb-upgrade-0123456789", "gave up: jobs/mariadb-upgrade-0123456789 is not there"},
		{"statefulsets/mariadb-server", "gave up: statefulsets/mariadb-server is not ready"},
	} {
		if strings.HasSuffix(c.want, "ready") { // a pod more than there are nodes for it
			clustertest.Kubectl(t, "-n", namespace, "patch", "statefulset", "mariadb-server", "-p", `{"spec":{"replicas":2,"template":{"spec":{"nodeSelector":{"no":"node"}}}}}`)
		}
		if out, err := wait(c.name); err == nil || !strings.Contains(out, c.want) {
			t.Errorf("%s: %v\n%s", c.name, err, out)
		}
	}
	if can := clustertest.Kubectl(t, "-n", namespace, "auth", "can-i", "--list", "--as=system:serviceaccount:"+namespace+":kolla-wait", "--no-headers"); strings.Contains(can, "secrets") || strings.Contains(can, "create,") || !strings.Contains(can, "jobs.batch") {
		t.Errorf("pods that wait may: %s", can)
	}
}
