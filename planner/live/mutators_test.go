package live_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kubernetes"
)

// policy is a policy that labels the ConfigMaps of the selected namespaces. Only the test's own
// namespace has its name as a label.
const policy = `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: $NS}
spec:
  matchConstraints:
    namespaceSelector: {matchLabels: {$SELECT: $NS}}
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [configmaps]}]
  reinvocationPolicy: Never
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration: {expression: 'Object{metadata: Object.metadata{labels: {"$LABEL": "yes"}}}'}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: $NS}
spec: {policyName: $NS}
`

// webhook is a webhook that cannot be reached, and so changes nothing.
const webhook = `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: $NS}
webhooks:
- name: a.example.org
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Ignore
  timeoutSeconds: 1
  clientConfig: {url: "https://127.0.0.1:9/"}
  namespaceSelector: {matchLabels: {$SELECT: $NS}}
  rules: [{apiGroups: [""], apiVersions: [v1], operations: [UPDATE], resources: [configmaps]}]
`

const everyNamespace = "kubernetes.io/metadata.name" // selects only the namespace with this name

// settling is how long a server may take to notice a changed policy or webhook.
const settling = 10 * time.Minute

// mutator creates or changes a policy or webhook, and deletes it when the test ends.
func (b *bench) mutator(text, selectBy, label string) {
	b.t.Helper()
	file := filepath.Join(b.t.TempDir(), "mutator.yaml")
	text = strings.NewReplacer("$NS", b.namespace, "$SELECT", selectBy, "$LABEL", label).Replace(text)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { clustertest.Kubectl(b.t, "delete", "--ignore-not-found", "-f", file) })
	clustertest.Kubectl(b.t, "apply", "-f", file)
}

// labels waits until the server adds a label to new ConfigMaps (want), or no longer adds it.
func labels(t *testing.T, client *kubernetes.Client, namespace, label string, want bool) {
	t.Helper()
	probe := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
	probe.SetName("probe")
	probe.SetNamespace(namespace)
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		answer, err := client.DryRun(t.Context(), probe, providers.DryRunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, labelled := answer.GetLabels()[label]; labelled == want {
			return
		}
	}
	t.Fatalf("the server does not come to label what is new with %s: %t", label, want)
}

// verbIs fails the test unless a plan has this verb and evidence for the ConfigMap, and a plan with
// -verify=full has the same verb.
func (b *bench) verbIs(verb plans.Verb, evidence plans.EvidenceKind) {
	b.t.Helper()
	verified := b.input()
	verified.VerifyAll = true
	for _, in := range []planner.Input{b.input(), verified} {
		plan, problems, err := planner.Make(b.t.Context(), in)
		if err != nil || len(problems) > 0 {
			b.t.Fatalf("Make: %v, problems %+v", err, problems)
		}
		a := b.action(plan, atConf)
		if a.Verb != verb || !in.VerifyAll && a.Evidence.Kind != evidence {
			b.t.Errorf("with -verify=full %t: %s by %q, want %s by %q\n%s", in.VerifyAll, a.Verb, a.Evidence.Kind, verb, evidence, lines(a.Changes))
		}
	}
}

