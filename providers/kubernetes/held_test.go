package kubernetes_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
	"kolla.openstack.org/kolla/providers"
)

// TestDeleteNamesWhatIsLeft checks that the error about an object that is not deleted says what the
// object waits for. It advises to remove only finalizers of other controllers, and only from the
// objects that have them.
func TestDeleteNamesWhatIsLeft(t *testing.T) {
	t.Parallel()
	const removes = `{"metadata": {"finalizers": null}}`
	for name, test := range map[string]struct {
		made    []string // the first one is deleted
		want    []string
		advises string // the command that removes a finalizer; empty: none
		free    []string
	}{
		"a finalizer of a controller": {
			made:    []string{"{apiVersion: v1, kind: ConfigMap, metadata: {name: held, finalizers: [example.org/hold]}}"},
			want:    []string{"held by the finalizer example.org/hold", "Find the controller"},
			advises: "kubectl -n NAMESPACE edit configmap held",
			free:    []string{"-n", "NAMESPACE", "patch", "configmap", "held"},
		},
		"a finalizer of Kubernetes": {
			made: []string{"{apiVersion: v1, kind: Service, metadata: {name: held, finalizers: [service.kubernetes.io/load-balancer-cleanup]}, spec: {ports: [{port: 80}]}}"},
			want: []string{"waits for the controller of the cloud provider to delete the load balancer"},
			free: []string{"-n", "NAMESPACE", "patch", "service", "held"},
		},
		"a finalizer of a driver": {
			made: []string{"{apiVersion: v1, kind: ConfigMap, metadata: {name: held, finalizers: [snapshot.storage.kubernetes.io/unheard-of]}}"},
			want: []string{"the part of Kubernetes, or the driver, that set the finalizer snapshot.storage.kubernetes.io/unheard-of"},
			free: []string{"-n", "NAMESPACE", "patch", "configmap", "held"},
		},
		"a finalizer of the attacher of volumes": {
			made: []string{"{apiVersion: v1, kind: ConfigMap, metadata: {name: held, finalizers: [external-attacher/ebs-csi-aws-com]}}"},
			want: []string{"the part of Kubernetes, or the driver, that set the finalizer external-attacher/ebs-csi-aws-com"},
			free: []string{"-n", "NAMESPACE", "patch", "configmap", "held"},
		},
		"a namespace that a controller holds": {
			made:    []string{"{apiVersion: v1, kind: Namespace, metadata: {name: NAMESPACE-held, finalizers: [example.org/hold]}}"},
			want:    []string{"held by the finalizer example.org/hold", "Find the controller"},
			advises: "kubectl edit namespace NAMESPACE-held",
			free:    []string{"patch", "namespace", "NAMESPACE-held"},
		},
		"a claim that a pod uses": {
			made: []string{
				"{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: held}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}",
				"{apiVersion: v1, kind: Pod, metadata: {name: user}, spec: {containers: [{name: a, image: a}], volumes: [{name: v, persistentVolumeClaim: {claimName: held}}]}}",
			},
			want: []string{"all pods that use the claim to end", "Left are: Pod NAMESPACE/user"},
			free: []string{"-n", "NAMESPACE", "delete", "pod", "user"},
		},
		"a definition of a kind": {
			made: []string{
				"{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: things.NAMESPACE.example.org}, spec: {group: NAMESPACE.example.org, scope: Namespaced, " +
					"names: {plural: things, kind: Thing}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}",
				"{apiVersion: NAMESPACE.example.org/v1, kind: Thing, metadata: {name: one, finalizers: [example.org/hold]}}",
			},
			want:    []string{"all objects of its kind to be deleted", "Left are: Thing NAMESPACE/one (finalizer example.org/hold)", "should remove example.org/hold from Thing NAMESPACE/one"},
			advises: "kubectl -n NAMESPACE edit thing.NAMESPACE.example.org one",
			free:    []string{"-n", "NAMESPACE", "patch", "thing.NAMESPACE.example.org", "one"},
		},
		"a namespace": {
			made: []string{
				"{apiVersion: v1, kind: Namespace, metadata: {name: NAMESPACE-more}}",
				"{apiVersion: v1, kind: ConfigMap, metadata: {name: one, namespace: NAMESPACE-more, finalizers: [example.org/hold]}}",
			},
			want:    []string{"everything in the namespace to be deleted (finalizer kubernetes)", "ConfigMap NAMESPACE-more/one (finalizer example.org/hold)"},
			advises: "kubectl -n NAMESPACE-more edit configmap one",
			free:    []string{"-n", "NAMESPACE-more", "patch", "configmap", "one"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, namespace := connect(t), clustertest.Namespace(t)
			in := func(text string) string { return strings.ReplaceAll(text, "NAMESPACE", namespace) }
			var refs []providers.Ref
			for _, text := range test.made {
				made := object(t, namespace, in(text))
				if strings.Contains(text, "CustomResourceDefinition") || strings.Contains(text, "kind: Namespace") {
					made.SetNamespace("")
				}
				if strings.Contains(text, "namespace: ") {
					made.SetNamespace(namespace + "-more")
				}
				if _, err := client.Writer().Apply(t.Context(), made, providers.ApplyOptions{}); err != nil {
					t.Fatal(err)
				}
				ref := providers.RefOf(made)
				if err := client.Writer().Wait(t.Context(), ref, providers.WaitOptions{}); err != nil {
					t.Fatal(err)
				}
				refs = append(refs, ref)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			err := client.Writer().Delete(ctx, refs[0], providers.DeleteOptions{})
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("got %v, want a deadline", err)
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), in(want)) {
					t.Errorf("%q does not contain %q", err, in(want))
				}
			}
			if _, command, _ := strings.Cut(err.Error(), "yourself: "); command != in(test.advises) {
				t.Errorf("it advises %q, want %q", command, in(test.advises))
			}
			free := strings.Fields(in(strings.Join(test.free, " ")))
			if slices.Contains(free, "patch") {
				free = append(free, "--type=merge", "-p", removes)
			}
			clustertest.Kubectl(t, free...)
			if err := client.Writer().Delete(t.Context(), refs[0], providers.DeleteOptions{}); err != nil {
				t.Errorf("once nothing holds it: %v", err)
			}
		})
	}
}
