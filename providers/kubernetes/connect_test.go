package kubernetes_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/dev/clustertest"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kubernetes"
)

func TestIdentity(t *testing.T) {
	client := connect(t)
	got, err := client.Identity(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	uid := clustertest.Kubectl(t, "get", "namespace", "kube-system", "-o", "jsonpath={.metadata.uid}")
	if got.UID != uid || got.Server != client.Server() || !strings.HasPrefix(got.Version, "v1.") {
		t.Errorf("identity is %+v, want UID %s, server %s and a version", got, uid, client.Server())
	}
	if diff := cmp.Diff(map[string]int{"get": 2}, client.Requests()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// TestContext checks that the client uses the named context, or else the current one.
func TestContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kubeconfig")
	text := "{apiVersion: v1, kind: Config, current-context: one, contexts: [{name: one, context: {cluster: c, user: u}}, {name: two, context: {cluster: c, user: u}}], users: [{name: u, user: {token: t}}], clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}]}"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for given, want := range map[string]string{"": "one", "two": "two"} {
		client, err := kubernetes.Connect(kubernetes.Options{Kubeconfig: path, Context: given})
		if err != nil {
			t.Fatal(err)
		}
		if got := client.Context(); got != want {
			t.Errorf("with context %q it is %q, want %q", given, got, want)
		}
	}
}

// TestIdentityOfAServerThatEmulates checks that the identity contains the version that the server
// emulates, if that differs from its own.
func TestIdentityOfAServerThatEmulates(t *testing.T) {
	for version, want := range map[string]string{
		`{"gitVersion": "v1.37.1", "major": "1", "minor": "37"}`:                                                "",
		`{"gitVersion": "v1.37.1", "major": "1", "minor": "37", "emulationMajor": "1", "emulationMinor": "37"}`: "",
		`{"gitVersion": "v1.37.1", "major": "1", "minor": "37", "emulationMajor": "1", "emulationMinor": "36"}`: "1.36",
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/version" {
				writeJSON(w, version)
				return
			}
			writeJSON(w, `{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kube-system", "uid": "u"}}`)
		}))
		t.Cleanup(server.Close)
		got, err := connectTo(t, kubeconfigOf(t, server.URL)).Identity(t.Context())
		if err != nil || got.Version != "v1.37.1" || got.Emulates != want {
			t.Errorf("%s: got %+v and %v, want it to emulate %q", version, got, err, want)
		}
	}
}

