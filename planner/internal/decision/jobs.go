package decision

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/planner/internal/outcome"
	"kolla.openstack.org/kolla/planner/internal/trial"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/state"
)

// runAgain decides about live Jobs. A Job runs again if its last run failed. A Job of kolla with
// the annotation of its inputs (providers.AnnotationInputs) also runs again if these changed
// before it completed. No other versioned Job runs again: its name contains a hash of what it
// does, so another run is another object. A Job without a version goes on to the later steps, which
// compare its fields like those of any other object.
//
// A completed Job that registers something on servers also runs again if these have something else
// (registered.go).
//
// More rules are elsewhere: absent and unread decide about finished Jobs that were cleaned up or
// cannot be read. demanded has -replace and replace_triggered_by, and comes before this step.
// removeVersions (package removal) keeps no record of an old run.
func runAgain(ctx context.Context, e *env, s *subject) (*outcome.Outcome, error) {
	if !s.draft.Object.IsJob() {
		return nil, nil
	}
	if condition := jobCondition(s.draft.Live, batchv1.JobFailed); condition != "" {
		return replace(ctx, e, s, []plans.Reason{{Kind: plans.ReasonFailedJob, Detail: condition}})
	}
	if s.draft.Ours && s.draft.OtherInputs() && jobCondition(s.draft.Live, batchv1.JobComplete) == "" {
		return replace(ctx, e, s, []plans.Reason{{Kind: plans.ReasonConfig}})
	}
	if s.draft.Ours {
		if out, err := replaceForForeign(ctx, e, s); out != nil || err != nil {
			return out, err
		}
	}
	if !s.draft.Versioned() {
		return nil, nil
	}
	if s.draft.Ours && jobCondition(s.draft.Live, batchv1.JobComplete) != "" {
		if out, err := registerAgain(ctx, e, s); out != nil || err != nil {
			return out, err
		}
	}
	return matches(s, plans.Evidence{Kind: plans.Recorded, Detail: "its name is made of what it runs"}, state.Fingerprint{}), nil
}

// jobCondition returns the message of a true condition of a Job, or its type without a
// message; empty: the condition is not true.
func jobCondition(job *unstructured.Unstructured, kind batchv1.JobConditionType) string {
	conditions, _, _ := unstructured.NestedSlice(job.Object, "status", "conditions")
	for _, c := range conditions {
		condition, _ := c.(map[string]any)
		if condition["type"] != string(kind) || condition["status"] != "True" {
			continue
		}
		if message, _ := condition["message"].(string); message != "" {
			return message
		}
		return string(kind)
	}
	return ""
}

// sameRun reports whether another run of a Job would do the same as its last one. A record of an
// older kolla only knows whether the declaration is the same.
func sameRun(s *subject) bool {
	known := s.draft.Record.State
	return s.draft.Versioned() || known.DesiredDigest == s.draft.Object.Digest() || known.RunDigest != "" && known.RunDigest == s.draft.Object.RunDigest()
}

// ran decides about a Job with changes that the server accepts only for a new Job. The Job stays if
// it has finished and another run would do the same. Nil: it is replaced.
func ran(s *subject, reasons []plans.Reason) *outcome.Outcome {
	if !s.draft.Object.IsJob() || !s.draft.Record.Is(s.draft.Live) || !sameRun(s) || jobCondition(s.draft.Live, batchv1.JobComplete) == "" {
		return nil
	}
	detail := fmt.Sprintf("finished; %s is for its next run", trial.PathsOf(reasons))
	return matches(s, plans.Evidence{Kind: plans.Recorded, Detail: detail}, state.Fingerprint{})
}
