package explain_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"kolla.openstack.org/kolla/internal/base/redaction"
	"kolla.openstack.org/kolla/internal/present/jsonview"
	"kolla.openstack.org/kolla/internal/present/view"
	"kolla.openstack.org/kolla/internal/run/engine"
	"kolla.openstack.org/kolla/internal/run/executor"
	"kolla.openstack.org/kolla/internal/run/explain"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// failing returns an apply with n failed actions.
func failing(n int, why func(i int) error) *engine.ApplyResult {
	result := &executor.Result{}
	for i := range n {
		action := &plans.Action{Verb: plans.Update, Address: addrs.Object{Block: "manifest.m", Kind: "ConfigMap", Name: fmt.Sprintf("m-%d", i)}}
		result.Outcomes = append(result.Outcomes, executor.Outcome{Action: action, Status: executor.Failed, Err: why(i)})
	}
	return &engine.ApplyResult{Rounds: []engine.Round{{Plan: &plans.Plan{}, Result: result}}}
}

// TestLostLockIsOneError checks that a lost lock is reported as one error, with the number of
// failed objects. It fails all remaining actions.
func TestLostLockIsOneError(t *testing.T) {
	all := failing(1400, func(int) error { return &state.LockLostError{ID: "42"} })
	result := explain.Applied(all, "v1", nil)
	var out, events bytes.Buffer
	printer := view.New(&out, &out, true)
	printer.Events = jsonview.New(&events, "v1")
	if err := printer.Applied(result); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	if strings.Count(text, "Error: ") != 1 || !strings.Contains(text, "Error: The lock was lost") || !strings.Contains(text, "1400 in all") || !strings.Contains(text, "1400 failed") {
		t.Errorf("the errors are:\n%s", text)
	}
	if events.Len() > 2000 || !strings.Contains(events.String(), "1400 objects failed for this reason") {
		t.Errorf("%d bytes of events: %.2000s", events.Len(), events.String())
	}
}

// TestOtherFailuresStayApart checks that every object that is not ready is reported. Each has its
// own reason and log.
func TestOtherFailuresStayApart(t *testing.T) {
	result := explain.Applied(failing(3, func(i int) error {
		return &providers.NotReadyError{Reason: "the job failed", Detail: []string{fmt.Sprintf("log %d", i)}}
	}), "v1", nil)
	if len(result.Failed) != 3 {
		t.Errorf("%d failures of 3: %+v", len(result.Failed), result.Failed)
	}
	// Equal errors of several objects are also reported for each object.
	result = explain.Applied(failing(3, func(int) error { return errors.New("denied the request: no") }), "v1", nil)
	if len(result.Failed) != 3 {
		t.Errorf("%d failures of 3: %+v", len(result.Failed), result.Failed)
	}
}

// TestErrorsWithoutSecrets checks that no error shows a secret value.
func TestErrorsWithoutSecrets(t *testing.T) {
	secrets := &redaction.Values{}
	secrets.Add("hunter2-hunter2")
	err := errors.New("cannot write hunter2-hunter2")
	if summary, detail := explain.Error(err, "v1", secrets); strings.Contains(summary+detail, "hunter2") || !strings.Contains(detail, redaction.Mask) {
		t.Errorf("%s: %s", summary, detail)
	}
	result := explain.Applied(failing(1, func(int) error { return err }), "v1", secrets)
	if got := result.Failed[0].Reason; got != "cannot write "+redaction.Mask {
		t.Errorf("%q", got)
	}
}
