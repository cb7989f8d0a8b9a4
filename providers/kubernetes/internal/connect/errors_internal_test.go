package connect

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/providers"
)

func TestManagerOf(t *testing.T) {
	for message, want := range map[string]string{
		`conflict with "kubectl-scale" using apps/v1`:                                            "kubectl-scale",
		`conflict with "kubectl" with subresource "scale" using apps/v1 at 2026-11-21T02:11:00Z`: "kubectl",
		`conflict with "helm"`:                              "helm",
		`conflict with "the \"admin\" using sudo" using v1`: `the "admin" using sudo`,
		`conflict with ""`:                                  "",
		`conflict with somebody`:                            "conflict with somebody",
		`other words`:                                       "other words",
	} {
		if got := managerOf(message); got != want {
			t.Errorf("%s: got %q, want %q", message, got, want)
		}
	}
}

func TestConflictOf(t *testing.T) {
	ref := providers.Ref{GVK: schema.GroupVersionKind{Version: "v1", Kind: "Service"}, Namespace: "a", Name: "b"}
	causes := []metav1.StatusCause{
		{Type: metav1.CauseTypeFieldManagerConflict, Message: `conflict with "helm"`, Field: ".spec.type"},
		{Type: metav1.CauseTypeFieldValueInvalid, Message: "other", Field: ".spec"},
	}
	want := &providers.ConflictError{Ref: ref, Conflicts: []providers.Conflict{{Manager: "helm", Path: ".spec.type"}}}
	if diff := cmp.Diff(want, ConflictOf(ref, apierrors.NewApplyConflict(causes, "Apply failed"))); diff != "" {
		t.Errorf("conflict (-want +got):\n%s", diff)
	}
	for _, err := range []error{
		errors.New("other"),
		apierrors.NewConflict(schema.GroupResource{Resource: "services"}, "b", errors.New("modified")),
		apierrors.NewApplyConflict(causes[1:], "Apply failed"),
	} {
		if got := ConflictOf(ref, err); got != nil {
			t.Errorf("%v: got %v, want none", err, got)
		}
	}
}

func TestDenied(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	cases := []struct {
		name string
		err  error
		want *providers.PermissionError
	}{
		{
			"in a namespace",
			apierrors.NewForbidden(pods, "p", errors.New(`User "jane \"x\"" cannot get resource "pods/log" in API group "" in the namespace "prod"`)),
			&providers.PermissionError{User: `jane "x"`, Verb: "get", Resource: "pods/log", Namespace: "prod"},
		},
		{
			"in the cluster, with a reason",
			apierrors.NewForbidden(pods, "", errors.New(`User "system:serviceaccount:a:b" cannot list resource "deployments" in API group "apps" at the cluster scope: no role`)),
			&providers.PermissionError{User: "system:serviceaccount:a:b", Verb: "list", Resource: "deployments", Group: "apps"},
		},
		{"admission", apierrors.NewForbidden(pods, "p", errors.New("exceeded quota: q")), nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var got *providers.PermissionError
			if errors.As(denied(c.err), &got) {
				got.Err = nil
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("permission (-want +got):\n%s", diff)
			}
			if !apierrors.IsForbidden(denied(c.err)) {
				t.Error("it is not the server's error any more")
			}
		})
	}
}
