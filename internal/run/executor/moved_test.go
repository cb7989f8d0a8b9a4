package executor_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

func TestMoved(t *testing.T) {
	const planned, drifted = 3, 5
	tests := map[string]struct {
		spec map[string]any // of the live object at the time of the apply
		want []string
		err  string
	}{
		"only its status moved": {map[string]any{"replicas": int64(drifted)}, []string{"api: applied, written"}, ""},
		"done by somebody else": {map[string]any{"replicas": int64(planned)}, []string{"api: applied, written"}, ""},
		"another change":        {map[string]any{"replicas": int64(7)}, []string{"api: failed"}, "spec.replicas"},
		"something more": {
			map[string]any{"replicas": int64(drifted), "paused": true}, []string{"api: failed"}, "spec.paused",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			now := live("Deployment api")
			now.SetResourceVersion("12")
			now.Object["spec"] = test.spec
			a := newApply(t, newCluster(now), recorded("Deployment api", true))
			a.onApply = a.movedOn
			action := act(plans.Update, "Deployment api")
			action.Prior.ResourceVersion = "10"
			action.Object.Manifest.Object["spec"] = map[string]any{"replicas": int64(planned), "paused": false}
			if _, ok := test.spec["paused"]; !ok {
				delete(action.Object.Manifest.Object["spec"].(map[string]any), "paused")
			}
			// Like in a plan file: numbers are floats, and drift has a field manager.
			action.Changes = []plans.Change{{Path: "spec.replicas", Before: float64(drifted), After: float64(planned), Drift: true, Manager: "kubectl"}}
			result := a.run(t.Context(), t, action)
			diff(t, "outcomes", test.want, outcomes(result))
			if err := result.Outcomes[0].Err; test.err != "" && !strings.Contains(err.Error(), test.err) {
				t.Errorf("got %v, want it to name %s", err, test.err)
			}
			if test.err != "" && !a.known(t, "Deployment api").Ready {
				t.Error("the refusal made the object not ready")
			}
		})
	}
}

// TestMovedManyTimes checks that an apply survives an object whose version changes with every
// attempt. Controllers write some statuses many times a second, such as that of a quota whose
// objects are being created.
func TestMovedManyTimes(t *testing.T) {
	now := live("Deployment api")
	now.Object["spec"] = map[string]any{"replicas": int64(5)}
	a := newApply(t, newCluster(now))
	version := 10
	a.onApply = func(_ context.Context, ref providers.Ref, options providers.ApplyOptions) error {
		if options.Precondition.ResourceVersion == "17" {
			return nil
		}
		version++
		now.SetResourceVersion(strconv.Itoa(version))
		return &providers.PreconditionError{Ref: ref, Live: now.DeepCopy()}
	}
	action := act(plans.Update, "Deployment api")
	action.Prior.ResourceVersion = "10"
	action.Object.Manifest.Object["spec"] = map[string]any{"replicas": int64(3)}
	action.Changes = []plans.Change{{Path: "spec.replicas", Before: int64(5), After: int64(3)}}
	diff(t, "outcomes", []string{"api: applied, written"}, outcomes(a.run(t.Context(), t, action)))
}

// TestMovedWithValuesThatWereUnknown tests a Secret that gets a checksum and a key whose value is
// generated during the apply.
func TestMovedWithValuesThatWereUnknown(t *testing.T) {
	const checksum = `metadata.annotations["kolla.openstack.org/checksum"]`
	newPassword := plans.Change{Path: `data["password"]`, After: plans.Unknown, Sensitive: true}
	newChecksum := plans.Change{Path: checksum, Before: plans.Masked, After: plans.Unknown, Sensitive: true}
	tests := map[string]struct {
		planned []plans.Change
		want    []string
	}{
		"planned":     {[]plans.Change{newPassword, newChecksum}, []string{"db: applied, written"}},
		"not planned": {[]plans.Change{newChecksum}, []string{"db: failed"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			now := live("Secret db")
			now.SetResourceVersion("12")
			now.SetAnnotations(map[string]string{providers.AnnotationChecksum: "old"})
			a := newApply(t, newCluster(now))
			a.onApply = a.movedOn
			a.onDryRun = func(after *unstructured.Unstructured) error {
				after.Object["data"] = map[string]any{"password": "aHVudGVyMg=="}
				after.SetAnnotations(map[string]string{providers.AnnotationChecksum: "new"})
				return nil
			}
			action := act(plans.Update, "Secret db")
			action.Prior.ResourceVersion = "10"
			action.Changes = test.planned
			diff(t, "outcomes", test.want, outcomes(a.run(t.Context(), t, action)))
		})
	}
}

