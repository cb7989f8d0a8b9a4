package haproxy_test

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/pem"
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

	"golang.org/x/net/dns/dnsmessage"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers/haproxy"
)

// handOver is the program that gives a renewed certificate to HAProxy.
const handOver = "../openstack/internal/managed/files/certificate.py"

// TestManaged runs HAProxy with the file of an exposure of the mode managed: it finds a Service by its
// name, answers probes, and gets a renewed certificate without a restart.
func TestManaged(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("NOT RUN: `bind transparent` needs root")
	}
	ca := newAuthority(t)
	c := startManaged(t, ca.certificate(t, "first"))
	t.Run("finds the Service", func(t *testing.T) {
		awaitIt(t, "HAProxy to find the Service", func() error {
			response, err := c.client("443").Get("https://cloud.example.org/v3")
			if err != nil {
				return err
			}
			_ = response.Body.Close()
			if response.StatusCode != http.StatusOK {
				return fmt.Errorf("got %s", response.Status)
			}
			return nil
		})
	})
	t.Run("answers probes", func(t *testing.T) {
		if err := c.probe(); err != nil {
			t.Error(err)
		}
	})
	t.Run("serves metrics", func(t *testing.T) {
		address := fmt.Sprintf("127.0.0.1:%d", c.metrics)
		awaitIt(t, "the exporter", func() error {
			conn, err := net.Dial("tcp", address)
			if err == nil {
				_ = conn.Close()
			}
			return err
		})
		url := "http://" + address + "/"
		status, text := get(t, url+"metrics")
		if want := `haproxy_backend_http_responses_total{proxy="page.ui",code="2xx"} `; status != http.StatusOK || !strings.Contains(text, want) {
			t.Errorf("got %d, want the metric %s:\n%s", status, want, text)
		}
		if status, text := get(t, url); status != http.StatusNotFound {
			t.Errorf("beside the metrics: %d\n%s", status, text)
		}
	})
	t.Run("takes a renewed certificate", func(t *testing.T) { c.renewed(t, ca) })
}

// managed is a HAProxy as in a pod.
type managed struct {
	secureCloud
	dir     string
	metrics int // port of the exporter
}

// get returns the status and the body of an answer.
func get(t *testing.T, url string) (status int, text string) {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

func startManaged(t *testing.T, values map[string][]byte) *managed {
	t.Helper()
	program := findHAProxy(t)
	c := &managed{secureCloud{ports: map[string]int{"443": freePort(t, "127.0.0.1"), "5100": freePort(t, "127.0.0.1"), "80": freePort(t, "127.0.0.1")}}, shortDir(t), freePort(t, "127.0.0.1")}
	c.roots = x509.NewCertPool()
	c.roots.AppendCertsFromPEM(values[configs.KeyCA])
	c.put(t, values[configs.KeyCertificate], values[configs.KeyKey])
	content, diags := render(t, load(t, "testdata/managed"), "secure", nil)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	text := string(thisDevice.ReplaceAll(content, nil))
	for port, here := range c.ports {
		text = strings.ReplaceAll(text, "bind [2001:db8::10]:"+port+" ", fmt.Sprintf("bind 127.0.0.1:%d ", here))
	}
	text = strings.NewReplacer(
		haproxy.CertificateDir, c.dir, haproxy.MonitorSocket, c.file("monitor.sock"), haproxy.AdminSocket, c.file("admin.sock"),
		"parse-resolv-conf", "nameserver test "+startDNS(t, "page-public.openstack.svc.cluster.test."),
		haproxy.MetricsSocket, c.file("metrics.sock"),
		`:8080"`, fmt.Sprintf(`:%d"`, startService(t)),
	).Replace(text)
	if err := os.WriteFile(c.file("haproxy.cfg"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c.start(t, exec.Command(program, "-db", "-f", c.file("haproxy.cfg")))
	awaitIt(t, "HAProxy", func() error { return c.probe() })
	exporter := strings.NewReplacer(haproxy.MetricsSocket, c.file("metrics.sock"), fmt.Sprintf(":%d\"", haproxy.MetricsPort), fmt.Sprintf(":%d\"", c.metrics))
	if err := os.WriteFile(c.file("exporter.cfg"), []byte(exporter.Replace(haproxy.Exporter())), 0o600); err != nil {
		t.Fatal(err)
	}
	c.start(t, exec.Command(program, "-db", "-f", c.file("exporter.cfg")))
	return c
}

func (c *managed) file(name string) string { return filepath.Join(c.dir, name) }

// start runs a program until the test ends, and returns its output.
func (c *managed) start(t *testing.T, cmd *exec.Cmd) *bytes.Buffer {
	t.Helper()
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	cmd.Env = append(os.Environ(), haproxy.DomainVariable+"=cluster.test", haproxy.AddressVariable+"=127.0.0.1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(log.String())
		}
	})
	return &log
}

// put writes the files of the Secret. The kubelet replaces both at once by a link, and so does put.
func (c *managed) put(t *testing.T, certificate, key []byte) {
	t.Helper()
	version, err := os.MkdirTemp(c.dir, "version")
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{configs.KeyCertificate: certificate, configs.KeyKey: key} {
		if err := os.WriteFile(filepath.Join(version, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join("..data", name), c.file(name)); err != nil && !os.IsExist(err) {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Base(version), c.file("..new")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(c.file("..new"), c.file("..data")); err != nil {
		t.Fatal(err)
	}
}

// probe asks as the probes of the pod and keepalived do.
func (c *managed) probe() error {
	over := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", c.file("monitor.sock"))
	}}}
	response, err := over.Get("http://haproxy/")
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the monitor says %s", response.Status)
	}
	return nil
}

