package kubernetes

// Tests of the parts that need no server, and have no name outside of the package.

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

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
	if diff := cmp.Diff(want, conflictOf(ref, apierrors.NewApplyConflict(causes, "Apply failed"))); diff != "" {
		t.Errorf("conflict (-want +got):\n%s", diff)
	}
	for _, err := range []error{
		errors.New("other"),
		apierrors.NewConflict(schema.GroupResource{Resource: "services"}, "b", errors.New("modified")),
		apierrors.NewApplyConflict(causes[1:], "Apply failed"),
	} {
		if got := conflictOf(ref, err); got != nil {
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
		{"throttled", verbList, status(http.StatusTooManyRequests, "", ""), longPatience},
		{"shutting down", verbPatch, status(http.StatusServiceUnavailable, "", ""), longPatience},
		{"shutting down, in plain text", verbList, text("the server is stopping"), longPatience},
		{"an extension is down", verbList, text("service unavailable\n"), shortPatience},
		{"an extension is out of reach", verbList, text("error trying to reach service: i/o timeout"), shortPatience},
		{"etcd leader", verbPatch, status(500, "", "etcdserver: leader changed"), longPatience},
		{"etcd connection", verbList, status(500, "", "rpc error: code = Unavailable desc = connection error"), longPatience},
		{"starting", verbPatch, status(403, metav1.StatusReasonForbidden, "pods is forbidden: not yet ready to handle request"), longPatience},
		{"addresses of Services", verbPatch, status(422, metav1.StatusReasonInvalid, `Service "web" is invalid: spec.clusterIPs: Invalid value: [""]: failed to allocate IP: allocator not ready`), longPatience},
		{"an address that is taken", verbPatch, status(422, metav1.StatusReasonInvalid, `Service "web" is invalid: spec.clusterIPs: Invalid value: ["10.0.0.1"]: failed to allocate IP 10.0.0.1: provided IP is already allocated`), 0},
		{"some internal error", verbList, status(500, metav1.StatusReasonInternalError, "Internal error occurred: conversion"), shortPatience},
		{"webhook, apply", verbPatch, webhook, longPatience},
		{"webhook, dry run", verbDryRun, webhook, 0},
		{"malformed patch", verbDryRun, status(500, "", "failed to create typed patch object"), 0},
		{"forbidden", verbPatch, status(403, metav1.StatusReasonForbidden, "exceeded quota"), 0},
		{"conflict", verbPatch, status(409, metav1.StatusReasonConflict, "modified"), 0},
		{"invalid", verbPatch, status(422, metav1.StatusReasonInvalid, ""), 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := patienceWith(c.verb, c.status); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestThrowAwayNameIsValidWhereTheNameIs(t *testing.T) {
	cases := []struct {
		name     string
		validate func(string) []string
	}{
		{"a", validation.IsDNS1123Label},
		{"keystone-api", validation.IsDNS1035Label},
		{"2025-mariadb", validation.IsDNS1123Label},
		{"keystone.conf-4be2a1", validation.IsDNS1123Subdomain},
		{strings.Repeat("a", 63), validation.IsDNS1123Label},
		{strings.Repeat("a", 64), validation.IsDNS1123Label},
		{"keystone.conf", validation.IsDNS1123Label},
		{"2025", validation.IsDNS1035Label},
		{"Keystone", validation.IsDNS1123Subdomain},
		{"keystone-", validation.IsDNS1123Label},
	}
	for _, c := range cases {
		for range 50 {
			got := throwAwayName(c.name)
			grown := strings.HasSuffix(c.name, "-") // it ends with a letter now
			if valid, want := len(c.validate(got)) == 0, len(c.validate(c.name)) == 0; valid != want && !grown {
				t.Errorf("%q is valid: %t; %q is: %t", c.name, want, got, valid)
			}
			if got == c.name || len(got) < surrogateLength || (len(c.name) >= surrogateLength && len(got) != len(c.name)) {
				t.Errorf("%q stands in for %q", got, c.name)
			}
		}
	}
}

func TestSurrogateRestoresNothingButItsName(t *testing.T) {
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "batch/v1", "kind": "Job",
		"metadata": map[string]any{"name": "sync", "namespace": "cloud"},
	}}
	s, err := newSurrogate(object, providers.SurrogateNamespace)
	if err != nil {
		t.Fatal(err)
	}
	name := s.object.GetName()
	if s.object.GetNamespace() != "default" || object.GetName() != "sync" {
		t.Fatalf("sent as %s/%s, and the manifest is now %s", s.object.GetNamespace(), name, object.GetName())
	}
	answer := s.object.DeepCopy()
	answer.SetLabels(map[string]string{"job-name": name, "longer": name + "-x", "env": "default"})
	answer.Object["list"] = []any{name, "default", int64(1), map[string]any{"deep": name}}
	want := map[string]any{
		"apiVersion": "batch/v1", "kind": "Job",
		"metadata": map[string]any{
			"name": "sync", "namespace": "cloud",
			"labels": map[string]any{"job-name": "sync", "longer": name + "-x", "env": "default"},
		},
		"list": []any{"sync", "default", int64(1), map[string]any{"deep": "sync"}},
	}
	if diff := cmp.Diff(want, s.restore(answer).Object); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	complaint := apierrors.NewBadRequest("Job " + name + " is odd")
	if got := s.restoreError(complaint).Error(); got != "Job sync is odd" {
		t.Errorf("the complaint is %q", got)
	}
	if complaint.Error() == "Job sync is odd" {
		t.Error("the error was changed in place")
	}
}

func TestKindsAreReadAsRarelyAsPossible(t *testing.T) {
	known := schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	younger := schema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: "Star"}
	hidden := schema.GroupVersionKind{Group: "metrics.k8s.io", Version: "v1", Kind: "PodMetrics"}
	reads := 0
	served := catalogue{
		resources: map[schema.GroupVersionKind]resource{known: {known.GroupVersion().WithResource("deployments"), true}},
		unknown:   map[schema.GroupVersion]error{hidden.GroupVersion(): errors.New("503")},
	}
	k := newMapper(func(context.Context) (catalogue, error) {
		reads++
		return served, nil
	})
	find := func(kind schema.GroupVersionKind, fresh time.Duration) error {
		_, err := k.find(t.Context(), kind, fresh)
		return err
	}
	for range 3 {
		if err := find(known, 0); err != nil {
			t.Fatal(err)
		}
		if err := find(younger, time.Hour); !meta.IsNoMatchError(err) {
			t.Fatalf("got %v, want no match", err)
		}
		if err := find(hidden, time.Hour); err == nil || meta.IsNoMatchError(err) || !strings.Contains(err.Error(), "503") {
			t.Fatalf("got %v: a group that cannot be read is not known to be missing", err)
		}
	}
	if reads != 1 {
		t.Errorf("%d reads, want 1", reads)
	}
	served.resources = map[schema.GroupVersionKind]resource{known: {}, younger: {}}
	if err := find(younger, 0); err != nil || reads != 2 {
		t.Errorf("got %v after %d reads", err, reads)
	}
}

