package main

import (
	"fmt"
	"os"
	"testing"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
)

// TestApplyInCluster checks that kolla in a pod plans, applies, examines and destroys a cloud with nothing but the
// service account of the pod, and no more rights than kolla rbac gives it. The state is in the cluster.
func TestApplyInCluster(t *testing.T) {
	t.Parallel()
	cloud := fmt.Sprintf("t-inside-%d", os.Getpid())
	configuration := fmt.Sprintf(`cloud %[1]q {
  release   = "2025.1"
  namespace = %[1]q

  backend "kubernetes" {
    namespace = "%[1]s-state"
  }
}

service "memcached" {}
service "mariadb" {}
service "keystone" {}
`, cloud)
	operator := newShell(t, "KUBECONFIG="+clustertest.Kubeconfig())
	operator.write(t, "cloud.hcl", configuration)
	t.Cleanup(func() {
		clustertest.Kubectl(t, "delete", "namespace", cloud, cloud+"-state", "--ignore-not-found", "--wait=false")
		clustertest.Kubectl(t, "delete", "clusterrole,clusterrolebinding", "kolla-"+cloud, "--ignore-not-found")
	})
	for _, namespace := range []string{cloud, cloud + "-state"} {
		operator.want(t, 0, nil, "kubectl", "create", "namespace", namespace)
	}
	operator.want(t, 0, nil, "kubectl", "-n", cloud+"-state", "create", "serviceaccount", "kolla")

	s, argv := pod(t, cloud+"-state", "kolla")
	s.write(t, "cloud.hcl", configuration)
	inside := func(code int, says string, args ...string) {
		t.Helper()
		s.want(t, code, []string{says}, argv[0], append(append(argv[1:len(argv):len(argv)], "kolla"), args...)...)
	}
	adopt := "-adopt=cloud." + cloud + "/Namespace/" + cloud
	inside(1, "is not allowed to", "plan", "-no-color", adopt)

	operator.want(t, 0, nil, "sh", "-c", "kolla rbac -serviceaccount="+cloud+"-state:kolla | kubectl apply -f -")
	inside(2, "Plan: ", "plan", "-no-color", "-detailed-exitcode", adopt)
	inside(0, "Apply complete", "apply", "-no-color", "-auto-approve", adopt)
	inside(0, "all unchanged", "plan", "-no-color", "-detailed-exitcode")
	inside(0, "checks, nothing found", "doctor", "-only=permissions,pod-security,image-pull")
	operator.want(t, 0, nil, "kubectl", "-n", cloud, "scale", "deployment", "keystone-api", "--replicas=3")
	inside(2, "3 → 1", "plan", "-no-color", "-detailed-exitcode")
	inside(0, "Apply complete", "apply", "-no-color", "-auto-approve")
	inside(0, "all unchanged", "plan", "-no-color", "-detailed-exitcode")
	inside(0, "Destroy complete", "destroy", "-no-color", "-auto-approve", "-delete-data=*")
	operator.want(t, 0, nil, "kubectl", "get", "namespace", cloud)
}
