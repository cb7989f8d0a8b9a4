package decision

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/planner/dryrun"
	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/internal/outcome"
	"kolla.openstack.org/kolla/planner/internal/ownership"
	"kolla.openstack.org/kolla/planner/internal/trial"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/planner/proof"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/state"
)

// verified asks the server what an apply would change.
func verified(ctx context.Context, e *env, s *subject) (*outcome.Outcome, error) {
	x, out, err := predict(ctx, e, s)
	if err != nil {
		return nil, err
	}
	if out != nil {
		passOn(out, x)
	} else {
		passOn(&s.draft, x)
		if out, err = decideByDifference(e, s, x); err != nil {
			return nil, err
		}
		switch {
		case out.Action.Evidence.Forbidden && s.draft.Object.OnlyRemoves() && !e.inv.Input.RefreshOnly:
			// Others may label any node. That must not stop an apply.
			out.Action = s.draft.Action
			out.Action.Verb, out.Action.Removes, out.After = plans.None, "", nil
			out.Action.Evidence = plans.Evidence{Kind: plans.Unverified, Detail: x.evidence.Detail, Advice: x.evidence.Advice}
		case x.denied == nil || out.Action.Verb == plans.None:
		case e.inv.Accepts(s.draft.Object):
			out.Action.Evidence = x.denied.Accepted()
		default:
			out = refused(s, trial.Rejection(s.draft.Object, *x.denied))
			out.Action.Evidence = x.denied.Refused()
		}
	}
	reportWrongProof(s, x, out)
	return out, nil
}

// predict asks the server for the result of an apply to the object. The outcome is nil unless the
// answers decide without a comparison.
func predict(ctx context.Context, e *env, s *subject) (*prediction, *outcome.Outcome, error) {
	contention := providers.Contend()
	for first := true; ; first = false {
		x := &prediction{applied: s.draft.Live, evidence: plans.Evidence{Kind: plans.DryRun}}
		if !s.proof.applied || e.inv.Input.VerifyAll || !first {
			if out, err := askApply(ctx, e, s, x); out != nil || err != nil {
				return x, out, err
			}
		}
		x.raced = x.applied.GetResourceVersion() != s.draft.Live.GetResourceVersion()
		if x.raced && contention.Again(ctx) {
			if again, err := reread(ctx, e, s); err != nil {
				return nil, nil, err
			} else if again {
				continue
			}
		}
		out, err := findForeign(ctx, e, s, x)
		if apierrors.IsConflict(err) && contention.Again(ctx) {
			if _, err := reread(ctx, e, s); err != nil {
				return nil, nil, err
			}
			continue
		}
		return x, out, err
	}
}

// passOn adds the warnings of the server to the problems. Warnings about an object that is replaced
// may be about the additions of others, so they are dropped. If the action removes fields, only the
// warnings about the object without these fields count.
func passOn(out *outcome.Outcome, x *prediction) {
	if out.Action.Verb == plans.Replace {
		return
	}
	warned := x.warned
	if out.Action.Removes != "" {
		warned = x.finally
	}
	for _, text := range warned {
		out.Problems = append(slices.Clip(out.Problems), plans.Problem{Warning: true, Address: out.Object.Address, Detail: text})
	}
}

