package kubernetes_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"kolla.openstack.org/kolla/internal/base/redaction"
	"kolla.openstack.org/kolla/internal/dev/clustertest"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kubernetes"
)

// reports collects the reports of Wait.
type reports struct {
	mu   sync.Mutex
	said []string
}

func (r *reports) take(status string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.said = append(r.said, status)
}

// deadline is a context whose deadline passes when the context in it is canceled.
type deadline struct{ inner context.Context }

func (d deadline) Deadline() (time.Time, bool) { return d.inner.Deadline() }
func (d deadline) Done() <-chan struct{}       { return d.inner.Done() }
func (d deadline) Value(any) any               { return nil }
func (d deadline) Err() error {
	if d.inner.Err() != nil {
		return context.DeadlineExceeded
	}
	return nil
}

// waitFor waits until an object is ready.
func waitFor(t *testing.T, client *kubernetes.Client, ref providers.Ref) (*reports, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), clustertest.Patience)
	defer cancel()
	var got reports
	err := client.Writer().Wait(ctx, ref, providers.WaitOptions{Report: got.take})
	return &got, err
}

// waitUntil waits for an object, and lets the deadline pass with the first report that contains a
// text. The test fails if there is none.
func waitUntil(t *testing.T, client *kubernetes.Client, ref providers.Ref, said string) (*reports, error) {
	t.Helper()
	ctx, pass := context.WithTimeout(t.Context(), clustertest.Patience)
	defer pass()
	var got reports
	err := client.Writer().Wait(deadline{ctx}, ref, providers.WaitOptions{Report: func(status string) {
		got.take(status)
		if strings.Contains(status, said) {
			pass()
		}
	}})
	if !slices.ContainsFunc(got.said, func(status string) bool { return strings.Contains(status, said) }) {
		t.Errorf("it said %q, and not %q", got.said, said)
	}
	return &got, err
}

// applied creates an object whose pods behave as the annotations say.
func applied(t *testing.T, client *kubernetes.Client, namespace, manifest string, annotations map[string]any) *unstructured.Unstructured {
	t.Helper()
	u := object(t, namespace, manifest)
	if annotations != nil {
		if err := unstructured.SetNestedMap(u.Object, annotations, "spec", "template", "metadata", "annotations"); err != nil {
			t.Fatal(err)
		}
	}
	made, err := client.Writer().Apply(t.Context(), u, providers.ApplyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

const (
	statefulSet = `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 2
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: db, image: "example.org/db:1"}]}
`
	daemonSet = `
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec: {containers: [{name: agent, image: "example.org/agent:1"}]}
`
	job = `
apiVersion: batch/v1
kind: Job
metadata: {name: sync}
spec:
  backoffLimit: 0
  template:
    spec: {restartPolicy: Never, containers: [{name: sync, image: "example.org/sync:1"}]}
`
	claim = `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`
)

func TestWaitUntilReady(t *testing.T) {
	client := connect(t)
	slowly := map[string]any{"devcluster.kolla/delay": "1s"}
	cases := []struct {
		name        string
		manifest    string
		annotations map[string]any
		check       string // field of the status that must be set when Wait returns; empty: none
	}{
		{name: "Deployment", manifest: deployment, annotations: slowly, check: "availableReplicas"},
		{name: "StatefulSet", manifest: statefulSet, annotations: slowly, check: "readyReplicas"},
		{name: "DaemonSet", manifest: daemonSet, annotations: slowly, check: "numberReady"},
		{name: "Job", manifest: job, annotations: slowly, check: "succeeded"},
		{name: "ConfigMap", manifest: configMap},
		{name: "Service", manifest: "{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {ports: [{port: 80}]}}"},
		{name: "no replicas", manifest: strings.Replace(deployment, "replicas: 2", "replicas: 0", 1)},
		{name: "claim that waits for its consumer", manifest: strings.Replace(claim, "spec: {", "spec: {storageClassName: late, ", 1)},
	}
	clustertest.Kubectl(t, "apply", "-f", "testdata/late.yaml")
	t.Cleanup(func() { clustertest.Kubectl(t, "delete", "-f", "testdata/late.yaml") })
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			made := applied(t, client, clustertest.Namespace(t), c.manifest, c.annotations)
			if got, err := waitFor(t, client, providers.RefOf(made)); err != nil {
				t.Fatalf("got %v after %q", err, got.said)
			}
			if c.check != "" {
				list, err := client.List(t.Context(), made.GroupVersionKind(), made.GetNamespace())
				if err != nil || nested(list[0], "status", c.check) == nil {
					t.Errorf("it is not ready: %v, %v", nested(list[0], "status"), err)
				}
			}
		})
	}
}

