package connect

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/providers"
)

func TestPatience(t *testing.T) {
	status := func(code int32, reason metav1.StatusReason, message string) metav1.Status {
		return metav1.Status{Code: code, Reason: reason, Message: message}
	}
	text := func(body string) metav1.Status {
		return apierrors.NewGenericServerResponse(http.StatusServiceUnavailable, "get", schema.GroupResource{}, "", body, 0, true).Status()
	}
	webhook := status(500, metav1.StatusReasonInternalError, `Internal error occurred: failed calling webhook "w": connection refused`)
	cases := []struct {
		name   string
		verb   string
		status metav1.Status
		want   time.Duration
	}{
		{"throttled", VerbList, status(http.StatusTooManyRequests, "", ""), longPatience},
		{"shutting down", VerbPatch, status(http.StatusServiceUnavailable, "", ""), longPatience},
		{"shutting down, in plain text", VerbList, text("the server is stopping"), longPatience},
		{"an extension is down", VerbList, text("service unavailable\n"), ShortPatience},
		{"an extension is out of reach", VerbList, text("error trying to reach service: i/o timeout"), ShortPatience},
		{"etcd leader", VerbPatch, status(500, "", "etcdserver: leader changed"), longPatience},
		{"etcd is full", VerbUpdate, status(500, "", "etcdserver: mvcc: database space exceeded"), 0},
		{"etcd connection", VerbList, status(500, "", "rpc error: code = Unavailable desc = connection error"), longPatience},
		{"starting", VerbPatch, status(403, metav1.StatusReasonForbidden, "pods is forbidden: not yet ready to handle request"), longPatience},
		{"addresses of Services", VerbPatch, status(422, metav1.StatusReasonInvalid, `Service "web" is invalid: spec.clusterIPs: Invalid value: [""]: failed to allocate IP: allocator not ready`), longPatience},
		{"an address that is taken", VerbPatch, status(422, metav1.StatusReasonInvalid, `Service "web" is invalid: spec.clusterIPs: Invalid value: ["10.0.0.1"]: failed to allocate IP 10.0.0.1: provided IP is already allocated`), 0},
		{"some internal error", VerbList, status(500, metav1.StatusReasonInternalError, "Internal error occurred: conversion"), ShortPatience},
		{"webhook, apply", VerbPatch, webhook, longPatience},
		{"webhook, dry run", VerbDryRun, webhook, 0},
		{"denied by a webhook, dry run", VerbDryRun, status(http.StatusServiceUnavailable, "", `admission webhook "w" denied the request: no dry runs`), 0},
		{"denied by a webhook, apply", VerbPatch, status(http.StatusServiceUnavailable, "", `admission webhook "w" denied the request: busy`), 0},
		{"denied by a policy, list", VerbList, status(http.StatusTooManyRequests, "", `ValidatingAdmissionPolicy "p" with binding "b" denied request: busy`), 0},
		{"malformed patch", VerbDryRun, status(500, "", "failed to create typed patch object"), 0},
		{"forbidden", VerbPatch, status(403, metav1.StatusReasonForbidden, "exceeded quota"), 0},
		{"conflict", VerbPatch, status(409, metav1.StatusReasonConflict, "modified"), 0},
		{"invalid", VerbPatch, status(422, metav1.StatusReasonInvalid, ""), 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := patienceWith(c.verb, c.status); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// TestDenialIsNoOutage checks that a denial by a webhook is not explained as an outage, whatever
// code the webhook chooses.
func TestDenialIsNoOutage(t *testing.T) {
	for _, code := range []int32{http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout} {
		err := &apierrors.StatusError{ErrStatus: metav1.Status{Code: code, Message: `admission webhook "w" denied the request: busy`}}
		if summary, detail, ok := failure.Explain(advised(err)); ok {
			t.Errorf("%d: %s: %s", code, summary, detail)
		}
		err.ErrStatus.Message = "busy"
		if _, _, ok := failure.Explain(advised(err)); !ok {
			t.Errorf("%d of the server is not explained", code)
		}
	}
}

// TestFence checks that a write is not sent again after the process has lost its lock, but a read
// is.
func TestFence(t *testing.T) {
	c := &Connection{Logger: slog.New(slog.DiscardHandler)}
	lost := errors.New("the lock is lost")
	for _, verb := range []string{VerbPatch, VerbCreate, VerbUpdate, VerbDelete, VerbList} {
		attempts := 0
		ctx := providers.Fenced(t.Context(), func() error {
			if attempts == 2 {
				return lost
			}
			return nil
		})
		_, err := Call(ctx, c, verb, func(context.Context) (string, error) {
			if attempts++; attempts == 3 {
				return "", nil
			}
			return "", apierrors.NewTooManyRequests("later", 0)
		})
		if verb == VerbList && (err != nil || attempts != 3) {
			t.Errorf("%s: %v after %d attempts, want an answer to the third", verb, err, attempts)
		}
		if verb != VerbList && (!errors.Is(err, lost) || attempts != 2) {
			t.Errorf("%s: %v after %d attempts, want %q instead of a third", verb, err, attempts, lost)
		}
	}
}

// TestRetriesAreReported checks that the caller of a request gets the reason for each further
// attempt, and an empty string when the request succeeds.
func TestRetriesAreReported(t *testing.T) {
	internal := func(message string) error {
		return &apierrors.StatusError{ErrStatus: metav1.Status{Code: 500, Reason: metav1.StatusReasonInternalError, Message: "Internal error occurred: " + message}}
	}
	failures := []error{
		internal(`failed calling webhook "w": failed to call webhook: Post "https://w.ns.svc:443/x?timeout=2s": dial tcp 10.0.0.1:443: connect: connection refused`),
		internal(`failed calling webhook "w": could not get REST client: no endpoints`),
		apierrors.NewTooManyRequests("too many requests", 0),
		&UnreachableError{Err: &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}},
	}
	want := []string{
		`the webhook "w" does not answer: dial tcp 10.0.0.1:443: connect: connection refused`,
		`the webhook "w" does not answer: could not get REST client: no endpoints`,
		"the API server cannot do it yet: too many requests",
		"the API server does not answer: connection refused",
		"",
	}
	synctest.Test(t, func(t *testing.T) {
		var got []string
		ctx := providers.ReportingRetries(t.Context(), func(reason string) { got = append(got, reason) })
		c := &Connection{Logger: slog.New(slog.DiscardHandler), traffic: &traffic{}}
		c.traffic.answered.Store(true)
		_, err := Call(ctx, c, VerbPatch, func(context.Context) (string, error) {
			if len(got) < len(failures) {
				return "", failures[len(got)]
			}
			return "", nil
		})
		if err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// TestWaitingIsTold checks that Options.Waiting gets each lasting reason once if the caller does
// not listen. It gets no outages: Options.Unreachable gets these.
func TestWaitingIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []string
		c := &Connection{Logger: slog.New(slog.DiscardHandler), traffic: &traffic{}}
		c.waiting.tell = func(reason string) { got = append(got, reason) }
		c.traffic.answered.Store(true)
		for _, failure := range []error{
			apierrors.NewTooManyRequests("too many requests", 0),
			&UnreachableError{Err: &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}},
		} {
			for _, attempts := range []int{2, 8, 8} {
				n := 0
				_, err := Call(t.Context(), c, VerbList, func(context.Context) (string, error) {
					if n++; n <= attempts {
						return "", failure
					}
					return "", nil
				})
				if err != nil {
					t.Error(err)
				}
				if attempts == 2 && got != nil && errors.As(failure, new(*apierrors.StatusError)) {
					t.Errorf("a short wait is told: %q", got)
				}
			}
		}
		if diff := cmp.Diff([]string{"the API server cannot do it yet: too many requests"}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
