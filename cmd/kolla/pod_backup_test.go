package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
)

// TestBackupInCluster sets up examples/backup/kubernetes as docs/backups.md says, with another namespace
// of the cloud and another directory of the claim only. It checks that kolla saves the generated Secrets
// as in a pod, with the rights of the example and no others. Nodes of the test run no commands, so the cloud has
// no databases.
func TestBackupInCluster(t *testing.T) {
	t.Parallel()
	cloud := fmt.Sprintf("t-save-%d", os.Getpid())
	operator := newShell(t, "KUBECONFIG="+clustertest.Kubeconfig())
	operator.write(t, "cloud.hcl", fmt.Sprintf(`cloud %[1]q {
  release   = "2025.1"
  namespace = %[1]q

  backend "kubernetes" {
    namespace = "%[1]s-state"
  }
}

definition "web" {
  secret "admin" {}

  workload "api" {
    kind  = "Deployment"
    image = "web"
    user  = 1000
    env   = { PASSWORD = secret.admin.value }
  }
}

service "web" {}
`, cloud))
	home := cloud + "-kolla" // TestDriftInCluster has the namespace of the examples
	t.Cleanup(func() {
		clustertest.Kubectl(t, "delete", "namespace", cloud, cloud+"-state", home, "--ignore-not-found", "--wait=false")
		clustertest.Kubectl(t, "delete", "clusterrole,clusterrolebinding", "kolla-"+cloud+"-read-only", "--ignore-not-found")
	})
	operator.want(t, 0, nil, "kolla", "apply", "-auto-approve", "-no-color")
	source, err := os.ReadFile("../../examples/backup/kubernetes/cronjob.yaml")
	if err != nil {
		t.Fatal(err)
	}
	place := filepath.Join(t.TempDir(), "place")
	operator.write(t, "cronjob.yaml", strings.NewReplacer(
		"namespace: openstack", "namespace: "+cloud, "namespace: kolla", "namespace: "+home, "  name: kolla\n", "  name: "+home+"\n", "/backups/place", place,
	).Replace(string(source)))
	operator.want(t, 0, []string{"cronjob.batch/backup created"}, "kubectl", "apply", "-f", "cronjob.yaml")
	operator.want(t, 0, nil, "sh", "-c", "kolla rbac -read-only -serviceaccount="+home+":backup | kubectl apply -f -")
	operator.want(t, 0, nil, "kubectl", "-n", home, "create", "configmap", "kolla-config", "--from-file=cloud.hcl")
	public := strings.TrimSpace(operator.want(t, 0, nil, "kolla", "backup", "key", "backup.key"))
	operator.want(t, 0, nil, "kubectl", "-n", home, "create", "configmap", "kolla-backup", "--from-literal=recipient="+public)
	operator.want(t, 0, nil, "kubectl", "-n", home, "create", "job", "now", "--from=cronjob/backup")
	operator.want(t, 0, nil, "kubectl", "-n", home, "wait", "--for=condition=Complete", "job/now", "--timeout=60s")

	s, argv := pod(t, home, "backup")
	s.write(t, "cloud.hcl", operator.want(t, 0, nil, "kubectl", "-n", home, "get", "configmap", "kolla-config", "-o", `jsonpath={.data.cloud\.hcl}`))
	var job batchv1.CronJob
	if err := json.Unmarshal([]byte(operator.want(t, 0, nil, "kubectl", "-n", home, "get", "cronjob", "backup", "-o", "json")), &job); err != nil {
		t.Fatal(err)
	}
	command := append(append(argv, "kolla"), job.Spec.JobTemplate.Spec.Template.Spec.Containers[0].Args...)
	for i := range command {
		command[i] = strings.ReplaceAll(command[i], "$(RECIPIENT)", public)
	}
	s.want(t, 0, []string{"Backup complete: " + cloud + "-"}, command[0], command[1:]...)
	names, err := os.ReadDir(place)
	if err != nil || len(names) != 1 {
		t.Fatalf("the place has %v, %v", names, err)
	}
	operator.want(t, 0, []string{"All data can be decrypted"}, "kolla", "backup", "verify", filepath.Join(place, names[0].Name()), "-identity=backup.key")
}
