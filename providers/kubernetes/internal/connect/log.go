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

// LevelTrace is the level of records that only help to follow kolla step by step: events of
// watches, retried requests.
const LevelTrace = slog.LevelDebug - 4

// logging makes a transport log each request and its outcome. It does not log headers,
// bodies or the text of an answer, because they may contain values of Secrets.
func logging(log *slog.Logger) transport.WrapperFunc {
	return func(next http.RoundTripper) http.RoundTripper { return &requestLog{log: log, next: next} }
}

// requestLog is the transport that logs requests.
type requestLog struct {
	log  *slog.Logger
	next http.RoundTripper
}

// RoundTrip implements http.RoundTripper. The logged duration ends where the answer begins;
// a watch goes on for longer.
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

// WrappedRoundTripper implements net.RoundTripperWrapper. client-go uses it to find the
// transport below, and closes idle connections there.
func (l *requestLog) WrappedRoundTripper() http.RoundTripper { return l.next }

// shownParameters are the parameters of a request whose values are logged. They contain no
// data. The command of an exec is not among them: it may contain anything.
var shownParameters = []string{
	"container", "dryRun", "fieldManager", "fieldSelector", "force", "labelSelector", "limit", "previous",
	"resourceVersion", "resourceVersionMatch", "tailLines", "timeout", "timeoutSeconds", "watch",
}

// shownQuery returns the sorted query of a request, with dots for values that are not
// logged.
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

// attempts counts the requests for each URL.
type attempts struct {
	mu     sync.Mutex
	counts map[string]int
}

type attemptsKey struct{}

// countingAttempts returns a context that counts attempts: the retries of Call, and the retries of
// client-go.
func countingAttempts(ctx context.Context) context.Context {
	return context.WithValue(ctx, attemptsKey{}, &attempts{counts: map[string]int{}})
}

// attemptOf returns the number of the attempt, from 1.
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

// causeOf returns the reason why a request is retried. It leaves out the message of an
// answer, which may quote the object that was sent.
func causeOf(err error) string {
	var answer apierrors.APIStatus
	if errors.As(err, &answer) {
		return fmt.Sprintf("%d %s", answer.Status().Code, answer.Status().Reason)
	}
	return err.Error()
}
