// Package live_test runs the operator in the test process against a real API server.
package live_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kolla.openstack.org/kolla/internal/cli"
	"kolla.openstack.org/kolla/internal/dev/clustertest"
	"kolla.openstack.org/kolla/internal/operator"
	"kolla.openstack.org/kolla/internal/operator/v1alpha1"
	"kolla.openstack.org/kolla/providers/kubernetes"
)

func TestMain(m *testing.M) {
	if namespace := os.Getenv(childVariable); namespace != "" {
		os.Exit(child(namespace))
	}
	os.Exit(clustertest.Run(m))
}

// childVariable makes the test program an operator of a namespace, which a test can kill.
const childVariable = "KOLLA_TEST_OPERATOR"

// child runs an operator with the election of a leader until it is killed.
func child(namespace string) (code int) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	err := operator.Run(ctx, operator.Options{
		Kubernetes: kubernetes.Options{Kubeconfig: os.Getenv("KUBECONFIG"), UserAgent: "kolla-operator/test"},
		Namespace:  namespace, LeaseNamespace: namespace, Workers: 1, Version: "test",
		Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// spawn starts an operator as a process of its own.
func (b *bench) spawn() *exec.Cmd {
	b.Helper()
	program, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), childVariable+"="+b.namespace, "KUBECONFIG="+clustertest.Kubeconfig())
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd
}

// bench is a namespace with a service account, and an operator that watches it.
type bench struct {
	testing.TB
	client    client.Client
	namespace string // of the Clouds
	target    string // of the objects of the cloud
}

// logs collects what the operator logs.
type logs struct{ testing.TB }

func (l logs) Write(p []byte) (int, error) {
	l.TB.Log(strings.TrimSpace(string(p)))
	return len(p), nil
}

// newBench prepares a namespace. The operator is not started yet.
func newBench(t testing.TB) *bench {
	t.Helper()
	b := &bench{TB: t, namespace: clustertest.Namespace(t)}
	b.target = b.namespace + "-cloud"
	scheme, err := operator.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	if b.client, err = client.New(clustertest.Config(t), client.Options{Scheme: scheme}); err != nil {
		t.Fatal(err)
	}
	b.define()
	b.kubectl("create", "serviceaccount", "kolla", "-n", b.namespace)
	b.kubectl("create", "clusterrolebinding", b.namespace, "--clusterrole=cluster-admin", "--serviceaccount="+b.namespace+":kolla")
	t.Cleanup(func() {
		b.kubectl("delete", "clusterrolebinding", b.namespace)
		b.kubectl("delete", "namespace", b.target, "--ignore-not-found", "--wait=false")
	})
	return b
}

// define writes the kinds of the operator.
func (b *bench) define() {
	b.Helper()
	b.apply(string(v1alpha1.Definitions()))
	b.kubectl("wait", "--for=condition=Established", "crd/clouds.kolla.openstack.org", "crd/cloudplans.kolla.openstack.org", "crd/cloudservices.kolla.openstack.org")
}

func (b *bench) kubectl(args ...string) string {
	b.Helper()
	return clustertest.Kubectl(b.TB, args...)
}

// apply writes objects as kubectl apply does.
func (b *bench) apply(text string) {
	b.Helper()
	file := filepath.Join(b.TempDir(), "objects.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	b.kubectl("apply", "--server-side", "--force-conflicts", "-f", file)
}

// start runs an operator until the test ends, or until the returned function is called.
func (b *bench) start() (stop func()) {
	b.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- operator.Run(ctx, operator.Options{
			Kubernetes: kubernetes.Options{Kubeconfig: clustertest.Kubeconfig(), UserAgent: "kolla-operator/test"},
			Namespace:  b.namespace, Workers: 2, Version: "test",
			Log: slog.New(slog.NewTextHandler(logs{b.TB}, &slog.HandlerOptions{Level: slog.LevelWarn})),
		})
	}()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil {
			b.Errorf("the operator ended: %v", err)
		}
	}
	b.Cleanup(stop)
	return stop
}

// configuration is a cloud with a service and a manifest.
const configuration = `
cloud "NAME" {
  release   = "2025.1"
  namespace = "TARGET"
  backend "kubernetes" {
    namespace = "TARGET-state"
  }
}

variable "greeting" {
  default = "hello"
}

definition "echo" {
  workload "server" {
    kind  = "Deployment"
    image = "echo"
  }
}

service "echo" {}

manifest "note" {
  object = {
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = "note" }
    data       = { greeting = var.greeting }
  }
}
`

// named gives a configuration the names of this test.
func (b *bench) named(text string) string {
	return strings.NewReplacer("NAME", b.namespace, "TARGET", b.target).Replace(text)
}

// configured makes a directory with a configuration the current one.
func (b *bench) configured(text string) {
	b.Helper()
	b.Chdir(b.TempDir())
	if err := os.WriteFile("cloud.hcl", []byte(b.named(text)), 0o600); err != nil {
		b.Fatal(err)
	}
	b.Setenv("KUBECONFIG", clustertest.Kubeconfig())
}

// kolla runs a command line without a terminal.
func (b *bench) kolla(want int, says string, args ...string) {
	b.Helper()
	var out bytes.Buffer
	code := cli.Run(b.Context(), append([]string{"kolla"}, args...), strings.NewReader(""), &out, &out)
	if text := strings.Join(strings.Fields(out.String()), " "); code != want || !strings.Contains(text, says) {
		b.Errorf("kolla %v: exit code %d, want %d and %q:\n%s", args, code, want, says, out.String())
	}
}

// files writes the ConfigMap with the configuration.
func (b *bench) files(name, text string) {
	b.Helper()
	var lines strings.Builder
	for line := range strings.Lines(b.named(text)) {
		lines.WriteString("    " + line)
	}
	b.apply(fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: %s\n  namespace: %s\ndata:\n  cloud.hcl: |\n%s\n", name, b.namespace, lines.String()))
}

// cloud writes a Cloud with more lines in its specification.
func (b *bench) cloud(more string) {
	b.Helper()
	b.cloudOf("{configMaps: [{name: files}]}", more)
}

// cloudOf writes a Cloud with a source.
func (b *bench) cloudOf(source, more string) {
	b.Helper()
	b.apply(b.manifest("prod", source, more))
}

// manifest returns a Cloud.
func (b *bench) manifest(name, source, more string) string {
	return fmt.Sprintf("apiVersion: kolla.openstack.org/v1alpha1\nkind: Cloud\nmetadata:\n  name: %s\n  namespace: %s\nspec:\n  source: %s\n  serviceAccountName: kolla\n  retryInterval: 1s\n%s", name, b.namespace, source, more)
}

// get reads the Cloud.
func (b *bench) get() *v1alpha1.Cloud {
	b.Helper()
	var cloud v1alpha1.Cloud
	if err := b.client.Get(context.Background(), client.ObjectKey{Namespace: b.namespace, Name: "prod"}, &cloud); err != nil {
		b.Fatal(err)
	}
	return &cloud
}

// until waits until the condition Ready has a reason.
func (b *bench) until(reason string) *v1alpha1.Cloud {
	b.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for {
		cloud := b.get()
		ready := meta.FindStatusCondition(cloud.Status.Conditions, v1alpha1.Ready)
		if ready != nil && ready.Reason == reason && ready.ObservedGeneration == cloud.Generation {
			return cloud
		}
		if time.Now().After(deadline) {
			b.Fatalf("the Cloud does not become %s: %+v", reason, cloud.Status.Conditions)
		}
		time.Sleep(100 * time.Millisecond)
	}
}
