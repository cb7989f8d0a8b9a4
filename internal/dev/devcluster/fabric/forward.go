package fabric

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

const dialLimit = 10 * time.Second

// forward passes connections on to address, which is outside of the fabric.
func forward(listener net.Listener, address string) error {
	for {
		client, err := listener.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer client.Close()
			server, err := net.DialTimeout("tcp", address, dialLimit)
			if err != nil {
				return
			}
			defer server.Close()
			join(client, server)
		}()
	}
}

// join copies in both directions until both ends are done.
func join(a, b net.Conn) {
	var both sync.WaitGroup
	pass := func(to, from net.Conn) {
		_, _ = io.Copy(to, from)
		if half, ok := to.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite()
		}
	}
	both.Go(func() { pass(a, b) })
	both.Go(func() { pass(b, a) })
	both.Wait()
}

// egress is the proxy through which the API server connects to kubelets and pods. Kubelets of real
// nodes are on the fabric, those of simulated ones on loopback. The fabric has no routes to pods, and
// every node does.
type egress struct {
	inside namespace
	panel  *patchPanel
}

// ServeHTTP handles CONNECT, the only method that the API server uses.
func (e egress) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodConnect {
		http.Error(w, "only CONNECT", http.StatusMethodNotAllowed)
		return
	}
	server, err := e.dial(r.Context(), r.Host)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer server.Close()
	client, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer client.Close()
	if _, err := io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	// The reader may already hold bytes that the client sent after its request.
	if _, err := io.CopyN(server, buffered, int64(buffered.Reader.Buffered())); err != nil {
		return
	}
	join(client, server)
}

func (e egress) dial(ctx context.Context, address string) (conn net.Conn, err error) {
	dialer := net.Dialer{Timeout: dialLimit}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	ip, err := netip.ParseAddr(host)
	if err != nil || ip.IsLoopback() {
		return dialer.DialContext(ctx, "tcp", address)
	}
	dial := func() error {
		conn, err = dialer.DialContext(ctx, "tcp", address)
		return err
	}
	if Network.Contains(ip) {
		err = e.inside.do(dial)
	} else {
		err = e.panel.onNode(dial)
	}
	return conn, err
}
