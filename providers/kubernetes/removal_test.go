package kubernetes_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
	"kolla.openstack.org/kolla/providers"
)

// TestContents checks that Contents also lists objects of custom kinds, and reads only metadata.
func TestContents(t *testing.T) {
	client, namespace := connect(t), clustertest.Namespace(t)
	group := namespace + ".example.org"
	clustertest.Kubectl(t, "create", "-f", file(t, strings.ReplaceAll(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: clusters.$GROUP}
spec:
  group: $GROUP
  scope: Namespaced
  names: {plural: clusters, singular: cluster, kind: Cluster}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
`, "$GROUP", group)))
	t.Cleanup(func() { clustertest.Kubectl(t, "delete", "crd", "clusters."+group) })
	clustertest.Kubectl(t, "wait", "--for=condition=Established", "crd/clusters."+group)
	clustertest.Kubectl(t, "create", "-f", file(t, "{apiVersion: "+group+"/v1, kind: Cluster, metadata: {name: pg, namespace: "+namespace+"}}"))
	clustertest.Kubectl(t, "-n", namespace, "create", "secret", "generic", "s", "--from-literal=password=hunter2")
	clustertest.Kubectl(t, "-n", namespace, "create", "-f", file(t, "{apiVersion: autoscaling/v1, kind: HorizontalPodAutoscaler, metadata: {name: x}, spec: {maxReplicas: 3, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: x}}}"))

	contents, err := client.Contents(t.Context(), namespace)
	if err != nil || len(contents.Unread) > 0 {
		t.Fatal(err, contents.Unread)
	}
	var got []string
	for _, o := range contents.Objects {
		got = append(got, o.APIVersion+" "+o.Kind+" "+o.Namespace+"/"+o.Name)
		if o.UID == "" {
			t.Errorf("%s %s has no UID", o.Kind, o.Name)
		}
	}
	slices.Sort(got)
	want := []string{
		"autoscaling/v2 HorizontalPodAutoscaler " + namespace + "/x",
		group + "/v1 Cluster " + namespace + "/pg",
		"v1 ConfigMap " + namespace + "/kube-root-ca.crt",
		"v1 Secret " + namespace + "/s",
		"v1 ServiceAccount " + namespace + "/default",
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("contents (-want +got):\n%s", diff)
	}
}

// file writes a manifest to a file for kubectl.
func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "manifest.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestContentsThatNobodyMayRead checks that kinds that cannot be listed are in Unread.
func TestContentsThatNobodyMayRead(t *testing.T) {
	namespace := clustertest.Namespace(t)
	jane := alteredKubeconfig(t, func(_ *clientcmdapi.Config, _ *clientcmdapi.Cluster, user *clientcmdapi.AuthInfo) {
		user.Impersonate = "jane"
	})
	contents, err := connectTo(t, jane).Contents(t.Context(), namespace)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(contents.Unread, func(u providers.Unread) bool { return strings.HasPrefix(u.What, "perhaps a Secret of v1 (") }) {
		t.Errorf("unread are %q", contents.Unread)
	}
}

// TestRelease checks that kolla does not find a released object any more, and that other managers
// can change its fields without a conflict.
func TestRelease(t *testing.T) {
	client, namespace := connect(t), clustertest.Namespace(t)
	writer := client.Writer()
	made := object(t, namespace, configMap)
	made.SetLabels(map[string]string{providers.LabelCloud: "prod", "theirs": "stays"})
	made.SetAnnotations(map[string]string{providers.AnnotationAddress: "manifest.a/ConfigMap/settings", "note": "stays"})
	applied, err := writer.Apply(t.Context(), made, providers.ApplyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, others := range []bool{false, true} {
		if others {
			applied, err = writer.Apply(t.Context(), made, providers.ApplyOptions{Force: true})
			clustertest.Kubectl(t, "-n", namespace, "label", "configmap", "settings", "more=1", "--field-manager=somebody")
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := writer.Release(t.Context(), providers.RefOf(made), "another", providers.FieldManager); err != nil {
			t.Errorf("of another UID: %v", err)
		}
		if err := writer.Release(t.Context(), providers.RefOf(made), applied.GetUID(), providers.FieldManager); err != nil {
			t.Fatal(err)
		}
		list, err := client.List(t.Context(), made.GroupVersionKind(), namespace)
		if err != nil {
			t.Fatal(err)
		}
		live := list[slices.IndexFunc(list, func(u *unstructured.Unstructured) bool { return u.GetName() == "settings" })]
		labels := map[string]string{"theirs": "stays"}
		if others {
			labels["more"] = "1"
		}
		if diff := cmp.Diff(labels, live.GetLabels()); diff != "" {
			t.Errorf("labels (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(map[string]string{"note": "stays"}, live.GetAnnotations()); diff != "" {
			t.Errorf("annotations (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(made.Object["data"], live.Object["data"]); diff != "" {
			t.Errorf("data (-want +got):\n%s", diff)
		}
		if slices.ContainsFunc(live.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool { return e.Manager == providers.FieldManager }) {
			t.Errorf("kolla still owns fields: %v", live.GetManagedFields())
		}
	}
	if err := writer.Release(t.Context(), providers.Ref{GVK: made.GroupVersionKind(), Namespace: namespace, Name: "absent"}, "x", providers.FieldManager); err != nil {
		t.Errorf("of what is gone: %v", err)
	}
}
