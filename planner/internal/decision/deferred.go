package decision

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/planner/dryrun"
	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/internal/outcome"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// deferred decides about objects with values that are not known yet. The server cannot be
// asked about them. The known part is compared.
func deferred(ctx context.Context, e *env, s *subject) (*outcome.Outcome, error) {
	waits := strings.Join(s.draft.Object.Deferred, ", ")
	if inventory.CandidateOf(s.draft.Object).NamedBy(e.replaced...) {
		return refusedFor(s, fmt.Sprintf("%s cannot be replaced by this plan", s.draft.Action.Ref),
			fmt.Sprintf("It depends on %s, which is known only after the apply. Apply without -replace first.", waits)), nil
	}
	evidence := plans.Evidence{Kind: plans.Unverified, Detail: fmt.Sprintf("it depends on %s, which is known after the apply", waits)}
	if why, ok := demanded(e, s.draft.Object); ok && s.draft.Live != nil && !s.draft.Adopts() {
		return replaceLater(ctx, e, s, why, evidence)
	}
	if s.draft.Live != nil {
		return updateLater(e, s, evidence)
	}
	manifest, err := resolve(e, s)
	if err != nil {
		return nil, err
	}
	s.draft.Pending = append(s.draft.Pending, laterKeys(s)...)
	known := s.draft.Record != nil && s.draft.Record.State.UID != ""
	switch {
	case known && e.inv.Unread(s.draft.Action.Ref) != nil:
		out := act(s, plans.Update, plans.Reason{Kind: plans.ReasonConfig})
		out.Action.Evidence = evidence
		out.Action.Prior = providers.Precondition{UID: types.UID(s.draft.Record.State.UID)}
		return out, nil
	case known:
		return assumeNew(s, manifest, s.draft.Record.Absence(), evidence)
	}
	return assumeNew(s, manifest, plans.ReasonNew, evidence)
}

// replaceLater plans to replace a live object. The apply asks the server once all values of the
// object are known.
func replaceLater(ctx context.Context, e *env, s *subject, why plans.Reason, evidence plans.Evidence) (*outcome.Outcome, error) {
	o, err := findObstacle(ctx, e, s, why.Kind)
	if err != nil {
		return nil, err
	}
	if o.stands() {
		summary, detail := o.about(s, []plans.Reason{why})
		return refusedFor(s, summary, detail), nil
	}
	after, differences, err := expectLater(e, s)
	if err != nil {
		return nil, err
	}
	out := act(s, plans.Replace, why)
	out.After, out.Action.Evidence, out.Action.Changes = after, evidence, fields.Changes(differences)
	out.Action.Holds = dataLost(s)
	out.Action.Force, out.Action.Yields = false, nil
	return out, nil
}

// updateLater plans to change a live object.
func updateLater(e *env, s *subject, evidence plans.Evidence) (*outcome.Outcome, error) {
	after, differences, err := expectLater(e, s)
	if err != nil {
		return nil, err
	}
	out := act(s, updateOrAdopt(s))
	out.After, out.Action.Evidence, out.Action.Changes = after, evidence, fields.Changes(differences)
	out.Action.Reasons = originOf(s, after).Differences(differences)
	return out, nil
}

// expectLater predicts the known part of a live object after the apply.
func expectLater(e *env, s *subject) (after *unstructured.Unstructured, differences []fields.Difference, err error) {
	manifest, err := sentManifest(e, s)
	if err != nil {
		return nil, nil, err
	}
	s.draft.Pending = append(s.draft.Pending, laterKeys(s)...)
	if after, err = dryrun.Predict(s.draft.Live, nil, manifest, s.draft.Manager); err != nil {
		return nil, nil, err
	}
	differences, err = fields.Compare(s.draft.Live, after)
	return after, s.draft.WithUnknown(differences), err
}

// laterKeys returns the keys of a Secret with unknown values.
func laterKeys(s *subject) []string {
	var out []string
	for key, data := range s.draft.Object.Data {
		if slices.ContainsFunc(data.Parts, func(p providers.DataPart) bool {
			return strings.Contains(p.Literal+p.Sensitive, configs.KnownAfterApply)
		}) {
			out = append(out, key)
		}
	}
	return out
}

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

// assumeNew plans to create an object about which the server cannot be asked. The apply refuses if
// the object exists.
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
