package live_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
	"kolla.openstack.org/kolla/internal/operator/v1alpha1"
)

// applied takes a cloud from nothing to ready.
func (b *bench) applied(more string) {
	b.Helper()
	b.files("files", configuration)
	b.cloud(more)
	var plan *v1alpha1.PlanStatus
	clustertest.Eventually(b, "there is a plan, or it is applied", func() bool {
		status := b.get().Status
		plan = status.Plan
		return plan != nil || meta.IsStatusConditionTrue(status.Conditions, v1alpha1.Ready)
	})
	if plan != nil {
		b.cloud(more + "  approvedPlan: " + plan.Digest + "\n")
	}
	b.until(v1alpha1.ReasonAsDeclared)
}

// uid returns the UID of an object of the cloud.
func (b *bench) uid() string {
	b.Helper()
	return b.kubectl("get", "configmap", "note", "-n", b.target, "-o", "jsonpath={.metadata.uid}", "--ignore-not-found")
}

// again makes the namespace and the Cloud again, and checks that a new operator has nothing to do.
func (b *bench) again(more, uid string) {
	b.Helper()
	if got := b.kubectl("get", "namespace", b.namespace, "--ignore-not-found"); got == "" {
		b.kubectl("create", "namespace", b.namespace)
		b.kubectl("create", "serviceaccount", "kolla", "-n", b.namespace)
	}
	b.files("files", configuration)
	b.cloud(more)
	if done := b.until(v1alpha1.ReasonAsDeclared); done.Status.LastApply != nil || b.uid() != uid {
		b.Errorf("the cloud is applied again: %+v, and the ConfigMap is %s, want %s", done.Status.LastApply, b.uid(), uid)
	}
}

// TestNamespaceDeleted deletes the namespace of a Cloud. Nothing of the cloud is lost, nothing hangs, and the
// command line and a new Cloud go on from the state.
func TestNamespaceDeleted(t *testing.T) {
	for name, more := range map[string]string{
		"manual": "", "automatic": "  approval: automatic\n", "orphan": "  deletionPolicy: Orphan\n", "suspended": "  approval: automatic\n",
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			stop := b.start()
			b.applied(more)
			uid := b.uid()
			if name == "suspended" {
				b.cloud(more + "  suspend: true\n")
				b.until(v1alpha1.ReasonSuspended)
			}
			b.kubectl("delete", "namespace", b.namespace, "--timeout=90s")
			if got := b.uid(); got == "" || got != uid {
				t.Fatalf("the ConfigMap is %q, and was %s", got, uid)
			}
			if name == "manual" {
				stop()
				b.takenOver()
				return
			}
			b.again(more, uid)
		})
	}
}

// takenOver checks that the command line goes on with a cloud whose Cloud is gone.
func (b *bench) takenOver() {
	b.Helper()
	b.configured(configuration)
	b.kolla(1, "The operator manages this cloud", "apply", "-auto-approve", "-no-color")
	b.kolla(0, "all unchanged", "apply", "-auto-approve", "-no-color", "-take-over")
	b.kolla(0, "all unchanged", "apply", "-auto-approve", "-no-color")
}

// TestOperatorGoesFirst deletes the namespace of the operator and its Clouds. The server ends pods first, here
// one that takes its time, so the operator ends before it can see a Cloud deleted.
func TestOperatorGoesFirst(t *testing.T) {
	b := newBench(t)
	stop := b.start()
	b.applied("")
	uid := b.uid()
	b.apply("apiVersion: v1\nkind: Pod\nmetadata: {name: operator, namespace: " + b.namespace + ", finalizers: [example.org/slow]}\nspec: {containers: [{name: c, image: c}]}\n")
	b.kubectl("delete", "namespace", b.namespace, "--wait=false")
	stop()
	b.kubectl("patch", "pod", "operator", "-n", b.namespace, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
	b.kubectl("wait", "--for=delete", "namespace/"+b.namespace, "--timeout=90s")
	b.kubectl("create", "namespace", b.namespace)
	b.kubectl("create", "serviceaccount", "kolla", "-n", b.namespace)
	b.start()
	b.again("", uid)
}

// TestDefinitionsDeleted deletes the kinds of the operator, as an uninstallation does. Nothing of the cloud is lost,
// and nothing hangs.
func TestDefinitionsDeleted(t *testing.T) {
	for name, more := range map[string]string{"manual": "", "automatic": "  approval: automatic\n"} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			stop := b.start()
			b.applied(more)
			uid := b.uid()
			for line := range strings.Lines(b.kubectl("get", "clouds", "-A", "-o", `jsonpath={range .items[*]}{.metadata.namespace} {.metadata.name}{"\n"}{end}`)) {
				if other := strings.Fields(line); other[0] != b.namespace { // of tests that ended
					b.kubectl("patch", "cloud", other[1], "-n", other[0], "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
				}
			}
			b.kubectl("delete", "crd", "cloudplans.kolla.openstack.org", "cloudservices.kolla.openstack.org", "clouds.kolla.openstack.org", "--timeout=90s")
			if b.uid() != uid {
				t.Errorf("the ConfigMap is %q, and was %s", b.uid(), uid)
			}
			stop()
			b.define()
			b.start()
			b.again(more, uid)
		})
	}
}