func TestExamine(t *testing.T) {
	waiting := func(reason, message string) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: "api", Image: "example.org/api:1", State: corev1.ContainerState{
			Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message},
		}}
	}
	ended := func(state corev1.ContainerStateTerminated) corev1.ContainerState {
		return corev1.ContainerState{Terminated: &state}
	}
	crashed := waiting("CrashLoopBackOff", "back-off 5m0s")
	crashed.LastTerminationState = ended(corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"})
	cases := []struct {
		name   string
		status corev1.PodStatus
		want   string
		log    bool
	}{
		{"ready", corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{Name: "api", Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}}, "", false},
		{"over", corev1.PodStatus{Phase: corev1.PodSucceeded}, "", false},
		{
			"unschedulable",
			corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/3 nodes are available: 3 Insufficient cpu. preemption: none."}}},
			"no node can take the pod: 0/3 nodes are available: 3 Insufficient cpu.",
			false,
		},
		{
			"image",
			corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{waiting("ErrImagePull", "failed to pull: rpc error: code = NotFound desc = failed to resolve reference:\n not found")}},
			"image example.org/api:1 cannot be pulled: failed to resolve reference: not found",
			false,
		},
		{"image without a reason", corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{waiting("ImagePullBackOff", "")}}, "image example.org/api:1 cannot be pulled", false},
		{"image name", corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{waiting("InvalidImageName", "bad reference")}}, "image example.org/api:1 cannot be pulled: its name is not valid: bad reference", false},
		{"configuration", corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{waiting("CreateContainerConfigError", `secret "x" not found`)}}, `container api cannot be started: secret "x" not found`, false},
		{"crash", corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{crashed}}, "container api keeps crashing: it ran out of memory and was killed", true},
		{
			"init container first",
			corev1.PodStatus{InitContainerStatuses: []corev1.ContainerStatus{{Name: "init", State: ended(corev1.ContainerStateTerminated{ExitCode: 3, Message: "Traceback:\n  in main\nno  database\n"})}}, ContainerStatuses: []corev1.ContainerStatus{waiting("PodInitializing", "")}},
			"container init exited with code 3: no database",
			true,
		},
		{"signal", corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "api", State: ended(corev1.ContainerStateTerminated{ExitCode: 143, Signal: 15})}}}, "container api was ended by signal 15", true},
		{"evicted", corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted", Message: "low on memory"}, "the pod failed (Evicted): low on memory", false},
		{"unready", corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{Name: "api", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}}, "container api runs but is not ready", true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			found := examine(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "api-0"}, Status: c.status})
			if found == nil {
				found = &finding{pod: "api-0"}
			}
			if found.reason != c.want || (found.container != "") != c.log || found.pod != "api-0" {
				t.Errorf("got %+v, want %q", found, c.want)
			}
		})
	}
}