// TestPoliciesSendToTheServer checks that a plan asks the server about an object that a policy may
// change, until the state knows the answer for the present object and policy.
func TestPoliciesSendToTheServer(t *testing.T) {
	b := newBench(t, clustertest.Namespace(t))
	b.ahead = settling
	declareCloud(b)
	b.apply(b.plan())
	b.evidence(plans.Fingerprint)
	for _, label := range []string{"one", "two"} {
		b.mutator(policy, everyNamespace, label)
		labels(t, b.client, b.namespace, label, true)
		b.verbIs(plans.Update, plans.DryRun)
		for _, at := range []string{atAPI, atService} {
			if a := b.action(b.plan(), at); a.Evidence.Kind != plans.Fingerprint {
				t.Errorf("%s %s: %s by %q", label, at, a.Verb, a.Evidence.Kind)
			}
		}
		b.apply(b.plan())
		b.verbIs(plans.None, plans.DryRun)
		b.recheck()
		b.evidence(plans.Fingerprint)
		b.settled()

		clustertest.Kubectl(t, "annotate", "-n", b.namespace, "configmap/keystone.conf", "--overwrite", "note="+label)
		b.verbIs(plans.None, plans.DryRun) // a policy may read the changed label
		b.recheck()
		b.evidence(plans.Fingerprint)
	}
	clustertest.Kubectl(t, "delete", "mutatingadmissionpolicybinding", b.namespace)
	labels(t, b.client, b.namespace, "two", false)
	if a := b.action(b.plan(), atConf); a.Evidence.Kind == plans.Fingerprint {
		t.Errorf("without it: %s by %q", a.Verb, a.Evidence.Kind)
	}
	b.apply(b.plan())
	b.settled()
}

// TestSelectorsStartAndStopToMatch checks that a plan considers the labels of the namespace, which
// a policy may select by.
func TestSelectorsStartAndStopToMatch(t *testing.T) {
	b := newBench(t, clustertest.Namespace(t))
	b.ahead = settling
	b.declare(atConf, conf(b, "x"))
	b.mutator(policy, "inject", "sidecar")
	clustertest.Kubectl(t, "label", "namespace", b.namespace, "inject="+b.namespace)
	labels(t, b.client, b.namespace, "sidecar", true) // wait for the server to know the policy
	clustertest.Kubectl(t, "label", "namespace", b.namespace, "inject-")
	labels(t, b.client, b.namespace, "sidecar", false)
	b.apply(b.plan())
	b.verbIs(plans.None, plans.Ownership)
	b.recheck()
	b.verbIs(plans.None, plans.Fingerprint)

	clustertest.Kubectl(t, "label", "namespace", b.namespace, "inject="+b.namespace)
	labels(t, b.client, b.namespace, "sidecar", true)
	b.verbIs(plans.Update, plans.DryRun)
	b.apply(b.plan())
	b.verbIs(plans.None, plans.DryRun)
	b.recheck()
	b.verbIs(plans.None, plans.Fingerprint)

	clustertest.Kubectl(t, "label", "namespace", b.namespace, "inject-")
	labels(t, b.client, b.namespace, "sidecar", false)
	b.apply(b.plan())
	b.settled()
}

// TestNothingIsKnownByAServerThatLags checks that later plans do not trust an answer that the
// server gave before it knew a new policy.
func TestNothingIsKnownByAServerThatLags(t *testing.T) {
	b := newBench(t, clustertest.Namespace(t))
	b.declare(atConf, conf(b, "x"))
	b.apply(b.plan())
	b.mutator(policy, everyNamespace, "late")
	b.recheck() // without waiting for the server to know the policy
	labels(t, b.client, b.namespace, "late", true)
	b.ahead = settling
	b.verbIs(plans.Update, plans.DryRun)
}

// TestWebhooksSendToTheServer checks that a plan asks the server only about objects that a webhook
// sees, until the server has reported no change. It asks again after a change of the webhook's
// configuration.
func TestWebhooksSendToTheServer(t *testing.T) {
	b := newBench(t, clustertest.Namespace(t))
	b.ahead = settling
	declareCloud(b)
	b.mutator(webhook, "inject", "")
	b.apply(b.plan())
	b.recheck()
	b.evidence(plans.Fingerprint)
	b.mutator(webhook, everyNamespace, "")
	for _, evidence := range []plans.EvidenceKind{plans.DryRun, plans.Fingerprint} {
		b.verbIs(plans.None, evidence)
		for _, at := range []string{atAPI, atService} {
			if a := b.action(b.plan(), at); a.Evidence.Kind != plans.Fingerprint {
				t.Errorf("%s: %s by %q", at, a.Verb, a.Evidence.Kind)
			}
		}
		b.recheck()
	}
	b.mutator(webhook, "inject", "")
	b.verbIs(plans.None, plans.Ownership)
}
