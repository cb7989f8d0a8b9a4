package decision

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/planner/internal/outcome"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// registration is the comparison of what a Job registers with what servers have. It is zero if
// nothing was compared, or all is there.
type registration struct {
	changes []plans.Change
	unread  *providers.UncomparedError
}

// evidence returns the evidence that the Job need not run. known is the evidence without the
// comparison.
func (r registration) evidence(known plans.Evidence) plans.Evidence {
	if r.unread == nil {
		return known
	}
	return plans.Evidence{Kind: plans.Unverified, Detail: r.unread.Why, Advice: r.unread.Advice}
}

// compareRegistration compares what a completed Job registered with what servers have.
func compareRegistration(ctx context.Context, e *env, s *subject) (registration, error) {
	registrar, wanted := e.inv.Input.Registrar, s.draft.Object.Registers
	if registrar == nil || wanted == nil {
		return registration{}, nil
	}
	differences, err := registrar.Compare(ctx, wanted)
	var unread *providers.UncomparedError
	if errors.As(err, &unread) {
		return registration{unread: unread}, nil
	}
	var out registration
	for _, d := range differences {
		c := plans.Change{Path: d.Path, Before: d.Live, After: d.Declared, Drift: true, Registered: d.Server}
		if d.Secret {
			c.Before, c.After, c.Sensitive = plans.Masked, plans.Masked, true
		}
		out.changes = append(out.changes, c)
	}
	return out, err
}

// reason returns the reason to run the Job again.
func (r registration) reason() plans.Reason {
	var servers []string
	for _, c := range r.changes {
		servers = append(servers, c.Registered)
	}
	return plans.Reason{Kind: plans.ReasonRegistration, Detail: words.Sorted(servers)}
}

// registerAgain replaces a completed Job if a server does not have what the Job registered. Nil: all is
// there.
func registerAgain(ctx context.Context, e *env, s *subject) (*outcome.Outcome, error) {
	found, err := compareRegistration(ctx, e, s)
	switch {
	case err != nil:
		return nil, err
	case found.unread != nil:
		return matches(s, found.evidence(plans.Evidence{}), state.Fingerprint{}), nil
	case len(found.changes) == 0:
		return nil, nil
	}
	out, err := replace(ctx, e, s, []plans.Reason{found.reason()})
	if err != nil || out.Action.Verb != plans.Replace {
		return out, err
	}
	out.Action.Changes = append(slices.Clip(out.Action.Changes), found.changes...)
	slices.SortStableFunc(out.Action.Changes, func(a, b plans.Change) int { return cmp.Compare(a.Path, b.Path) })
	return out, nil
}
