package kubernetes_test

import (
	"context"
	"fmt"
	"net/http"
	"path"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kubernetes"
)

// countDeployments returns a client, and a function that returns the number of its LISTs and
// WATCHes of Deployments so far. A wait of some seconds also reads other kinds, to find its cause.
func countDeployments(t *testing.T) (client *kubernetes.Client, requests func() (lists, watches int64)) {
	t.Helper()
	var lists, watches atomic.Int64
	client = throughProxy(t, func(proxy http.Handler, w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && path.Base(r.URL.Path) == "deployments" {
			if r.URL.Query().Has("watch") {
				watches.Add(1)
			} else {
				lists.Add(1)
			}
		}
		proxy.ServeHTTP(w, r)
	})
	return client, func() (int64, int64) { return lists.Load(), watches.Load() }
}

// TestWaitsShareAWatch checks that all waits in a namespace share one watch. The watch also sees
// older versions of the objects, which must not end a wait.
func TestWaitsShareAWatch(t *testing.T) {
	t.Parallel()
	client, requests := countDeployments(t)
	writer := client.Writer()
	namespace := clustertest.Namespace(t)
	const count = 5
	rollOut := func(image string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), clustertest.Patience)
		defer cancel()
		group, ctx := errgroup.WithContext(ctx)
		for i := range count {
			manifest := object(t, namespace, strings.NewReplacer(
				"name: web}", fmt.Sprintf("name: web-%d}", i),
				"app: web", fmt.Sprintf("app: web-%d", i),
				"example.org/web:1", image).Replace(deployment))
			group.Go(func() error {
				made, err := writer.Apply(ctx, manifest, providers.ApplyOptions{})
				if err != nil {
					return err
				}
				return writer.Wait(ctx, providers.RefOf(made), providers.WaitOptions{})
			})
		}
		if err := group.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	for round := range 3 {
		rollOut(fmt.Sprintf("example.org/web:%d", round))
		list, err := client.List(t.Context(), deploymentKind, namespace)
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range list {
			if nested(u, "status", "observedGeneration") != u.GetGeneration() || nested(u, "status", "updatedReplicas") != int64(2) {
				t.Errorf("round %d: %s counts as ready with %v in generation %d", round, u.GetName(), nested(u, "status"), u.GetGeneration())
			}
		}
	}
	if lists, watches := requests(); lists != 1+3 || watches != 1 {
		t.Errorf("%d LISTs and %d WATCHes, want one of each beside the three LISTs of this test", lists, watches)
	}
}

// TestWaitAfterReplacing checks that Wait does not take an object for deleted if it was deleted and
// created again with the same name.
func TestWaitAfterReplacing(t *testing.T) {
	t.Parallel()
	client, requests := countDeployments(t)
	writer := client.Writer()
	manifest := object(t, clustertest.Namespace(t), deployment)
	ctx, cancel := context.WithTimeout(t.Context(), clustertest.Patience)
	defer cancel()
	for round := range 5 {
		made, err := writer.Apply(ctx, manifest, providers.ApplyOptions{})
		if err != nil {
			t.Fatal(err)
		}
		ref := providers.RefOf(made)
		if err := writer.Wait(ctx, ref, providers.WaitOptions{}); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if err := writer.Delete(ctx, ref, providers.DeleteOptions{Precondition: providers.Precondition{UID: made.GetUID()}}); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
	}
	if _, watches := requests(); watches != 1 {
		t.Errorf("%d WATCHes, want one", watches)
	}
}
