// Package clustertest gives tests a real Kubernetes API server. The test binary gets one local
// cluster of simulated nodes, and each test gets its own namespace.
//
//	func TestMain(m *testing.M) { os.Exit(clustertest.Run(m)) }
//
// If $KOLLA_TEST_KUBECONFIG is set, the tests use the cluster of that file and start none. It
// must be a local cluster with Nodes nodes. Tests are never skipped: if the cluster is not
// available, they fail.
package clustertest

import (
	"context"
	"crypto/tls"
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

// kubeconfigVariable is the environment variable with the kubeconfig of a cluster to use. If it
// is set, no cluster is started.
const kubeconfigVariable = "KOLLA_TEST_KUBECONFIG"

// Nodes is the number of nodes in the cluster of Run.
const Nodes = 8

// nodes describes the nodes in the cluster of Run: three nodes without a purpose, and the nodes
// of the multinode example.
var nodes = []string{
	"-nodes=3",
	"-node=ctl-1", "-node=ctl-2", "-node=ctl-3",
	"-node=cmp-1=node.kubernetes.io/instance-type=hypervisor",
	"-node=cmp-2=node.kubernetes.io/instance-type=hypervisor",
}

// shared is the cluster of the test binary. It is a global variable because package testing
// calls the tests.
var shared *Cluster

// atOnce is the number of tests that run in parallel. Tests mostly wait for the server, so that
// the number exceeds the number of processors of a small machine.
const atOnce = 6

// Environment has the environment variables for commands of kolla in a cluster of simulated nodes. No
// pod answers there, so that plans would say that Keystone does not.
var Environment = map[string]string{
	"KOLLA_CLI_ARGS_plan":  withoutRegistrations,
	"KOLLA_CLI_ARGS_apply": withoutRegistrations,
	"KOLLA_CLI_ARGS_drift": withoutRegistrations,
}

const withoutRegistrations = "-registrations=false"

// Run runs the tests of m with a cluster, and returns the exit code. It raises the default of
// -parallel.
func Run(m *testing.M) int {
	// m.Run parses the command line, so that a -parallel there takes precedence.
	if runtime.GOMAXPROCS(0) < atOnce && !flag.Parsed() {
		if err := flag.Set("test.parallel", strconv.Itoa(atOnce)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	// Find the program now: tests may change the working directory, where the search starts.
	binary, err := findBinary()
	if err == nil {
		err = os.Setenv(BinaryVariable, binary)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	for variable, value := range Environment {
		if err := os.Setenv(variable, value); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
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

// Kubeconfig returns the path of the cluster's kubeconfig, whose user has all rights.
func Kubeconfig() string { return shared.Kubeconfig() }

// Config returns the client-go configuration for the cluster, without a rate limit.
func Config(t testing.TB) *rest.Config {
	t.Helper()
	return shared.config(t)
}

// Kubectl runs kubectl against the cluster and returns its output. It fails the test if kubectl
// fails.
func Kubectl(t testing.TB, args ...string) string {
	t.Helper()
	return shared.Kubectl(t, args...)
}

// Namespace creates a new namespace and returns its name. The namespace is deleted when the
// test ends, unless the cluster is.
func Namespace(t testing.TB) string {
	t.Helper()
	namespaces := corev1client.NewForConfigOrDie(Config(t)).Namespaces()
	made, err := namespaces.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: prefix(t.Name())}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("make a namespace: %v", err)
	}
	t.Cleanup(func() {
		if shared.process != nil {
			return // it goes with the cluster; its deletion would cost as much as a small test
		}
		// The test's own context has ended by now. The test does not wait until the namespace
		// is gone, because the next test gets another one.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 10*time.Second)
		defer cancel()
		if err := namespaces.Delete(ctx, made.Name, metav1.DeleteOptions{}); err != nil {
			t.Errorf("delete namespace %s: %v", made.Name, err)
		}
	})
	return made.Name
}

// prefix returns the start of a namespace's name for the name of a test.
func prefix(test string) string {
	name := strings.Map(func(r rune) rune {
		if (r >= 'a' && r <= 'z') || (r >= '0' && r <= '9') {
			return r
		}
		return '-'
	}, strings.ToLower(test))
	const maxLength = 50 // the server adds five characters; 63 are permitted
	return name[:min(len(name), maxLength)] + "-"
}

// Patience is the time after which a test gives up. A busy machine is far slower than an idle one,
// so that a test must not expect more of it.
const Patience = 2 * time.Minute

// Eventually fails the test unless the condition becomes true.
func Eventually(t testing.TB, what string, condition func() bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, Patience, true, func(context.Context) (bool, error) {
		return condition(), nil
	})
	if err != nil {
		t.Fatalf("not within %s: %s", Patience, what)
	}
}

// config returns the client-go configuration for the cluster.
func (c *Cluster) config(t testing.TB) *rest.Config {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", c.kubeconfig)
	if err != nil {
		t.Fatalf("read %s: %v", c.kubeconfig, err)
	}
	config.QPS = -1
	return config
}

// given returns a cluster that was started outside of the tests.
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

// KubeletCertificate returns the certificate of the kubelets in the cluster of Run, for a kubelet that a
// test runs itself, at a loopback address. A Node names its port, and "localhost" as its InternalDNS.
func KubeletCertificate() (tls.Certificate, error) {
	path := filepath.Join(filepath.Dir(Kubeconfig()), "pki", "kubelet")
	return tls.LoadX509KeyPair(path+".crt", path+".key")
}
