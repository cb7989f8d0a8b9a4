package live_test

import (
	"math/rand/v2"
	"os"
	"testing"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
)

// Two policies that label what is in the namespace of the test: everything, as long
// as the namespace has a label; and always what has one itself, which is among those
// that others put on and take off objects.
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

// TestDifferentialUnderPolicies does the same where policies change objects, and
// start and stop to match them.
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
	flip() // the server knows the policies then
	w.ahead = settling
	w.govern = func() {
		if random.IntN(3) == 0 {
			flip()
		}
	}
	w.live(max(150, setting(t, stepsVariable, defaultSteps)/5))
}
