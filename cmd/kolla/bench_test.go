package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"kolla.openstack.org/kolla/internal/clustertest"
)

// BenchmarkStart measures what does not need a cluster: how long kolla takes to
// start, and to evaluate the multinode example.
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

// BenchmarkMultinode measures the life of examples/multinode on the local cluster:
// seconds, peak memory, and requests by verb.
func BenchmarkMultinode(b *testing.B) {
	b.Setenv("KUBECONFIG", clustertest.Kubeconfig())
	dir := b.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../examples/multinode")); err != nil {
		b.Fatal(err)
	}
	b.Chdir(dir)
	destroy := func() { measure(b, nil, "destroy", "-auto-approve", "-delete-data=*") }
	apply := func(b *testing.B) { measure(b, tail(b, clustertest.Audit()), "apply", "-auto-approve") }
	plan := func(b *testing.B) { measure(b, tail(b, clustertest.Audit()), "plan") }

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

// measure runs kolla as a process of its own, which must succeed. With an audit
// log it reports the peak memory and the requests of this run.
func measure(b *testing.B, audit *auditLog, args ...string) {
	b.Helper()
	var complaints bytes.Buffer
	command := exec.Command("kolla", args...)
	command.Stdout, command.Stderr = io.Discard, &complaints
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
	for _, e := range audit.kolla() {
		verb := e.Verb
		if strings.Contains(e.RequestURI, "dryRun=All") {
			verb = "dry-run"
		}
		requests[verb]++
	}
	for _, verb := range []string{"get", "list", "watch", "dry-run", "patch", "delete"} {
		b.ReportMetric(requests[verb], verb+"-requests")
	}
}
