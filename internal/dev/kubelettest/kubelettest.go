// Package kubelettest has a server that forwards ports of pods, as a kubelet does. A test makes a Node
// with its address, and pods on this Node.
package kubelettest

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
)

// Protocol is the version of the protocol between clients and kubelets.
const Protocol = "portforward.k8s.io"

// Start starts a kubelet at a loopback address, with a certificate that the API server accepts. address
// returns the place of a port of a pod; empty: the pod does not run here.
func Start(certificate tls.Certificate, address func(namespace, pod, port string) string) *httptest.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("/portForward/{namespace}/{pod}", func(w http.ResponseWriter, r *http.Request) {
		namespace, pod := r.PathValue("namespace"), r.PathValue("pod")
		Forward(w, r, func(port string) string { return address(namespace, pod, port) })
	})
	server := httptest.NewUnstartedServer(mux)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}
	server.StartTLS()
	return server
}

// Forward answers a request for ports of one pod. address returns the place of a port; empty: the pod does
// not run here.
func Forward(w http.ResponseWriter, r *http.Request, address func(port string) string) {
	if address("") == "" {
		http.Error(w, "pod does not exist", http.StatusNotFound)
		return
	}
	if _, err := httpstream.Handshake(r, w, []string{Protocol}); err != nil {
		return
	}
	var mu sync.Mutex
	complaints := map[string]httpstream.Stream{}
	conn := spdy.NewResponseUpgrader().UpgradeResponse(w, r, func(stream httpstream.Stream, _ <-chan struct{}) error {
		id := stream.Headers().Get(corev1.PortForwardRequestIDHeader)
		mu.Lock()
		defer mu.Unlock()
		if stream.Headers().Get(corev1.StreamType) == corev1.StreamTypeError {
			complaints[id] = stream
			return nil
		}
		go forward(stream, complaints[id], address(stream.Headers().Get(corev1.PortHeader)))
		return nil
	})
	if conn != nil {
		<-conn.CloseChan()
	}
}

// forward copies between a stream and a port, until both have ended.
func forward(data, complaints httpstream.Stream, address string) {
	defer func() { _ = complaints.Close() }()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		_, _ = fmt.Fprintf(complaints, "error forwarding port to pod: %v", err)
		_ = data.Close()
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(data, conn)
		_ = data.Close()
	}()
	_, _ = io.Copy(conn, data)
	_ = conn.Close()
	<-done
}