// TestPartsAreBoundToTheObjectOnly checks that the precondition has no version, because the version
// of a Node changes all the time.
func TestPartsAreBoundToTheObjectOnly(t *testing.T) {
	a := newApply(t, newCluster(live("Node ctl-1")))
	action := act(plans.Update, "Node ctl-1")
	action.Prior.ResourceVersion = "10"
	a.run(t.Context(), t, action)
	diff(t, "calls", []string{"apply Node ctl-1 if uid-ctl-1"}, a.calls)
}

// TestPartsAreTakenAsShown checks that an apply forces only the ownership of fields that the plan
// shows.
func TestPartsAreTakenAsShown(t *testing.T) {
	label := func(name string) plans.Change {
		return plans.Change{Path: "spec." + name, Before: "theirs", After: "ours", Drift: true, Manager: "kubectl"}
	}
	tests := map[string]struct {
		shown []plans.Change
		want  []string
	}{
		"as shown":            {[]plans.Change{label("a"), label("b")}, []string{"ctl-1: applied, written"}},
		"one was taken since": {[]plans.Change{label("a")}, []string{"ctl-1: failed"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			now := live("Node ctl-1")
			now.SetResourceVersion("12")
			now.Object["spec"] = map[string]any{"a": "theirs", "b": "theirs"}
			a := newApply(t, newCluster(now))
			a.onApply = a.movedOn
			action := act(plans.Update, "Node ctl-1")
			action.Prior.ResourceVersion = "10"
			action.Force = true
			action.Object.Manifest.Object["spec"] = map[string]any{"a": "ours", "b": "ours"}
			action.Changes = test.shown
			diff(t, "outcomes", test.want, outcomes(a.run(t.Context(), t, action)))
		})
	}
}

// TestMovedWithoutDryRuns checks that a change that the plan could only predict is predicted again,
// and that a change that the server confirmed for the plan must be confirmed again.
func TestMovedWithoutDryRuns(t *testing.T) {
	webhook := errors.New(`admission webhook "w.example.org" does not support dry run`)
	refusal := apierrors.NewBadRequest(webhook.Error())
	tests := map[string]struct {
		evidence plans.EvidenceKind
		answer   error
		replicas int64 // of the live object at the time of the apply
		want     []string
	}{
		"predicted":           {plans.Unverified, refusal, 5, []string{"api: applied, written"}},
		"predicted otherwise": {plans.Unverified, refusal, 7, []string{"api: failed"}},
		"refused for good":    {plans.Unverified, apierrors.NewBadRequest("no such field"), 5, []string{"api: failed"}},
		"verified by dry run": {plans.DryRun, refusal, 5, []string{"api: failed"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			now := live("Deployment api")
			now.SetResourceVersion("12")
			now.Object["spec"] = map[string]any{"replicas": test.replicas}
			a := newApply(t, newCluster(now))
			a.onApply = a.movedOn
			a.onDryRun = func(*unstructured.Unstructured) error { return test.answer }
			action := act(plans.Update, "Deployment api")
			action.Prior.ResourceVersion = "10"
			action.Evidence.Kind = test.evidence
			action.Object.Manifest.Object["spec"] = map[string]any{"replicas": int64(3)}
			action.Changes = []plans.Change{{Path: "spec.replicas", Before: int64(5), After: int64(3)}}
			diff(t, "outcomes", test.want, outcomes(a.run(t.Context(), t, action)))
		})
	}
}

