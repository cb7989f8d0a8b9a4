package connect_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/providers/kubernetes/internal/connect"
)

// TestDamagedKubeconfig checks that a kubeconfig with damaged certificates, keys or addresses is
// reported with its file and the damaged field.
func TestDamagedKubeconfig(t *testing.T) {
	for name, test := range map[string]struct{ cluster, user, want string }{
		"authority":     {`server: "https://127.0.0.1:1", certificate-authority-data: aGVsbG8K`, `token: none`, "certificate-authority-data of the cluster"},
		"certificate":   {`server: "https://127.0.0.1:1"`, `client-certificate-data: aGVsbG8K, client-key-data: aGVsbG8K`, "client-certificate-data of the user"},
		"auth provider": {`server: "https://127.0.0.1:1"`, `auth-provider: { name: gcp }`, "has removed such auth-providers"},
		"address":       {`server: "ht!tp://%%"`, `token: none`, "kubectl config view"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "config")
			text := "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts: [{ name: c, context: { cluster: c, user: u } }]\n" +
				"clusters: [{ name: c, cluster: { " + test.cluster + " } }]\nusers: [{ name: u, user: { " + test.user + " } }]\n"
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := connect.Open(connect.Options{Kubeconfig: file})
			var broken *connect.BrokenConfigError
			if !errors.As(err, &broken) {
				t.Fatalf("error is %v", err)
			}
			summary, detail, _ := failure.Explain(err)
			if !strings.Contains(summary, file) || !strings.Contains(detail, test.want) {
				t.Errorf("%q is not explained:\n%s: %s", test.want, summary, detail)
			}
		})
	}
}
