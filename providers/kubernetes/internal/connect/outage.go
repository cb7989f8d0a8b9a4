package connect

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"syscall"
	"time"
)

const (
	// unnoticed is how long requests may fail before the outage is reported.
	unnoticed = 2 * time.Second
	// silence is how long a server may take to answer.
	silence = 10 * time.Second
	// probeTimeout bounds one request that checks whether the server is back.
	probeTimeout = 5 * time.Second
)

// outage records whether a server that answered before has stopped answering.
type outage struct {
	tell func(error) // may be nil

	mu    sync.Mutex
	since time.Time // of the first request that failed; zero: the server answers
	cause error
	told  bool
	heard time.Time // when the server last answered; zero: never
}

// answered records an answer.
func (o *outage) answered() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.heard = time.Now()
	o.since, o.cause = time.Time{}, nil
	if o.told {
		o.told = false
		o.say(nil)
	}
}

// failed records a request without an answer. A canceled request says nothing about the
// server.
func (o *outage) failed(err error) {
	if errors.Is(err, context.Canceled) {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.note(err, unnoticed)
}

// silent records that a request has waited for its answer since start. If the server has
// answered no other request meanwhile, silent sends a small one first: a single request may
// be slow because of a webhook.
func (o *outage) silent(start time.Time, probe func(context.Context)) {
	if o.heardSince(start) {
		return
	}
	probe(context.Background())
	if o.heardSince(start) {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.note(fmt.Errorf("nothing for %s", silence), 0)
}

// heardSince reports whether the server has answered anything since start.
func (o *outage) heardSince(start time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return !o.heard.Before(start)
}

// note reports an outage that has lasted for the given time. The caller holds mu.
func (o *outage) note(cause error, lasted time.Duration) {
	if o.heard.IsZero() {
		return // the error of the request describes a wrong address
	}
	o.cause = cause
	if o.since.IsZero() {
		o.since = time.Now()
	}
	if !o.told && time.Since(o.since) >= lasted {
		o.told = true
		o.say(cause)
	}
}

func (o *outage) say(err error) {
	if o.tell != nil {
		o.tell(err)
	}
}

// state returns the start and the cause of an outage; zero: the server answers.
func (o *outage) state() (since time.Time, cause error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.since, o.cause
}

// Reachable returns at once while the server answers. During an outage it waits until the
// server answers again. It returns an *UnreachableError when the outage lasts longer than
// patience, or the error of the context.
func (c *Connection) Reachable(ctx context.Context, patience time.Duration) error {
	since, _ := c.traffic.outage.state()
	if since.IsZero() {
		return nil
	}
	return backoff().Until(ctx, true, true, func(ctx context.Context) (bool, error) {
		c.probe(ctx)
		still, cause := c.traffic.outage.state()
		switch {
		case still.IsZero():
			return true, nil
		case time.Since(still) >= patience:
			return false, &UnreachableError{Server: c.server, Err: cause}
		default:
			return false, nil
		}
	})
}

// probe sends a small request. The transport records the answer.
func (c *Connection) probe(ctx context.Context) {
	ctx, cancel := context.WithTimeout(WithVerb(Quiet(ctx), VerbGet), probeTimeout)
	defer cancel()
	_, _ = c.Discovery.ServerVersionWithContext(ctx)
}

// Cause says in a few words why a server cannot be reached: "connection refused".
func Cause(err error) string {
	var (
		errno syscall.Errno
		dns   *net.DNSError
	)
	switch {
	case errors.As(err, &errno):
		return errno.Error()
	case errors.As(err, &dns):
		return "its name cannot be resolved"
	case isTimeout(err), errors.Is(err, context.DeadlineExceeded):
		return "time-out"
	}
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return err.Error()
}