// TestNoRequestGetsThrough checks that an error names a server that answers no first request, and
// says what to do.
func TestNoRequestGetsThrough(t *testing.T) {
	for name, test := range map[string]struct {
		answer          http.HandlerFunc
		summary, detail string
	}{
		"a load balancer without servers": {
			func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no backend", http.StatusBadGateway) },
			"answers no requests", "kubectl get --raw='/readyz?verbose'",
		},
		"a server without etcd": {
			func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/version" {
					writeJSON(w, `{"gitVersion": "v1.37.1"}`)
					return
				}
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusInternalServerError)
				_, _ = io.WriteString(w, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "etcdserver: request timed out", "code": 500}`)
			},
			"answers no requests", "etcdserver: request timed out",
		},
		"an overloaded server": {
			func(w http.ResponseWriter, _ *http.Request) {
				http.Error(w, "too many requests", http.StatusTooManyRequests)
			},
			"is overloaded", "FlowSchemas",
		},
		"a page": {
			func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>log in</html>") },
			"does not answer as an API server", "login page",
		},
		"another web server": {http.NotFound, "does not answer as an API server", "address in the kubeconfig"},
		"a policy":           {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusForbidden) }, "permits not even", "proxy"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(test.answer)
			t.Cleanup(server.Close)
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			_, err := connectTo(t, kubeconfigOf(t, server.URL)).Identity(ctx)
			summary, detail, ok := failure.Explain(err)
			if !ok || !strings.Contains(summary, server.URL) || !strings.Contains(summary, test.summary) || !strings.Contains(detail, test.detail) {
				t.Errorf("%v is explained as %q: %q", err, summary, detail)
			}
		})
	}
}

func TestConnectChoosesKubeconfigAsKubectlDoes(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "broken")
	if err := os.WriteFile(broken, []byte("clusters: [\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	missing := filepath.Join(t.TempDir(), "missing")
	cases := []struct {
		name        string
		options     kubernetes.Options
		environment string
		pod         string // address of the API server in a pod
		summary     string // of the explanation; empty: no error
		detail      string
	}{
		{name: "explicit", options: kubernetes.Options{Kubeconfig: clustertest.Kubeconfig()}, environment: broken},
		{name: "environment", environment: missing + ":" + clustertest.Kubeconfig()},
		{name: "none", environment: missing, summary: "no kubeconfig was found", detail: missing},
		{name: "a pod without a token", environment: missing, pod: "192.0.2.1", summary: "this pod has no token of a service account", detail: "automountServiceAccountToken"},
		{name: "empty file", environment: empty, summary: "no kubeconfig was found", detail: empty},
		{name: "explicit file is missing", options: kubernetes.Options{Kubeconfig: missing}, summary: "the kubeconfig " + missing + " cannot be used: no such file", detail: "kubectl config view --kubeconfig " + missing},
		{name: "broken", options: kubernetes.Options{Kubeconfig: broken}, summary: "the kubeconfig " + broken + " cannot be used", detail: broken},
		{name: "one of several is broken", environment: clustertest.Kubeconfig() + ":" + broken, summary: "the kubeconfig " + broken + " cannot be used", detail: broken},
		{name: "unknown context", options: kubernetes.Options{Kubeconfig: clustertest.Kubeconfig(), Context: "prod"}, summary: `the kubeconfig has no context "prod"`, detail: "There are: "},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("KUBECONFIG", c.environment)
			t.Setenv("KUBERNETES_SERVICE_HOST", c.pod)
			client, err := kubernetes.Connect(c.options)
			if c.summary == "" {
				if err != nil {
					t.Fatal(err)
				}
				if _, err := client.Identity(t.Context()); err != nil {
					t.Error(err)
				}
				return
			}
			explained(t, err, c.summary, c.detail)
		})
	}
}

// explained checks the explanation of an error.
func explained(t *testing.T, err error, summary, detail string) {
	t.Helper()
	gotSummary, gotDetail, ok := failure.Explain(err)
	if !ok {
		t.Fatalf("there is no explanation of: %v", err)
	}
	if !strings.Contains(gotSummary, summary) || strings.Contains(gotSummary, "\n") {
		t.Errorf("summary is\n%s\nwant one line with\n%s", gotSummary, summary)
	}
	if !strings.Contains(gotDetail, detail) {
		t.Errorf("detail is\n%s\nwant something with\n%s", gotDetail, detail)
	}
}

func TestFailuresToConnectAreExplainedSoon(t *testing.T) {
	t.Parallel()
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	silent := silentServer(t)
	cases := []struct {
		name    string
		alter   func(*clientcmdapi.Config, *clientcmdapi.Cluster, *clientcmdapi.AuthInfo)
		summary string
		detail  string
	}{
		{
			name: "nothing listens",
			alter: func(_ *clientcmdapi.Config, cluster *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) {
				cluster.Server = "https://" + closedPort(t)
			},
			summary: "nothing listens at https://127.0.0.1:",
			detail:  "The API server is down",
		},
		{
			name: "accepts and says nothing",
			alter: func(_ *clientcmdapi.Config, cluster *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) {
				cluster.Server = "https://" + silent
			},
			summary: "does not answer",
			detail:  "firewall",
		},
		{
			name: "no such name",
			alter: func(_ *clientcmdapi.Config, cluster *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) {
				cluster.Server = "https://kubernetes.invalid:6443"
			},
			summary: "the name kubernetes.invalid of the server cannot be resolved",
		},
		{
			name: "other authority",
			alter: func(_ *clientcmdapi.Config, cluster *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) {
				cluster.CertificateAuthority, cluster.CertificateAuthorityData = "", nil
			},
			summary: "is signed by an unknown authority",
			detail:  "certificate-authority-data",
		},
		{
			name: "other name",
			alter: func(_ *clientcmdapi.Config, cluster *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) {
				cluster.TLSServerName = "elsewhere.example.org"
			},
			summary: "is for another name",
			detail:  "tls-server-name",
		},
		{
			name: "not TLS",
			alter: func(_ *clientcmdapi.Config, cluster *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) {
				cluster.Server = strings.Replace(plain.URL, "http:", "https:", 1)
			},
			summary: "speaks HTTP, not HTTPS",
		},
		{
			name: "credentials",
			alter: func(_ *clientcmdapi.Config, _ *clientcmdapi.Cluster, user *clientcmdapi.AuthInfo) {
				*user = clientcmdapi.AuthInfo{Token: "wrong"}
			},
			summary: "the server does not accept the credentials",
			detail:  "expired",
		},
		{
			name: "credential command",
			alter: func(_ *clientcmdapi.Config, _ *clientcmdapi.Cluster, user *clientcmdapi.AuthInfo) {
				*user = clientcmdapi.AuthInfo{Exec: &clientcmdapi.ExecConfig{
					APIVersion: "client.authentication.k8s.io/v1", Command: "no-such-login", InteractiveMode: clientcmdapi.NeverExecInteractiveMode,
				}}
			},
			summary: "the command that the kubeconfig names for credentials failed",
			detail:  "no-such-login",
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			client := connectTo(t, alteredKubeconfig(t, c.alter))
			start := time.Now()
			_, err := client.Identity(t.Context())
			explained(t, err, c.summary, c.detail)
			if took := time.Since(start); took > time.Minute {
				t.Errorf("it took %s to notice", took)
			}
		})
	}
}

// closedPort is an address where nothing listens.
func closedPort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// silentServer accepts connections and never answers.
func silentServer(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	return listener.Addr().String()
}

func TestPermissionIsExplained(t *testing.T) {
	namespace := clustertest.Namespace(t)
	clustertest.Kubectl(t, "-n", namespace, "create", "role", "reader", "--verb=get,list", "--resource=configmaps")
	clustertest.Kubectl(t, "-n", namespace, "create", "rolebinding", "reader", "--role=reader", "--user=jane")
	client := connectTo(t, alteredKubeconfig(t, func(_ *clientcmdapi.Config, _ *clientcmdapi.Cluster, user *clientcmdapi.AuthInfo) {
		user.Impersonate = "jane"
	}))
	if _, err := client.List(t.Context(), configMapKind, namespace); err != nil {
		t.Fatalf("jane may list ConfigMaps here: %v", err)
	}
	_, err := client.List(t.Context(), corev1.SchemeGroupVersion.WithKind("Secret"), namespace)
	var permission *providers.PermissionError
	if !errors.As(err, &permission) || !apierrors.IsForbidden(err) {
		t.Fatalf("got %v, want a PermissionError that is still the server's", err)
	}
	permission.Err = nil
	if diff := cmp.Diff(&providers.PermissionError{User: "jane", Verb: "list", Resource: "secrets", Namespace: namespace}, permission); diff != "" {
		t.Errorf("permission (-want +got):\n%s", diff)
	}
	explained(t, err, `user "jane" is not allowed to list secrets in namespace `+namespace, "kubectl auth can-i list secrets -n "+namespace+" --as=jane")
	_, err = client.List(t.Context(), deploymentKind, "")
	explained(t, err, `user "jane" is not allowed to list deployments.apps in the whole cluster`, "ClusterRole")
}

func TestWarningsAreTakenOnce(t *testing.T) {
	namespace := clustertest.Namespace(t)
	var got []kubernetes.Warning
	client, err := kubernetes.Connect(kubernetes.Options{Kubeconfig: clustertest.Kubeconfig(), Warn: func(w kubernetes.Warning) { got = append(got, w) }})
	if err != nil {
		t.Fatal(err)
	}
	workload := object(t, namespace, strings.Replace(deployment, "    spec: {", "    spec: {nodeSelector: {beta.kubernetes.io/os: linux}, ", 1))
	for range 3 {
		if _, err := client.DryRun(t.Context(), workload, dryRun); err != nil {
			t.Fatal(err)
		}
	}
	if len(got) != 1 || !strings.Contains(got[0].Text, "beta.kubernetes.io/os") || got[0].Ref != providers.RefOf(workload) {
		t.Errorf("warnings are %+v, want one about the label of the object", got)
	}
}

func TestThrottledRequestsAreRepeated(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch n := asked.Add(1); {
		case n == 1:
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
		case n == 2:
			w.WriteHeader(http.StatusServiceUnavailable)
		case r.URL.Path == "/version":
			writeJSON(w, `{"gitVersion": "v1.2.3"}`)
		default:
			writeJSON(w, `{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kube-system", "uid": "u"}}`)
		}
	}))
	t.Cleanup(server.Close)
	got, err := connectTo(t, kubeconfigOf(t, server.URL)).Identity(t.Context())
	if err != nil || got.UID != "u" || got.Version != "v1.2.3" {
		t.Errorf("got %+v and %v after %d requests", got, err, asked.Load())
	}
}

