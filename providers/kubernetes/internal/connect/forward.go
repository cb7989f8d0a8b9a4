package connect

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/streaming/pkg/httpstream"

	"kolla.openstack.org/kolla/internal/base/crash"
	"kolla.openstack.org/kolla/providers"
)

// maxForwardError bounds the error of a node, in bytes.
const maxForwardError = 4 << 10

// Forward connects to a port of a pod through the API server and the node of the pod, over a WebSocket, or
// over SPDY if the server or a proxy does not let WebSockets through. It tries once. The context only
// bounds the way there. If the server refuses, the error is a *providers.PermissionError or describes the
// refusal. If the connection does not reach the pod, it is a *providers.NoAnswerError. If nothing listens
// on the port, reads and writes return such an error.
func (c *Connection) Forward(ctx context.Context, to providers.PodPort) (net.Conn, error) {
	dialer, refused, err := c.forwarder(to)
	if err != nil {
		return nil, fmt.Errorf("set up the connection to %s: %w", c.server, err)
	}
	c.traffic.count(verbForward)
	type dialed struct {
		conn *forwarded
		err  error
	}
	// The dialers of client-go take no context.
	done := make(chan dialed, 1)
	go func() {
		var d dialed
		d.err = crash.Catching(func() (err error) {
			d.conn, err = forward(dialer, to)
			return err
		})()
		done <- d
	}()
	select {
	case d := <-done:
		if d.err != nil {
			return nil, c.notForwarded(cmp.Or(refused.err(), d.err), to)
		}
		d.conn.hide = func(text string) string { return c.Secrets.Text(text) }
		return d.conn, nil
	case <-ctx.Done():
		go func() {
			if d := <-done; d.err == nil {
				_ = d.conn.Close() // nobody wants it any more
			}
		}()
		return nil, ctx.Err()
	}
}

// forwarder returns the dialer for the ports of a pod, and where the refusal of the API server will be.
func (c *Connection) forwarder(to providers.PodPort) (httpstream.Dialer, *refusing, error) {
	url := c.Core.RESTClient().Get().Resource("pods").Namespace(to.Namespace).Name(to.Pod).SubResource("portforward").URL()
	config := rest.CopyConfig(c.config)
	socket, err := portforward.NewSPDYOverWebsocketDialerForStreaming(url, config)
	if err != nil {
		return nil, nil, err
	}
	transport, upgrader, err := spdy.RoundTripperFor(config)
	if err != nil {
		return nil, nil, err
	}
	refused := &refusing{next: transport}
	plain := spdy.NewDialerForStreaming(upgrader, &http.Client{Transport: refused}, http.MethodPost, url)
	return portforward.NewFallbackDialerForStreaming(socket, plain, func(err error) bool {
		return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
	}), refused, nil
}

// refusing is a transport that keeps the Status with which the API server refuses a connection. The errors
// of client-go only have its message.
type refusing struct {
	next   http.RoundTripper
	status *metav1.Status
}

// RoundTrip implements http.RoundTripper.
func (r *refusing) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := r.next.RoundTrip(request)
	if err != nil || response.StatusCode < http.StatusBadRequest {
		return response, err
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	_ = response.Body.Close() // it is read
	response.Body = io.NopCloser(bytes.NewReader(body))
	var status metav1.Status
	if err == nil && json.Unmarshal(body, &status) == nil && status.Kind == "Status" {
		r.status = &status
	}
	return response, err
}

// err returns the refusal; nil: the API server did not refuse.
func (r *refusing) err() error {
	if r.status == nil {
		return nil
	}
	return &apierrors.StatusError{ErrStatus: *r.status}
}

// forward opens the connection, with its two streams.
func forward(dialer httpstream.Dialer, to providers.PodPort) (*forwarded, error) {
	conn, _, err := dialer.Dial(portforward.PortForwardProtocolV1Name)
	if err != nil {
		return nil, err
	}
	header := http.Header{}
	header.Set(corev1.PortHeader, strconv.Itoa(to.Port))
	header.Set(corev1.PortForwardRequestIDHeader, "0")
	header.Set(corev1.StreamType, corev1.StreamTypeError)
	complaints, err := conn.CreateStream(header)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	header.Set(corev1.StreamType, corev1.StreamTypeData)
	data, err := conn.CreateStream(header)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	f := &forwarded{Stream: data, conn: conn, to: to, said: make(chan string, 1)}
	go func() {
		_ = complaints.Close() // nothing is written to it
		text, _ := io.ReadAll(io.LimitReader(complaints, maxForwardError))
		f.said <- strings.TrimSpace(string(text))
	}()
	return f, nil
}

