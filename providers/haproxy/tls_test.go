package haproxy_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/haproxy"
	"kolla.openstack.org/kolla/providers/secrets"
)

// authority is a CA, with the Secrets that it made.
type authority map[string]map[string][]byte

// make generates the values of a Secret as an apply does.
func (a authority) make(t *testing.T, name string, g *providers.Generator) map[string][]byte {
	t.Helper()
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret"}}
	u.SetName(name)
	o := &providers.Object{Manifest: u, Data: map[string]providers.SecretData{}}
	keys := []string{configs.KeyCertificate, configs.KeyKey}
	if g.Cert.Issuer != nil {
		keys = append(keys, configs.KeyCA)
	}
	for _, key := range keys {
		o.Data[key] = providers.SecretData{Generate: g}
	}
	manifest, _, err := secrets.Resolve(o, func(_, name string) map[string][]byte { return a[name] }, true)
	if err != nil {
		t.Fatal(err)
	}
	a[name] = providers.ValuesOf(manifest)
	return a[name]
}

// newAuthority generates a CA.
func newAuthority(t *testing.T) authority {
	a := authority{}
	a.make(t, "ca", &providers.Generator{Kind: "x509-ca", Algorithm: "ecdsa", Cert: &providers.Certificate{CommonName: "outside exposure CA", Days: 3650, RenewBefore: 730}})
	return a
}

// certificate generates the certificate of the exposure in testdata/tls.
func (a authority) certificate(t *testing.T, name string) map[string][]byte {
	return a.make(t, name, &providers.Generator{Kind: "x509", Algorithm: "ecdsa", Cert: &providers.Certificate{
		Issuer: &providers.SecretKey{Name: "ca", Key: configs.KeyCertificate}, CommonName: "cloud.example.org",
		DNSNames: []string{"cloud.example.org"}, IPAddresses: []string{"127.0.0.1"}, Days: 365, RenewBefore: 30, Usages: []string{"server"},
	}})
}

// secureCloud is a HAProxy with the rendered file for testdata/tls, on 127.0.0.1 in front of 127.0.0.2.
type secureCloud struct {
	roots  *x509.CertPool
	pem    string // the file with the certificate
	socket string // of the master process
	// ports maps the ports of the file to those of this machine.
	ports map[string]int
}

// startSecureCloud runs HAProxy with a certificate. The page at 443 is served by handler.
func startSecureCloud(t *testing.T, values map[string][]byte, handler http.Handler) *secureCloud {
	t.Helper()
	program := findHAProxy(t)
	dir := shortDir(t)
	c := &secureCloud{roots: x509.NewCertPool(), pem: filepath.Join(dir, "outside.pem"), socket: filepath.Join(dir, "master.sock"), ports: map[string]int{}}
	c.roots.AppendCertsFromPEM(values[configs.KeyCA])
	c.write(t, values)
	content, diags := render(t, load(t, "testdata/tls"), "outside", []haproxy.Node{{Name: "n1", Address: "127.0.0.2"}})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	text := string(thisDevice.ReplaceAll(content, nil))
	for _, port := range []string{"80", "443", "5000", "5100", "5200"} {
		c.ports[port] = freePort(t, "127.0.0.1")
		text = strings.ReplaceAll(text, "192.0.2.10:"+port+"\n", fmt.Sprintf("127.0.0.1:%d\n", c.ports[port]))
		text = strings.ReplaceAll(text, "192.0.2.10:"+port+" ", fmt.Sprintf("127.0.0.1:%d ", c.ports[port]))
	}
	for _, port := range []string{"30443", "30500", "30100", "30200"} {
		listener, err := net.Listen("tcp", "127.0.0.2:0")
		if err != nil {
			t.Fatal(err)
		}
		server := &http.Server{Handler: handler}
		go server.Serve(listener) // ends with Close
		t.Cleanup(func() { server.Close() })
		text = strings.ReplaceAll(text, "127.0.0.2:"+port, listener.Addr().String())
	}
	text = strings.ReplaceAll(text, "/etc/haproxy/outside.pem", c.pem)
	file := filepath.Join(dir, "haproxy.cfg")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	process := exec.Command(program, "-W", "-S", c.socket, "-f", file)
	process.Stdout, process.Stderr = &log, &log
	process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-process.Process.Pid, syscall.SIGKILL)
		_ = process.Wait()
		if t.Failed() {
			t.Log(log.String())
		}
	})
	for _, address := range [][2]string{{"tcp", c.address("443")}, {"unix", c.socket}} {
		for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			conn, err := net.Dial(address[0], address[1])
			if err == nil {
				_ = conn.Close()
				break
			}
			if time.Now().After(deadline) {
				t.Fatal(err)
			}
		}
	}
	return c
}

