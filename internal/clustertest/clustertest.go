// Package clustertest gives tests a real Kubernetes API server: one local cluster
// of simulated nodes for the test binary, and a namespace of its own for each
// test.
//
//	func TestMain(m *testing.M) { os.Exit(clustertest.Run(m)) }
//
// With $KOLLA_TEST_KUBECONFIG set, the tests use the cluster of that file instead
// and start none; it must be a local cluster with Nodes nodes. A cluster that
// cannot be had fails the tests; they are never skipped.
package clustertest

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// kubeconfigVariable names a cluster to use instead of starting one.
const kubeconfigVariable = "KOLLA_TEST_KUBECONFIG"

// Nodes is how many nodes the cluster of Run has.
const Nodes = 8

// nodes are those of the cluster of Run: three without a purpose, and those that
// the multinode example is written for.
var nodes = []string{
	"-nodes=3",
	"-node=ctl-1", "-node=ctl-2", "-node=ctl-3",
	"-node=cmp-1=node.kubernetes.io/instance-type=hypervisor",
	"-node=cmp-2=node.kubernetes.io/instance-type=hypervisor",
}

// shared is the cluster of the test binary. Tests cannot be handed it: they are
// called by package testing.
var shared *Cluster

// atOnce is how many parallel tests run at the same time. They wait for the server most of
// the time, so it is more than there are processors on a small machine.
const atOnce = 6

// Run runs the tests of m with a cluster, and returns the exit code. It raises the default
// of -parallel.
func Run(m *testing.M) int {
	// m.Run parses the command line, whose -parallel then wins.
	if runtime.GOMAXPROCS(0) < atOnce && !flag.Parsed() {
		if err := flag.Set("test.parallel", strconv.Itoa(atOnce)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	// Tests may change the working directory, from which the program is found.
	binary, err := findBinary()
	if err == nil {
		err = os.Setenv(BinaryVariable, binary)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if path := os.Getenv(kubeconfigVariable); path != "" {
		shared, err = given(path)
	} else {
		shared, err = start(append(nodes, "-audit")...)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if err := shared.stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return max(code, 1)
	}
	return code
}

// Kubeconfig is the path of the kubeconfig of the cluster; its user may do
// everything.
func Kubeconfig() string { return shared.Kubeconfig() }

// Audit is the path of the API server's audit log, one JSON event a line; empty
// when the tests did not start the server.
func Audit() string { return shared.audit }

// Config is how to reach the cluster with client-go, without a rate limit.
func Config(t testing.TB) *rest.Config {
	t.Helper()
	return shared.config(t)
}

// Kubectl runs kubectl against the cluster, fails the test if it fails, and
// returns what it printed.
func Kubectl(t testing.TB, args ...string) string {
	t.Helper()
	return shared.Kubectl(t, args...)
}

// Namespace makes a namespace that no other test has. It is deleted when the test
// ends.
func Namespace(t testing.TB) string {
	t.Helper()
	namespaces := corev1client.NewForConfigOrDie(Config(t)).Namespaces()
	made, err := namespaces.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: prefix(t.Name())}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("make a namespace: %v", err)
	}
	t.Cleanup(func() {
		// The test's own context has ended by now. Nobody waits for the namespace to
		// be gone: the next test has another.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 10*time.Second)
		defer cancel()
		if err := namespaces.Delete(ctx, made.Name, metav1.DeleteOptions{}); err != nil {
			t.Errorf("delete namespace %s: %v", made.Name, err)
		}
	})
	return made.Name
}

// prefix makes the beginning of a namespace's name of the name of a test.
func prefix(test string) string {
	name := strings.Map(func(r rune) rune {
		if (r >= 'a' && r <= 'z') || (r >= '0' && r <= '9') {
			return r
		}
		return '-'
	}, strings.ToLower(test))
	const most = 50 // the server adds five characters, of 63
	return name[:min(len(name), most)] + "-"
}

// Eventually fails the test unless the condition comes to hold within a time.
func Eventually(t testing.TB, within time.Duration, what string, condition func() bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, within, true, func(context.Context) (bool, error) {
		return condition(), nil
	})
	if err != nil {
		t.Fatalf("not within %s: %s", within, what)
	}
}

// config is how to reach the cluster with client-go.
func (c *Cluster) config(t testing.TB) *rest.Config {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", c.kubeconfig)
	if err != nil {
		t.Fatalf("read %s: %v", c.kubeconfig, err)
	}
	config.QPS = -1
	return config
}

// given is a cluster that somebody else started.
func given(path string) (*Cluster, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("find the kubeconfig %s of $%s: %w", path, kubeconfigVariable, err)
	}
	if _, err := os.Stat(absolute); err != nil {
		return nil, fmt.Errorf("use the cluster of $%s: %w", kubeconfigVariable, err)
	}
	return &Cluster{dir: filepath.Dir(absolute), kubeconfig: absolute}, nil
}
