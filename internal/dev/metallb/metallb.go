// Package metallb runs the programs of MetalLB for a cluster of the tests.
package metallb

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// MetalLB is a MetalLB whose programs are processes of a test.
type MetalLB struct {
	Namespace string // of its objects
	// Kubectl runs kubectl against the cluster and returns its output.
	Kubectl func(t testing.TB, args ...string) string
}

// tool runs the go command for the module that pins MetalLB, and returns its output.
func tool(t testing.TB, command string, args ...string) string {
	t.Helper()
	root, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		t.Fatal(err)
	}
	module := filepath.Join(filepath.Dir(string(root)), "internal", "dev", "tools", "metallb", "go.mod")
	out, err := exec.Command("go", append([]string{command, "-modfile=" + module}, args...)...).Output()
	if err != nil {
		var exit *exec.ExitError
		_ = errors.As(err, &exit)
		t.Fatalf("go %s: %v\n%s", command, err, exit.Stderr)
	}
	return strings.TrimSpace(string(out))
}

// Start installs the definitions of MetalLB with one pool of addresses, which speakers announce in their
// networks (L2 mode). It starts the controller with a kubeconfig. The test removes all at its end.
func (m MetalLB) Start(t testing.TB, kubeconfig, pool string) {
	t.Helper()
	definitions := filepath.Join(tool(t, "list", "-m", "-f", "{{.Dir}}", "go.universe.tf/metallb"), "config", "crd", "bases")
	m.Kubectl(t, "apply", "-f", definitions)
	t.Cleanup(func() { m.Kubectl(t, "delete", "-f", definitions) })
	m.Kubectl(t, "wait", "--for=condition=Established", "crd/ipaddresspools.metallb.io", "crd/l2advertisements.metallb.io", "--timeout=60s")
	m.apply(t, "{apiVersion: metallb.io/v1beta1, kind: IPAddressPool, metadata: {name: public, namespace: "+m.Namespace+"}, spec: {addresses: ["+pool+"]}}")
	m.apply(t, "{apiVersion: metallb.io/v1beta1, kind: L2Advertisement, metadata: {name: public, namespace: "+m.Namespace+"}}")
	m.run(t, exec.Command(tool(t, "tool", "-n", "controller"), "--webhook-mode=disabled", "--port=0", "--log-level=error"), kubeconfig)
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
	cmd := in(tool(t, "tool", "-n", "speaker"), "--port=0", "--log-level=error", "--ml-bindaddr="+address, "--ml-labels=app=speaker")
	return m.run(t, cmd, kubeconfig, "METALLB_NODE_NAME="+node, "METALLB_POD_NAME="+pod, "METALLB_HOST="+address)
}

// apply applies a manifest.
func (m MetalLB) apply(t testing.TB, text string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "manifest.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	m.Kubectl(t, "apply", "-f", file)
}

// run starts a program, which ends when stop is called or the test ends.
func (m MetalLB) run(t testing.TB, cmd *exec.Cmd, kubeconfig string, env ...string) (stop func()) {
	t.Helper()
	cmd.Env = append(append(os.Environ(), "KUBECONFIG="+kubeconfig, "METALLB_NAMESPACE="+m.Namespace, "METALLB_BGP_TYPE=native"), env...)
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	stop = sync.OnceFunc(func() {
		_ = cmd.Process.Kill()
		err := <-ended
		if t.Failed() {
			t.Logf("%s: %v\n%s", cmd, err, log.String())
		}
	})
	t.Cleanup(stop)
	select {
	case err := <-ended:
		ended <- err
		t.Fatalf("%s ended at once", cmd)
	case <-time.After(time.Second):
	}
	return stop
}
