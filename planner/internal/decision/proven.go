package decision

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/planner/internal/additions"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/internal/outcome"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/planner/proof"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// proven decides about objects that an apply certainly would not change, without a request. It
// leaves all other objects to the server. With VerifyAll it only notes its claim.
func proven(ctx context.Context, e *env, s *subject) (*outcome.Outcome, error) {
	if e.inv.Rules == nil || s.draft.Adopts() || crdOf(e, s) != nil {
		return nil, nil
	}
	manifest, err := sentManifest(e, s)
	if err != nil || len(s.draft.Pending) > 0 {
		return nil, err
	}
	compareRecord(e, s, manifest)
	switch {
	case asRecorded(s) && proof.SameValues(s.draft.Live, manifest):
		s.claim = plans.Evidence{Kind: plans.Fingerprint}
	case e.inv.Rules.Undisturbed(s.draft.Live, namespaceOf(e, s)) && proof.Holds(s.draft.Live, manifest, s.draft.Manager) && providers.Tainted(s.draft.Live, s.draft.Manager):
		s.alreadyApplied = true
		added, err := mayBeAdded(ctx, e, s)
		if err != nil {
			return nil, err
		}
		if !added {
			s.claim = plans.Evidence{Kind: plans.Ownership}
		}
	}
	if s.claim.Kind == "" || e.inv.Input.VerifyAll {
		return nil, nil
	}
	return matches(s, s.claim), nil
}

// compareRecord compares the live object with its record.
func compareRecord(e *env, s *subject, manifest *unstructured.Unstructured) {
	s.check = e.inv.Rules.Check(s.draft.Live, namespaceOf(e, s), s.draft.Manager, termsOf(e, s))
	s.draft.Action.Seen = s.check.Owned
	s.clean = s.draft.Record.Is(s.draft.Live) && s.check.Owned != "" && s.check.Owned == s.draft.Record.State.Check.Owned
	s.altered = s.clean && !proof.SameValues(s.draft.Live, manifest)
}

// reread reads a live object again that changed after the LIST. It reports whether the object
// is still the same one and could be read.
func reread(ctx context.Context, e *env, s *subject) (bool, error) {
	live, err := e.inv.Input.Reader.Get(ctx, s.draft.Action.Ref)
	if err != nil || live.GetUID() != s.draft.Live.GetUID() {
		return false, ctx.Err()
	}
	s.draft.Live = live
	s.draft.Action.Prior.ResourceVersion = live.GetResourceVersion()
	if s.check == (state.Check{}) {
		return true, nil
	}
	manifest, err := sentManifest(e, s)
	if err == nil {
		compareRecord(e, s, manifest)
	}
	return true, err
}

// mayBeAdded reports whether the object has undeclared fields that somebody may have added.
func mayBeAdded(ctx context.Context, e *env, s *subject) (bool, error) {
	if s.clean || !s.draft.Owned() || e.inv.Input.ForeignPolicy == plans.IgnoreForeign {
		return false, nil
	}
	unremovable, err := additions.Unremovable(ctx, e.inv.Input.Snapshot, liveFacts(s))
	if err != nil || len(unremovable) > 0 {
		return true, err
	}
	paths, err := additions.Undeclared(ctx, e.inv.Input.Snapshot, liveFacts(s), s.draft.Action.Yields, s.draft.Live, false)
	return len(paths) > 0, err
}

// namespaceOf returns the live namespace of the object; nil: it has none.
func namespaceOf(e *env, s *subject) *unstructured.Unstructured {
	return e.inv.Input.Snapshot.Get(providers.Ref{GVK: inventory.Namespaces, Name: s.draft.Action.Ref.Namespace})
}

// asRecorded reports whether the last apply or check saw the same declaration, the same live
// object, the same rules, and the same fields left to the same others.
func asRecorded(s *subject) bool {
	return s.draft.Record != nil && s.draft.Record.Is(s.draft.Live) &&
		s.check.Known() && s.check == s.draft.Record.State.Check &&
		s.draft.Record.State.DesiredDigest == s.draft.Object.Digest() &&
		slices.EqualFunc(s.draft.Action.Yields, s.draft.Record.State.Yields, func(y plans.Yield, known state.Yield) bool {
			return y.Path == known.Path && y.Manager == known.Manager
		})
}

// settle ends a decision. It notes the fingerprint by which the next plan may recognize the
// object, and compares the claim of the cheap steps with the answer of the server. A refusal
// of the server does not contradict a claim, because a policy or quota may be new.
func settle(s *subject, out *outcome.Outcome) {
	evidence := out.Action.Evidence.Kind
	if out.Action.Verb == plans.None && !out.Action.Reported && (evidence == plans.Fingerprint || evidence == plans.Ownership || s.confirmed) {
		out.Action.Check = s.check
	}
	if s.claim.Kind == "" || s.raced || evidence == plans.Unverified || len(out.Action.Changes) == 0 {
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
			s.claim.Kind, strings.Join(paths, ", "))))
}
