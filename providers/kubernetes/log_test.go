package kubernetes_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kubernetes"
)

// loggedClient returns a client that logs at the level, and its log. The server refuses the first
// request for each path, and its answers quote the request.
func loggedClient(t *testing.T, level slog.Level) (*kubernetes.Client, *bytes.Buffer) {
	t.Helper()
	var asked sync.Map
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, again := asked.LoadOrStore(r.URL.Path, true)
		w.Header().Set("Content-Type", "application/json")
		switch {
		case strings.HasSuffix(r.URL.Path, "/exec"):
			http.Error(w, "no kubelet", http.StatusInternalServerError)
		case !again:
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","code":503,"reason":"ServiceUnavailable","message":"swordfish"}`)
		default:
			fmt.Fprint(w, `{"kind":"Secret","apiVersion":"v1","metadata":{"name":"s","namespace":"n"},"data":{"a":"c3dvcmRmaXNo"}}`)
		}
	}))
	t.Cleanup(server.Close)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf("{apiVersion: v1, kind: Config, current-context: c, contexts: [{name: c, context: {cluster: c, user: u}}], users: [{name: u, user: {token: swordfish}}], clusters: [{name: c, cluster: {server: '%s'}}]}", server.URL)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	client, err := kubernetes.Connect(kubernetes.Options{
		Kubeconfig: path,
		Log:        slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: level})),
	})
	if err != nil {
		t.Fatal(err)
	}
	return client, &log
}

// TestLog checks that the log has every request with its outcome, one record for each attempt, and
// no header, body, command or message of an answer.
func TestLog(t *testing.T) {
	client, log := loggedClient(t, kubernetes.LevelTrace)
	secret := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "s", "namespace": "n"},
		"stringData": map[string]any{"a": "swordfish"},
	}}
	if _, err := client.DryRun(t.Context(), secret, providers.DryRunOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Shell().Exec(t.Context(), types.NamespacedName{Namespace: "n", Name: "p"}, "main", []string{"login", "swordfish"}); err == nil {
		t.Error("no kubelet, and no error")
	}
	for _, want := range []string{
		`level=DEBUG msg=request verb="patch (dry-run)" path=/api/v1/namespaces/n/secrets/s query="dryRun=All&fieldManager=kolla&force=false" duration=`,
		"attempt=1 status=503\n", "attempt=2 status=200\n",
		`level=DEBUG-4 msg="will ask again" verb="patch (dry-run)" cause="503 ServiceUnavailable"`,
		"verb=exec path=/api/v1/namespaces/n/pods/p/exec query=\"command=...&command=...&container=main&",
	} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %s:\n%s", want, log)
		}
	}
	for _, secret := range []string{"swordfish", "c3dvcmRmaXNo", "Bearer"} {
		if strings.Contains(log.String(), secret) {
			t.Errorf("the log has %s:\n%s", secret, log)
		}
	}

	client, log = loggedClient(t, slog.LevelInfo)
	if _, err := client.DryRun(t.Context(), secret, providers.DryRunOptions{}); err != nil {
		t.Fatal(err)
	}
	if log.Len() > 0 {
		t.Errorf("nobody asked for\n%s", log)
	}
}
