package connect

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/transport"
)

// LevelTrace is the level of records that only help to follow kolla step by step: events
// of watches, repeated requests.
const LevelTrace = slog.LevelDebug - 4

// logging makes a transport log each request: what was asked, and how it ended. Headers,
// bodies and the text of an answer are not logged: they hold values of Secrets.
func logging(log *slog.Logger) transport.WrapperFunc {
	return func(next http.RoundTripper) http.RoundTripper { return &requestLog{log: log, next: next} }
}

// requestLog is the place in the transport where requests are logged.
type requestLog struct {
	log  *slog.Logger
	next http.RoundTripper
}

// RoundTrip implements http.RoundTripper. The duration ends where the answer begins: a
// watch goes on for longer.
func (l *requestLog) RoundTrip(request *http.Request) (*http.Response, error) {
	ctx := request.Context()
	start := time.Now()
	response, err := l.next.RoundTrip(request)
	record := []slog.Attr{
		slog.String("verb", verbOf(ctx)),
		slog.String("path", request.URL.Path),
		slog.String("query", shownQuery(request.URL.Query())),
		slog.Duration("duration", time.Since(start).Round(time.Microsecond)),
		slog.Int("attempt", attemptOf(ctx, request.URL)),
	}
	if err != nil {
		record = append(record, slog.String("error", err.Error()))
	} else {
		record = append(record, slog.Int("status", response.StatusCode))
	}
	l.log.LogAttrs(ctx, slog.LevelDebug, "request", record...)
	return response, err
}

// WrappedRoundTripper implements net.RoundTripperWrapper, by which client-go finds the
// transport below to close its idle connections.
func (l *requestLog) WrappedRoundTripper() http.RoundTripper { return l.next }

// shownParameters are the parameters of a request whose values say nothing but how it is
// meant. The command of an exec is none of them: it may hold anything.
var shownParameters = []string{
	"container", "dryRun", "fieldManager", "fieldSelector", "force", "labelSelector", "limit", "previous",
	"resourceVersion", "resourceVersionMatch", "tailLines", "timeout", "timeoutSeconds", "watch",
}

// shownQuery is the query of a request, in order, with dots for values that are not shown.
func shownQuery(query url.Values) string {
	var shown []string
	for name, values := range query {
		for _, value := range values {
			if !slices.Contains(shownParameters, name) {
				value = "..."
			}
			shown = append(shown, name+"="+value)
		}
	}
	slices.Sort(shown)
	return strings.Join(shown, "&")
}

// attempts counts how often each URL was asked for.
type attempts struct {
	mu     sync.Mutex
	counts map[string]int
}

type attemptsKey struct{}

// countingAttempts has the requests under the context numbered: those that call makes
// again, and those that client-go makes again by itself.
func countingAttempts(ctx context.Context) context.Context {
	return context.WithValue(ctx, attemptsKey{}, &attempts{counts: map[string]int{}})
}

// attemptOf is the number of the attempt, from 1.
func attemptOf(ctx context.Context, asked *url.URL) int {
	a, ok := ctx.Value(attemptsKey{}).(*attempts)
	if !ok {
		return 1
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.counts[asked.String()]++
	return a.counts[asked.String()]
}

// causeOf says why a request is made again. The message of an answer stays out of the
// log: it may quote the object that was sent.
func causeOf(err error) string {
	var answer apierrors.APIStatus
	if errors.As(err, &answer) {
		return fmt.Sprintf("%d %s", answer.Status().Code, answer.Status().Reason)
	}
	return err.Error()
}