// reportWrongProof adds a problem if the server would change an object that was proven to be
// unchanged. A refusal of the server is no such proof, because a policy or quota may be new.
func reportWrongProof(s *subject, x *prediction, out *outcome.Outcome) {
	if s.proof.unchanged.Kind == "" || x.raced || out.Action.Evidence.Kind == plans.Unverified || len(out.Action.Changes) == 0 {
		return
	}
	var paths []string
	for _, change := range out.Action.Changes {
		paths = append(paths, change.Path)
	}
	out.Problems = append(out.Problems, plans.ProblemOf(out.Object,
		fmt.Sprintf("kolla would have been wrong about %s", out.Action.Ref),
		fmt.Sprintf(`Without -verify=full, kolla would have taken it for unchanged, by the step %q, and the server says otherwise: it would change %s.
This is a bug of kolla's, unless somebody edited the state by hand. Please report it, with the versions of kolla and of the server, the declaration of the object, its part of the state, and what kubectl get -o yaml --show-managed-fields says of it; take secrets out first.
To get past it, change anything in the declaration, such as an annotation: kolla then has nothing to go by and asks the server.`,
			s.proof.unchanged.Kind, strings.Join(paths, ", "))))
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
		settled, undecided := ownership.Arbitrate(&s.draft, e.inv.Input.ForceConflicts, manifest, conflict.Conflicts)
		if undecided != nil {
			return nil, undecided
		}
		if len(settled.Refused) > 0 {
			return refused(s, ownership.Problem(&s.draft, settled.Refused)), nil
		}
		if manifest, err = contend(s, manifest, settled); err != nil {
			return nil, err
		}
		answer, err = e.inv.Input.Reader.DryRun(ctx, manifest, providers.DryRunOptions{Manager: s.draft.Manager, Force: settled.Takes, Warn: collect(&x.warned)})
	}
	refusal := ""
	if err != nil {
		r := dryrun.Classify(err)
		if out := stiff(e, s, manifest, r); out != nil {
			return out, nil
		}
		switch {
		case r.World:
			return nil, err
		case len(r.Immutable) > 0:
			causes := dryrun.Causes(s.draft.Live, manifest, s.draft.Manager, r.Immutable)
			if out := ran(s, causes); out != nil {
				return out, nil
			}
			return replace(ctx, e, s, causes)
		case r.Unasked != "":
			x.evidence = r.Unverified()
		case r.Permission != nil:
			x.evidence = r.Forbidden()
		case e.inv.Input.RefreshOnly:
			x.evidence = plans.Evidence{Kind: plans.Unverified, Detail: "the cluster refuses to say what an apply would change: " + r.Text()}
		case r.Shape && crdOf(e, s) != nil:
			refusal = r.Text()
		case r.Denied && !s.draft.Owned():
			x.evidence, x.denied = r.Unverified(), &r
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
		becomes = x.final // the intermediate result never exists
	}
	differences, err := fields.Compare(s.draft.Live, becomes)
	if err != nil {
		return nil, err
	}
	if x.raced {
		// Undeclared fields differ because somebody wrote them, not because of the apply.
		differences = fields.Declared(differences, fields.OwnersOf(s.draft.Live, s.draft.Manager), fields.OwnersOf(x.applied, s.draft.Manager))
	}
	if x.invalid != nil {
		differences = slices.DeleteFunc(differences, func(d fields.Difference) bool { return d.Hollow() })
	}
	differences = s.draft.WithUnknown(differences)
	removeUnshown(e.inv.Input.ForeignPolicy, s, x)
	if len(differences)+len(x.removed) == 0 {
		return matches(s, x.evidence, confirmed(e, s, x)), nil
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
	reasons = slices.Concat(reasons, ownership.Drift(x.removed, s.draft.Adopts()), freed(s.idle, changes), replacedValues(s, valuesIn(e.inv)), renewal(s))
	if s.draft.Record.MovedFrom(s.draft.Object.Address) {
		reasons = append(reasons, plans.Reason{Kind: plans.ReasonMoved, Detail: s.draft.Record.State.Address})
	}
	out := act(s, updateOrAdopt(s), reasons...)
	out.Action.Evidence, out.Action.Changes, out.After = x.evidence, changes, x.final
	return out, nil
}

// confirmed returns the fingerprint of the live object if the answer to a dry run has it too: kolla
// already owns all fields of the declaration, with the declared values.
func confirmed(e *env, s *subject, x *prediction) state.Fingerprint {
	if x.evidence.Kind != plans.DryRun || !e.inv.Rules.Fingerprint(x.applied, namespaceOf(e, s), s.draft.Manager, termsOf(e, s)).Equal(s.since.fingerprint) {
		return state.Fingerprint{}
	}
	return s.since.fingerprint
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

// termsOf returns the terms of the fingerprints of the object.
func termsOf(e *env, s *subject) proof.Terms {
	terms := proof.TermsOf(s.draft.Action.Object, s.draft.Action.Scaled, e.inv.Input.ForeignPolicy == plans.IgnoreForeign)
	terms.Added = s.addedRules
	return terms
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
func originOf(s *subject, answer *unstructured.Unstructured) ownership.Origin {
	held := fields.OwnersOf(s.draft.Live, s.draft.Manager)
	same := s.draft.Record != nil && s.draft.Record.State.DesiredDigest == s.draft.Object.Digest() && !givenAnew(s, answer, held)
	return ownership.Origin{
		Live:   held,
		After:  fields.OwnersOf(answer, s.draft.Manager),
		Same:   same,
		Edited: s.draft.Record != nil && !same,
		Ours:   !s.draft.Adopts(),
		// Only the same server can judge this, and only if nothing but the object changed.
		Written:      writtenSince(s),
		Impersonated: s.since.impersonated,
		Untouched:    s.since.clean && !s.since.altered,
	}
}

// writtenSince reports whether somebody certainly wrote to the object since the last apply or
// check, judged by the same server: its fingerprint differs, or somebody removed the record of
// kolla's fields.
func writtenSince(s *subject) bool {
	if s.since.altered {
		return true
	}
	if !s.since.done || !s.draft.Record.Is(s.draft.Live) || s.draft.Record.State.Fingerprint.Owned == "" || s.since.clean {
		return false
	}
	now := s.since.fingerprint
	return now.Owned == "" || now.Server == s.draft.Record.State.Fingerprint.Server
}

// stiff decides about a claim that its storage class does not let grow. Nil: the server refuses
// something else.
func stiff(e *env, s *subject, manifest *unstructured.Unstructured, r dryrun.Refusal) *outcome.Outcome {
	if s.draft.Action.Ref.GVK.GroupKind() != kinds.PersistentVolumeClaim || r.World || r.Denied || r.Permission != nil || r.Unasked != "" || len(r.Immutable) > 0 || e.inv.Input.RefreshOnly {
		return nil
	}
	want, declared := inventory.ClaimSize(manifest.Object)
	has, known := inventory.ClaimSize(s.draft.Live.Object)
	if !declared || !known || want.Cmp(has) <= 0 {
		return nil
	}
	return refusedFor(s, fmt.Sprintf("%s cannot grow from %s to %s", s.draft.Action.Ref, &has, &want), trial.GrowthRemedy(s.draft.Live, r, has))
}

// shrinking says that a claim is declared smaller than it is; empty: it is not.
func shrinking(s *subject) string {
	want, declared := inventory.ClaimSize(s.draft.Object.Manifest.Object)
	has, known := inventory.ClaimSize(s.draft.Live.Object)
	if s.draft.Action.Ref.GVK.GroupKind() != kinds.PersistentVolumeClaim || !declared || !known || want.Cmp(has) >= 0 {
		return ""
	}
	return fmt.Sprintf("A volume cannot shrink, and this one has %s. ", &has)
}
