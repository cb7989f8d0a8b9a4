package connect

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
)

const (
	// longPatience is for what ends when the server is back: it covers a restart
	// of a control plane.
	longPatience = 2 * time.Minute
	// ShortPatience is for what may pass, but is as likely here to stay.
	ShortPatience = 10 * time.Second
)

// Backoff is the pause between attempts: 0.2 s, doubling to 5 s.
func Backoff() wait.DelayFunc {
	return wait.Backoff{
		Duration: 200 * time.Millisecond,
		Factor:   2,
		Jitter:   0.2,
		Steps:    100,
		Cap:      5 * time.Second,
	}.DelayFunc()
}

// Verbs that requests are counted as.
const (
	VerbGet       = "get"
	VerbList      = "list"
	VerbWatch     = "watch"
	VerbPatch     = "patch"
	VerbDryRun    = "patch (dry-run)"
	VerbDelete    = "delete"
	verbExec      = "exec"
	VerbDiscovery = "discovery"
)

// Call makes a request, and makes it again while it fails in a way that passes.
// All requests are safe to repeat: reads, server-side applies, and deletes of one
// UID. What it returns is the server's error, or an *UnreachableError.
func Call[T any](ctx context.Context, c *Connection, verb string, request func(context.Context) (T, error)) (T, error) {
	ctx = countingAttempts(WithVerb(Quiet(ctx), verb))
	var answer T
	var last error
	start := time.Now()
	err := Backoff().Until(ctx, true, true, func(ctx context.Context) (bool, error) {
		got, err := request(ctx)
		if err == nil {
			answer = got
			return true, nil
		}
		if ctx.Err() == nil || last == nil {
			last = c.describe(err)
		}
		if ctx.Err() != nil || time.Since(start) >= c.patience(verb, last) {
			return false, last
		}
		c.Logger.Log(ctx, LevelTrace, "will ask again", "verb", verb, "cause", causeOf(last), "since", time.Since(start).Round(time.Millisecond))
		return false, nil
	})
	if err == nil {
		return answer, nil
	}
	// When the context has ended, what the attempts failed with is the better half
	// of the message.
	if cause := ctx.Err(); cause != nil && last != nil && !errors.Is(last, cause) {
		return answer, fmt.Errorf("%w: %w", last, cause)
	}
	if last == nil {
		return answer, err
	}
	return answer, last
}

// patience is for how long a failure is waited out, zero for failures that stay.
func (c *Connection) patience(verb string, err error) time.Duration {
	var unreachable *UnreachableError
	if errors.As(err, &unreachable) {
		// A server that never answered is more likely a wrong address than one
		// that is about to be back.
		if isCertificateTrouble(err) || !c.traffic.answered.Load() {
			return 0
		}
		return longPatience
	}
	var answer apierrors.APIStatus
	if !errors.As(err, &answer) {
		return 0
	}
	return patienceWith(verb, answer.Status())
}

// patienceWith is patience for an answer of the server.
func patienceWith(verb string, status metav1.Status) time.Duration {
	switch status.Code {
	case http.StatusServiceUnavailable:
		if extensionDown(status) {
			return ShortPatience
		}
		return longPatience
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusGatewayTimeout:
		return longPatience
	case http.StatusForbidden:
		// Admission says this while its caches fill after a start of the server.
		if strings.Contains(status.Message, "not yet ready to handle request") {
			return longPatience
		}
	case http.StatusUnprocessableEntity:
		// A Service gets its addresses from allocators that fill after a start, too.
		if strings.Contains(status.Message, "allocator not ready") {
			return longPatience
		}
	case http.StatusInternalServerError:
		switch {
		case strings.Contains(status.Message, "etcdserver:"), strings.Contains(status.Message, "rpc error: code = Unavailable"):
			return longPatience
		case strings.Contains(status.Message, "failed calling webhook") && verb == VerbPatch:
			// The webhook may be part of what is being applied.
			return longPatience
		case strings.Contains(status.Message, "failed calling webhook"):
			return 0
		case status.Reason == metav1.StatusReasonInternalError, status.Reason == metav1.StatusReasonServerTimeout:
			return ShortPatience
		}
	}
	return 0
}

// extensionDown reports whether the server itself is well, and only cannot reach the
// one that an API group comes from. It says so in plain text.
func extensionDown(status metav1.Status) bool {
	return status.Details != nil && slices.ContainsFunc(status.Details.Causes, func(cause metav1.StatusCause) bool {
		return cause.Type == metav1.CauseTypeUnexpectedServerResponse &&
			(strings.HasPrefix(cause.Message, "error trying to reach service: ") || strings.TrimSpace(cause.Message) == "service unavailable")
	})
}

// describe gives errors of the transport and of permissions their types.
func (c *Connection) describe(err error) error {
	var transport *url.Error
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &transport):
		return &UnreachableError{Server: c.server, Err: transport.Err}
	case strings.Contains(err.Error(), "when reading response body"):
		// The connection was lost halfway; client-go has no type for this.
		return &UnreachableError{Server: c.server, Err: errors.Unwrap(err)}
	case apierrors.IsForbidden(err):
		return denied(err)
	}
	return err
}

// Get reads one object. It is a request like any other of call.
func Get(ctx context.Context, c *Connection, target dynamic.ResourceInterface, name string) (*unstructured.Unstructured, error) {
	return Call(ctx, c, VerbGet, func(ctx context.Context) (*unstructured.Unstructured, error) {
		return target.Get(ctx, name, metav1.GetOptions{})
	})
}
