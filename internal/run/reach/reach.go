// Package reach opens the addresses that clients outside of the cluster use, from the machine that
// kolla runs on, and says what answers.
package reach

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"kolla.openstack.org/kolla/internal/base/crash"
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
// are not used, and redirects are not followed.
func Public(ctx context.Context, blocks []discovery.Block, patience time.Duration) ([]discovery.Check, error) {
	var checks []discovery.Check
	seen := map[string]bool{}
	for _, b := range blocks {
		for _, u := range b.URLs {
			if u.Public != "" && !seen[u.Public] {
				seen[u.Public] = true
				checks = append(checks, discovery.Check{Address: b.Address, URL: u.Public})
			}
		}
	}
	var group errgroup.Group
	group.SetLimit(parallelism)
	for i := range checks {
		group.Go(crash.Catching(func() error {
			ctx, cancel := context.WithTimeout(ctx, patience)
			defer cancel()
			open(ctx, &checks[i])
			return nil
		}))
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return checks, ctx.Err()
}

// open opens the URL of a check, and notes the results.
func open(ctx context.Context, check *discovery.Check) {
	if !strings.Contains(check.URL, "://") {
		conn := connect(ctx, check, check.URL)
		if conn != nil {
			_ = conn.Close() // nothing was written that could be lost
		}
		return
	}
	target, err := url.Parse(discovery.WithoutTemplates(check.URL))
	if err != nil {
		check.Problem = fmt.Sprintf("it is no URL: %v", errors.Unwrap(err))
		return
	}
	if target.Scheme != "http" {
		check.Skipped = true
		return
	}
	began := time.Now()
	conn := connect(ctx, check, target.Host)
	if conn == nil {
		return
	}
	defer func() { _ = conn.Close() }() // nothing was written that could be lost
	check.Status, err = get(ctx, target, conn)
	check.Answered = time.Since(began)
	switch {
	case err != nil:
		check.Problem = "it accepts connections, but does not answer in HTTP" + cause(ctx, err)
	case check.Status >= http.StatusInternalServerError:
		check.Problem = "it answers with an error: " + http.StatusText(check.Status)
	}
}

// connect opens a TCP connection to host:port, and notes the time or the problem. It returns nil if
// it cannot connect.
func connect(ctx context.Context, check *discovery.Check, address string) net.Conn {
	began := time.Now()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		check.Problem = "cannot connect" + cause(ctx, err)
		return nil
	}
	check.Connected = time.Since(began)
	return conn
}

// get sends a GET through a connection, and returns the status of the answer.
func get(ctx context.Context, target *url.URL, conn net.Conn) (int, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return 0, err
	}
	transport := &http.Transport{
		DialContext:       func(context.Context, string, string) (net.Conn, error) { return conn, nil },
		DisableKeepAlives: true,
	}
	answer, err := transport.RoundTrip(request)
	if err != nil {
		return 0, err
	}
	return answer.StatusCode, answer.Body.Close()
}

// cause returns the reason of a failure of the network, without text of the server. It is empty for
// other failures.
func cause(ctx context.Context, err error) string {
	var (
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
	case errors.As(err, &operation):
		return ": " + operation.Err.Error()
	}
	return ""
}
