package registry_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kolla.openstack.org/kolla/providers/registry"
)

const digest = "sha256:4f1c0de2a0b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d"

// serve starts a registry that answers each request with the handler, and returns its address.
func serve(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// logIn writes a login into a file.
func logIn(t *testing.T, file, host, user, password string) {
	t.Helper()
	config := fmt.Sprintf(`{"auths": {%q: {"auth": %q}}}`, host, base64.StdEncoding.EncodeToString([]byte(user+":"+password)))
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestDigest checks that a digest is read with the login of the user, and that the password counts
// as a secret.
func TestDigest(t *testing.T) {
	host := serve(t, func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		if user != "joe" || password != "sesame-1234" {
			w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
			http.Error(w, "who are you", http.StatusUnauthorized)
			return
		}
		if r.URL.Path != "/v2/kolla/keystone/manifests/2025.1-rocky-9" {
			http.NotFound(w, r)
			return
		}
		if agent := r.UserAgent(); agent != "kolla/test" {
			t.Errorf("the client is %q", agent)
		}
		w.Header().Set("Content-Type", "application/vnd.oci.image.index.v1+json")
		w.Header().Set("Docker-Content-Digest", digest)
		w.Header().Set("Content-Length", "2")
	})
	for program, variable := range map[string]string{"docker": "DOCKER_CONFIG", "podman": "REGISTRY_AUTH_FILE"} {
		t.Run(program, func(t *testing.T) {
			dir := t.TempDir()
			t.Setenv("DOCKER_CONFIG", t.TempDir())
			t.Setenv(variable, dir)
			file := filepath.Join(dir, "config.json")
			if program == "podman" {
				t.Setenv(variable, file)
			}
			logIn(t, file, host, "joe", "sesame-1234")
			var secrets []string
			client, err := registry.NewClient("kolla/test", func(text string) { secrets = append(secrets, text) })
			if err != nil {
				t.Fatal(err)
			}
			if got, err := client.Digest(t.Context(), host+"/kolla/keystone:2025.1-rocky-9"); got != digest || err != nil {
				t.Errorf("got %q, %v", got, err)
			}
			if !slices.Contains(secrets, "sesame-1234") {
				t.Errorf("the secrets are %q", secrets)
			}
			if _, err := client.Digest(t.Context(), host+"/kolla/keystone:other"); err == nil || !strings.Contains(err.Error(), "the registry does not have "+host+"/kolla/keystone:other") {
				t.Errorf("no such tag: got %v", err)
			}
		})
	}
}

// TestRefused checks the errors of images that a registry does not give.
func TestRefused(t *testing.T) {
	host := serve(t, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusForbidden) })
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	client, err := registry.NewClient("kolla/test", func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	for reference, want := range map[string]string{
		host + "/kolla/keystone:1": "403",
		"keystone":                 "keystone",
		host + "/Kolla:1":          "/Kolla:1",
	} {
		if _, err := client.Digest(t.Context(), reference); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", reference, err, want)
		}
		if _, err := client.Copy(t.Context(), reference, host+"/there:1", func(int64) { t.Errorf("%s: the copy begins", reference) }); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("copy of %s: got %v, want %q", reference, err, want)
		}
	}
}
