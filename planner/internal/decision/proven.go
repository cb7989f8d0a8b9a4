package decision

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/internal/outcome"
	"kolla.openstack.org/kolla/planner/internal/ownership"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/planner/proof"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// proven decides about objects that an apply certainly would not change, without a request. It
// leaves all other objects to the server. With VerifyAll it only notes what it proved.
func proven(ctx context.Context, e *env, s *subject) (*outcome.Outcome, error) {
	if e.inv.Rules == nil || s.draft.Adopts() || len(s.draft.Object.Unwanted) > 0 {
		return nil, nil
	}
	manifest, err := sentManifest(e, s)
	if err != nil {
		return nil, err
	}
	if err := s.compareRecord(ctx, e, manifest); err != nil {
		return nil, err
	}
	if s.unshown, err = findUnshown(ctx, e, s); err != nil {
		return nil, err
	}
	switch {
	case crdOf(e, s) != nil, len(s.draft.Pending) > 0, len(s.unshown) > 0:
		return nil, nil
	case asRecorded(s) && proof.SameValues(s.draft.Live, manifest):
		s.proof.unchanged = plans.Evidence{Kind: plans.Fingerprint}
	case e.inv.Rules.Undisturbed(s.draft.Live, namespaceOf(e, s)) && proof.Holds(s.draft.Live, manifest, s.draft.Manager) && providers.Tainted(s.draft.Live, s.draft.Manager):
		s.proof.applied = true
		added, err := mayBeAdded(ctx, e, s)
		if err != nil {
			return nil, err
		}
		if !added {
			s.proof.unchanged = plans.Evidence{Kind: plans.Ownership}
		}
	}
	if s.proof.unchanged.Kind == "" || e.inv.Input.VerifyAll {
		return nil, nil
	}
	return matches(s, s.proof.unchanged, s.since.fingerprint), nil
}

// compareRecord compares the live object with its record.
func (s *subject) compareRecord(ctx context.Context, e *env, manifest *unstructured.Unstructured) (err error) {
	if s.draft.Owned() && e.inv.Input.ForeignPolicy != plans.IgnoreForeign {
		if _, s.addedRules, err = ownership.Aggregated(ctx, e.inv.Input.Snapshot, &s.draft); err != nil {
			return err
		}
	}
	c := comparison{done: true, fingerprint: e.inv.Rules.Fingerprint(s.draft.Live, namespaceOf(e, s), s.draft.Manager, termsOf(e, s))}
	c.clean = s.draft.Record.Is(s.draft.Live) && c.fingerprint.Owned != "" && c.fingerprint.Owned == s.draft.Record.State.Fingerprint.Owned
	c.altered = c.clean && !proof.SameValues(s.draft.Live, manifest)
	if s.draft.Record.Is(s.draft.Live) {
		known := s.draft.Record.State.Fingerprint.Stamp
		c.impersonated = known != "" && c.fingerprint.Stamp != "" && c.fingerprint.Stamp != known
	}
	s.since, s.draft.Action.Seen = c, c.fingerprint.Owned
	return nil
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
	if !s.since.done {
		return true, nil
	}
	manifest, err := sentManifest(e, s)
	if err == nil {
		err = s.compareRecord(ctx, e, manifest)
	}
	return true, err
}

// mayBeAdded reports whether the object has undeclared fields that somebody may have added.
func mayBeAdded(ctx context.Context, e *env, s *subject) (bool, error) {
	if s.since.clean || !s.draft.Owned() || e.inv.Input.ForeignPolicy == plans.IgnoreForeign {
		return false, nil
	}
	unremovable, err := ownership.Unremovable(ctx, e.inv.Input.Snapshot, &s.draft, historyOf(s))
	if err != nil || len(unremovable) > 0 {
		return true, err
	}
	paths, err := ownership.Undeclared(ctx, e.inv.Input.Snapshot, &s.draft, historyOf(s), s.draft.Action.Yields, s.draft.Live, false)
	return len(paths) > 0, err
}

// namespaceOf returns the live namespace of the object; nil: it has none.
func namespaceOf(e *env, s *subject) *unstructured.Unstructured {
	return e.inv.Input.Snapshot.Get(providers.Ref{GVK: inventory.Namespaces, Name: s.draft.Action.Ref.Namespace})
}

// asRecorded reports whether the last apply or check saw the same declaration, the same live object
// and the same rules, and left the same fields to the same managers.
func asRecorded(s *subject) bool {
	return s.draft.Record != nil && s.draft.Record.Is(s.draft.Live) &&
		s.since.fingerprint.Known() && s.since.fingerprint.Equal(s.draft.Record.State.Fingerprint) &&
		s.draft.Record.State.DesiredDigest == s.draft.Object.Digest() &&
		slices.EqualFunc(s.draft.Action.Yields, s.draft.Record.State.Yields, func(y plans.Yield, known state.Yield) bool {
			return y.Path == known.Path && y.Manager == known.Manager
		})
}