// renewed replaces the files of the certificate. A certificate with another key is refused.
func (c *managed) renewed(t *testing.T, ca authority) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("NOT RUN: there is no python3")
	}
	served := func() (string, error) {
		conn, err := c.dial("443", c.roots, nil)
		if err != nil {
			return "", err
		}
		defer func() { _ = conn.Close() }()
		return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: conn.ConnectionState().PeerCertificates[0].Raw})), nil
	}
	old, err := c.dial("443", c.roots, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = old.Close() }()
	second, third := ca.certificate(t, "second"), ca.certificate(t, "third")
	log := filepath.Join(t.TempDir(), "log")
	c.start(t, exec.Command("sh", "-c", `exec "$@" > "$0" 2>&1`, log, python, handOver, c.dir, c.file("admin.sock"), "0.1"))
	said := func(want string) {
		t.Helper()
		awaitIt(t, fmt.Sprintf("the program to say %q", want), func() error {
			text, err := os.ReadFile(log)
			if err == nil && !strings.Contains(string(text), want) {
				err = fmt.Errorf("it says:\n%s", text)
			}
			if strings.Contains(string(text), "PRIVATE KEY") {
				t.Fatal("the program prints a key")
			}
			return err
		})
	}
	said("HAProxy has the certificate.")
	c.put(t, second[configs.KeyCertificate], second[configs.KeyKey])
	awaitIt(t, "HAProxy to serve the second certificate", func() error {
		got, err := served()
		if err == nil && got != string(second[configs.KeyCertificate]) {
			err = fmt.Errorf("HAProxy serves\n%s", got)
		}
		return err
	})
	ask(t, old)
	c.put(t, third[configs.KeyCertificate], second[configs.KeyKey])
	said("HAProxy refuses the certificate")
	if got, err := served(); err != nil || got != string(second[configs.KeyCertificate]) {
		t.Errorf("HAProxy serves another certificate: %v", err)
	}
}

// startService answers at 127.0.0.2, and returns its port.
func startService(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})}
	go func() { _ = server.Serve(listener) }() // ends with Close
	t.Cleanup(func() { _ = server.Close() })
	return listener.Addr().(*net.TCPAddr).Port
}

// startDNS answers questions for the IPv4 address of a name with 127.0.0.2, and returns its address.
func startDNS(t *testing.T, name string) string {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	go func() {
		buffer := make([]byte, 4096)
		for {
			n, from, err := conn.ReadFrom(buffer)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buffer[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			q := m.Questions[0]
			m.Response, m.Additionals = true, nil
			switch {
			case q.Name.String() != name:
				m.RCode = dnsmessage.RCodeNameError
			case q.Type == dnsmessage.TypeA:
				m.Answers = []dnsmessage.Resource{{
					Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class, TTL: 5},
					Body:   &dnsmessage.AResource{A: [4]byte{127, 0, 0, 2}},
				}}
			}
			if answer, err := m.Pack(); err == nil {
				_, _ = conn.WriteTo(answer, from)
			}
		}
	}()
	return conn.LocalAddr().String()
}

// awaitIt repeats a check until it returns no error.
func awaitIt(t *testing.T, what string, check func() error) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("wait for %s: %v", what, err)
		}
	}
}