// TestHopeless: only the registry's own word ends the wait, and not at once.
func TestHopeless(t *testing.T) {
	for message, want := range map[string]bool{
		"rpc error: code = NotFound desc = failed to resolve image: example.org/api:2: not found":                   true,
		"failed to authorize: failed to fetch anonymous token: 401 Unauthorized":                                    true,
		`failed to resolve reference: dial tcp: lookup example.org: no such host`:                                   false,
		`failed to do request: Head "https://example.org/v2/": dial tcp 192.0.2.1:443: connect: connection refused`: false,
	} {
		status := corev1.ContainerStatus{Image: "example.org/api:2", State: corev1.ContainerState{
			Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: message},
		}}
		if found := examineContainer(&status); found == nil || found.hopeless != want {
			t.Errorf("%s: hopeless is not %v", message, want)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		v := &waiter{finding: &finding{hopeless: true}}
		for range 6 {
			if v.hopeless() {
				t.Fatal("it was not waited for at all")
			}
			time.Sleep(examinationPause)
		}
		if !v.hopeless() {
			t.Error("it is still waited for")
		}
		v.finding = nil
		if v.hopeless() {
			t.Error("a new finding is not waited for")
		}
	})
}

func TestUnmatched(t *testing.T) {
	node := func(labels map[string]string) *corev1.Node {
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: labels}}
	}
	nodes := []*corev1.Node{node(map[string]string{"a": "1"}), node(map[string]string{"b": "1"})}
	for _, c := range []struct {
		selector map[string]string
		nodes    []*corev1.Node
		want     string
	}{
		{map[string]string{"a": "1"}, nodes, ""},
		{map[string]string{"a": "2"}, nodes, "no node has the label a=2"},
		{map[string]string{"a": "1", "c": "1"}, nodes, "no node has the label c=1"},
		{map[string]string{"d": "1", "c": "1"}, nodes, "no node has the labels c=1, d=1"},
		{map[string]string{"a": "1", "b": "1"}, nodes, "no node has all of the labels a=1, b=1"},
		{map[string]string{"a": "1"}, nil, "the cluster has no nodes"},
	} {
		if got := unmatched(c.selector, c.nodes); got != c.want {
			t.Errorf("%v: got %q, want %q", c.selector, got, c.want)
		}
	}
}

