package decision

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/planner/dryrun"
	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/internal/outcome"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// unread decides about objects that could not be read. An apply still tries to write changed
// declarations, bound to the recorded UID. Unchanged declarations are left alone.
func unread(_ context.Context, e *env, s *subject) (*outcome.Outcome, error) {
	err := e.inv.Unread(s.draft.Action.Ref)
	if err == nil {
		return nil, nil
	}
	advice := permissionAdvice(err)
	evidence := plans.Evidence{Kind: plans.Unverified, Detail: err.Error(), Advice: advice}
	known := s.draft.Record != nil && s.draft.Record.State.UID != ""
	ran := s.draft.Finished() && sameRun(s)
	var out *outcome.Outcome
	switch {
	case inventory.CandidateOf(s.draft.Object).NamedBy(e.replaced...), known && s.draft.Object.IsJob() && !ran, !known && (s.draft.Object.Partial || inventory.Imported(e.inv.Input.Imports, s.draft.Object.Address)):
		out = refusedFor(s, fmt.Sprintf("cannot plan %s: it could not be read", s.draft.Action.Ref), strings.TrimSuffix(err.Error()+". "+advice, ". "))
	case ran:
		out = act(s, plans.None)
		evidence = plans.Evidence{Kind: plans.Recorded, Detail: "finished"}
	case known && s.draft.Record.State.DesiredDigest == s.draft.Object.Digest() && !s.draft.Record.MovedFrom(s.draft.Object.Address):
		out = act(s, plans.None)
		out.Action.Pending = !s.draft.Record.State.Ready
	case known:
		out = act(s, plans.Update, plans.Reason{Kind: plans.ReasonConfig})
	default:
		manifest, err := resolve(e, s)
		if err != nil {
			return nil, err
		}
		return assumeNew(s, manifest, plans.ReasonNew, evidence)
	}
	out.Action.Evidence = evidence
	if known {
		out.Action.Prior = providers.Precondition{UID: types.UID(s.draft.Record.State.UID)}
	}
	return out, nil
}

// assumeNew plans to create an object that nobody can ask the server about. The apply refuses
// if the object exists.
func assumeNew(s *subject, manifest *unstructured.Unstructured, reason plans.ReasonKind, evidence plans.Evidence) (*outcome.Outcome, error) {
	verb := plans.Create
	if s.draft.Object.IsJob() {
		verb = plans.Run
	}
	out := act(s, verb, plans.Reason{Kind: reason})
	out.Action.Evidence = evidence
	var err error
	if out.After, err = dryrun.AsApplied(manifest); err != nil {
		return nil, err
	}
	differences, err := fields.Compare(nil, manifest)
	out.Action.Changes = fields.Changes(out.WithUnknown(differences))
	return out, err
}

// permissionAdvice says how to give the user the missing permission; empty: none is missing.
func permissionAdvice(err error) string {
	var permission *providers.PermissionError
	if errors.As(err, &permission) {
		return permission.Advice()
	}
	return ""
}
