package connect

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"

	"kolla.openstack.org/kolla/providers"
)

const (
	// longPatience is for failures that end when the server is back. It covers a restart of
	// a control plane.
	longPatience = 2 * time.Minute
	// ShortPatience is for failures that may be temporary or permanent.
	ShortPatience = 10 * time.Second
)

// backoff returns the pause between attempts: 0.2 s, doubling to 5 s.
func backoff() wait.DelayFunc {
	return wait.Backoff{
		Duration: 200 * time.Millisecond,
		Factor:   2,
		Jitter:   0.2,
		Steps:    100,
		Cap:      5 * time.Second,
	}.DelayFunc()
}

// Retry calls try until it does not ask for another attempt, but no longer than ShortPatience.
// It returns the error of the last attempt.
func Retry(ctx context.Context, try func(context.Context) (again bool, err error)) error {
	start := time.Now()
	return backoff().Until(ctx, true, true, func(ctx context.Context) (bool, error) {
		again, err := try(ctx)
		if again && time.Since(start) < ShortPatience {
			return false, nil
		}
		return true, err
	})
}

// Verbs under which requests are counted.
const (
	VerbGet       = "get"
	VerbList      = "list"
	VerbWatch     = "watch"
	VerbPatch     = "patch"
	VerbDryRun    = "patch (dry-run)"
	VerbCreate    = "create"
	VerbUpdate    = "update"
	VerbDelete    = "delete"
	verbExec      = "exec"
	verbForward   = "portforward"
	verbProxy     = "proxy"
	verbReview    = "review"
	VerbDiscovery = "discovery"
)

// Call makes a request, and retries it while the failure is temporary. All requests are safe
// to repeat: reads, server-side applies, deletes of one UID, and writes of the state. A write is
// repeated only while providers.CheckFence permits it. The error is that of the server, of the
// fence, or an *UnreachableError. An answer that is an object is added to c.Secrets.
func Call[T any](ctx context.Context, c *Connection, verb string, request func(context.Context) (T, error)) (T, error) {
	ctx = countingAttempts(WithVerb(Quiet(ctx), verb))
	var answer T
	var last error
	told := false
	start := time.Now()
	err := backoff().Until(ctx, true, true, func(ctx context.Context) (bool, error) {
		if last != nil && writes(verb) {
			if err := providers.CheckFence(ctx); err != nil {
				last = err
				return false, err
			}
		}
		got, err := request(ctx)
		if err == nil {
			answer = got
			if object, ok := any(got).(*unstructured.Unstructured); ok {
				c.Secrets.AddObject(object.Object)
			}
			if told {
				providers.ReportRetry(ctx, "")
			}
			return true, nil
		}
		if ctx.Err() == nil || last == nil {
			last = c.describe(err)
		}
		if ctx.Err() != nil || time.Since(start) >= c.patience(verb, last) {
			return false, last
		}
		told = true
		c.reportRetry(ctx, last, time.Since(start))
		c.Logger.Log(ctx, LevelTrace, "will ask again", "verb", verb, "cause", causeOf(last), "since", time.Since(start).Round(time.Millisecond))
		return false, nil
	})
	if err == nil {
		return answer, nil
	}
	// If the context has ended, the failure of the attempts says more than the error of the
	// context.
	if cause := ctx.Err(); cause != nil && last != nil && !errors.Is(last, cause) {
		return answer, fmt.Errorf("%w: %w", last, cause)
	}
	if last == nil {
		return answer, err
	}
	return answer, last
}

// reportRetry passes the reason why a request is sent again to the context, or else to
// Options.Waiting. It does not report that an API server does not answer at all: the outage does.
func (c *Connection) reportRetry(ctx context.Context, err error, waited time.Duration) {
	var unreachable *UnreachableError
	if why := reason(err); !providers.ReportRetry(ctx, why) && waited >= unnoticed && !errors.As(err, &unreachable) {
		c.waiting.say(why)
	}
}