// shortDir returns a directory with a short path, for sockets.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "kolla-tls")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// write writes the file of the certificate as `kolla exposure certificate` does.
func (c *secureCloud) write(t *testing.T, values map[string][]byte) {
	t.Helper()
	if err := os.WriteFile(c.pem, append([]byte(haproxy.Signature+"\n"), secrets.ServerPEM(values)...), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (c *secureCloud) address(port string) string { return fmt.Sprintf("127.0.0.1:%d", c.ports[port]) }

// dial opens a TLS connection that trusts only roots.
func (c *secureCloud) dial(port string, roots *x509.CertPool, change func(*tls.Config)) (*tls.Conn, error) {
	config := &tls.Config{RootCAs: roots, ServerName: "cloud.example.org"}
	if change != nil {
		change(config)
	}
	return tls.DialWithDialer(&net.Dialer{Timeout: 5 * time.Second}, "tcp", c.address(port), config)
}

// client returns an HTTP client that finds the exposure's name at a port of HAProxy.
func (c *secureCloud) client(port string) *http.Client {
	return &http.Client{
		Timeout: 10 * time.Second,
		Transport: &http.Transport{
			TLSClientConfig: &tls.Config{RootCAs: c.roots},
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, "tcp", c.address(port))
			},
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// TestEncryption lets clients that verify the certificate through a real HAProxy with a rendered file.
func TestEncryption(t *testing.T) {
	ca := newAuthority(t)
	first := ca.certificate(t, "first")
	seen := make(chan *http.Request, 100)
	c := startSecureCloud(t, first, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/websocket" {
			echo(w)
			return
		}
		if r.URL.Path != "/ready" {
			seen <- r
		}
	}))

	t.Run("HTTPS", func(t *testing.T) {
		for _, port := range []string{"443", "5000"} {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://cloud.example.org/v3", http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("X-Forwarded-Proto", "http")
			response, err := c.client(port).Do(request)
			if err != nil {
				t.Fatal(err)
			}
			_ = response.Body.Close()
			if got := response.Header.Get("Strict-Transport-Security"); response.StatusCode != http.StatusOK || got != "max-age=31536000" {
				t.Errorf("%s, Strict-Transport-Security %q", response.Status, got)
			}
			got := <-seen
			if proto := got.Header.Values("X-Forwarded-Proto"); len(proto) != 1 || proto[0] != "https" || got.Host != "cloud.example.org" {
				t.Errorf("X-Forwarded-Proto is %q, Host %q", proto, got.Host)
			}
		}
	})
	t.Run("plain HTTP is redirected from port 80", func(t *testing.T) {
		response, err := c.client("80").Get("http://cloud.example.org/auth/login/?next=/admin")
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if got := response.Header.Get("Location"); response.StatusCode != http.StatusMovedPermanently || got != "https://cloud.example.org/auth/login/?next=/admin" {
			t.Errorf("%s to %q", response.Status, got)
		}
	})
	t.Run("plain HTTP is refused elsewhere", func(t *testing.T) {
		if response, err := c.client("5000").Get("http://cloud.example.org/v3"); err == nil {
			_ = response.Body.Close()
			t.Errorf("got %s", response.Status)
		}
		if len(seen) > 0 {
			t.Error("a request without encryption reached a node")
		}
	})
	t.Run("clients that do not know the CA, or expect another name, refuse", func(t *testing.T) {
		var unknown x509.UnknownAuthorityError
		if _, err := c.dial("443", x509.NewCertPool(), nil); !errors.As(err, &unknown) {
			t.Errorf("without the CA: %v", err)
		}
		var name x509.HostnameError
		if _, err := c.dial("443", c.roots, func(c *tls.Config) { c.ServerName = "other.example.org" }); !errors.As(err, &name) {
			t.Errorf("another name: %v", err)
		}
	})
	t.Run("old versions and weak ciphers are refused", func(t *testing.T) {
		if conn, err := c.dial("443", c.roots, func(c *tls.Config) { c.MinVersion, c.MaxVersion = tls.VersionTLS10, tls.VersionTLS11 }); err == nil {
			t.Errorf("version %x", conn.ConnectionState().Version)
		}
		if conn, err := c.dial("443", c.roots, func(c *tls.Config) {
			c.MaxVersion, c.CipherSuites = tls.VersionTLS12, []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA}
		}); err == nil {
			t.Errorf("cipher %x", conn.ConnectionState().CipherSuite)
		}
		for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
			conn, err := c.dial("443", c.roots, func(c *tls.Config) { c.MinVersion, c.MaxVersion = version, version })
			if err != nil {
				t.Errorf("version %x: %v", version, err)
				continue
			}
			_ = conn.Close()
		}
	})
	t.Run("a port without HTTP", func(t *testing.T) {
		conn, err := c.dial("5100", c.roots, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		ask(t, conn)
		<-seen
		plain, err := net.Dial("tcp", c.address("5200")) // tls = false
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = plain.Close() }()
		ask(t, plain)
		<-seen
	})
	t.Run("websocket", func(t *testing.T) {
		conn, err := c.dial("443", c.roots, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
		fmt.Fprint(conn, "GET /websocket HTTP/1.1\r\nHost: cloud.example.org\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n")
		in := bufio.NewReader(conn)
		response, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close() // it has none
		if response.StatusCode != http.StatusSwitchingProtocols {
			t.Fatal(response.Status)
		}
		fmt.Fprint(conn, "a frame\n")
		if line, err := in.ReadString('\n'); err != nil || line != "a frame\n" {
			t.Errorf("got %q, %v", line, err)
		}
	})
	t.Run("Python's strict verification", func(t *testing.T) { c.python(t, first[configs.KeyCA]) })
	t.Run("another certificate", func(t *testing.T) { c.renew(t, ca, seen) })
}

