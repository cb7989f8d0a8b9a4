package kubernetes_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kubernetes"
)

// connectSlowly returns a client of the test cluster. Each request takes longer by a delay.
func connectSlowly(t *testing.T, delay time.Duration) *kubernetes.Client {
	t.Helper()
	return throughProxy(t, func(proxy http.Handler, w http.ResponseWriter, r *http.Request) {
		time.Sleep(delay)
		proxy.ServeHTTP(w, r)
	})
}

// TestWaitingCostsNoMoreForMore checks that waits for many objects of all kinds need no more
// requests than waits for a few, even if they last long enough to examine their causes.
func TestWaitingCostsNoMoreForMore(t *testing.T) {
	t.Parallel()
	client := connectSlowly(t, 100*time.Millisecond)
	writer := client.Writer()
	namespace := clustertest.Namespace(t)
	never := map[string]any{"devcluster.kolla/outcome": "not-ready"}
	crash := map[string]any{"devcluster.kolla/outcome": "crash", "devcluster.kolla/logs": "ERROR no database"}
	var refs []providers.Ref
	for i := range 10 {
		for _, manifest := range []string{deployment, statefulSet, daemonSet, job} {
			named := strings.NewReplacer("name: web}", fmt.Sprintf("name: web-%d}", i), "name: db}", fmt.Sprintf("name: db-%d}", i),
				"name: agent}", fmt.Sprintf("name: agent-%d}", i), "name: sync}", fmt.Sprintf("name: sync-%d}", i),
				"replicas: 2", "replicas: 1", "app: web", fmt.Sprintf("app: web-%d", i), "app: db", fmt.Sprintf("app: db-%d", i),
				"app: agent", fmt.Sprintf("app: agent-%d", i)).Replace(manifest)
			if manifest == daemonSet {
				named = strings.Replace(named, "    spec: {", "    spec: {nodeName: ctl-1, ", 1)
				if i > 0 {
					continue // each DaemonSet needs a pod on each node
				}
			}
			annotations := never
			if manifest == statefulSet {
				annotations = crash
			}
			if manifest == deployment && i%2 == 1 {
				named = strings.Replace(named, "    spec: {", "    spec: {nodeSelector: {none: such}, ", 1)
			}
			refs = append(refs, providers.RefOf(applied(t, connect(t), namespace, named, annotations)))
		}
	}
	// Within this time, each wait examines its cause twice: after 3 and after 8 seconds.
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	var group sync.WaitGroup
	said := make([]string, len(refs))
	for i, ref := range refs {
		group.Go(func() {
			err := writer.Wait(ctx, ref, providers.WaitOptions{})
			var notReady *providers.NotReadyError
			if !errors.As(err, &notReady) {
				t.Errorf("%s: %v, want a NotReadyError", ref, err)
				return
			}
			said[i] = err.Error()
		})
	}
	group.Wait()
	for kind, cause := range map[string]string{"Deployment": "none=such", "StatefulSet": "container db"} {
		if !slices.ContainsFunc(said, func(text string) bool { return strings.Contains(text, kind) && strings.Contains(text, cause) }) {
			t.Errorf("no %s says %q: %q", kind, cause, said)
		}
	}
	got := client.Requests()
	// One LIST and WATCH is allowed for each kind of the objects, and for pods, events and nodes.
	if got["list"] > 7 || got["watch"] > 7 {
		t.Errorf("%d objects were waited for with %v, want at most 7 LISTs and 7 WATCHes", len(refs), got)
	}
	// Wait reads the log of each run of a container that ends, and of each container that runs at
	// the end of the wait.
	if got["get"] > 60 {
		t.Errorf("%d objects were waited for with %v: too many logs were read", len(refs), got)
	}
}
