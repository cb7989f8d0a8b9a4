package connect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/util/exec"
	"k8s.io/streaming/pkg/httpstream"

	"kolla.openstack.org/kolla/providers"
)

// Exec runs a command in a container of a pod, and returns the beginning of its standard output, at
// most providers.MaxOutput bytes.
func (c *Connection) Exec(ctx context.Context, pod types.NamespacedName, container string, command []string) (string, error) {
	stdout := beginning{limit: providers.MaxOutput}
	err := c.Stream(ctx, pod, container, command, nil, &stdout)
	if ctx.Err() != nil { // the command may still be writing to the output
		return "", ctx.Err()
	}
	return string(stdout.kept), err
}

// Stream runs a command in a container of a pod, over a WebSocket, or over SPDY if a proxy
// does not let WebSockets through. It sends the request once. stdin may be nil. After the context has
// ended, stdin and stdout may still be in use.
func (c *Connection) Stream(ctx context.Context, pod types.NamespacedName, container string, command []string, stdin io.Reader, stdout io.Writer) error {
	url := c.Core.RESTClient().Post().Resource("pods").Namespace(pod.Namespace).Name(pod.Name).SubResource("exec").
		VersionedParams(&corev1.PodExecOptions{Container: container, Command: command, Stdin: stdin != nil, Stdout: true, Stderr: true}, scheme.ParameterCodec).URL()
	config := rest.CopyConfig(c.config)
	socket, err := remotecommand.NewWebSocketExecutor(config, "GET", url.String())
	if err != nil {
		return fmt.Errorf("set up the connection to %s: %w", c.server, err)
	}
	spdy, err := remotecommand.NewSPDYExecutor(config, "POST", url)
	if err != nil {
		return fmt.Errorf("set up the connection to %s: %w", c.server, err)
	}
	executor, err := remotecommand.NewFallbackExecutor(socket, spdy, func(err error) bool {
		return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
	})
	if err != nil {
		return fmt.Errorf("set up the connection to %s: %w", c.server, err)
	}
	c.traffic.count(verbExec)
	stderr := ending{limit: maxComplaint}
	err = executor.StreamWithContext(WithVerb(Quiet(ctx), verbExec), remotecommand.StreamOptions{Stdin: stdin, Stdout: stdout, Stderr: &stderr})
	var status exec.CodeExitError
	switch {
	case ctx.Err() != nil: // the command may still be writing
		return ctx.Err()
	case err == nil:
		return nil
	case errors.As(err, &status):
		return &providers.CommandError{Code: status.Code, Stderr: c.Secrets.Text(stderr.lastLine())}
	}
	if text := c.Secrets.Text(err.Error()); text != err.Error() {
		err = errors.New(text)
	}
	return c.describe(err)
}

// maxComplaint bounds the kept end of standard error, in bytes.
const maxComplaint = 1 << 10

// beginning keeps the first bytes that are written to it.
type beginning struct {
	kept  []byte
	limit int
}

// Write implements io.Writer.
func (b *beginning) Write(p []byte) (int, error) {
	b.kept = append(b.kept, p[:min(len(p), b.limit-len(b.kept))]...)
	return len(p), nil
}

// ending keeps the last bytes that are written to it.
type ending struct {
	kept  []byte
	limit int
}

// Write implements io.Writer.
func (e *ending) Write(p []byte) (int, error) {
	e.kept = append(e.kept, p...)
	e.kept = bytes.Clone(e.kept[max(0, len(e.kept)-e.limit):])
	return len(p), nil
}

// lastLine returns the last line that is not empty.
func (e *ending) lastLine() string {
	text := strings.TrimSpace(string(e.kept))
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}
