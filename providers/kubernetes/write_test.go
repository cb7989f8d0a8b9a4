package kubernetes_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kubernetes"
)

func TestOnlyTheWriterWrites(t *testing.T) {
	client := reflect.TypeFor[*kubernetes.Client]()
	// Proxy brings requests to a service. TestRequests of package keystone holds that they read.
	reads := map[string]bool{"Allowed": true, "Contents": true, "Context": true, "DryRun": true, "Forward": true, "Get": true, "Identity": true, "Inspect": true, "KindNamed": true, "List": true, "Log": true, "Namespaced": true, "Pods": true, "Proxy": true, "Reachable": true, "Records": true, "Requests": true, "Resource": true, "Server": true, "Shell": true, "Workload": true, "Writer": true}
	for i := range client.NumMethod() {
		if name := client.Method(i).Name; !reads[name] {
			t.Errorf("Client has the method %s, which is not known to only read", name)
		}
	}
}

func TestApplyKeepsToItsPreconditions(t *testing.T) {
	client, namespace := connect(t), clustertest.Namespace(t)
	writer := client.Writer()
	manifest := object(t, namespace, configMap)
	made, err := writer.Apply(t.Context(), manifest, providers.ApplyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := made.GetManagedFields(); len(got) != 1 || got[0].Manager != providers.FieldManager || strings.Contains(got[0].FieldsV1.String(), "f:uid") {
		t.Errorf("managed fields are %v", got)
	}
	planned := providers.Precondition{UID: made.GetUID(), ResourceVersion: made.GetResourceVersion()}

	manifest.Object["data"] = map[string]any{"a": "two"}
	if _, err := writer.Apply(t.Context(), manifest, providers.ApplyOptions{Precondition: planned}); err != nil {
		t.Fatalf("the object is as planned, and yet: %v", err)
	}
	// The repeated write has an outdated precondition, as after a lost answer.
	_, err = writer.Apply(t.Context(), manifest, providers.ApplyOptions{Precondition: planned})
	refused(t, err, false)
	manifest.Object["data"] = map[string]any{"a": "three"}
	_, err = writer.Apply(t.Context(), manifest, providers.ApplyOptions{Precondition: planned})
	refused(t, err, false)

	clustertest.Kubectl(t, "-n", namespace, "delete", "configmap", "settings")
	_, err = writer.Apply(t.Context(), manifest, providers.ApplyOptions{Precondition: planned})
	refused(t, err, true)
	_, err = writer.Apply(t.Context(), manifest, providers.ApplyOptions{Precondition: providers.Precondition{UID: planned.UID}})
	refused(t, err, true)
	if _, err := writer.Apply(t.Context(), manifest, providers.ApplyOptions{Precondition: providers.Precondition{ResourceVersion: planned.ResourceVersion}}); err == nil {
		t.Error("a resourceVersion alone does not keep the server from making the object anew")
	}

	clustertest.Kubectl(t, "-n", namespace, "create", "configmap", "settings")
	_, err = writer.Apply(t.Context(), manifest, providers.ApplyOptions{Precondition: planned})
	refused(t, err, true)
	if list, err := client.List(t.Context(), configMapKind, namespace); err != nil || len(list) == 0 {
		t.Error(err)
	} else {
		for _, item := range list {
			if item.GetName() == "settings" && nested(item, "data") != nil {
				t.Errorf("another's object was written: %v", item.Object["data"])
			}
		}
	}
}

// refused checks that a write was refused because of its precondition.
func refused(t *testing.T, err error, gone bool) {
	t.Helper()
	var precondition *providers.PreconditionError
	if !errors.As(err, &precondition) {
		t.Errorf("got %v, want a PreconditionError", err)
	} else if precondition.Gone != gone {
		t.Errorf("gone is %t, want %t", precondition.Gone, gone)
	}
}

// TestApplyOfWhatBecomesEmpty checks that one call stores a map that becomes empty, although the
// server needs two applies for it.
func TestApplyOfWhatBecomesEmpty(t *testing.T) {
	client, namespace := connect(t), clustertest.Namespace(t)
	writer := client.Writer()
	manifest := object(t, namespace, `
apiVersion: v1
kind: PodTemplate
metadata: {name: empty}
template: {spec: {containers: [{name: api, image: example.org/api, securityContext: {privileged: false}}]}}
`)
	made, err := writer.Apply(t.Context(), manifest, providers.ApplyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	container := func(u *unstructured.Unstructured) map[string]any {
		containers, _, _ := unstructured.NestedSlice(u.Object, "template", "spec", "containers")
		return containers[0].(map[string]any)
	}
	changed := container(manifest)
	changed["securityContext"] = map[string]any{}
	if err := unstructured.SetNestedSlice(manifest.Object, []any{changed}, "template", "spec", "containers"); err != nil {
		t.Fatal(err)
	}
	live, err := writer.Apply(t.Context(), manifest, providers.ApplyOptions{
		Precondition: providers.Precondition{UID: made.GetUID(), ResourceVersion: made.GetResourceVersion()},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := container(live)["securityContext"].(map[string]any); !ok || len(got) > 0 {
		t.Errorf("the security context is %v", container(live)["securityContext"])
	}
	answer, err := client.DryRun(t.Context(), manifest, providers.DryRunOptions{})
	if err != nil || !reflect.DeepEqual(answer.Object["template"], live.Object["template"]) {
		t.Errorf("another apply would make it %v, %v", answer, err)
	}
}

// TestApplyOfWhatTheServerLeavesOut checks that empty fields that the server never stores cause no
// second write.
func TestApplyOfWhatTheServerLeavesOut(t *testing.T) {
	client, namespace := connect(t), clustertest.Namespace(t)
	writer := client.Writer()
	manifest := object(t, namespace, `
apiVersion: v1
kind: PodTemplate
metadata: {name: left-out}
template: {spec: {nodeSelector: {}, containers: [{name: api, image: example.org/api, args: []}]}}
`)
	made, err := writer.Apply(t.Context(), manifest, providers.ApplyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	manifest.SetLabels(map[string]string{"a": "b"})
	before := client.Requests()
	live, err := writer.Apply(t.Context(), manifest, providers.ApplyOptions{
		Precondition: providers.Precondition{UID: made.GetUID(), ResourceVersion: made.GetResourceVersion()},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, kept, _ := unstructured.NestedMap(live.Object, "template", "spec", "nodeSelector"); kept {
		t.Fatal("the server keeps the selector: this proves nothing")
	}
	if writes := client.Requests()["patch"] - before["patch"]; writes != 1 {
		t.Errorf("%d writes, want 1", writes)
	}
}

func TestApplyToMissingNamespace(t *testing.T) {
	_, err := connect(t).Writer().Apply(t.Context(), object(t, "not-there", configMap), providers.ApplyOptions{})
	if !apierrors.IsNotFound(err) || !strings.Contains(err.Error(), "apply ConfigMap not-there/settings") {
		t.Errorf("got %v", err)
	}
}

func TestDelete(t *testing.T) {
	client, namespace := connect(t), clustertest.Namespace(t)
	writer := client.Writer()
	made, err := writer.Apply(t.Context(), object(t, namespace, configMap), providers.ApplyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ref := providers.RefOf(made)
	exists := func() bool {
		return clustertest.Kubectl(t, "-n", namespace, "get", "configmap", "settings", "--ignore-not-found", "-o", "name") != ""
	}
	if err := writer.Delete(t.Context(), ref, providers.DeleteOptions{Precondition: providers.Precondition{UID: types.UID("another")}}); err != nil || !exists() {
		t.Fatalf("another UID: got %v, exists is %t", err, exists())
	}
	refused(t, writer.Delete(t.Context(), ref, providers.DeleteOptions{Precondition: providers.Precondition{UID: made.GetUID(), ResourceVersion: "1"}}), false)
	if !exists() {
		t.Fatal("it was deleted in spite of its resourceVersion")
	}
	for range 2 { // a second deletion is no error
		if err := writer.Delete(t.Context(), ref, providers.DeleteOptions{Precondition: providers.Precondition{UID: made.GetUID(), ResourceVersion: made.GetResourceVersion()}}); err != nil || exists() {
			t.Fatalf("got %v, exists is %t", err, exists())
		}
	}
	ref.GVK.Group, ref.GVK.Kind = "example.org", "Thing"
	if err := writer.Delete(t.Context(), ref, providers.DeleteOptions{}); err != nil {
		t.Errorf("of a kind that is gone: %v", err)
	}
}

func TestDeleteSaysWhatHoldsTheObject(t *testing.T) {
	t.Parallel()
	client, namespace := connect(t), clustertest.Namespace(t)
	made, err := client.Writer().Apply(t.Context(), object(t, namespace, strings.Replace(configMap, "{name: settings}", "{name: settings, finalizers: [example.org/hold]}", 1)), providers.ApplyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	err = client.Writer().Delete(ctx, providers.RefOf(made), providers.DeleteOptions{Precondition: providers.Precondition{UID: made.GetUID()}})
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "example.org/hold") {
		t.Errorf("got %v, want the finalizer", err)
	}
	time.AfterFunc(500*time.Millisecond, func() {
		clustertest.Kubectl(t, "-n", namespace, "patch", "configmap", "settings", "--type=merge", "-p", `{"metadata": {"finalizers": null}}`)
	})
	if err := client.Writer().Delete(t.Context(), providers.RefOf(made), providers.DeleteOptions{Precondition: providers.Precondition{UID: made.GetUID()}}); err != nil {
		t.Errorf("once the finalizer is gone: %v", err)
	}
}

func TestDeleteRemovesDependents(t *testing.T) {
	t.Parallel()
	client, namespace := connect(t), clustertest.Namespace(t)
	made, err := client.Writer().Apply(t.Context(), object(t, namespace, deployment), providers.ApplyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Writer().Wait(t.Context(), providers.RefOf(made), providers.WaitOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := client.Writer().Delete(t.Context(), providers.RefOf(made), providers.DeleteOptions{Precondition: providers.Precondition{UID: made.GetUID()}}); err != nil {
		t.Fatal(err)
	}
	clustertest.Eventually(t, "the pods are gone", func() bool {
		return clustertest.Kubectl(t, "-n", namespace, "get", "pods", "-o", "name") == ""
	})
}

func TestRestartOfTheServerIsWaitedOut(t *testing.T) {
	t.Parallel()
	cluster := clustertest.Start(t)
	client := connectTo(t, cluster.Kubeconfig())
	if _, err := client.Identity(t.Context()); err != nil {
		t.Fatal(err)
	}
	writer := client.Writer()
	slow := strings.Replace(deployment, "metadata: {labels: {app: web}}", `metadata: {labels: {app: web}, annotations: {devcluster.kolla/delay: 6s}}`, 1)
	made, err := writer.Apply(t.Context(), object(t, "default", slow), providers.ApplyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	waited := make(chan error, 1)
	go func() { waited <- writer.Wait(t.Context(), providers.RefOf(made), providers.WaitOptions{}) }()

	stop := make(chan struct{})
	written := make(chan error, 1)
	go func() { written <- writeUntil(t.Context(), client, object(t, "default", configMap), stop) }()
	cluster.Restart(t, "kube-apiserver")
	close(stop)
	if err := <-written; err != nil {
		t.Errorf("reads and writes during the restart: %v", err)
	}
	if err := <-waited; err != nil {
		t.Errorf("the wait: %v", err)
	}
}

// writeUntil reads and writes without a pause until it is stopped.
func writeUntil(ctx context.Context, client *kubernetes.Client, manifest *unstructured.Unstructured, stop <-chan struct{}) error {
	for i := 0; ; i++ {
		manifest.Object["data"] = map[string]any{"round": strconv.Itoa(i)}
		applied, err := client.Writer().Apply(ctx, manifest, providers.ApplyOptions{})
		if err != nil {
			return err
		}
		listed, err := client.List(ctx, configMapKind, manifest.GetNamespace())
		if err != nil {
			return err
		}
		for _, item := range listed {
			if item.GetName() == manifest.GetName() && item.GetResourceVersion() != applied.GetResourceVersion() {
				return fmt.Errorf("round %d: version %s was written and %s is there", i, applied.GetResourceVersion(), item.GetResourceVersion())
			}
		}
		select {
		case <-stop:
			return nil
		default:
		}
	}
}

// TestApplyByADefinitionThatHasChanged checks that an apply waits until the server uses a changed
// definition.
func TestApplyByADefinitionThatHasChanged(t *testing.T) {
	client, namespace := connect(t), clustertest.Namespace(t)
	writer := client.Writer()
	const name = "moods.write.example.org"
	t.Cleanup(func() { clustertest.Kubectl(t, "delete", "customresourcedefinition", name, "--ignore-not-found") })
	for i := range 20 {
		definition := object(t, "", fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %s}
spec:
  group: write.example.org
  names: {kind: Mood, plural: moods}
  scope: Namespaced
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {mood%[2]d: {type: string}}, required: [mood%[2]d]}}}
`, name, i))
		if _, err := writer.Apply(t.Context(), definition, providers.ApplyOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := writer.Wait(t.Context(), providers.RefOf(definition), providers.WaitOptions{}); err != nil {
			t.Fatal(err)
		}
		mood := object(t, namespace, fmt.Sprintf("{apiVersion: write.example.org/v1, kind: Mood, metadata: {name: m}, mood%d: good}", i))
		if _, err := writer.Apply(t.Context(), mood, providers.ApplyOptions{}); err != nil {
			t.Fatalf("change %d: %v", i, err)
		}
	}
	// An object that matches no definition does not make the apply wait for ever.
	mood := object(t, namespace, "{apiVersion: write.example.org/v1, kind: Mood, metadata: {name: m}, mood: bad}")
	start := time.Now()
	if _, err := writer.Apply(t.Context(), mood, providers.ApplyOptions{}); err == nil || time.Since(start) > time.Minute {
		t.Errorf("got %v after %s", err, time.Since(start))
	}
}