// waiting passes on the reasons why requests wait, each reason once.
type waiting struct {
	tell func(reason string) // may be nil
	told sync.Map
}

func (w *waiting) say(reason string) {
	if _, again := w.told.LoadOrStore(reason, true); !again && w.tell != nil {
		w.tell(reason)
	}
}

func writes(verb string) bool {
	return verb == VerbPatch || verb == VerbCreate || verb == VerbUpdate || verb == VerbDelete
}

// patience returns how long a failure is retried; zero: it is permanent.
func (c *Connection) patience(verb string, err error) time.Duration {
	var unreachable *UnreachableError
	if errors.As(err, &unreachable) {
		// A server that never answered probably has another address. It will not come back.
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

// patienceWith returns how long an answer of the server is retried.
func patienceWith(verb string, status metav1.Status) time.Duration {
	if providers.DeniedByAdmission(status.Message) {
		return 0 // the webhook chose the code
	}
	switch status.Code {
	case http.StatusServiceUnavailable:
		if extensionDown(status) {
			return ShortPatience
		}
		return longPatience
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusGatewayTimeout:
		return longPatience
	case http.StatusForbidden:
		// Admission answers this after a start of the server, while its caches fill.
		if strings.Contains(status.Message, "not yet ready to handle request") {
			return longPatience
		}
	case http.StatusUnprocessableEntity:
		// Allocators of addresses of Services answer this after a start, too.
		if strings.Contains(status.Message, "allocator not ready") {
			return longPatience
		}
	case http.StatusInternalServerError:
		switch {
		case strings.Contains(status.Message, databaseFull):
			return 0
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

// failedWebhook matches the words of the server for a webhook that does not answer.
var failedWebhook = regexp.MustCompile(`failed calling (webhook "[^"]*")(?:: failed to call webhook)?(?:: \w+ "[^"]*")?(?s:: (.*))?`)

// reason describes in a few words why a request is sent again.
func reason(err error) string {
	var unreachable *UnreachableError
	var answer apierrors.APIStatus
	switch {
	case errors.As(err, &unreachable):
		return "the API server does not answer: " + Cause(unreachable.Err)
	case !errors.As(err, &answer):
		return err.Error()
	}
	status := answer.Status()
	if found := failedWebhook.FindStringSubmatch(status.Message); found != nil {
		return strings.TrimSuffix("the "+found[1]+" does not answer: "+found[2], ": ")
	}
	return "the API server cannot do it yet: " + status.Message
}

// databaseFull is a part of the server's answer if etcd is full. This condition does not end by
// itself.
const databaseFull = "database space exceeded"

// extensionDown reports whether the server is well but cannot reach the extension API server
// of a group. The answer is plain text.
func extensionDown(status metav1.Status) bool {
	return status.Details != nil && slices.ContainsFunc(status.Details.Causes, func(cause metav1.StatusCause) bool {
		return cause.Type == metav1.CauseTypeUnexpectedServerResponse &&
			(strings.HasPrefix(cause.Message, "error trying to reach service: ") || strings.TrimSpace(cause.Message) == "service unavailable")
	})
}

// describe gives types to errors of the transport and of permissions.
func (c *Connection) describe(err error) error {
	var transport *url.Error
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &transport):
		return &UnreachableError{Server: c.server, Err: transport.Err}
	case strings.Contains(err.Error(), "when reading response body"):
		// The connection was lost while the answer was read. client-go has no type for this.
		return &UnreachableError{Server: c.server, Err: errors.Unwrap(err)}
	case apierrors.IsForbidden(err):
		return denied(err)
	}
	return advised(err)
}

// Get reads one object, and retries as Call does.
func Get(ctx context.Context, c *Connection, target dynamic.ResourceInterface, name string) (*unstructured.Unstructured, error) {
	return Call(ctx, c, VerbGet, func(ctx context.Context) (*unstructured.Unstructured, error) {
		return target.Get(ctx, name, metav1.GetOptions{})
	})
}