// TestMovedAndGone checks that an update of a deleted object fails without another attempt.
func TestMovedAndGone(t *testing.T) {
	a := newApply(t, newCluster())
	a.onApply = func(_ context.Context, ref providers.Ref, _ providers.ApplyOptions) error {
		return &providers.PreconditionError{Ref: ref, Gone: true}
	}
	action := act(plans.Update, "Deployment api")
	action.Prior.ResourceVersion = "10"
	result := a.run(t.Context(), t, action)
	if err := result.Outcomes[0].Err; err == nil || !strings.Contains(err.Error(), "was deleted") {
		t.Errorf("got %v, want that it is gone", err)
	}
}

func TestAlwaysMovingIsGivenUp(t *testing.T) {
	a := newApply(t, newCluster())
	attempts := 0
	a.onApply = func(_ context.Context, ref providers.Ref, _ providers.ApplyOptions) error {
		attempts++
		now := live("Deployment api")
		now.SetResourceVersion(fmt.Sprint(10 + attempts))
		a.objects[ref] = now
		return &providers.PreconditionError{Ref: ref, Live: now}
	}
	action := act(plans.Update, "Deployment api")
	action.Prior.ResourceVersion = "10"
	result := a.run(t.Context(), t, action)
	diff(t, "outcomes", []string{"api: failed"}, outcomes(result))
	if attempts != 11 {
		t.Errorf("%d attempts, want 11", attempts)
	}
}

// TestRefusedAfterAClaim checks that the state drops the fingerprint if an apply is refused after
// it claimed added fields. A claim changes the owner of fields. The next plan must not mistake that
// for a write by another client under kolla's name.
func TestRefusedAfterAClaim(t *testing.T) {
	for name, removes := range map[string]string{"no claim": "", "a claim": `{"f:spec":{"f:extra":{}}}`} {
		t.Run(name, func(t *testing.T) {
			before := recorded("Deployment api", true)
			before.Fingerprint = state.Fingerprint{Stamp: "stamp"}
			a := newApply(t, newCluster(live("Deployment api")), before)
			a.onApply = func(context.Context, providers.Ref, providers.ApplyOptions) error {
				return apierrors.NewForbidden(schema.GroupResource{Resource: "deployments"}, "api", errors.New("a quota"))
			}
			action := act(plans.Update, "Deployment api")
			action.Removes = removes
			a.run(t.Context(), t, action)
			known := a.known(t, "Deployment api")
			if !known.Ready || (known.Fingerprint.Stamp == "") != (removes != "") {
				t.Errorf("the record is %+v", known)
			}
		})
	}
}

// TestRemovedLabelIsThePlannedOne checks that a label of a node is removed only if it still has the
// value and the field manager that the plan shows.
func TestRemovedLabelIsThePlannedOne(t *testing.T) {
	for name, test := range map[string]struct {
		value, manager string
		want           string
	}{
		"as planned":       {"one", "kubelet", "node-1: applied, written"},
		"another value":    {"two", "kubelet", "node-1: failed"},
		"of another cloud": {"one", "kolla:test", "node-1: failed"},
	} {
		now := live("Node node-1")
		now.SetLabels(map[string]string{"tier": test.value})
		now.SetResourceVersion("12")
		now.SetManagedFields([]metav1.ManagedFieldsEntry{{
			Manager: test.manager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", FieldsType: "FieldsV1",
			FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:labels":{"f:tier":{}}}}`),
		}})
		a := newApply(t, newCluster(now))
		action := act(plans.Update, "Node node-1")
		action.Object.Partial, action.Object.Unwanted = true, []string{"tier"}
		action.Removes = `{"f:metadata":{"f:labels":{"f:tier":{}}}}`
		action.Changes = []plans.Change{{Path: "metadata.labels.tier", Before: "one", Drift: true, Manager: "kubelet"}}
		diff(t, name, []string{test.want}, outcomes(a.run(t.Context(), t, action)))
	}
}
