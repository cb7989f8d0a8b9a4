package connect

import (
	"net/http"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
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
