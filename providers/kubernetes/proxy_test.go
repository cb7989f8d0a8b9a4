package kubernetes_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd/api"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
	"kolla.openstack.org/kolla/internal/dev/keystonetest"
	"kolla.openstack.org/kolla/providers"
)

// backend is a Service without a selector, whose only pod has an address of this machine.
const backend = `
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {ports: [{name: api, port: 5000}]}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {schedulerName: nobody, containers: [{name: web, image: example.org/web}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-1, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
ports: [{name: api, port: PORT, protocol: TCP}]
endpoints: [{addresses: [ADDRESS], conditions: {ready: true}, targetRef: {kind: Pod, name: web, namespace: NAMESPACE}}]
`

// deploy applies the backend with the address of a listener.
func deploy(t *testing.T, namespace string, at net.Addr) {
	t.Helper()
	address, port, err := net.SplitHostPort(at.String())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "backend.yaml")
	text := strings.NewReplacer("ADDRESS", address, "PORT", port, "NAMESPACE", namespace).Replace(backend)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	clustertest.Kubectl(t, "-n", namespace, "apply", "-f", path)
	clustertest.Kubectl(t, "-n", namespace, "patch", "pod", "web", "--subresource=status", "-p", fmt.Sprintf(`{"status":{"podIP":%q,"podIPs":[{"ip":%q}]}}`, address, address))
}

// TestProxy sends requests to a Service through the API server: answers of pods, also refusals and
// redirects, come back as they are, and requests that reach no pod are errors that say why.
func TestProxy(t *testing.T) {
	namespace, client := clustertest.Namespace(t), connect(t)
	to := providers.InternalURL{Scheme: "http", Namespace: namespace, Service: "web", Port: "5000", Path: "/v3"}
	fails := func(want string) {
		t.Helper()
		_, err := client.Proxy(t.Context(), to, providers.ServiceRequest{Method: http.MethodGet, Path: "/users"})
		var silent *providers.NoAnswerError
		if !errors.As(err, &silent) || silent.Why != want {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	fails("it does not exist")

	listener, err := keystonetest.Listen()
	if err != nil {
		t.Fatal(err)
	}
	var led atomic.Bool
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Error("the pod gets the credentials of the cluster")
		}
		switch r.URL.Path {
		case "/v3/users":
			body, _ := io.ReadAll(r.Body)
			w.Header().Set("X-Subject-Token", r.Header.Get("X-Auth-Token"))
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, "%s %s %s", r.Method, r.URL.RawQuery, body)
		case "/v3/moved":
			http.Redirect(w, r, "/v3/elsewhere", http.StatusFound)
		case "/v3/elsewhere":
			led.Store(true)
		case "/v3/status":
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(w, `{"error":{"code":503}}`)
		case "/v3/broken":
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, `{"users": [`)
		}
	}))
	_ = server.Listener.Close()
	server.Listener = listener
	server.Start()
	defer server.Close()
	deploy(t, namespace, listener.Addr())

	clustertest.Eventually(t, "the Service", func() bool {
		_, err := client.Proxy(t.Context(), to, providers.ServiceRequest{Method: http.MethodGet, Path: "/elsewhere"})
		return err == nil
	})
	led.Store(false)
	answer, err := client.Proxy(t.Context(), to, providers.ServiceRequest{
		Method: http.MethodPost, Path: "/users", Query: url.Values{"name": {"a b"}}, Header: http.Header{"X-Auth-Token": {"t"}}, Body: []byte("body"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if answer.Status != http.StatusUnauthorized || string(answer.Body) != "POST name=a+b body" || answer.Header.Get("X-Subject-Token") != "t" {
		t.Errorf("answer %d, %q, %v", answer.Status, answer.Body, answer.Header)
	}
	answer, err = client.Proxy(t.Context(), to, providers.ServiceRequest{Method: http.MethodGet, Path: "/moved"})
	if err != nil || answer.Status != http.StatusFound || led.Load() {
		t.Errorf("redirect: %+v, %v; followed: %t", answer, err, led.Load())
	}
	if answer, err = client.Proxy(t.Context(), to, providers.ServiceRequest{Method: http.MethodGet, Path: "/status"}); err != nil || answer.Status != http.StatusServiceUnavailable {
		t.Errorf("an error of the pod: %+v, %v", answer, err)
	}
	_, err = client.Proxy(t.Context(), to, providers.ServiceRequest{Method: http.MethodGet, Path: "/broken"})
	if silent := (*providers.NoAnswerError)(nil); !errors.As(err, &silent) || silent.Why != "its answer breaks off" {
		t.Errorf("an answer that breaks off: %v", err)
	}
	if n := client.Requests()["proxy"]; n < 6 {
		t.Errorf("%d requests are counted", n)
	}

	stranger := connectTo(t, alteredKubeconfig(t, func(_ *api.Config, _ *api.Cluster, user *api.AuthInfo) { user.Impersonate = "stranger" }))
	_, err = stranger.Proxy(t.Context(), to, providers.ServiceRequest{Method: http.MethodPost, Path: "/users"})
	var denied *providers.PermissionError
	if !errors.As(err, &denied) || denied.Verb != "create" || denied.Resource != "services/proxy" || denied.Namespace != namespace {
		t.Errorf("without the right: %v", err)
	}

	server.Close()
	began := time.Now()
	fails("connection refused")
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("a refused connection was tried for %s", took)
	}
	clustertest.Kubectl(t, "-n", namespace, "delete", "endpointslices", "web-1")
	clustertest.Eventually(t, "the end of the endpoints", func() bool {
		_, err := client.Proxy(t.Context(), to, providers.ServiceRequest{Method: http.MethodGet, Path: "/users"})
		var silent *providers.NoAnswerError
		return errors.As(err, &silent) && silent.Why == "none of its pods is ready"
	})
}
