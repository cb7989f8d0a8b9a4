package kubernetes_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"kolla.openstack.org/kolla/internal/clustertest"
	"kolla.openstack.org/kolla/providers"
)

// All that is waited for in a namespace is seen by one watch, which sees what was
// written before it, too: none of that counts.
func TestWaitsShareAWatch(t *testing.T) {
	t.Parallel()
	client := connect(t)
	writer := client.Writer()
	namespace := clustertest.Namespace(t)
	const count = 5
	rollOut := func(image string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
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
				return writer.Wait(ctx, providers.RefOf(made), nil)
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
	requests := client.Requests()
	if requests["list"] != 1+3 || requests["watch"] != 1 {
		t.Errorf("requests: %v, want one LIST and one WATCH beside the three LISTs of this test", requests)
	}
}

// An object that is deleted and made again under its name is not taken for gone.
func TestWaitAfterReplacing(t *testing.T) {
	t.Parallel()
	client := connect(t)
	writer := client.Writer()
	manifest := object(t, clustertest.Namespace(t), deployment)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for round := range 5 {
		made, err := writer.Apply(ctx, manifest, providers.ApplyOptions{})
		if err != nil {
			t.Fatal(err)
		}
		ref := providers.RefOf(made)
		if err := writer.Wait(ctx, ref, nil); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if err := writer.Delete(ctx, ref, providers.Precondition{UID: made.GetUID()}); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
	}
	if requests := client.Requests(); requests["watch"] != 1 {
		t.Errorf("requests: %v, want one WATCH", requests)
	}
}
