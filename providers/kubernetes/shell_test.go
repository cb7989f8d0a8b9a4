package kubernetes_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/streaming/pkg/httpstream/wsstream"

	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kubernetes"
)

// execServer answers as an API server that reaches the kubelet: with the output of a command, and
// its exit status.
func execServer(t *testing.T, stdout, stderr, status string) *kubernetes.Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if r.URL.Path != "/api/v1/namespaces/openstack/pods/pod-1/exec" || q.Get("container") != "main" || !cmp.Equal(q["command"], []string{"list", "a b"}) {
			http.Error(w, "asked for "+r.URL.String(), http.StatusNotFound)
			return
		}
		if status == "unreachable" {
			http.Error(w, "dial tcp 203.0.113.7:10250: no route to host", http.StatusInternalServerError)
			return
		}
		conn := wsstream.NewConn(map[string]wsstream.ChannelProtocolConfig{"v5.channel.k8s.io": {
			Binary:   true,
			Channels: []wsstream.ChannelType{wsstream.IgnoreChannel, wsstream.WriteChannel, wsstream.WriteChannel, wsstream.WriteChannel},
		}})
		_, streams, err := conn.Open(w, r)
		if err != nil {
			return
		}
		defer conn.Close()
		if status == "hangs" {
			time.Sleep(time.Second)
			return
		}
		for text := stdout; text != ""; {
			n := min(len(text), 1<<12)
			_, _ = streams[1].Write([]byte(text[:n]))
			text = text[n:]
		}
		_, _ = streams[2].Write([]byte(stderr))
		_, _ = streams[3].Write([]byte(status))
	}))
	t.Cleanup(server.Close)
	return clientOf(t, server.URL)
}

// clientOf returns a client of the API server at a URL.
func clientOf(t *testing.T, url string) *kubernetes.Client {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf("{apiVersion: v1, kind: Config, current-context: c, contexts: [{name: c, context: {cluster: c}}], clusters: [{name: c, cluster: {server: '%s'}}]}", url)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.Connect(kubernetes.Options{Kubeconfig: path})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// TestStream checks that a command gets all of its input and its end, and that all of its output comes
// back, however long.
func TestStream(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn := wsstream.NewConn(map[string]wsstream.ChannelProtocolConfig{"v5.channel.k8s.io": {
			Binary:   true,
			Channels: []wsstream.ChannelType{wsstream.ReadChannel, wsstream.WriteChannel, wsstream.WriteChannel, wsstream.WriteChannel},
		}})
		_, streams, err := conn.Open(w, r)
		if err != nil {
			return
		}
		defer conn.Close()
		_, err = io.Copy(streams[1], streams[0])
		_, _ = fmt.Fprintf(streams[1], "end %v %s", err, r.URL.Query().Get("stdin"))
		_, _ = streams[3].Write([]byte(`{"metadata":{},"status":"Success"}`))
	}))
	t.Cleanup(server.Close)
	input := strings.Repeat("0123456789", 1<<16)
	var out bytes.Buffer
	err := clientOf(t, server.URL).Shell().Stream(t.Context(), types.NamespacedName{Namespace: "openstack", Name: "pod-1"}, "main", []string{"cat"}, strings.NewReader(input), &out)
	if err != nil || out.String() != input+"end <nil> true" {
		t.Errorf("%d bytes, which end with %q, %v", out.Len(), out.String()[max(0, out.Len()-20):], err)
	}
}

// TestExec checks that the output of a command is bounded, that the error of a failed command has
// its last line, and that a pod that cannot be reached is no outage of the server.
func TestExec(t *testing.T) {
	const success = `{"metadata":{},"status":"Success"}`
	failure := func(code int) string {
		return fmt.Sprintf(`{"metadata":{},"status":"Failure","reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode","message":"%d"}]}}`, code)
	}
	for name, test := range map[string]struct {
		stdout, stderr, status string
		want                   string
		err                    string // end of the error
	}{
		"says":           {stdout: "web-1\n", stderr: "warning\n", status: success, want: "web-1\n"},
		"says much":      {stdout: strings.Repeat("x", 3*providers.MaxOutput), status: success, want: strings.Repeat("x", providers.MaxOutput)},
		"fails":          {stdout: "web-1\n", stderr: "first\n  no socket \n\n", status: failure(3), want: "web-1\n", err: "the command ended with 3: no socket"},
		"complains much": {stderr: strings.Repeat("y", 1<<20) + "\nlast", status: failure(1), err: "the command ended with 1: last"},
		"fails silently": {status: failure(7), err: "the command ended with 7"},
		"unreachable":    {status: "unreachable", err: "no route to host"},
		"hangs":          {status: "hangs", err: "context deadline exceeded"},
	} {
		t.Run(name, func(t *testing.T) {
			client := execServer(t, test.stdout, test.stderr, test.status)
			ctx := t.Context()
			if test.status == "hangs" {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, 200*time.Millisecond)
				defer cancel()
			}
			got, err := client.Shell().Exec(ctx, types.NamespacedName{Namespace: "openstack", Name: "pod-1"}, "main", []string{"list", "a b"})
			if got != test.want {
				t.Errorf("%d bytes, want %d: %.40q", len(got), len(test.want), got)
			}
			if (err != nil) != (test.err != "") || err != nil && !strings.HasSuffix(strings.TrimSpace(err.Error()), test.err) {
				t.Errorf("error %v, want %s", err, test.err)
			}
			var ended *providers.CommandError
			if errors.As(err, &ended) != strings.HasPrefix(test.err, "the command") {
				t.Errorf("%T", err)
			}
			if n := client.Requests()["exec"]; n != 1 {
				t.Errorf("%d requests", n)
			}
		})
	}
}