// notForwarded describes why there is no connection to a pod.
func (c *Connection) notForwarded(err error, to providers.PodPort) error {
	var status apierrors.APIStatus
	if text := c.Secrets.Text(err.Error()); text != err.Error() && !errors.As(err, &status) {
		err = errors.New(text)
	}
	switch {
	case apierrors.IsNotFound(err):
		return &providers.NoAnswerError{Namespace: to.Namespace, Pod: to.Pod, Why: "it does not exist"}
	case httpstream.IsUpgradeFailure(err), strings.HasPrefix(err.Error(), "unable to upgrade connection: "):
		return &providers.NoAnswerError{Namespace: to.Namespace, Pod: to.Pod, Why: lastClause(err.Error())}
	case errors.As(err, &status) && !apierrors.IsForbidden(err) && !apierrors.IsUnauthorized(err):
		return &providers.NoAnswerError{Namespace: to.Namespace, Pod: to.Pod, Why: lastClause(c.Secrets.Text(status.Status().Message))}
	}
	return c.describe(err)
}

// forwarded is a connection to a port of a pod.
type forwarded struct {
	httpstream.Stream
	conn httpstream.Connection
	to   providers.PodPort
	hide func(string) string // takes secrets out of a text

	said  chan string // an error of the node, or ""; once
	close sync.Once
}

var _ net.Conn = (*forwarded)(nil)

// Read implements net.Conn.
func (f *forwarded) Read(p []byte) (int, error) {
	n, err := f.Stream.Read(p)
	return n, f.explain(err)
}

// Write implements net.Conn.
func (f *forwarded) Write(p []byte) (int, error) {
	n, err := f.Stream.Write(p)
	return n, f.explain(err)
}

// explain returns the error of the node in place of the end of the stream, if there is one.
func (f *forwarded) explain(err error) error {
	if err == nil {
		return nil
	}
	select {
	case text := <-f.said:
		f.said <- text
		if text != "" {
			return &providers.NoAnswerError{Namespace: f.to.Namespace, Pod: f.to.Pod, Why: cause(f.hide(text))}
		}
	case <-time.After(nodeComplaint):
	}
	return err
}

// cause returns the cause in the error of a node. Runtimes list the attempts for IPv4 and IPv6.
func cause(text string) string {
	const refused = "connection refused"
	if strings.Contains(text, refused) {
		return refused
	}
	return lastClause(text)
}

// nodeComplaint is the time within which a node says why it ended a connection.
const nodeComplaint = time.Second

// Close implements net.Conn.
func (f *forwarded) Close() (err error) {
	f.close.Do(func() {
		_ = f.Reset() // what was not sent is not wanted any more
		err = f.conn.Close()
	})
	return err
}

// forwardedAddr is the address of an end of the connection.
type forwardedAddr string

// Network implements net.Addr.
func (forwardedAddr) Network() string { return "portforward" }

// String implements net.Addr.
func (a forwardedAddr) String() string { return string(a) }

// LocalAddr implements net.Conn.
func (f *forwarded) LocalAddr() net.Addr { return forwardedAddr("kolla") }

// RemoteAddr implements net.Conn.
func (f *forwarded) RemoteAddr() net.Addr {
	return forwardedAddr(fmt.Sprintf("%s/%s:%d", f.to.Namespace, f.to.Pod, f.to.Port))
}

// errNoDeadline says that only Close ends reads and writes.
var errNoDeadline = errors.New("a forwarded port has no deadlines")

// SetDeadline implements net.Conn. Streams have no deadlines: Close ends reads and writes.
func (f *forwarded) SetDeadline(time.Time) error { return errNoDeadline }

// SetReadDeadline implements net.Conn.
func (f *forwarded) SetReadDeadline(time.Time) error { return errNoDeadline }

// SetWriteDeadline implements net.Conn.
func (f *forwarded) SetWriteDeadline(time.Time) error { return errNoDeadline }
