package connect

import (
	"context"
	"maps"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/client-go/util/flowcontrol"

	"kolla.openstack.org/kolla/providers"
)

// traffic sees every request. It counts requests by verb, knows whether the server answers,
// and limits the rate if the server does not do so itself.
type traffic struct {
	// RateLimiter is for servers without API Priority and Fairness.
	flowcontrol.RateLimiter

	answered atomic.Bool // the server has answered at least once
	fair     atomic.Bool // the server schedules requests itself
	outage   outage
	probe    func(context.Context) // sends a small request

	mu     sync.Mutex
	counts map[string]int
}

// newTraffic begins to observe requests. unreachable is Options.Unreachable.
func newTraffic(unreachable func(error)) *traffic {
	return &traffic{
		outage: outage{tell: unreachable},
		// The limits of kubectl.
		RateLimiter: flowcontrol.NewTokenBucketRateLimiter(50, 300),
		counts:      map[string]int{},
	}
}

// Wait implements flowcontrol.RateLimiter.
func (t *traffic) Wait(ctx context.Context) error {
	if t.fair.Load() {
		return nil
	}
	return t.RateLimiter.Wait(ctx)
}

// wrap is a transport.WrapperFunc that observes requests.
func (t *traffic) wrap(next http.RoundTripper) http.RoundTripper {
	return &meter{traffic: t, next: next}
}

// requests returns a copy of the counts.
func (t *traffic) requests() map[string]int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.counts)
}

// count counts a request.
func (t *traffic) count(verb string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.counts[verb]++
}

// meter is the transport that observes requests.
type meter struct {
	traffic *traffic
	next    http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (m *meter) RoundTrip(request *http.Request) (*http.Response, error) {
	m.traffic.count(verbOf(request.Context()))
	start := time.Now()
	waiting := time.AfterFunc(silence, func() { m.traffic.outage.silent(start, m.traffic.probe) })
	response, err := m.next.RoundTrip(request)
	waiting.Stop()
	if err != nil {
		m.traffic.outage.failed(err)
		return nil, err
	}
	m.traffic.outage.answered()
	m.traffic.answered.Store(true)
	if response.Header.Get(flowcontrolv1.ResponseHeaderMatchedFlowSchemaUID) != "" {
		m.traffic.fair.Store(true)
	}
	return response, nil
}

// WrappedRoundTripper implements net.RoundTripperWrapper. client-go uses it to find the
// transport below, and closes idle connections there.
func (m *meter) WrappedRoundTripper() http.RoundTripper { return m.next }

type verbKey struct{}

// WithVerb sets the verb under which the requests of the context are counted. A URL does not
// tell a list from a get.
func WithVerb(ctx context.Context, verb string) context.Context {
	return context.WithValue(ctx, verbKey{}, verb)
}

func verbOf(ctx context.Context) string {
	if verb, ok := ctx.Value(verbKey{}).(string); ok {
		return verb
	}
	return "get"
}

type aboutKey struct{}

// About names the object that the requests of the context are about, for warnings.
func About(ctx context.Context, ref providers.Ref) context.Context {
	return context.WithValue(ctx, aboutKey{}, ref)
}

type warnKey struct{}

// WarningsTo passes the warnings of the requests of the context to warn, and to no other
// function.
func WarningsTo(ctx context.Context, warn func(text string)) context.Context {
	return context.WithValue(ctx, warnKey{}, warn)
}

// Warning is a warning of the server, such as the use of a deprecated API.
type Warning struct {
	Text string
	Ref  providers.Ref // the object that the warning is about; zero: none
}

// warnings passes each distinct warning on once.
type warnings struct {
	mu   sync.Mutex
	seen map[Warning]bool
	warn func(Warning)
}

func newWarnings(warn func(Warning)) *warnings {
	return &warnings{seen: map[Warning]bool{}, warn: warn}
}

// HandleWarningHeaderWithContext implements rest.WarningHandlerWithContext. Code 299 is the
// only code that Kubernetes defines.
func (w *warnings) HandleWarningHeaderWithContext(ctx context.Context, code int, _, text string) {
	if code != 299 || text == "" {
		return
	}
	ref, _ := ctx.Value(aboutKey{}).(providers.Ref)
	told := Warning{Text: text, Ref: ref}
	if warn, ok := ctx.Value(warnKey{}).(func(string)); ok {
		w.mu.Lock()
		w.seen[told] = true
		w.mu.Unlock()
		warn(text)
		return
	}
	w.tell(told)
}

func (w *warnings) tell(warning Warning) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seen[warning] || w.warn == nil {
		return
	}
	w.seen[warning] = true
	w.warn(warning)
}
