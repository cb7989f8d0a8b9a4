package live_test

import (
	"fmt"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/planner/proof"
	"kolla.openstack.org/kolla/planner/trust"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// BenchmarkUnchangedPlan compares a plan without changes with the minimum work: the same LISTs by a
// minimal client, in parallel. It reports the CPU time and the peak growth of the heap per object.
func BenchmarkUnchangedPlan(b *testing.B) {
	for _, count := range []int{1000, 5000} {
		b.Run(strconv.Itoa(count), func(b *testing.B) { benchmarkUnchangedPlan(b, count) })
	}
}

func benchmarkUnchangedPlan(b *testing.B, count int) {
	b.Helper()
	bench := newBench(b, clustertest.Namespace(b))
	bench.fill(count)
	b.Run("floor", func(b *testing.B) {
		measure(b, count, func() { listAll(b, bench.namespace) })
	})
	b.Run("plan", func(b *testing.B) {
		measure(b, count, func() {
			fresh := newBench(b, bench.namespace)
			fresh.state, fresh.objects = bench.state, bench.objects
			for _, a := range fresh.plan().Actions {
				if a.Evidence.Kind != plans.Fingerprint {
					b.Fatalf("%s: %s by %q", a.Address, a.Verb, a.Evidence.Kind)
				}
			}
		})
	})
}

// fill creates count objects: half Deployments, half ConfigMaps.
func (b *bench) fill(count int) {
	b.t.Helper()
	for i := range count / 2 {
		b.declare(fmt.Sprintf("service.s/ConfigMap/c-%d", i), strings.Replace(conf(b, "x"), "name: keystone.conf", fmt.Sprintf("name: c-%d", i), 1))
		text := strings.NewReplacer("name: keystone-api", fmt.Sprintf("name: d-%d", i), "replicas: 3", "replicas: 0").Replace(api(b, "keystone:1", "keystone"))
		b.declare(fmt.Sprintf("service.s/Deployment/d-%d", i), text)
	}
	rules, err := proof.ReadRules(b.t.Context(), b.client, b.cluster, time.Now())
	if err != nil {
		b.t.Fatal(err)
	}
	b.state.Cluster.UID = b.cluster.UID
	b.state.Objects = make([]state.Object, len(b.objects))
	group, ctx := errgroup.WithContext(b.t.Context())
	group.SetLimit(20)
	for i, o := range b.objects {
		group.Go(func() error {
			live, err := b.client.Writer().Apply(ctx, trust.WithToken(o.Manifest, trust.NewToken()), providers.ApplyOptions{})
			if err != nil {
				return err
			}
			b.state.Objects[i] = recordOf(&o, live, rules)
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		b.t.Fatal(err)
	}
	// Let the controllers finish their work on the new objects.
	time.Sleep(3 * time.Second)
}

// listAll makes the LISTs that any comparison with the cluster needs.
func listAll(b *testing.B, namespace string) {
	config := clustertest.Config(b)
	client := dynamic.NewForConfigOrDie(config)
	var wait sync.WaitGroup
	for _, resource := range []schema.GroupVersionResource{
		{Version: "v1", Resource: "configmaps"},
		{Group: "apps", Version: "v1", Resource: "deployments"},
	} {
		wait.Go(func() {
			options := metav1.ListOptions{Limit: 500}
			for {
				page, err := client.Resource(resource).Namespace(namespace).List(b.Context(), options)
				if err != nil {
					b.Error(err)
					return
				}
				listed.Store(page)
				if options.Continue = page.GetContinue(); options.Continue == "" {
					return
				}
			}
		})
	}
	wait.Wait()
}

// listed keeps the last page from being optimized away.
var listed atomic.Value

// measure runs the work and reports its peak of memory.
func measure(b *testing.B, count int, work func()) {
	var peak uint64
	var busy time.Duration
	for b.Loop() {
		b.StopTimer()
		runtime.GC()
		before := heap()
		stop := make(chan struct{})
		var watch sync.WaitGroup
		watch.Go(func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(2 * time.Millisecond):
					now := heap()
					peak = max(peak, now-min(now, before))
				}
			}
		})
		started := processorTime(b)
		b.StartTimer()
		work()
		b.StopTimer()
		busy += processorTime(b) - started
		close(stop)
		watch.Wait()
		b.StartTimer()
	}
	b.ReportMetric(float64(peak)/1024/float64(count), "peak-KiB/object")
	b.ReportMetric(float64(busy.Milliseconds())/float64(b.N), "cpu-ms/op")
}

// processorTime returns the CPU time of this process, which other processes do not affect.
func processorTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// heap returns the used size of the heap without stopping the program.
func heap() uint64 {
	samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64() + samples[1].Value.Uint64()
}
