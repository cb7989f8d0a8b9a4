package live_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
	"kolla.openstack.org/kolla/internal/dev/traefik"
)

const entryCloud = `cloud "NAMESPACE" {
  release   = "2025.1"
  namespace = "NAMESPACE"
}
exposure "web" {
  domain = "cloud.example.org"
  EXPOSURE
}
`

// entryService is a service behind the exposure of entryCloud.
const entryService = `definition "NAME" {
  port "api" {
    number = PORT
    expose = true
  }
  workload "api" {
    kind    = "Deployment"
    image   = "answers"
    user    = 42400
    command = ["answers"]
    ports   = ["api"]
    ready {
      http = "/"
      port = "api"
    }
  }
}
service "NAME" {
  expose = exposure.web
}
`

// backends are HTTP servers of a test that stand for the pods of services: simulated pods have no address that
// leads anywhere.
type backends struct {
	address string // of this machine
	ports   map[string]int
}

// newBackends starts a server for each service, which answers with the name of the service, with the host name
// and the protocol that it was asked for, and with headers that a controller should delete.
func newBackends(t *testing.T, services ...string) backends {
	t.Helper()
	b := backends{machineAddress(t), map[string]int{}}
	for _, name := range services {
		l, err := net.Listen("tcp", net.JoinHostPort(b.address, "0"))
		if err != nil {
			t.Fatal(err)
		}
		server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, "%s at %s by %s", name, r.Host, r.Header.Get("X-Forwarded-Proto"))
			for header := range r.Header {
				if strings.Contains(header, "_") {
					fmt.Fprintf(w, " with %s", header) // WSGI takes it for the one with -
				}
			}
		})}
		go func() { _ = server.Serve(l) }()
		t.Cleanup(func() { _ = server.Close() })
		b.ports[name] = l.Addr().(*net.TCPAddr).Port
	}
	return b
}

// machineAddress returns an address of this machine that an EndpointSlice may have: not one of loopback.
func machineAddress(t *testing.T) string {
	t.Helper()
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && n.IP.IsGlobalUnicast() && n.IP.To4() != nil {
			return n.IP.String()
		}
	}
	t.Fatal("this machine has only addresses of loopback")
	return ""
}

// cloud returns a configuration with all services.
func (b backends) cloud(namespace, exposure string) string {
	text := strings.NewReplacer("NAMESPACE", namespace, "EXPOSURE", exposure).Replace(entryCloud)
	for name, port := range b.ports {
		text += strings.NewReplacer("NAME", name, "PORT", strconv.Itoa(port)).Replace(entryService)
	}
	return text
}

// takeOver gives all pods of a namespace the address of the servers.
func (b backends) takeOver(t *testing.T, namespace string) {
	t.Helper()
	for _, pod := range strings.Fields(clustertest.Kubectl(t, "-n", namespace, "get", "pods", "-o", "name")) {
		clustertest.Kubectl(t, "-n", namespace, "patch", pod, "--subresource=status", "--type=merge", "-p", fmt.Sprintf(`{"status": {"podIP": %q, "podIPs": [{"ip": %[1]q}]}}`, b.address))
	}
}

// entryClient is a client that finds all host names at one address.
type entryClient struct {
	ca *x509.CertPool
	// address is that of the controller, without a port.
	address string
}

// get returns the answer at a URL, without following a redirect.
func (c entryClient) get(url string) (answered, error) {
	transport := &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{RootCAs: c.ca, MinVersion: tls.VersionTLS12},
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			_, port, err := net.SplitHostPort(address)
			if err != nil {
				return nil, err
			}
			return (&net.Dialer{}).DialContext(ctx, network, net.JoinHostPort(c.address, port))
		},
	}
	client := &http.Client{Transport: transport, Timeout: 10 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	request, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return answered{}, err
	}
	request.Header.Set("X_Forwarded_Proto", "ftp")
	r, err := client.Do(request)
	if err != nil {
		return answered{}, err
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	return answered{r.StatusCode, r.Header, string(body)}, err
}

// answered is an answer of the entry.
type answered struct {
	status int
	header http.Header
	body   string
}