func TestNothingIsRepeatedThatCannotPass(t *testing.T) {
	for _, code := range []int{http.StatusBadRequest, http.StatusNotFound, http.StatusUnprocessableEntity, http.StatusInternalServerError} {
		var asked sync.Map
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, again := asked.LoadOrStore(r.URL.Path, true); again {
				t.Errorf("%d: %s is asked for again", code, r.URL.Path)
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(code)
			_, _ = w.Write([]byte(`{"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "no such field"}`))
		}))
		t.Cleanup(server.Close)
		if _, err := connectTo(t, kubeconfigOf(t, server.URL)).Identity(t.Context()); err == nil {
			t.Errorf("%d: no error", code)
		}
	}
}

func TestCancellationIsNotUnreachability(t *testing.T) {
	client := connectTo(t, kubeconfigOf(t, "http://"+silentServer(t)))
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	_, err := client.List(ctx, configMapKind, "default")
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the cancellation", err)
	}
}

func writeJSON(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(text))
}

// kubeconfigOf writes a kubeconfig for a server without credentials.
func kubeconfigOf(t *testing.T, url string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	text := "{apiVersion: v1, kind: Config, current-context: c, contexts: [{name: c, context: {cluster: c, user: u}}], users: [{name: u, user: {token: t}}], clusters: [{name: c, cluster: {server: '" + url + "'}}]}"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestRequestsAreHeldBack checks that a client limits its own rate if the server does not schedule
// requests.
func TestRequestsAreHeldBack(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, `{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kube-system", "uid": "u"}}`)
	}))
	t.Cleanup(server.Close)
	client := connectTo(t, kubeconfigOf(t, server.URL))
	start := time.Now()
	const burst = 300
	for range (burst + 60) / 2 { // two requests each
		if _, err := client.Identity(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	// The client sends 60 requests more than the burst, at 50 requests a second.
	if took := time.Since(start); took < time.Second {
		t.Errorf("%v took %s", client.Requests(), took)
	}
}

func TestTheServerSaysThatItIsFair(t *testing.T) {
	web, err := rest.HTTPClientFor(clustertest.Config(t))
	if err != nil {
		t.Fatal(err)
	}
	response, err := web.Get(clustertest.Config(t).Host + "/version")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.Header.Get(flowcontrolv1.ResponseHeaderMatchedFlowSchemaUID) == "" {
		t.Errorf("headers are %v", response.Header)
	}
}

func TestListStartsOverWhenItsPagesExpire(t *testing.T) {
	pages := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		switch {
		case r.URL.Path == "/api":
			writeJSON(w, `{"kind": "APIVersions", "versions": ["v1"]}`)
		case r.URL.Path == "/apis":
			writeJSON(w, `{"kind": "APIGroupList", "apiVersion": "v1", "groups": []}`)
		case r.URL.Path == "/api/v1":
			writeJSON(w, `{"kind": "APIResourceList", "groupVersion": "v1", "resources": [{"name": "configmaps", "kind": "ConfigMap", "namespaced": true}]}`)
		case query.Get("continue") != "":
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusGone)
			writeJSON(w, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Expired", "code": 410, "message": "too old"}`)
		case query.Get("limit") != "":
			pages++
			writeJSON(w, `{"kind": "ConfigMapList", "apiVersion": "v1", "metadata": {"continue": "next"}, "items": [{"metadata": {"name": "stale"}}]}`)
		default:
			writeJSON(w, `{"kind": "ConfigMapList", "apiVersion": "v1", "metadata": {}, "items": [{"metadata": {"name": "a"}}, {"metadata": {"name": "b"}}]}`)
		}
	}))
	t.Cleanup(server.Close)
	items, err := connectTo(t, kubeconfigOf(t, server.URL)).List(t.Context(), configMapKind, "default")
	if err != nil || len(items) != 2 || items[0].GetName() != "a" || pages != 1 {
		t.Errorf("got %v, %v after %d first pages", items, err, pages)
	}
}

