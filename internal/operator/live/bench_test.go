package live_test

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
	"kolla.openstack.org/kolla/internal/operator/v1alpha1"
)

// BenchmarkAtRest measures an operator with a cloud that does not change: its memory, and the requests of a
// look, which it makes at each interval. It also measures how soon it finds a change of the source, and a
// deleted object.
func BenchmarkAtRest(bench *testing.B) {
	for _, objects := range []int{1000, 5000} {
		bench.Run(strconv.Itoa(objects), func(tb *testing.B) {
			b := newBench(tb)
			b.files("files", large(objects, "first"))
			process := b.spawn()
			b.cloud("  approval: automatic\n")
			b.until(v1alpha1.ReasonAsDeclared)
			time.Sleep(5 * time.Second)
			for tb.Loop() {
				began := time.Now()
				b.kubectl("annotate", "cloud", "prod", "-n", b.namespace, "--overwrite", "kolla.openstack.org/reconcile="+time.Now().String())
				time.Sleep(5 * time.Second)
				all, err := clustertest.Requests()
				if err != nil {
					tb.Fatal(err)
				}
				requests := 0
				for _, r := range all {
					if r.Received.After(began) && strings.HasPrefix(r.UserAgent, "kolla-operator/") && r.Verb != "watch" && r.ObjectRef.Resource != "leases" {
						requests++
					}
				}
				tb.ReportMetric(float64(requests), "requests/look")
				tb.ReportMetric(memory(b, process.Process.Pid), "MB")

				b.kubectl("patch", "cloud", "prod", "-n", b.namespace, "--type=merge", "-p", `{"spec":{"approval":"manual"}}`)
				b.until(v1alpha1.ReasonAsDeclared)
				began = time.Now()
				b.files("files", large(objects, "second"))
				b.until(v1alpha1.ReasonAwaitsApproval)
				tb.ReportMetric(time.Since(began).Seconds(), "s/plan")
				b.files("files", large(objects, "first"))
				b.until(v1alpha1.ReasonAsDeclared)
				began = time.Now()
				b.kubectl("delete", "configmap", "note", "-n", b.target)
				clustertest.Eventually(tb, "the deletion is drift", func() bool {
					return meta.IsStatusConditionTrue(b.get().Status.Conditions, v1alpha1.Drifted)
				})
				tb.ReportMetric(time.Since(began).Seconds(), "s/drift")
			}
		})
	}
}

// large is a cloud with thousands of ConfigMaps.
func large(objects int, greeting string) string {
	return changed(greeting) + fmt.Sprintf(`
manifest "many" {
  for_each = toset([for n in setproduct(range(%d), range(1000)) : join("-", n)])
  object = {
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = "many-${each.key}" }
    data       = { n = each.key }
  }
}
`, objects/1000)
}

// memory returns the resident memory of a process, in MB.
func memory(b *bench, pid int) float64 {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Fatal(err)
	}
	found := regexp.MustCompile(`VmRSS:\s+(\d+)`).FindSubmatch(text)
	if found == nil {
		b.Fatal("the system does not tell the memory of a process")
	}
	kilobytes, err := strconv.ParseFloat(string(found[1]), 64)
	if err != nil {
		b.Fatal(err)
	}
	return kilobytes / 1000
}