func TestClip(t *testing.T) {
	if got := oneLine("a\n\tb  c "); got != "a b c" {
		t.Errorf("got %q", got)
	}
	if got := oneLine(strings.Repeat("ä", 1000)); len([]rune(got)) != 403 {
		t.Errorf("it has %d characters", len([]rune(got)))
	}
}

// A second apply may add what is empty, and nothing else.
func TestOnlyEmpties(t *testing.T) {
	const before = `{"metadata": {"resourceVersion": "1", "generation": 1, "managedFields": [], "annotations": {"deprecated.daemonset.template.generation": "3"}}, "spec": {"a": 1, "l": [{"x": 1}]}}`
	for after, want := range map[string]bool{
		before: false,
		`{"metadata": {"resourceVersion": "1", "annotations": {"deprecated.daemonset.template.generation": "4"}, "generation": 2}, "spec": {"a": 1, "l": [{"x": 1}]}}`:                                       false,
		`{"metadata": {"resourceVersion": "1", "annotations": {"deprecated.daemonset.template.generation": "4"}}, "spec": {"a": 1, "l": [{"x": 1}], "m": {}}}`:                                               true,
		`{"metadata": {"resourceVersion": "1", "annotations": {"deprecated.daemonset.template.generation": "4"}}, "spec": {"a": 1, "l": [{"x": 1, "y": []}]}}`:                                               true,
		`{"metadata": {"resourceVersion": "1", "annotations": {"deprecated.daemonset.template.generation": "4"}}, "spec": {"a": 1, "l": [{"x": 1}], "m": {"n": {}}}}`:                                        true,
		`{"metadata": {"resourceVersion": "1", "annotations": {"deprecated.daemonset.template.generation": "4"}}, "spec": {"a": 2, "l": [{"x": 1}], "m": {}}}`:                                               false,
		`{"metadata": {"resourceVersion": "1", "annotations": {"deprecated.daemonset.template.generation": "4"}}, "spec": {"a": 1, "m": {}}}`:                                                                false,
		`{"metadata": {"resourceVersion": "1", "annotations": {"deprecated.daemonset.template.generation": "4"}}, "spec": {"a": 1, "l": [{"x": 1}, {}], "m": {}}}`:                                           false,
		`{"metadata": {"resourceVersion": "1", "annotations": {"deprecated.daemonset.template.generation": "4"}, "labels": {"theirs": "x"}}, "spec": {"a": 1, "l": [{"x": 1}], "m": {}}}`:                    false,
		`{"metadata": {"resourceVersion": "1", "annotations": {"deprecated.daemonset.template.generation": "4"}}, "spec": {"a": 1, "l": [{"x": 1}], "e": null}}`:                                             true,
		`{"metadata": {"resourceVersion": "1", "annotations": {"deprecated.daemonset.template.generation": "4"}}, "spec": {"a": 1, "l": [{"x": 1}]}, "status": {"conditions": []}}`:                          true,
		`{"metadata": {"resourceVersion": "1", "annotations": {"deprecated.daemonset.template.generation": "4"}}, "spec": {"a": 1, "l": [{"x": 1}]}, "status": {"conditions": [{"type": "x", "at": null}]}}`: false,
	} {
		read := func(text string) *unstructured.Unstructured {
			u := &unstructured.Unstructured{}
			if err := json.Unmarshal([]byte(text), &u.Object); err != nil {
				t.Fatal(err)
			}
			return u
		}
		if got := onlyEmpties(read(before), read(after)); got != want {
			t.Errorf("%s: %t", after, got)
		}
	}
}
