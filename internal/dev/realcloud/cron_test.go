package realcloud_test

import (
	"errors"
	"path/filepath"
	"testing"
	"time"
)

// kollaImage is the image in the CronJob of examples/drift.
const kollaImage = "registry.example.org/kolla:v1.0.0"

// cronFindsDrift moves the state to the cluster and runs the CronJob of examples/drift: kolla's
// container image, in a pod, with the rights of kolla rbac -read-only and no kubeconfig. Then it
// moves the state back.
func cronFindsDrift(t *testing.T, c *cloud) {
	const block = "cloud \"real\" {\n"
	const withBackend = block + "  backend \"kubernetes\" {}\n\n"
	c.edit(t, block, withBackend)
	c.kolla(t, 0, "init", "-migrate-state")
	c.write(t, "roles.yaml", c.kolla(t, 0, "rbac", "-read-only", "-serviceaccount=kolla:drift").out)
	file := func(name string) string { return filepath.Join(c.dir, name) }
	kubectl := func(args ...string) string { return c.cluster.Kubectl(t, append([]string{"-n", "kolla"}, args...)...) }
	kubectl("apply", "-f", filepath.Join(c.root, "examples", "drift", "kubernetes", "cronjob.yaml"))
	c.cluster.Kubectl(t, "apply", "-f", file("roles.yaml"))
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(kubectl("describe", "pods"))
		}
		c.cluster.Kubectl(t, "delete", "-f", file("roles.yaml"))
		kubectl("delete", "namespace", "kolla", "--wait=false")
	})
	kubectl("create", "configmap", "kolla-config", "--from-file="+file("cloud.hcl"))

	// look runs the job once.
	look := func(name, code string) string {
		t.Helper()
		began := time.Now()
		kubectl("create", "job", name, "--from=cronjob/drift")
		var got string
		eventually(t, func() error {
			got = kubectl("get", "pods", "-l", "job-name="+name, "-o", "jsonpath={.items[*].status.containerStatuses[*].state.terminated.exitCode}")
			if got == "" {
				return errors.New("the pod has not ended")
			}
			return nil
		})
		measured(t, "a look for drift in the cluster, with the start of its pod", time.Since(began).Round(100*time.Millisecond))
		out := kubectl("logs", "job/"+name)
		if got != code {
			t.Fatalf("kolla in the pod ended with %s, want %s:\n%s", got, code, out)
		}
		return out
	}
	look("first", "0")
	c.kubectl(t, "label", "service", "memcached", "app.kubernetes.io/name=oops", "--overwrite")
	wantSaid(t, "second look", look("second", "2"), "service.memcached/Service/memcached", "oops", "kubectl")
	c.kolla(t, 0, "apply", "-auto-approve")
	look("third", "0")
	c.edit(t, withBackend, block)
	c.kolla(t, 0, "init", "-migrate-state")
}
