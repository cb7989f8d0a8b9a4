package live_test

import (
	"math/rand/v2"
	"os"
	"testing"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
)

// policies are two policies that add labels in the namespace of the test. The first one labels
// every object while the namespace has a label. The second one labels the objects with the label
// tier=green, which other clients add and remove.
const policies = `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: $NS}
spec:
  matchConstraints:
    namespaceSelector: {matchLabels: {$SELECT: $NS}}
    resourceRules: [{apiGroups: ["*"], apiVersions: ["*"], operations: [CREATE, UPDATE], resources: ["*"], scope: Namespaced}]
  reinvocationPolicy: Never
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration: {expression: 'Object{metadata: Object.metadata{labels: {"$LABEL": "yes"}}}'}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: $NS}
spec: {policyName: $NS}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: $NS-green}
spec:
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: $NS}}
    objectSelector: {matchLabels: {tier: green}}
    resourceRules: [{apiGroups: ["*"], apiVersions: ["*"], operations: [UPDATE], resources: ["*"], scope: Namespaced}]
  reinvocationPolicy: Never
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration: {expression: 'Object{metadata: Object.metadata{labels: {"green": "yes"}}}'}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: $NS-green}
spec: {policyName: $NS-green}
`

// TestDifferentialUnderPolicies runs the differential test while policies change objects, and start
// and stop matching them.
func TestDifferentialUnderPolicies(t *testing.T) {
	namespace := clustertest.Namespace(t)
	w := newWorld(t, clustertest.Kubeconfig(), namespace, seedOf(t), os.Getenv(onlyVariable))
	b := newBench(t, namespace)
	b.mutator(policies, "mutate", "mutated")
	random := rand.New(rand.NewPCG(w.seed, 0))
	selected := false
	flip := func() {
		selected = !selected
		change := "mutate-"
		if selected {
			change = "mutate=" + namespace
		}
		clustertest.Kubectl(t, "label", "namespace", namespace, change)
		labels(t, b.client, namespace, "mutated", selected)
	}
	flip() // wait for the server to know the policies
	w.ahead = settling
	w.govern = func() {
		if random.IntN(3) == 0 {
			flip()
		}
	}
	w.live(max(150, setting(t, stepsVariable, defaultSteps)/5))
}
