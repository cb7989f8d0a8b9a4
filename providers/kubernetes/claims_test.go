package kubernetes_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
	"kolla.openstack.org/kolla/providers"
)

// TestFileSystemsThatGrow checks that Wait waits while a node grows the file system of a claim, and
// that it says when that needs the start of a pod. The test plays the driver and the node.
func TestFileSystemsThatGrow(t *testing.T) {
	t.Parallel()
	client, namespace := connect(t), clustertest.Namespace(t)
	file := filepath.Join(t.TempDir(), "volume.yaml")
	text := strings.ReplaceAll(`
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: NAME}
provisioner: example.org/none
volumeBindingMode: WaitForFirstConsumer
allowVolumeExpansion: true
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: NAME}
spec:
  storageClassName: NAME
  accessModes: [ReadWriteOnce]
  capacity: {storage: 2Gi}
  hostPath: {path: /simulated/NAME}
  claimRef: {namespace: NAME, name: data}
`, "NAME", namespace)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	clustertest.Kubectl(t, "create", "-f", file)
	t.Cleanup(func() { clustertest.Kubectl(t, "delete", "-f", file, "--wait=false") })
	ref := providers.RefOf(applied(t, client, namespace, strings.Replace(claim, "spec: {", "spec: {storageClassName: "+namespace+", volumeName: "+namespace+", ", 1), nil))
	clustertest.Kubectl(t, "-n", namespace, "wait", "pvc", "data", "--for=jsonpath={.status.phase}=Bound", "--timeout=60s")
	is := func(condition string, since time.Time) {
		t.Helper()
		clustertest.Kubectl(t, "-n", namespace, "patch", "pvc", "data", "--subresource=status", "--type=merge", "-p", fmt.Sprintf(
			`{"status": {"capacity": {"storage": "1Gi"}, "conditions": [{"type": %q, "status": "True", "lastTransitionTime": %q}]}}`, condition, since.UTC().Format(time.RFC3339)))
	}
	clustertest.Kubectl(t, "-n", namespace, "patch", "pvc", "data", "--type=merge", "-p", `{"spec": {"resources": {"requests": {"storage": "2Gi"}}}}`)
	is("Resizing", time.Now())
	if got, err := waitUntil(t, client, ref, "its volume has 1Gi and grows to 2Gi"); err == nil {
		t.Errorf("it does not wait for the volume: %q", got.said)
	}
	is("FileSystemResizePending", time.Now())
	last := func(want string) {
		t.Helper()
		if got, err := waitFor(t, client, ref); err != nil || len(got.said) == 0 || got.said[len(got.said)-1] != want {
			t.Errorf("got %v after %q, want %q", err, got.said, want)
		}
	}
	last("its file system grows when the next pod starts with it")

	manifest := "{apiVersion: v1, kind: Pod, metadata: {name: user}, spec: {containers: [{name: a, image: a}], volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]}}"
	applied(t, client, namespace, manifest, nil)
	clustertest.Kubectl(t, "-n", namespace, "wait", "pod", "user", "--for=condition=Ready", "--timeout=60s")
	is("FileSystemResizePending", time.Now())
	var failure *providers.NotReadyError
	if got, err := waitUntil(t, client, ref, "the node of pod user grows the file system of its volume"); !errors.As(err, &failure) {
		t.Errorf("got %v after %q", err, got.said)
	}
	is("FileSystemResizePending", time.Now().Add(-time.Hour))
	last("its file system does not grow while pod user runs; restart the pod: kubectl delete pod -n " + namespace + " user")

	clustertest.Kubectl(t, "-n", namespace, "patch", "pvc", "data", "--subresource=status", "--type=merge", "-p", `{"status": {"capacity": {"storage": "2Gi"}, "conditions": []}}`)
	if got, err := waitFor(t, client, ref); err != nil || len(got.said) > 0 {
		t.Errorf("it has grown: got %v after %q", err, got.said)
	}
}
