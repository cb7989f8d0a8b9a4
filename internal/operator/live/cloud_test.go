package live_test

import (
	"strings"
	"testing"

	"kolla.openstack.org/kolla/internal/operator/v1alpha1"
)

// TestManual takes a cloud from nothing to ready with approvals by a person.
func TestManual(t *testing.T) {
	b := newBench(t)
	b.files("files", configuration)
	b.start()
	b.cloud("")
	cloud := b.until(v1alpha1.ReasonAwaitsApproval)
	if cloud.Status.Plan == nil || !strings.Contains(cloud.Status.Plan.Summary, "to add") {
		t.Fatalf("plan: %+v", cloud.Status.Plan)
	}
	if got := b.kubectl("get", "namespace", b.target, "--ignore-not-found"); got != "" {
		t.Errorf("a plan that waits has written: %s", got)
	}
	b.cloud("  approvedPlan: " + cloud.Status.Plan.Digest + "\n")
	cloud = b.until(v1alpha1.ReasonAsDeclared)
	t.Logf("%s", b.kubectl("get", "clouds,cloudplans,cloudservices", "-n", b.namespace, "-o", "wide"))
}