// TestMessage checks that the message of a Job is read to its end, only of the pod that succeeded, and without
// secret values.
func TestMessage(t *testing.T) {
	t.Parallel()
	client, namespace := connect(t), clustertest.Namespace(t)
	applied(t, client, namespace, "{apiVersion: v1, kind: Secret, metadata: {name: token}, stringData: {token: hunter2-hunter2}}", nil)
	again := strings.Replace(job, "backoffLimit: 0", "backoffLimit: 1", 1)
	for name, c := range map[string]struct {
		manifest, message, outcome string
		want                       []string
	}{
		"lines":   {job, "Warning: one\nWarning: hunter2-hunter2\n", "ok", []string{"Warning: one", "Warning: " + redaction.Mask}},
		"nothing": {job, "", "ok", nil},
		"failed":  {again, "ERROR no database", "fail", nil},
	} {
		t.Run(name, func(t *testing.T) {
			made := applied(t, client, clustertest.Namespace(t), c.manifest, map[string]any{"devcluster.kolla/outcome": c.outcome, "devcluster.kolla/message": c.message})
			if c.outcome == "fail" {
				clustertest.Eventually(t, "a failed pod", func() bool {
					return strings.Contains(clustertest.Kubectl(t, "-n", made.GetNamespace(), "get", "pods", "-o", "jsonpath={.items[*].status.phase}"), "Failed")
				})
			} else if _, err := waitFor(t, client, providers.RefOf(made)); err != nil {
				t.Fatal(err)
			}
			got, err := client.Writer().Message(t.Context(), providers.RefOf(made))
			if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// TestWaitSaysHowFar lets pods stay Pending, so that no pod has more to say than the object.
func TestWaitSaysHowFar(t *testing.T) {
	t.Parallel()
	client := connect(t)
	pending := map[string]any{"devcluster.kolla/outcome": "image-pull", "devcluster.kolla/delay": "1h"}
	for said, manifest := range map[string]string{
		"0 of 2 replicas ready":                              deployment,
		"1 of 2 replicas updated":                            statefulSet,
		fmt.Sprintf("0 of %d pods ready", clustertest.Nodes): daemonSet,
		"the job has not completed yet (1 active)":           job,
	} {
		t.Run(said, func(t *testing.T) {
			t.Parallel()
			made := applied(t, client, clustertest.Namespace(t), manifest, pending)
			if got, err := waitUntil(t, client, providers.RefOf(made), said); err == nil {
				t.Errorf("it is ready after %q", got.said)
			}
		})
	}
}

// TestWaitForAddress plays the load balancer.
func TestWaitForAddress(t *testing.T) {
	t.Parallel()
	client, namespace := connect(t), clustertest.Namespace(t)
	made := applied(t, client, namespace, "{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {type: LoadBalancer, loadBalancerIP: 192.0.2.10, ports: [{port: 80}]}}", nil)
	give := func(address string) {
		clustertest.Kubectl(t, "-n", namespace, "patch", "service", "web", "--subresource=status", "--type=merge", "-p", `{"status": {"loadBalancer": {"ingress": [{"ip": "`+address+`"}]}}}`)
	}
	waits := func(said string) {
		if got, err := waitUntil(t, client, providers.RefOf(made), said); err == nil {
			t.Errorf("it is ready after %q", got.said)
		}
	}
	waits("no load balancer has given it an address yet")
	give("192.0.2.9")
	waits("the load balancer gave it the address 192.0.2.9, and it asks for 192.0.2.10")
	give("192.0.2.10")
	if got, err := waitFor(t, client, providers.RefOf(made)); err != nil {
		t.Errorf("got %v after %q", err, got.said)
	}
}

func TestWaitForNamespaceAndClaim(t *testing.T) {
	client := connect(t)
	namespace := clustertest.Namespace(t)
	if err := client.Writer().Wait(t.Context(), providers.Ref{GVK: namespaceKind, Name: namespace}, providers.WaitOptions{}); err != nil {
		t.Error(err)
	}
	made := applied(t, client, namespace, claim, nil)
	if err := client.Writer().Wait(t.Context(), providers.RefOf(made), providers.WaitOptions{}); err != nil {
		t.Error(err)
	}
}

func TestWaitSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	client := connect(t)
	cases := []struct {
		name        string
		manifest    string
		annotations map[string]any
		reason      string
		detail      string // part of a line
		final       bool
	}{
		{
			name: "image", manifest: deployment,
			annotations: map[string]any{"devcluster.kolla/outcome": "image-pull", "devcluster.kolla/message": "rpc error: code = NotFound desc = no such tag"},
			reason:      "image example.org/web:1 cannot be pulled: no such tag",
			detail:      "(and 1 more)",
		},
		{
			name: "crash", manifest: statefulSet,
			annotations: map[string]any{"devcluster.kolla/outcome": "crash", "devcluster.kolla/message": "no database", "devcluster.kolla/logs": "starting\nERROR no database"},
			reason:      "container db keeps crashing: it exited with code 1: no database",
			detail:      "ERROR no database",
		},
		{
			name: "not ready", manifest: daemonSet,
			annotations: map[string]any{"devcluster.kolla/outcome": "not-ready"},
			reason:      "container agent runs but is not ready: readiness probe failed",
		},
		{
			name: "node selector", manifest: strings.Replace(deployment, "    spec: {", "    spec: {nodeSelector: {kolla.openstack.org/role-none: 'true'}, ", 1),
			reason: "no node has the label kolla.openstack.org/role-none=true",
			detail: fmt.Sprintf("0/%d nodes are available", clustertest.Nodes),
		},
		{
			name: "requests", manifest: strings.Replace(deployment, "{name: web, ", "{name: web, resources: {requests: {cpu: 9k}}, ", 1),
			reason: fmt.Sprintf("no node can take the pod: 0/%[1]d nodes are available: %[1]d Insufficient cpu.", clustertest.Nodes),
		},
		{
			name: "volume claim", manifest: strings.Replace(deployment, "    spec: {", "    spec: {volumes: [{name: v, persistentVolumeClaim: {claimName: none}}], ", 1),
			reason: `persistentvolumeclaim "none" not found`,
		},
		{
			name: "service account", manifest: strings.Replace(deployment, "    spec: {", "    spec: {serviceAccountName: nobody, ", 1),
			reason: `pods cannot be created: `,
		},
		{
			name: "service account of a set", manifest: strings.Replace(statefulSet, "    spec: {", "    spec: {serviceAccountName: nobody, ", 1),
			reason: `pods cannot be created: `,
		},
		{
			name: "claim without a class", manifest: strings.Replace(claim, "spec: {", "spec: {storageClassName: none, ", 1),
			reason: `volume claim data (storage class none) is not bound: storageclass.storage.k8s.io "none" not found`,
		},
		{
			name: "progress deadline", manifest: strings.Replace(deployment, "replicas: 2", "replicas: 1\n  progressDeadlineSeconds: 5", 1),
			annotations: map[string]any{"devcluster.kolla/outcome": "image-pull"},
			reason:      "progress deadline exceeded: image example.org/web:1 cannot be pulled",
			final:       true,
		},
		{
			name: "job", manifest: job,
			annotations: map[string]any{"devcluster.kolla/outcome": "fail", "devcluster.kolla/message": "table exists", "devcluster.kolla/logs": "migrating\nERROR table exists"},
			reason:      "the job failed (BackoffLimitExceeded): container sync exited with code 1: table exists",
			detail:      "ERROR table exists",
			final:       true,
		},
		{
			name: "job that restarts its container", manifest: strings.Replace(job, "Never", "OnFailure", 1),
			annotations: map[string]any{"devcluster.kolla/outcome": "fail"},
			reason:      "the job failed (BackoffLimitExceeded)",
			final:       true,
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ref := providers.RefOf(applied(t, client, clustertest.Namespace(t), c.manifest, c.annotations))
			wait := waitFor
			if !c.final {
				wait = func(t *testing.T, client *kubernetes.Client, ref providers.Ref) (*reports, error) {
					return waitUntil(t, client, ref, c.reason)
				}
			}
			var got *reports
			var failure *providers.NotReadyError
			// The first pod that fails ends a wait. The detail of a later wait counts the others too.
			clustertest.Eventually(t, fmt.Sprintf("the detail has %q", c.detail), func() bool {
				var err error
				if got, err = wait(t, client, ref); !errors.As(err, &failure) {
					t.Fatalf("got %v, want a NotReadyError", err)
				}
				detail := strings.Join(failure.Detail, "\n")
				t.Logf("detail is\n%s", detail)
				return strings.Contains(detail, c.detail)
			})
			if !strings.Contains(failure.Reason, c.reason) || strings.Contains(failure.Reason, "\n") {
				t.Errorf("reason is %q, want one line with %q", failure.Reason, c.reason)
			}
			if failure.Final != c.final {
				t.Errorf("final is %t, want %t", failure.Final, c.final)
			}
			if !c.final && !slices.Contains(got.said, failure.Reason) {
				t.Errorf("the reports %q do not have the reason %q", got.said, failure.Reason)
			}
		})
	}
}

// TestLogIsReadAgain checks that a log that could not be read is read again at the end of a wait.
func TestLogIsReadAgain(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	client := throughProxy(t, func(proxy http.Handler, w http.ResponseWriter, r *http.Request) {
		if path.Base(r.URL.Path) == "log" && asked.Add(1) == 1 {
			http.Error(w, "the kubelet is busy", http.StatusInternalServerError)
			return
		}
		proxy.ServeHTTP(w, r)
	})
	made := applied(t, client, clustertest.Namespace(t), statefulSet, map[string]any{"devcluster.kolla/outcome": "crash", "devcluster.kolla/logs": "ERROR no database"})
	var failure *providers.NotReadyError
	_, err := waitUntil(t, client, providers.RefOf(made), "keeps crashing")
	if !errors.As(err, &failure) || !strings.Contains(strings.Join(failure.Detail, "\n"), "ERROR no database") {
		t.Errorf("got %#v after %d requests, want the log", err, asked.Load())
	}
}

func TestWaitForWhatIsNotThere(t *testing.T) {
	client, namespace := connect(t), clustertest.Namespace(t)
	ref := providers.Ref{GVK: configMapKind, Namespace: namespace, Name: "settings"}
	var failure *providers.NotReadyError
	if err := client.Writer().Wait(t.Context(), ref, providers.WaitOptions{}); !errors.As(err, &failure) || !failure.Final {
		t.Errorf("never made: got %v", err)
	}
	made := applied(t, client, namespace, deployment, map[string]any{"devcluster.kolla/outcome": "not-ready"})
	time.AfterFunc(500*time.Millisecond, func() {
		clustertest.Kubectl(t, "-n", namespace, "delete", "deployment", "web")
	})
	if err := client.Writer().Wait(t.Context(), providers.RefOf(made), providers.WaitOptions{}); !errors.As(err, &failure) || !failure.Final {
		t.Errorf("deleted meanwhile: got %v", err)
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	client, namespace := connect(t), clustertest.Namespace(t)
	made := applied(t, client, namespace, deployment, map[string]any{"devcluster.kolla/outcome": "not-ready"})
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(500*time.Millisecond, cancel)
	var failure *providers.NotReadyError
	if err := client.Writer().Wait(ctx, providers.RefOf(made), providers.WaitOptions{}); !errors.Is(err, context.Canceled) || errors.As(err, &failure) {
		t.Errorf("got %v, want the cancellation", err)
	}
}

func TestPodsReplacedOnRequestAreNotWaitedFor(t *testing.T) {
	t.Parallel()
	client, namespace := connect(t), clustertest.Namespace(t)
	for _, manifest := range []string{statefulSet, daemonSet} {
		manifest = strings.Replace(manifest, "spec:\n", "spec:\n  updateStrategy: {type: OnDelete}\n", 1)
		made := applied(t, client, namespace, manifest, nil)
		if err := client.Writer().Wait(t.Context(), providers.RefOf(made), providers.WaitOptions{}); err != nil {
			t.Fatal(err)
		}
		list, err := client.List(t.Context(), made.GroupVersionKind(), namespace)
		if err != nil {
			t.Fatal(err)
		}
		ready := max(asInt(nested(list[0], "status", "readyReplicas")), asInt(nested(list[0], "status", "numberReady")))
		if ready < 2 {
			t.Errorf("%s: %d pods are ready", made.GetKind(), ready)
		}
		changed := applied(t, client, namespace, strings.Replace(manifest, ":1\"", ":2\"", 1), nil)
		if got, err := waitFor(t, client, providers.RefOf(changed)); err != nil {
			t.Errorf("after a change: %v, after %q", err, got.said)
		}
	}
}

func asInt(value any) int64 {
	n, _ := value.(int64)
	return n
}

func TestStuckStatefulSetIsExplained(t *testing.T) {
	t.Parallel()
	client, namespace := connect(t), clustertest.Namespace(t)
	applied(t, client, namespace, statefulSet, map[string]any{"devcluster.kolla/outcome": "image-pull"})
	clustertest.Eventually(t, "the first pod exists", func() bool {
		return strings.Contains(clustertest.Kubectl(t, "-n", namespace, "get", "pods", "-o", "name"), "db-0")
	})
	mended := applied(t, client, namespace, statefulSet, map[string]any{"devcluster.kolla/outcome": "ok"})
	var failure *providers.NotReadyError
	if _, err := waitUntil(t, client, providers.RefOf(mended), "cannot be pulled"); !errors.As(err, &failure) || !strings.Contains(strings.Join(failure.Detail, "\n"), "delete the pod") {
		t.Errorf("got %#v, want the advice to delete the pod", err)
	}
}

func TestWaitWithoutPermissionToWatch(t *testing.T) {
	t.Parallel()
	namespace := clustertest.Namespace(t)
	clustertest.Kubectl(t, "-n", namespace, "create", "role", "lister", "--verb=list", "--resource=deployments.apps")
	clustertest.Kubectl(t, "-n", namespace, "create", "rolebinding", "lister", "--role=lister", "--user=joe")
	made := applied(t, connect(t), namespace, deployment, map[string]any{"devcluster.kolla/delay": "2s"})
	client := connectTo(t, alteredKubeconfig(t, func(_ *clientcmdapi.Config, _ *clientcmdapi.Cluster, user *clientcmdapi.AuthInfo) {
		user.Impersonate = "joe"
	}))
	if _, err := waitFor(t, client, providers.RefOf(made)); err != nil {
		t.Error(err)
	}
	var permission *providers.PermissionError
	ref := providers.Ref{GVK: corev1.SchemeGroupVersion.WithKind("Secret"), Namespace: namespace, Name: "s"}
	if err := client.Writer().Wait(t.Context(), ref, providers.WaitOptions{}); !errors.As(err, &permission) || permission.Verb != "list" {
		t.Errorf("got %v, want that Secrets may not be listed", err)
	}
}
