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

// traffic sees every request: it counts them by verb, knows whether the server
// answers and ever has, and holds requests back only where the server does not do
// that itself.
type traffic struct {
	// RateLimiter is for servers without API Priority and Fairness.
	flowcontrol.RateLimiter

	answered atomic.Bool // the server has answered at least once
	fair     atomic.Bool // it schedules requests itself
	outage   outage
	probe    func(context.Context) // asks the server something small

	mu     sync.Mutex
	counts map[string]int
}

// newTraffic begins to look; unreachable is Options.Unreachable.
func newTraffic(unreachable func(error)) *traffic {
	return &traffic{
		outage: outage{tell: unreachable},
		// What kubectl allows itself.
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

// wrap is a transport.WrapperFunc.
func (t *traffic) wrap(next http.RoundTripper) http.RoundTripper {
	return &meter{traffic: t, next: next}
}

// requests returns a copy of the counts.
func (t *traffic) requests() map[string]int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.counts)
}

// count takes down a request.
func (t *traffic) count(verb string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.counts[verb]++
}

// meter is the place in the transport where traffic is seen.
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

// WrappedRoundTripper implements net.RoundTripperWrapper, by which client-go
// finds the transport below to close its idle connections.
func (m *meter) WrappedRoundTripper() http.RoundTripper { return m.next }

type verbKey struct{}

// WithVerb says what the requests under the context are counted as. The URL alone
// would not tell: a list and a get look alike but for the length of the path.
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

// About says which object the requests under the context are about, for warnings.
func About(ctx context.Context, ref providers.Ref) context.Context {
	return context.WithValue(ctx, aboutKey{}, ref)
}

type warnKey struct{}

// WarningsTo has the warnings of the requests under the context passed on to warn alone.
func WarningsTo(ctx context.Context, warn func(text string)) context.Context {
	return context.WithValue(ctx, warnKey{}, warn)
}

// Warning is what the server warns of, such as the use of a deprecated API.
type Warning struct {
	Text string
	Ref  providers.Ref // the object that it is about; zero: none
}

// warnings passes each distinct warning on, once.
type warnings struct {
	mu   sync.Mutex
	seen map[Warning]bool
	warn func(Warning)
}

func newWarnings(warn func(Warning)) *warnings {
	return &warnings{seen: map[Warning]bool{}, warn: warn}
}

// HandleWarningHeaderWithContext implements rest.WarningHandlerWithContext. Code 299
// is the only one that Kubernetes gives a meaning to.
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
