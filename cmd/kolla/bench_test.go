package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
)

// BenchmarkStart measures commands that need no cluster: starting kolla, and evaluating the
// multinode example.
func BenchmarkStart(b *testing.B) {
	b.Chdir("../../examples/multinode")
	for _, command := range []string{"version", "validate"} {
		b.Run(command, func(b *testing.B) {
			for b.Loop() {
				measure(b, nil, command)
			}
		})
	}
}

// BenchmarkMultinode measures plans and applies of examples/multinode on the local cluster:
// seconds, peak memory, and requests by verb.
func BenchmarkMultinode(b *testing.B) {
	b.Setenv("KUBECONFIG", clustertest.Kubeconfig())
	dir := b.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../examples/multinode")); err != nil {
		b.Fatal(err)
	}
	b.Chdir(dir)
	destroy := func() { measure(b, nil, "destroy", "-auto-approve", "-delete-data=*") }
	apply := func(b *testing.B) { measure(b, clustertest.TailAudit(b), "apply", "-auto-approve") }
	plan := func(b *testing.B) { measure(b, clustertest.TailAudit(b), "plan") }

	b.Run("plan-empty", func(b *testing.B) {
		for b.Loop() {
			plan(b)
		}
	})
	b.Run("apply-new", func(b *testing.B) {
		for b.Loop() {
			apply(b)
			b.StopTimer()
			destroy()
			b.StartTimer()
		}
	})
	measure(b, nil, "apply", "-auto-approve")
	b.Run("plan-unchanged", func(b *testing.B) {
		for b.Loop() {
			plan(b)
		}
	})
	b.Run("apply-unchanged", func(b *testing.B) {
		for b.Loop() {
			apply(b)
		}
	})
	destroy()
}

// BenchmarkDrift compares kolla drift of 1,000 unchanged ConfigMaps with a client that only lists
// them.
func BenchmarkDrift(b *testing.B) {
	b.Setenv("KUBECONFIG", clustertest.Kubeconfig())
	b.Chdir(b.TempDir())
	const config = `
cloud "bench-drift" {
  release   = "2025.1"
  namespace = "bench-drift"
}

manifest "many" {
  count  = 1000
  object = { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "many-${count.index}" }, data = { text = "value ${count.index}" } }
}
`
	if err := os.WriteFile("cloud.hcl", []byte(config), 0o644); err != nil {
		b.Fatal(err)
	}
	measure(b, nil, "apply", "-auto-approve")
	defer measure(b, nil, "destroy", "-auto-approve")
	b.Run("list", func(b *testing.B) {
		for b.Loop() {
			client := dynamic.NewForConfigOrDie(clustertest.Config(b))
			options := metav1.ListOptions{Limit: 500}
			for {
				page, err := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace("bench-drift").List(b.Context(), options)
				if err != nil {
					b.Fatal(err)
				}
				if options.Continue = page.GetContinue(); options.Continue == "" {
					break
				}
			}
		}
	})
	for _, command := range []string{"drift", "plan", "version"} {
		b.Run(command, func(b *testing.B) {
			for b.Loop() {
				measure(b, clustertest.TailAudit(b), command)
			}
		})
	}
}

// BenchmarkBackend compares an apply of 1,000 objects with the state in a file and in the
// cluster:
//
//	go test ./cmd/kolla -run '^$' -bench Backend -benchtime 5x
func BenchmarkBackend(b *testing.B) {
	b.Setenv("KUBECONFIG", clustertest.Kubeconfig())
	for _, backend := range []string{"local", "kubernetes"} {
		b.Run(backend, func(b *testing.B) {
			b.Chdir(b.TempDir())
			cloud := fmt.Sprintf(`cloud "bench-%[1]s" {
  release   = "2025.1"
  namespace = "bench-%[1]s"
  backend %[1]q {}
}

manifest "many" {
  count   = 1000
  object = {
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = "c-${count.index}" }
    data       = { text = "content ${count.index}" }
  }
}
`, backend)
			if err := os.WriteFile("cloud.hcl", []byte(cloud), 0o600); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				measure(b, clustertest.TailAudit(b), "apply", "-auto-approve")
				b.StopTimer()
				measure(b, nil, "destroy", "-auto-approve")
				b.StartTimer()
			}
		})
	}
}

// measure runs kolla in a new process, which must succeed. With an audit log it reports the peak
// memory and the requests of this run.
func measure(b *testing.B, audit *clustertest.AuditLog, args ...string) {
	b.Helper()
	var complaints bytes.Buffer
	command := exec.Command("kolla", args...)
	command.Stdout, command.Stderr = io.Discard, &complaints
	command.Env = append(os.Environ(), processVariable+"=1")
	if err := command.Run(); err != nil {
		b.Fatalf("kolla %s: %v\n%s", strings.Join(args, " "), err, complaints.String())
	}
	if audit == nil {
		return
	}
	b.StopTimer()
	defer b.StartTimer()
	if usage, ok := command.ProcessState.SysUsage().(*syscall.Rusage); ok {
		b.ReportMetric(float64(usage.Maxrss)/1024, "peak-MiB")
	}
	requests := map[string]float64{}
	for _, e := range audit.Kolla() {
		verb := e.Verb
		if strings.Contains(e.RequestURI, "dryRun=All") {
			verb = "dry-run"
		}
		requests[verb]++
	}
	for _, verb := range []string{"get", "list", "watch", "dry-run", "patch", "create", "update", "delete"} {
		b.ReportMetric(requests[verb], verb+"-requests")
	}
}
