package decision

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/planner/dryrun"
	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/internal/blame"
	"kolla.openstack.org/kolla/planner/internal/outcome"
	"kolla.openstack.org/kolla/planner/internal/ownership"
	"kolla.openstack.org/kolla/planner/internal/trial"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/planner/proof"
	"kolla.openstack.org/kolla/providers"
)

// verified asks the server what an apply would change.
func verified(ctx context.Context, e *env, s *subject) (*outcome.Outcome, error) {
	contention := providers.Contend()
	for first := true; ; first = false {
		x := &prediction{applied: s.draft.Live, evidence: plans.Evidence{Kind: plans.DryRun}}
		if !s.alreadyApplied || e.inv.Input.VerifyAll || !first {
			if out, err := askApply(ctx, e, s, x); out != nil || err != nil {
				return passOn(out, x), err
			}
		}
		if x.applied.GetResourceVersion() != s.draft.Live.GetResourceVersion() && contention.Again(ctx) {
			if again, err := reread(ctx, e, s); again || err != nil {
				if err != nil {
					return nil, err
				}
				continue
			}
		}
		out, err := findForeign(ctx, e, s, x)
		if apierrors.IsConflict(err) && contention.Again(ctx) {
			if _, err := reread(ctx, e, s); err != nil {
				return nil, err
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		if out != nil {
			return passOn(out, x), nil
		}
		passOn(&s.draft, x)
		return decideByDifference(e, s, x)
	}
}

// passOn adds the warnings of the server to the problems. Warnings about an object that is
// replaced, or that fields are removed from, may be about the additions of others, so other
// warnings count then. The outcome may be nil.
func passOn(out *outcome.Outcome, x *prediction) *outcome.Outcome {
	if out == nil || out.Action.Verb == plans.Replace {
		return out
	}
	warned := x.warned
	if out.Action.Removes != "" {
		warned = x.finally
	}
	for _, text := range warned {
		out.Problems = append(slices.Clip(out.Problems), plans.Problem{Warning: true, Address: out.Object.Address, Detail: text})
	}
	return out
}

// askApply asks the server for the result of a server-side apply, and notes it in x. The
// outcome is nil unless the answer decides.
func askApply(ctx context.Context, e *env, s *subject, x *prediction) (*outcome.Outcome, error) {
	manifest, err := sentManifest(e, s)
	if err != nil {
		return nil, err
	}
	answer, err := e.inv.Input.Reader.DryRun(ctx, manifest, providers.DryRunOptions{Manager: s.draft.Manager, Warn: collect(&x.warned)})
	var conflict *providers.ConflictError
	if errors.As(err, &conflict) {
		settled, undecided := ownership.Arbitrate(ownershipOf(e, s), manifest, conflict.Conflicts)
		if undecided != nil {
			return nil, undecided
		}
		if len(settled.Refused) > 0 {
			return refused(s, ownership.Problem(ownershipOf(e, s), settled.Refused)), nil
		}
		if manifest, err = contend(s, manifest, settled); err != nil {
			return nil, err
		}
		answer, err = e.inv.Input.Reader.DryRun(ctx, manifest, providers.DryRunOptions{Manager: s.draft.Manager, Force: settled.Takes, Warn: collect(&x.warned)})
	}
	refusal := ""
	if err != nil {
		r := dryrun.Classify(err)
		switch {
		case r.World:
			return nil, err
		case len(r.Immutable) > 0:
			return replace(ctx, e, s, dryrun.Causes(s.draft.Live, manifest, s.draft.Manager, r.Immutable))
		case r.Unasked != "":
			x.evidence = plans.Evidence{Kind: plans.Unverified, Detail: r.Unasked}
		case r.Permission != nil:
			x.evidence = r.Forbidden()
		case e.inv.Input.RefreshOnly:
			x.evidence = plans.Evidence{Kind: plans.Unverified, Detail: "the cluster refuses to say what an apply would change: " + r.Text()}
		case r.Shape && crdOf(e, s) != nil:
			refusal = r.Text()
		case !s.draft.Owned():
			return refused(s, trial.Rejection(s.draft.Object, r)), nil
		default:
			x.invalid = &r
		}
		if answer, err = predictApply(ctx, s, e.inv.Input.Reader, x, manifest); err != nil {
			return nil, err
		}
	}
	if crdOf(e, s) != nil && x.evidence.Kind != plans.Unverified {
		changed := e.ask.Update(s.draft.Object, manifest, answer, refusal)
		if changed.Refused {
			return withheld(s, changed), nil
		}
		s.draft.Problems = append(s.draft.Problems, changed.Problems...)
		answer, x.evidence = changed.After, changed.Evidence
	}
	x.applied = answer
	return nil, nil
}

// contend notes which fields are left to others, and which are taken. It returns the manifest
// to send instead of the one that conflicts.
func contend(s *subject, manifest *unstructured.Unstructured, settled ownership.Settlement) (*unstructured.Unstructured, error) {
	s.draft.Action.Force = settled.Takes
	s.draft.Action.Yields = append(s.draft.Action.Yields, settled.Yields...)
	return fields.Trim(manifest, settled.Yields)
}

// decideByDifference decides by the difference between the live object and the result.
func decideByDifference(e *env, s *subject, x *prediction) (*outcome.Outcome, error) {
	becomes := x.applied
	if x.invalid != nil {
		becomes = x.final // what is in between never comes about
	}
	differences, err := fields.Compare(s.draft.Live, becomes)
	if err != nil {
		return nil, err
	}
	s.raced = x.applied.GetResourceVersion() != s.draft.Live.GetResourceVersion()
	s.confirmed = x.evidence.Kind == plans.DryRun && e.inv.Rules.Check(x.applied, namespaceOf(e, s), s.draft.Manager, termsOf(e, s)) == s.check
	if s.raced {
		// Undeclared fields differ because somebody wrote them, not because of the apply.
		differences = fields.Declared(differences, fields.OwnersOf(s.draft.Live, s.draft.Manager), fields.OwnersOf(x.applied, s.draft.Manager))
	}
	if x.invalid != nil {
		differences = slices.DeleteFunc(differences, func(d fields.Difference) bool { return d.Hollow() })
	}
	differences = s.draft.WithUnknown(differences)
	if len(differences)+len(x.removed) == 0 {
		return matches(s, x.evidence), nil
	}
	origin := originOf(s, x.applied)
	reasons := origin.Differences(differences)
	if x.invalid != nil {
		reasons = origin.Additions(differences, reasons)
	}
	if s.draft.Object.Partial && (s.draft.Record == nil || origin.Same) {
		warnTwin(s, e.inv.Input.Cloud, differences)
	}
	if x.evidence.Kind == plans.Schema {
		reasons = blameDefinition(e, s, reasons)
	}
	shown, err := joined(s, differences, x)
	if err != nil {
		return nil, err
	}
	changes := fields.Changes(shown)
	reasons = slices.Concat(reasons, blame.Drift(x.removed, s.draft.Adopts()), freed(s.idle, changes), replacedValues(s, valuesIn(e.inv)), renewal(s))
	if s.draft.Record.MovedFrom(s.draft.Object.Address) {
		reasons = append(reasons, plans.Reason{Kind: plans.ReasonMoved, Detail: s.draft.Record.State.Address})
	}
	out := act(s, updateOrAdopt(s), reasons...)
	out.Action.Evidence, out.Action.Changes, out.After = x.evidence, changes, x.final
	return out, nil
}

// joined merges the differences of an apply with the removals of added fields. If both change
// a field, the result has its present value and its final value.
func joined(s *subject, differences []fields.Difference, x *prediction) ([]fields.Difference, error) {
	meets := func(all []fields.Difference, d fields.Difference) int {
		return slices.IndexFunc(all, func(other fields.Difference) bool { return fields.Overlap(other.At, d.At) })
	}
	all := slices.Concat(differences, x.removed)
	if x.invalid == nil && slices.ContainsFunc(x.removed, func(d fields.Difference) bool { return meets(differences, d) >= 0 }) {
		var err error
		if all, err = fields.Compare(s.draft.Live, x.final); err != nil {
			return nil, err
		}
		all = s.draft.WithUnknown(all)
		for i, d := range all {
			if r := meets(x.removed, d); r >= 0 {
				all[i].Drift, all[i].Manager, all[i].Time = x.removed[r].Drift, x.removed[r].Manager, x.removed[r].Time
			}
		}
	}
	slices.SortStableFunc(all, func(a, b fields.Difference) int { return strings.Compare(a.Path, b.Path) })
	return all, nil
}

// termsOf are the terms of the fingerprints of the object.
func termsOf(e *env, s *subject) proof.Terms {
	return proof.TermsOf(s.draft.Action.Object, s.draft.Action.Scaled, e.inv.Input.ForeignPolicy == plans.IgnoreForeign)
}

// warnTwin warns of another configuration or state for this cloud: kolla's field manager owns
// fields that no known declaration had.
func warnTwin(s *subject, cloud string, differences []fields.Difference) {
	var taken []string
	for _, d := range differences {
		if d.After == nil && d.Before != nil {
			taken = append(taken, d.Path)
		}
	}
	if len(taken) == 0 {
		return
	}
	warning := plans.ProblemOf(s.draft.Object, fmt.Sprintf("Another configuration or state also manages %s for cloud %q", s.draft.Action.Ref, cloud),
		fmt.Sprintf("An apply for this cloud set %s, and this state does not know that apply. This plan removes these fields, and a plan with the other state removes the fields that are declared here. A cloud has one configuration and one state, so give one of the two another cloud name. If the state was lost or is an old copy, kolla state rebuild makes it anew.", words.Few(taken, 4)))
	warning.Warning = true
	s.draft.Problems = append(s.draft.Problems, warning)
}

// originOf collects the facts that decide who changed the object.
func originOf(s *subject, answer *unstructured.Unstructured) blame.Origin {
	held := fields.OwnersOf(s.draft.Live, s.draft.Manager)
	same := s.draft.Record != nil && s.draft.Record.State.DesiredDigest == s.draft.Object.Digest() && !givenAnew(s, answer, held)
	return blame.Origin{
		Live:   held,
		After:  fields.OwnersOf(answer, s.draft.Manager),
		Same:   same,
		Edited: s.draft.Record != nil && !same,
		Ours:   !s.draft.Adopts(),
		// Judged by the same server, with no other change than that of the object.
		Written: writtenSince(s),
	}
}

// writtenSince reports whether somebody certainly wrote to the object since the last apply or
// check, judged by the same server: its fingerprint differs, or somebody removed the record of
// kolla's fields.
func writtenSince(s *subject) bool {
	return s.altered || s.draft.Record.Is(s.draft.Live) && s.draft.Record.State.Check.Owned != "" && !s.clean && (s.check.Owned == "" || s.check.Server == s.draft.Record.State.Check.Server)
}
