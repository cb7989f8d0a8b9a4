package live_test

import (
	"fmt"
	"strings"
	"testing"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// withNamespace returns a bench whose namespace does not exist until the plan creates it.
func withNamespace(t *testing.T, labels string) *bench {
	t.Helper()
	b := newBench(t, clustertest.Namespace(t)+"-new")
	t.Cleanup(func() {
		clustertest.Kubectl(t, "delete", "namespace", b.namespace, "--wait=false", "--ignore-not-found")
	})
	b.declare("cloud.c/Namespace/n", "{apiVersion: v1, kind: Namespace, metadata: {name: "+b.namespace+", labels: {"+labels+"}}}")
	return b
}

// noMore creates a quota that allows no more objects of a resource in a namespace.
func noMore(t *testing.T, namespace, resource string) {
	t.Helper()
	name := "no-" + strings.ReplaceAll(strings.ReplaceAll(resource, "/", "-"), ".", "-")
	clustertest.Kubectl(t, "-n", namespace, "create", "quota", name, "--hard="+resource+"=0")
	t.Cleanup(func() { clustertest.Kubectl(t, "-n", namespace, "delete", "quota", name, "--wait") })
	clustertest.Eventually(t, "the quota is counted", func() bool {
		return clustertest.Kubectl(t, "-n", namespace, "get", "quota", name, "-o", "jsonpath={.status.hard}") != ""
	})
}

// TestWhatTheOtherNamespaceRefuses checks that a plan allows an object that only the surrogate
// namespace rejects.
func TestWhatTheOtherNamespaceRefuses(t *testing.T) {
	b := withNamespace(t, "")
	noMore(t, providers.SurrogateNamespace, "count/deployments.apps")
	b.declare(atAPI, api(b, "keystone:1", "keystone"))
	b.declare("service.keystone/ServiceAccount/sa", "{apiVersion: v1, kind: ServiceAccount, metadata: {name: sa, namespace: "+b.namespace+"}}")
	b.declare("manifest.p/Pod/p", "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: "+b.namespace+"}, spec: {serviceAccountName: sa, containers: [{name: c, image: i}]}}", "service.keystone/ServiceAccount/sa")
	plan := b.plan()
	for at, reason := range map[string]string{atAPI: "exceeded quota", "manifest.p/Pod/p": `serviceaccount "sa" not found`} {
		a := b.action(plan, at)
		if a.Verb != plans.Create || a.Evidence.Kind != plans.Unverified {
			t.Errorf("%s: decided %s, %+v", at, a.Verb, a.Evidence)
		}
		holds(t, a.Evidence.Detail, `its namespace does not exist yet, and the namespace "default", in which it was tried instead, does not admit it: `, reason)
	}
	if a := b.action(plan, "service.keystone/ServiceAccount/sa"); a.Evidence != (plans.Evidence{Kind: plans.Surrogate, Detail: `tried in the namespace "default"`}) {
		t.Errorf("evidence is %+v", a.Evidence)
	}
}

// TestWhatTheOtherNamespaceLacks checks that the evidence names the rules of the object's own
// namespace that were not in force.
func TestWhatTheOtherNamespaceLacks(t *testing.T) {
	b := withNamespace(t, "pod-security.kubernetes.io/enforce: baseline")
	b.declare(atAPI, api(b, "keystone:1", "keystone"))
	b.declare("manifest.q/ResourceQuota/q", "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q, namespace: "+b.namespace+"}, spec: {hard: {pods: 1}}}")
	b.declare("manifest.q/LimitRange/l", "{apiVersion: v1, kind: LimitRange, metadata: {name: l, namespace: "+b.namespace+"}, spec: {limits: [{type: Pod, max: {cpu: 1}}]}}")
	want := fmt.Sprintf(`tried in the namespace "default", without the Pod Security level "baseline", ResourceQuota %[1]s/q, LimitRange %[1]s/l`, b.namespace)
	if a := b.action(b.plan(), atAPI); a.Evidence != (plans.Evidence{Kind: plans.Surrogate, Detail: want}) {
		t.Errorf("evidence is %+v, want %s", a.Evidence, want)
	}
}

// TestReplacementIsTriedInItsNamespace checks that the dry run of a replacement uses its own
// namespace: rules of other namespaces do not matter.
func TestReplacementIsTriedInItsNamespace(t *testing.T) {
	b := newBench(t, clustertest.Namespace(t))
	b.declare(atAPI, api(b, "keystone:1", "keystone"))
	b.apply(b.plan())
	noMore(t, providers.SurrogateNamespace, "count/deployments.apps")
	b.declare(atAPI, api(b, "keystone:1", "another"))
	if a := b.action(b.plan(), atAPI); a.Verb != plans.Replace || a.Evidence != (plans.Evidence{Kind: plans.Surrogate}) {
		t.Errorf("decided %s, %+v", a.Verb, a.Evidence)
	}
	clustertest.Kubectl(t, "-n", b.namespace, "create", "quota", "one", "--hard=count/deployments.apps=1")
	clustertest.Eventually(t, "the quota is full", func() bool {
		return strings.Contains(clustertest.Kubectl(t, "-n", b.namespace, "get", "quota", "one", "-o", "jsonpath={.status.used}"), `"1"`)
	})
	holds(t, b.problem(b.input()), "does not accept a new Deployment", "exceeded quota", "leave room for one more in the quota")
}

// TestNamespaceThatIsGoing checks that a plan fails for a namespace that is being deleted.
func TestNamespaceThatIsGoing(t *testing.T) {
	b := newBench(t, clustertest.Namespace(t))
	clustertest.Kubectl(t, "-n", b.namespace, "create", "configmap", "holds-it")
	clustertest.Kubectl(t, "-n", b.namespace, "patch", "configmap", "holds-it", "--type=merge", "-p", `{"metadata": {"finalizers": ["example.org/stay"]}}`)
	clustertest.Kubectl(t, "delete", "namespace", b.namespace, "--wait=false")
	t.Cleanup(func() {
		clustertest.Kubectl(t, "-n", b.namespace, "patch", "configmap", "holds-it", "--type=merge", "-p", `{"metadata": {"finalizers": null}}`)
	})
	b.declareOther()
	holds(t, b.problem(b.input()), fmt.Sprintf("namespace %q is being deleted", b.namespace))
}
