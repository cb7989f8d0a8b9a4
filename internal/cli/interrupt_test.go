package cli_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kolla.openstack.org/kolla/internal/cli"
)

// TestInterruptEndsReads checks that an interruption ends commands that wait for input or for a
// program.
func TestInterruptEndsReads(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("KUBECONFIG", filepath.Join(dir, "kubeconfig"))
	for name, content := range map[string]string{
		"cloud.hcl": "cloud \"c\" {\n  release = \"2025.1\"\n}\n",
		// The kubeconfig names a program that never prints credentials.
		"kubeconfig": `
apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: sleep, args: ["20"], interactiveMode: Never}}}]
`,
	} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"fmt", "-"}, {"console"}, {"plan", "-input=false"}, {"apply", "-auto-approve", "-input=false"}} {
		t.Run(args[0], func(t *testing.T) {
			silent, writer := io.Pipe()
			defer writer.Close()
			ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
			defer cancel()
			ended := make(chan int, 1)
			var stdout, stderr bytes.Buffer
			go func() { ended <- cli.Run(ctx, append([]string{"kolla"}, args...), silent, &stdout, &stderr) }()
			select {
			case code := <-ended:
				if code != 1 {
					t.Errorf("exit code %d, want 1", code)
				}
			case <-time.After(10 * time.Second):
				t.Fatalf("%s goes on reading after it was interrupted", strings.Join(args, " "))
			}
		})
	}
}
