package kubernetes

import (
	"context"
	"maps"
	"net/http"
	"sync"
	"sync/atomic"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/client-go/util/flowcontrol"
)

// traffic sees every request: it counts them by verb, knows whether the server
// has ever answered, and holds requests back only where the server does not do
// that itself.
type traffic struct {
	// RateLimiter is for servers without API Priority and Fairness.
	flowcontrol.RateLimiter

	answered atomic.Bool // the server has answered at least once
	fair     atomic.Bool // it schedules requests itself

	mu     sync.Mutex
	counts map[string]int
}

func newTraffic() *traffic {
	return &traffic{
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

// meter is the place in the transport where traffic is seen.
type meter struct {
	traffic *traffic
	next    http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (m *meter) RoundTrip(request *http.Request) (*http.Response, error) {
	m.traffic.mu.Lock()
	m.traffic.counts[verbOf(request.Context())]++
	m.traffic.mu.Unlock()
	response, err := m.next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
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

// withVerb says what the requests under the context are counted as. The URL alone
// would not tell: a list and a get look alike but for the length of the path.
func withVerb(ctx context.Context, verb string) context.Context {
	return context.WithValue(ctx, verbKey{}, verb)
}

func verbOf(ctx context.Context) string {
	if verb, ok := ctx.Value(verbKey{}).(string); ok {
		return verb
	}
	return "get"
}

// warnings passes each distinct warning of the server on, once.
type warnings struct {
	mu   sync.Mutex
	seen map[string]bool
	warn func(string)
}

func newWarnings(warn func(string)) *warnings {
	return &warnings{seen: map[string]bool{}, warn: warn}
}

// HandleWarningHeader implements rest.WarningHandler. Code 299 is the only one
// that Kubernetes gives a meaning to.
func (w *warnings) HandleWarningHeader(code int, _, text string) {
	if code == 299 && text != "" {
		w.tell(text)
	}
}

func (w *warnings) tell(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seen[text] || w.warn == nil {
		return
	}
	w.seen[text] = true
	w.warn(text)
}
