package executor

import (
	"context"
	"fmt"

	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/providers"
)

// TakenError says that an object that the plan wants to create exists by now, and
// that the cloud's own applies did not make it.
type TakenError struct{ Ref providers.Ref }

func (e *TakenError) Error() string {
	return e.Ref.String() + " exists by now and was not made by kolla for this cloud; make a new plan"
}

// readPresent lists what the apply has to know before it writes: where objects are
// to be created, and the Secrets that values to be written are in or come from.
// Kinds and namespaces that are not there yet hold nothing.
func readPresent(ctx context.Context, reader providers.Reader, actions []planner.Action) (*providers.Snapshot, error) {
	var scopes []providers.Scope
	for i := range actions {
		a := &actions[i]
		if creates(a) {
			scopes = append(scopes, providers.Scope{GVK: a.Ref.GVK, Namespace: a.Ref.Namespace})
		}
		scopes = append(scopes, scopesOfValues(a)...)
	}
	snapshot := providers.NewSnapshot(reader)
	if err := snapshot.Load(ctx, scopes...); err != nil {
		return nil, fmt.Errorf("read what is in the cluster before anything is written: %w", err)
	}
	return snapshot, nil
}

// creates reports whether the action was planned for an object that did not exist.
func creates(a *planner.Action) bool {
	return (a.Verb == planner.Create || a.Verb == planner.Run) && !a.Object.Partial
}

// unclaimed is a *TakenError where the action would write into what somebody else
// has made since the plan. What an earlier apply of the same cloud made, and did
// not live to take down, is kolla's own.
func (s *step) unclaimed() error {
	if !creates(s.action) {
		return nil
	}
	live := s.snapshot.Get(s.action.Ref)
	if live == nil || live.GetLabels()[providers.LabelCloud] == s.plan.Cloud {
		return nil
	}
	return &TakenError{Ref: s.action.Ref}
}
