// Package metallb runs the programs of MetalLB for a cluster of the tests.
package metallb

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"kolla.openstack.org/kolla/internal/dev/tooltest"
)

const tools tooltest.Module = "metallb"

// MetalLB is a MetalLB whose programs are processes of a test.
type MetalLB struct {
	Namespace string // of its objects
	// Kubectl runs kubectl against the cluster and returns its output.
	Kubectl func(t testing.TB, args ...string) string
}

// Start installs the definitions of MetalLB with one pool of addresses, which speakers announce in their
// networks (L2 mode). It starts the controller with a kubeconfig. The test removes all at its end.
func (m MetalLB) Start(t testing.TB, kubeconfig, pool string) {
	t.Helper()
	definitions := filepath.Join(tools.Dir(t, "go.universe.tf/metallb"), "config", "crd", "bases")
	m.Kubectl(t, "apply", "-f", definitions)
	t.Cleanup(func() { m.Kubectl(t, "delete", "-f", definitions) })
	m.Kubectl(t, "wait", "--for=condition=Established", "crd/ipaddresspools.metallb.io", "crd/l2advertisements.metallb.io", "--timeout=60s")
	m.apply(t, "{apiVersion: metallb.io/v1beta1, kind: IPAddressPool, metadata: {name: public, namespace: "+m.Namespace+"}, spec: {addresses: ["+pool+"]}}")
	m.apply(t, "{apiVersion: metallb.io/v1beta1, kind: L2Advertisement, metadata: {name: public, namespace: "+m.Namespace+"}}")
	m.run(t, exec.Command(tools.Program(t, "controller"), "--webhook-mode=disabled", "--port=0", "--log-level=error"), kubeconfig)
}

// Speak starts the speaker of a node, until stop is called. A speaker wants to be a pod, so that a pod with an
// image takes its place, and gives it the address of the node. kubeconfig reaches the API server from there,
// and in returns a command that runs in the network of the node.
func (m MetalLB) Speak(t testing.TB, kubeconfig, node, image string, in func(argv ...string) *exec.Cmd) (stop func()) {
	t.Helper()
	pod := "speaker-" + node
	m.apply(t, "{apiVersion: v1, kind: Pod, metadata: {name: "+pod+", namespace: "+m.Namespace+", labels: {app: speaker}},"+
		" spec: {nodeName: "+node+", hostNetwork: true, containers: [{name: speaker, image: \""+image+"\", command: [sleep, infinity]}]}}")
	m.Kubectl(t, "-n", m.Namespace, "wait", "--for=condition=Ready", "pod/"+pod, "--timeout=300s")
	address := m.Kubectl(t, "-n", m.Namespace, "get", "pod", pod, "-o", "jsonpath={.status.hostIP}")
	cmd := in(tools.Program(t, "speaker"), "--port=0", "--log-level=error", "--ml-bindaddr="+address, "--ml-labels=app=speaker")
	return m.run(t, cmd, kubeconfig, "METALLB_NODE_NAME="+node, "METALLB_POD_NAME="+pod, "METALLB_HOST="+address)
}

// apply applies a manifest.
func (m MetalLB) apply(t testing.TB, text string) {
	t.Helper()
	m.Kubectl(t, "apply", "-f", tooltest.Manifest(t, text))
}

// run starts a program of MetalLB.
func (m MetalLB) run(t testing.TB, cmd *exec.Cmd, kubeconfig string, env ...string) (stop func()) {
	t.Helper()
	cmd.Env = append(append(os.Environ(), "KUBECONFIG="+kubeconfig, "METALLB_NAMESPACE="+m.Namespace, "METALLB_BGP_TYPE=native"), env...)
	return tooltest.Start(t, cmd)
}
