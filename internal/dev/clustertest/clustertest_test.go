package clustertest_test

import (
	"os"
	"strings"
	"testing"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
)

func TestMain(m *testing.M) { os.Exit(clustertest.Run(m)) }

func TestNamespaceIsFreshAndUsable(t *testing.T) {
	first, second := clustertest.Namespace(t), clustertest.Namespace(t)
	if first == second {
		t.Fatalf("both namespaces are %s", first)
	}
	clustertest.Kubectl(t, "-n", first, "create", "deployment", "web", "--image=example.org/web:1")
	clustertest.Eventually(t, "the deployment is available", func() bool {
		return strings.Contains(clustertest.Kubectl(t, "-n", first, "get", "deployment", "web", "-o", "jsonpath={.status.availableReplicas}"), "1")
	})
	if got := clustertest.Kubectl(t, "-n", second, "get", "pods", "-o", "name"); got != "" {
		t.Errorf("the other namespace has %q", got)
	}
}
