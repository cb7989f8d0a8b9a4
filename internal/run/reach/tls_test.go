package reach_test

import (
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"kolla.openstack.org/kolla/internal/present/discovery"
	"kolla.openstack.org/kolla/internal/run/reach"
)

// TestPublicTLS opens https:// URLs of servers with and without a certificate that is trusted.
func TestPublicTLS(t *testing.T) {
	answer := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusMultipleChoices) })
	server, plain := httptest.NewTLSServer(answer), httptest.NewServer(answer)
	defer server.Close()
	defer plain.Close()
	trust := x509.NewCertPool()
	trust.AddCert(server.Certificate()) // for 127.0.0.1 and example.com
	named := strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
	for name, test := range map[string]struct {
		url     string
		trust   *x509.CertPool
		status  int
		problem string
	}{
		"trusted":       {server.URL + "/v3", trust, http.StatusMultipleChoices, ""},
		"another CA":    {server.URL + "/v3", x509.NewCertPool(), 0, "its certificate is signed by a CA that this machine does not trust"},
		"another name":  {named, trust, 0, "its certificate is for other names"},
		"no encryption": {strings.Replace(plain.URL, "http:", "https:", 1), trust, 0, "it accepts connections, but does not answer in TLS"},
	} {
		t.Run(name, func(t *testing.T) {
			checks, err := reach.Public(t.Context(), []discovery.Block{{URLs: []discovery.URL{{Public: test.url}}}}, test.trust, 5*time.Second)
			if err != nil {
				t.Fatal(err)
			}
			if got := checks[0]; got.Status != test.status || got.Problem != test.problem || got.Skipped {
				t.Errorf("%+v", got)
			}
		})
	}
}
