// Package reach opens the addresses of services, from the machine that kolla runs on and from a pod in the
// cluster, and says what answers.
package reach

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"kolla.openstack.org/kolla/internal/base/parallel"
	"kolla.openstack.org/kolla/internal/present/discovery"
)

const (
	// Patience limits the time for one address.
	Patience = 5 * time.Second
	// parallelism is the number of addresses that are open at the same time.
	parallelism = 16
)

// Public opens the public URLs of blocks, in their order. Each URL is opened once. Only the context
// and a crash are errors: an address that does not answer is a result. Proxies of the environment
// are not used, and redirects are not followed. trust has the CAs of servers; nil: those of the system.
func Public(ctx context.Context, blocks []discovery.Block, trust *x509.CertPool, patience time.Duration) ([]discovery.Check, error) {
	checks := checksOf(blocks, func(u discovery.URL) []string { return []string{u.Public} })
	err := each(ctx, len(checks), patience, func(ctx context.Context, i int) { open(ctx, &checks[i], trust) })
	return checks, cmp.Or(err, ctx.Err())
}

// checksOf returns a check for each URL that choose returns for ports with a public URL, each once.
func checksOf(blocks []discovery.Block, choose func(discovery.URL) []string) []discovery.Check {
	var checks []discovery.Check
	seen := map[string]bool{"": true}
	for _, b := range blocks {
		for _, u := range b.URLs {
			for _, url := range choose(u) {
				if u.Public != "" && !seen[url] {
					seen[url] = true
					checks = append(checks, discovery.Check{Address: b.Address, URL: url})
				}
			}
		}
	}
	return checks
}

// each calls do for the numbers below n, some at a time, each with a limit of time.
func each(ctx context.Context, n int, patience time.Duration, do func(ctx context.Context, i int)) error {
	return parallel.Bounded(ctx, parallelism, n, func(ctx context.Context, i int) error {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		do(ctx, i)
		return nil
	})
}

// Ports connects to TCP addresses, such as "192.0.2.10:5000", and sends nothing. It returns the problem
// with each of them; empty: it accepted the connection. Only the context and a crash are errors.
func Ports(ctx context.Context, addresses []string, patience time.Duration) (map[string]string, error) {
	problems := make([]string, len(addresses))
	err := each(ctx, len(addresses), patience, func(ctx context.Context, i int) {
		conn, problem := connect(ctx, addresses[i])
		if problem == "" {
			_ = conn.Close() // nothing was written that could be lost
		}
		problems[i] = problem
	})
	found := map[string]string{}
	for i, address := range addresses {
		found[address] = problems[i]
	}
	return found, cmp.Or(err, ctx.Err())
}

// Names asks the DNS server of this machine for the addresses of host names. A name without an answer has
// none. Only the context and a crash are errors.
func Names(ctx context.Context, hosts []string, patience time.Duration) (map[string][]string, error) {
	answers := make([][]string, len(hosts))
	err := each(ctx, len(hosts), patience, func(ctx context.Context, i int) {
		answers[i], _ = net.DefaultResolver.LookupHost(ctx, hosts[i]) // without an answer nobody knows
	})
	found := map[string][]string{}
	for i, host := range hosts {
		found[host] = answers[i]
	}
	return found, cmp.Or(err, ctx.Err())
}

// defaultPorts are the ports of URLs without a port.
var defaultPorts = map[string]string{"http": "80", "https": "443"}

// connect opens a TCP connection. The problem is empty if the address accepts it.
func connect(ctx context.Context, address string) (conn net.Conn, problem string) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, "cannot connect" + cause(ctx, err)
	}
	return conn, ""
}

// open opens the URL or the host:port of a check, and notes the results.
func open(ctx context.Context, check *discovery.Check, trust *x509.CertPool) {
	address := check.URL
	var target *url.URL
	if strings.Contains(check.URL, "://") {
		var err error
		if target, err = url.Parse(discovery.WithoutTemplates(check.URL)); err != nil {
			check.Problem = fmt.Sprintf("it is no URL: %v", errors.Unwrap(err))
			return
		}
		if target.Scheme != "http" && target.Scheme != "https" {
			check.Skipped = true
			return
		}
		address = net.JoinHostPort(target.Hostname(), cmp.Or(target.Port(), defaultPorts[target.Scheme]))
	}
	began := time.Now()
	conn, problem := connect(ctx, address)
	if problem != "" {
		check.Problem = problem
		return
	}
	defer func() { _ = conn.Close() }() // nothing was written that could be lost
	check.Connected = time.Since(began)
	if target == nil {
		return
	}
	if target.Scheme == "https" {
		encrypted := tls.Client(conn, &tls.Config{RootCAs: trust, ServerName: target.Hostname(), MinVersion: tls.VersionTLS12})
		if err := encrypted.HandshakeContext(ctx); err != nil {
			check.Problem = refusal(ctx, err)
			return
		}
		conn = encrypted
	}
	var err error
	check.Status, err = get(ctx, target, conn)
	check.Answered = time.Since(began)
	switch {
	case err != nil:
		check.Problem = "it accepts connections, but does not answer in HTTP" + cause(ctx, err)
	case check.Status >= http.StatusInternalServerError:
		check.Problem = serverError(check.Status)
	}
}

// get sends a GET through a connection, and returns the status of the answer.
func get(ctx context.Context, target *url.URL, conn net.Conn) (int, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return 0, err
	}
	transport := &http.Transport{
		DialContext:       func(context.Context, string, string) (net.Conn, error) { return conn, nil },
		DialTLSContext:    func(context.Context, string, string) (net.Conn, error) { return conn, nil },
		DisableKeepAlives: true,
	}
	answer, err := transport.RoundTrip(request)
	if err != nil {
		return 0, err
	}
	return answer.StatusCode, answer.Body.Close()
}

// refusal says why there is no encrypted connection, without text of the server.
func refusal(ctx context.Context, err error) string {
	var (
		unknown x509.UnknownAuthorityError
		names   x509.HostnameError
		invalid x509.CertificateInvalidError
		plain   tls.RecordHeaderError
	)
	switch {
	case errors.As(err, &unknown):
		return "its certificate is signed by a CA that this machine does not trust"
	case errors.As(err, &names):
		return "its certificate is for other names"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "its certificate has ended, or is not valid yet"
	case errors.As(err, &invalid):
		return "its certificate is not valid"
	case errors.As(err, &plain):
		return "it accepts connections, but does not answer in TLS"
	}
	return "it accepts connections, but refuses TLS" + cause(ctx, err)
}

// Why says why a request got no answer, without text of the server.
func Why(ctx context.Context, err error) string {
	var unverified *tls.CertificateVerificationError
	if errors.As(err, &unverified) {
		return refusal(ctx, err)
	}
	return "it does not answer" + cause(ctx, err)
}

// cause returns the reason of a failure of the network, without text of the server. It is empty for
// other failures.
func cause(ctx context.Context, err error) string {
	var (
		call      *os.SyscallError
		operation *net.OpError
		lookup    *net.DNSError
	)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return ": no answer in time"
	case errors.Is(err, io.EOF):
		return ": it closes them"
	case errors.As(err, &lookup):
		return ": " + lookup.Err + ": " + lookup.Name
	case errors.As(err, &call):
		return ": " + call.Err.Error()
	case errors.As(err, &operation):
		return ": " + operation.Err.Error()
	}
	return ""
}