// says waits until a URL has an answer, and returns its headers.
func (c entryClient) says(t *testing.T, url, want string) http.Header {
	t.Helper()
	var header http.Header
	var last string
	deadline := time.Now().Add(clustertest.Patience)
	for {
		r, err := c.get(url)
		switch {
		case err != nil:
			last = err.Error()
		case r.status == http.StatusOK && r.body == want:
			return r.header
		default:
			last, header = fmt.Sprintf("%d %q", r.status, r.body), r.header
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s says %s %v, want %q", url, last, header, want)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// redirects checks that a URL leads to another one with a status.
func (c entryClient) redirects(t *testing.T, url, to string, status int) {
	t.Helper()
	clustertest.Eventually(t, url+" leads to "+to, func() bool {
		r, err := c.get(url)
		return err == nil && r.status == status && r.header.Get("Location") == to
	})
}

// lacks checks that there is no service at a URL.
func (c entryClient) lacks(t *testing.T, url string) {
	t.Helper()
	if r, err := c.get(url); err != nil || r.status != http.StatusNotFound {
		t.Errorf("%s says %q (%v), want status 404", url, r.body, err)
	}
}

// caOf returns the CA of the exposure.
func caOf(t *testing.T) *x509.CertPool {
	t.Helper()
	code, out, complaint := try("exposure", "certificate", "-ca", "web")
	pool := x509.NewCertPool()
	if code != 0 || !pool.AppendCertsFromPEM([]byte(out)) {
		t.Fatalf("exit code %d:\n%s%s", code, out, complaint)
	}
	return pool
}

// unchanged checks that a plan has no changes and no warnings.
func unchanged(t *testing.T) {
	t.Helper()
	for _, how := range []string{"-detailed-exitcode", "-verify=full"} {
		if code, out, complaint := try("plan", "-detailed-exitcode", how); code != 0 || complaint != "" {
			t.Errorf("a plan with %s exits with %d:\n%s%s", how, code, out, complaint)
		}
	}
}

// TestTraefik applies a cloud whose exposure is the job of Traefik, by Ingresses and by routes of the Gateway API,
// each with and without TLS, and sends requests through it.
func TestTraefik(t *testing.T) {
	if os.Getenv("KOLLA_TRAEFIK") == "" {
		t.Skip("NOT RUN: Traefik takes minutes to build; run make test-others")
	}
	t.Setenv("KUBECONFIG", clustertest.Kubeconfig())
	entry := traefik.Install(t, clustertest.Kubeconfig(), clustertest.Kubectl)
	const namespace = "t-traefik"
	gateways := clustertest.Namespace(t)
	clustertest.Kubectl(t, "apply", "-f", manifest(t, fmt.Sprintf(`{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: public, namespace: %s},
  spec: {gatewayClassName: traefik, listeners: [
    {name: http, port: %d, protocol: HTTP, hostname: "*.cloud.example.org", allowedRoutes: {namespaces: {from: Selector, selector: {matchLabels: {kubernetes.io/metadata.name: %s}}}}},
    {name: https, port: %d, protocol: HTTPS, hostname: "*.cloud.example.org", allowedRoutes: {namespaces: {from: All}}, tls: {certificateRefs: [{name: exposure-web, namespace: %s}]}}]}}`,
		gateways, entry.HTTP, namespace, entry.HTTPS, namespace)))
	b := newBackends(t, "one", "two")
	t.Chdir(t.TempDir())
	write := func(exposure string, port int) {
		text := strings.NewReplacer("GATEWAYS", gateways, "PORT", strconv.Itoa(port)).Replace(exposure)
		if err := os.WriteFile("cloud.hcl", []byte(b.cloud(namespace, text)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	url := func(scheme, host string, port int) string {
		return fmt.Sprintf("%s://%s.cloud.example.org:%d/", scheme, host, port)
	}
	// answers checks that each host name leads to its service, and others to none.
	answers := func(t *testing.T, c entryClient, scheme string, port int) (header http.Header) {
		t.Helper()
		b.takeOver(t, namespace)
		for name := range b.ports {
			header = c.says(t, url(scheme, name, port), fmt.Sprintf("%s at %s.cloud.example.org:%d by %s", name, name, port, scheme))
		}
		c.lacks(t, url(scheme, "three", port))
		return header
	}
	defer kolla(t, "destroy", "-auto-approve", "-delete-data=*")

	const ingress = "mode = \"ingress\"\n  class = \"traefik\"\n  port = PORT\n"
	t.Run("ingress without an address", func(t *testing.T) {
		defer entry.Start(t, traefik.Ingresses)()
		write(ingress, entry.HTTP)
		if code, out, complaint := try("apply", "-auto-approve", "-timeout=15s", "-no-color"); code != 1 || !strings.Contains(out+complaint, "no Ingress controller has given it an address yet") {
			t.Errorf("exit code %d:\n%s%s", code, out, complaint)
		}
		write(ingress+"wait_for_address = false\n", entry.HTTP)
		kolla(t, "apply", "-auto-approve", "-timeout=60s")
		answers(t, entryClient{nil, traefik.Address}, "http", entry.HTTP)
		unchanged(t)
	})
	t.Run("ingress", func(t *testing.T) {
		defer entry.Start(t, traefik.Ingresses, traefik.WritesAddress)()
		write(ingress, entry.HTTP)
		kolla(t, "apply", "-auto-approve", "-timeout=60s")
		if got := clustertest.Kubectl(t, "-n", namespace, "get", "ingress", "one", "-o", "jsonpath={.status.loadBalancer.ingress[*].ip}"); got != traefik.Address {
			t.Errorf("the Ingress has the address %q", got)
		}
		answers(t, entryClient{nil, traefik.Address}, "http", entry.HTTP)
		unchanged(t)
	})
	const gateway = "mode = \"gateway\"\n  port = PORT\n  gateway {\n    name = \"public\"\n    namespace = \"GATEWAYS\"\n    section = \"http\"\n  }\n"
	t.Run("gateway", func(t *testing.T) {
		defer entry.Start(t, traefik.Gateways)()
		write(gateway, entry.HTTP)
		kolla(t, "apply", "-auto-approve", "-timeout=60s")
		answers(t, entryClient{nil, traefik.Address}, "http", entry.HTTP)
		unchanged(t)
		// A listener that refuses the routes is what a plan warns of, and an apply waits for.
		const admits = "/spec/listeners/0/allowedRoutes/namespaces"
		patch := func(value string) {
			clustertest.Kubectl(t, "-n", gateways, "patch", "gateway", "public", "--type=json", "-p", `[{"op": "replace", "path": "`+admits+`", "value": `+value+`}]`)
		}
		patch(`{"from": "Same"}`)
		if _, _, complaint := try("plan"); !strings.Contains(complaint, `admits no routes from namespace "`+namespace+`"`) {
			t.Errorf("a plan warns of %q", complaint)
		}
		clustertest.Eventually(t, "kolla status says that the route is not accepted", func() bool {
			_, out, _ := try("status", "-no-color")
			return strings.Contains(out, "the route is not Accepted (NotAllowedByListeners)")
		})
		patch(`{"from": "All"}`)
		kolla(t, "apply", "-auto-approve", "-timeout=60s")
		unchanged(t)
	})
	t.Run("ingress with TLS", func(t *testing.T) {
		defer entry.Start(t, traefik.Ingresses, traefik.WritesAddress, "--entrypoints.web.http.redirections.entrypoint.to=websecure")()
		write(ingress+"tls {}\n", entry.HTTPS)
		kolla(t, "apply", "-auto-approve", "-timeout=60s")
		c := entryClient{caOf(t), traefik.Address}
		answers(t, c, "https", entry.HTTPS)
		c.redirects(t, url("http", "two", entry.HTTP), url("https", "two", entry.HTTPS), http.StatusMovedPermanently)
		refused(t, url("https", "one", entry.HTTPS))
		unchanged(t)
	})
	t.Run("gateway with TLS", func(t *testing.T) {
		defer entry.Start(t, traefik.Gateways)()
		write(strings.Replace(gateway, `section = "http"`, "section = \"https\"\n    http_section = \"http\"", 1)+"tls {}\n", entry.HTTPS)
		kolla(t, "apply", "-auto-approve", "-timeout=60s")
		c := entryClient{caOf(t), traefik.Address}
		header := answers(t, c, "https", entry.HTTPS)
		if got := header.Get("Strict-Transport-Security"); !strings.HasPrefix(got, "max-age=") {
			t.Errorf("Strict-Transport-Security is %q", got)
		}
		c.redirects(t, url("http", "two", entry.HTTP), url("https", "two", entry.HTTPS), http.StatusMovedPermanently)
		refused(t, url("https", "one", entry.HTTPS))
		unchanged(t)
	})
}

// refused checks that a client that does not know the CA refuses the certificate.
func refused(t *testing.T, url string) {
	t.Helper()
	var unknown x509.UnknownAuthorityError
	if r, err := (entryClient{x509.NewCertPool(), traefik.Address}).get(url); !errors.As(err, &unknown) {
		t.Errorf("a client without the CA gets %q, %v", r.body, err)
	}
}
