package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
)

// inPod runs a program as in a pod: with the files that Kubernetes mounts for a service account
// in $CREDENTIALS, and without a kubeconfig.
const inPod = `set -e
mount -t tmpfs none "$(readlink -f /var/run)"
mkdir -p /var/run/secrets/kubernetes.io
ln -s "$CREDENTIALS" /var/run/secrets/kubernetes.io/serviceaccount
exec "$@"`

// pod returns a shell and the arguments that run a program as in a pod of a service account.
func pod(t *testing.T, namespace, account string) (s shell, argv []string) {
	t.Helper()
	unshare := []string{"unshare", "--mount"}
	if os.Geteuid() != 0 {
		unshare = append(unshare, "--map-root-user")
	}
	if out, err := exec.Command(unshare[0], append(unshare[1:], "true")...).CombinedOutput(); err != nil {
		t.Skipf("NOT RUN: no files can be mounted as in a pod: %v %s", err, out)
	}
	config := clustertest.Config(t)
	server, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	ca := config.CAData
	if len(ca) == 0 {
		if ca, err = os.ReadFile(config.CAFile); err != nil {
			t.Fatal(err)
		}
	}
	credentials := t.TempDir()
	for name, text := range map[string]string{
		"token": clustertest.Kubectl(t, "-n", namespace, "create", "token", account), "ca.crt": string(ca), "namespace": namespace,
	} {
		if err := os.WriteFile(filepath.Join(credentials, name), []byte(strings.TrimSpace(text)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s = newShell(t, processVariable+"=1", "CREDENTIALS="+credentials, "KUBERNETES_SERVICE_HOST="+server.Hostname(), "KUBERNETES_SERVICE_PORT="+server.Port())
	return s, append(unshare, "sh", "-c", inPod, "pod")
}

// TestDriftInCluster sets up examples/drift/kubernetes as docs/drift-from-cron.md says, without
// an edit. It checks that kolla finds drift as in a pod, with nothing but the mounted
// configuration, the service account, and no more rights than kolla rbac -read-only gives, and
// that the CronJob makes pods that the cluster accepts.
func TestDriftInCluster(t *testing.T) {
	t.Parallel()
	cloud := fmt.Sprintf("t-cron-%d", os.Getpid())
	manifests, err := filepath.Abs("../../examples/drift/kubernetes/cronjob.yaml")
	if err != nil {
		t.Fatal(err)
	}
	operator := newShell(t, "KUBECONFIG="+clustertest.Kubeconfig())
	operator.write(t, "cloud.hcl", fmt.Sprintf(`cloud %[1]q {
  release   = "2025.1"
  namespace = %[1]q

  backend "kubernetes" {
    namespace = "%[1]s-state"
  }
}

service "memcached" {}
service "mariadb" {}
`, cloud))
	t.Cleanup(func() {
		clustertest.Kubectl(t, "delete", "namespace", cloud, cloud+"-state", "kolla", "--ignore-not-found", "--wait=false")
		clustertest.Kubectl(t, "delete", "clusterrole,clusterrolebinding", "kolla-"+cloud+"-read-only", "--ignore-not-found")
	})
	operator.want(t, 0, nil, "kolla", "apply", "-auto-approve", "-no-color")
	operator.want(t, 0, []string{"cronjob.batch/drift created"}, "kubectl", "apply", "-f", manifests)
	operator.want(t, 0, nil, "sh", "-c", "kolla rbac -read-only -serviceaccount=kolla:drift | kubectl apply -f -")
	operator.want(t, 0, nil, "kubectl", "-n", "kolla", "create", "configmap", "kolla-config", "--from-file=cloud.hcl")

	operator.want(t, 0, nil, "kubectl", "-n", "kolla", "create", "job", "look", "--from=cronjob/drift")
	operator.want(t, 0, nil, "kubectl", "-n", "kolla", "wait", "--for=condition=Complete", "job/look", "--timeout=60s")

	s, argv := pod(t, "kolla", "drift")
	s.write(t, "cloud.hcl", operator.want(t, 0, nil, "kubectl", "-n", "kolla", "get", "configmap", "kolla-config", "-o", `jsonpath={.data.cloud\.hcl}`))
	run := func(s shell, code int, says string, args ...string) {
		t.Helper()
		s.want(t, code, []string{says}, argv[0], append(argv[1:len(argv):len(argv)], args...)...)
	}
	look := func(code int, says string, more ...string) {
		t.Helper()
		command, environment := container(t, operator)
		run(s.with(environment...), code, says, append(command, more...)...)
	}
	look(0, "")
	run(s, 0, "all unchanged", "kolla", "plan", "-no-color", "-detailed-exitcode")
	operator.want(t, 0, nil, "kubectl", "-n", cloud, "label", "service", "memcached", "app.kubernetes.io/name=oops", "--overwrite")
	run(s, 2, "oops", "kolla", "plan", "-no-color", "-detailed-exitcode")
	run(s, 1, "is not allowed to update leases", "kolla", "apply", "-no-color", "-auto-approve")
	run(s.with("CREDENTIALS="+t.TempDir()), 1, "this pod has no token of a service account", "kolla", "plan", "-no-color")
	look(2, "oops")

	pushed := make(chan string, 1)
	gateway := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { pushed <- r.URL.Path }))
	t.Cleanup(gateway.Close)
	operator.want(t, 0, nil, "kubectl", "-n", "kolla", "create", "secret", "generic", "kolla-drift", "--from-literal=KOLLA_METRICS="+gateway.URL)
	look(2, "oops")
	if len(pushed) == 0 || <-pushed != "/metrics/job/kolla/cloud/"+cloud {
		t.Error("kolla drift does not push metrics to the Pushgateway of the Secret")
	}
	look(2, "oops", "-metrics=kolla.prom")
	if got, want := gauges(t, filepath.Join(s.dir, "kolla.prom")), gauges(t, "../../internal/dev/monitoring/testdata/kolla_prod.prom"); !slices.Equal(got, want) {
		t.Errorf("kolla drift writes %v, and alerts and the dashboard are tested with %v", got, want)
	}
	operator.with("KUBECONFIG=/nowhere").want(t, 1, nil, "sh", "-c", crontab(t, operator.dir))
	operator.want(t, 0, nil, "sh", "-c", crontab(t, operator.dir))
	gauges(t, filepath.Join(operator.dir, ".kolla", "kolla_prod.prom"))
	unit := strings.NewReplacer("/usr/local/bin/", "", "/etc/kolla/%i", operator.dir, "/var/lib/kolla-drift/%i", t.TempDir()).Replace(line(t, "systemd/kolla-drift@.service", "ExecStart="))
	operator.want(t, 2, nil, "sh", "-c", unit)
	operator.want(t, 0, nil, "kolla", "apply", "-auto-approve", "-no-color")
	look(0, "")
	operator.want(t, 0, nil, "sh", "-c", crontab(t, operator.dir))
}

// line returns the rest of a line of a file of examples/drift, after the given beginning.
func line(t *testing.T, name, after string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../examples/drift", name))
	if err != nil {
		t.Fatal(err)
	}
	_, found, ok := strings.Cut(string(text), "\n"+after)
	if !ok {
		t.Fatalf("%s has no line with %q", name, after)
	}
	found, _, _ = strings.Cut(found, "\n")
	return found
}

// crontab returns the command in the example's crontab, for a configuration in dir.
func crontab(t *testing.T, dir string) string {
	t.Helper()
	return strings.ReplaceAll(line(t, "crontab", "7,22,37,52 * * * * "), "/srv/clouds/prod", dir)
}

// gauges returns the sorted names of the metrics in a file.
func gauges(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for row := range strings.Lines(string(text)) {
		if name, ok := strings.CutPrefix(row, "# TYPE "); ok {
			names = append(names, strings.TrimSpace(name))
		}
	}
	slices.Sort(names)
	return names
}

// container returns the command of the CronJob, and the variables that it gets from Secrets.
func container(t *testing.T, s shell) (command, environment []string) {
	t.Helper()
	var job batchv1.CronJob
	if err := json.Unmarshal([]byte(s.want(t, 0, nil, "kubectl", "-n", "kolla", "get", "cronjob", "drift", "-o", "json")), &job); err != nil {
		t.Fatal(err)
	}
	kolla := job.Spec.JobTemplate.Spec.Template.Spec.Containers[0]
	for _, from := range kolla.EnvFrom {
		code, text := s.try(t, "kubectl", "-n", "kolla", "get", "secret", from.SecretRef.Name, "-o", "json")
		if code != 0 && *from.SecretRef.Optional {
			continue
		}
		var secret corev1.Secret
		if err := json.Unmarshal([]byte(text), &secret); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		for name, value := range secret.Data {
			environment = append(environment, name+"="+string(value))
		}
	}
	return append([]string{"kolla"}, kolla.Args...), environment
}