// TestUnreachable checks the reports of an outage: the server stops answering in the middle, and
// then answers again.
func TestUnreachable(t *testing.T) {
	var down atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case down.Load():
			panic(http.ErrAbortHandler)
		case r.URL.Path == "/version":
			writeJSON(w, `{"gitVersion": "v1.2.3"}`)
		default:
			writeJSON(w, `{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kube-system", "uid": "u"}}`)
		}
	}))
	defer server.Close()
	told := make(chan error, 10)
	client, err := kubernetes.Connect(kubernetes.Options{
		Kubeconfig: kubeconfigOf(t, server.URL), Unreachable: func(err error) { told <- err },
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Identity(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := client.Reachable(t.Context(), 0); err != nil {
		t.Errorf("a server that answers is %v", err)
	}
	down.Store(true)
	start := time.Now()
	asking := make(chan error)
	go func() {
		_, err := client.Identity(t.Context())
		asking <- err
	}()
	if err := <-told; err == nil || time.Since(start) > time.Minute {
		t.Errorf("told %v after %s, want a reason within seconds", err, time.Since(start))
	}
	var unreachable *kubernetes.UnreachableError
	if err := client.Reachable(t.Context(), time.Second); !errors.As(err, &unreachable) {
		t.Errorf("a server that has not answered for longer than a second is %v", err)
	}
	down.Store(false)
	if err := client.Reachable(t.Context(), time.Minute); err != nil {
		t.Errorf("the server is back, and is %v", err)
	}
	if err := <-told; err != nil {
		t.Errorf("told %v, want that the server is back", err)
	}
	if err := <-asking; err != nil {
		t.Error(err)
	}
	if len(told) > 0 {
		t.Errorf("told %d times more", len(told))
	}
}
