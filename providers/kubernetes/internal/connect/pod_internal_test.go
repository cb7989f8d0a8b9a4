package connect

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/rest"
)

// podFiles is where Kubernetes mounts the credentials of a service account in a pod.
const podFiles = "/var/run/secrets/kubernetes.io/serviceaccount"

// TestTokenIsReadAgain checks that kolla in a pod uses the new token after Kubernetes has replaced
// it. The test starts itself a second time, with a private /var/run.
func TestTokenIsReadAgain(t *testing.T) {
	if os.Getenv("KUBERNETES_SERVICE_HOST") == "192.0.2.1" {
		tokenIsReadAgain(t)
		return
	}
	unshare := []string{"--mount"}
	if os.Geteuid() != 0 {
		unshare = append(unshare, "--map-root-user")
	}
	if out, err := exec.Command("unshare", append(unshare, "true")...).CombinedOutput(); err != nil {
		t.Skipf("NOT RUN: no files can be mounted as in a pod: %v %s", err, out)
	}
	const mount = `mount -t tmpfs none "$(readlink -f /var/run)" && exec "$@"`
	again := exec.CommandContext(t.Context(), "unshare", append(unshare, "sh", "-c", mount, "sh", os.Args[0], "-test.v", "-test.run=^TestTokenIsReadAgain$")...)
	again.Env = append(os.Environ(), "KUBECONFIG=", "HOME="+t.TempDir(), "KUBERNETES_SERVICE_HOST=192.0.2.1", "KUBERNETES_SERVICE_PORT=443")
	if out, err := again.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: TestTokenIsReadAgain") {
		t.Errorf("%v\n%s", err, out)
	}
}

// answers is a server that returns the credentials of each request.
type answers struct{}

func (answers) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Status: r.Header.Get("Authorization"), Body: http.NoBody, Request: r}, nil
}

func tokenIsReadAgain(t *testing.T) {
	write := func(token string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(podFiles, "token"), []byte(token), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(podFiles, 0o755); err != nil {
		t.Fatal(err)
	}
	write("first")
	found, err := loadConfig(Options{}, newWarnings(nil))
	if err != nil {
		t.Fatal(err)
	}
	config := found.config
	if config.Host != "https://192.0.2.1:443" {
		t.Errorf("the API server is %s", config.Host)
	}
	synctest.Test(t, func(t *testing.T) {
		client, err := rest.HTTPWrappersForConfig(config, answers{})
		if err != nil {
			t.Fatal(err)
		}
		for _, token := range []string{"first", "second"} {
			write(token)
			time.Sleep(2 * time.Minute)
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, config.Host, nil)
			if err != nil {
				t.Fatal(err)
			}
			response, err := client.RoundTrip(request)
			if err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
			if response.Status != "Bearer "+token {
				t.Errorf("it says %q, want the %s token", response.Status, token)
			}
		}
	})
}