// ask sends a request through an open connection, and expects success.
func ask(t *testing.T, conn net.Conn) {
	t.Helper()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	fmt.Fprint(conn, "GET /v3 HTTP/1.1\r\nHost: cloud.example.org\r\n\r\n")
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if _, err := io.Copy(io.Discard, response.Body); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s, %v", response.Status, err)
	}
}

// echo answers an upgrade, and sends back what comes.
func echo(w http.ResponseWriter) {
	conn, buffered, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	defer func() { _ = conn.Close() }()
	fmt.Fprint(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n")
	_, _ = io.Copy(conn, buffered)
}

// python connects as the clients of OpenStack do. Python 3.13 verifies strictly by default.
func (c *secureCloud) python(t *testing.T, ca []byte) {
	program, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("NOT RUN: there is no python3")
	}
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, ca, 0o600); err != nil {
		t.Fatal(err)
	}
	const script = `
import socket, ssl, sys
context = ssl.create_default_context(cafile=sys.argv[1])
context.verify_flags |= ssl.VERIFY_X509_STRICT
with socket.create_connection(("127.0.0.1", int(sys.argv[2]))) as plain:
    with context.wrap_socket(plain, server_hostname="cloud.example.org") as conn:
        print(conn.version())
`
	if out, err := exec.Command(program, "-c", script, file, fmt.Sprint(c.ports["443"])).CombinedOutput(); err != nil || !strings.HasPrefix(string(out), "TLSv1.3") {
		t.Errorf("%v\n%s", err, out)
	}
}

// renew gives HAProxy another certificate. A connection from before stays.
func (c *secureCloud) renew(t *testing.T, ca authority, seen <-chan *http.Request) {
	served := func() string {
		conn, err := c.dial("443", c.roots, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: conn.ConnectionState().PeerCertificates[0].Raw}))
	}
	if got := served(); got != string(ca["first"][configs.KeyCertificate]) {
		t.Fatal("HAProxy has another certificate than the file")
	}
	old, err := c.dial("5100", c.roots, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = old.Close() }()
	ask(t, old)
	<-seen
	second := ca.certificate(t, "second")
	c.write(t, second)
	if err := haproxy.Reload(t.Context(), c.socket); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); served() != string(second[configs.KeyCertificate]); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("HAProxy keeps the old certificate")
		}
	}
	ask(t, old)
	<-seen

	c.write(t, map[string][]byte{configs.KeyCertificate: second[configs.KeyCertificate], configs.KeyKey: ca["first"][configs.KeyKey]})
	var refused *haproxy.RefusedError
	if err := haproxy.Reload(t.Context(), c.socket); !errors.As(err, &refused) {
		t.Errorf("another key: %v", err)
	}
	if served() != string(second[configs.KeyCertificate]) {
		t.Error("a refused certificate changes what HAProxy serves")
	}
}
