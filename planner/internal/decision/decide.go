package decision

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/internal/outcome"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/planner/trust"
	"kolla.openstack.org/kolla/providers"
	secretvalues "kolla.openstack.org/kolla/providers/secrets"
	"kolla.openstack.org/kolla/state"
)

// A step decides about an object. Nil leaves it to the next step.
type step func(context.Context, *env, *subject) (*outcome.Outcome, error)

// decide tries the steps on an object, the cheapest first, until one decides. For a live object
// that is not replaced, only the last step sends a dry run; the others decide only if the answer
// is certain. A step that creates or replaces an object sends its dry run itself.
func decide(ctx context.Context, e *env, object *providers.Object) (*outcome.Outcome, error) {
	s := subjectOf(e, object)
	for _, step := range stepsFor(s) {
		out, err := step(ctx, e, s)
		if err != nil {
			return nil, fmt.Errorf("plan %s: %w", object.Address, err)
		}
		if out != nil {
			return out, nil
		}
	}
	return nil, fmt.Errorf("plan %s: no step decides about it", object.Address)
}

// stepsFor returns the steps for an object, in their order.
func stepsFor(s *subject) []step {
	switch {
	case len(s.draft.Object.Deferred) == 0:
		return []step{
			unread,    // the object could not be read
			absent,    // it does not exist: create it
			leaving,   // it is being deleted
			notOurs,   // it exists, and kolla did not make it
			requested, // -replace or replace_triggered_by demands a new object
			runAgain,  // a Job runs again, or does not
			proven,    // its fingerprint proves that nothing changed
			verified,  // a dry run shows the change
		}
	case s.draft.Live == nil:
		return []step{deferred}
	}
	return []step{leaving, notOurs, deferred}
}

// absent decides about objects that do not exist.
func absent(ctx context.Context, e *env, s *subject) (*outcome.Outcome, error) {
	why, again := demanded(e, s.draft.Object)
	var registered registration
	switch {
	case s.draft.Live != nil:
		return nil, nil
	case s.draft.Object.Partial:
		return refusedFor(s, fmt.Sprintf("%s does not exist", s.draft.Action.Ref),
			"Only some of its fields are declared here, so it is never created. Correct its name, or bring it into the cluster first."), nil
	case s.draft.Finished() && sameRun(s) && !again:
		var err error
		if registered, err = compareRegistration(ctx, e, s); err != nil {
			return nil, err
		}
		if len(registered.changes) == 0 {
			out := act(s, plans.None)
			out.Action.Evidence = registered.evidence(plans.Evidence{Kind: plans.Recorded, Detail: "finished; cleaned up since"})
			return out, nil
		}
	}
	verb := plans.Create
	if s.draft.Object.IsJob() && !s.draft.Object.Skipped() {
		verb = plans.Run
	}
	reason := plans.Reason{Kind: plans.ReasonNew}
	switch {
	case len(registered.changes) > 0:
		reason = registered.reason()
	case s.draft.Finished() && again:
		reason = why
	case s.draft.Finished():
		reason.Kind = plans.ReasonConfig
	case s.draft.Record != nil && s.draft.Record.State.UID != "":
		reason.Kind = s.draft.Record.Absence()
	}
	manifest, err := resolve(e, s)
	if err != nil {
		return nil, err
	}
	answer, err := e.ask.Create(ctx, s.draft.Object, manifest)
	if err != nil {
		return nil, err
	}
	if answer.Refused {
		return withheld(s, answer), nil
	}
	out := act(s, verb, append([]plans.Reason{reason}, renewal(s)...)...)
	answered(out, answer)
	if len(registered.changes) > 0 {
		out.Action.Changes = registered.changes
		return out, nil
	}
	shown := manifest
	if answer.Evidence.Kind == plans.Schema {
		shown = answer.After // with the defaults, which the server does not know yet
	}
	differences, err := fields.Compare(nil, shown)
	out.Action.Changes = fields.Changes(out.WithUnknown(differences))
	if !e.inv.Input.Values && !out.Versioned() {
		// They are larger than all else in a plan of many new objects. Only the values and
		// outcome.Supersede, which compares versions, need them from here on.
		out.After.SetManagedFields(nil)
	}
	return out, err
}

// leaving refuses an object that is being deleted: its changes cannot be predicted.
func leaving(_ context.Context, _ *env, s *subject) (*outcome.Outcome, error) {
	if s.draft.Live.GetDeletionTimestamp() == nil {
		return nil, nil
	}
	detail := "Plan again when it is gone."
	if finalizers := s.draft.Live.GetFinalizers(); len(finalizers) > 0 {
		detail += fmt.Sprintf(" It waits for its finalizers %q.", finalizers)
	}
	return refusedFor(s, fmt.Sprintf("%s is being deleted", s.draft.Action.Ref), detail), nil
}

// matches decides that nothing is written to the cluster. The state takes over adopted objects
// and new addresses. An apply still waits for objects that were not ready after their last
// write. With a fingerprint, the next plan may recognize the object without a request.
func matches(s *subject, evidence plans.Evidence, fingerprint state.Fingerprint) *outcome.Outcome {
	var out *outcome.Outcome
	switch {
	case s.draft.Object.OnlyRemoves():
		out = act(s, plans.None)
	case s.draft.Adopts(), s.draft.Object.Partial && s.draft.Record == nil:
		out = act(s, plans.Adopt, plans.Reason{Kind: plans.ReasonUnowned})
	case s.draft.Record.MovedFrom(s.draft.Object.Address):
		out = act(s, plans.Adopt, plans.Reason{Kind: plans.ReasonMoved, Detail: s.draft.Record.State.Address})
	default:
		out = act(s, plans.None)
		out.Action.Force = false
		out.Action.Pending = !s.draft.Record.Is(s.draft.Live) || !s.draft.Record.State.Ready
		out.Action.Fingerprint = fingerprint
		if out.Action.Reported {
			out.Action.Fingerprint = state.Fingerprint{Stamp: fingerprint.Stamp}
		}
	}
	out.Action.Evidence = evidence
	return out
}

// resolve returns the manifest to send, and notes which of its values only the apply makes.
func resolve(e *env, s *subject) (*unstructured.Unstructured, error) {
	manifest, pending, err := Resolve(e.inv, s.draft.Object)
	s.draft.Pending = pending
	return manifest, err
}

// Resolve returns the manifest of a declared object with the values of a Secret, and the keys
// whose values only the apply makes.
func Resolve(inv *inventory.Inventory, object *providers.Object) (manifest *unstructured.Unstructured, pending []string, err error) {
	return secretvalues.Resolve(object, valuesIn(inv), false)
}

// valuesIn reads live Secrets.
func valuesIn(inv *inventory.Inventory) func(namespace, name string) map[string][]byte {
	return func(namespace, name string) map[string][]byte { return inventory.ValuesOf(inv, namespace, name) }
}

// madeBefore reports whether kolla made the live object, or owned fields of it before. Only the
// state proves that; see trust.
func madeBefore(s *subject) bool {
	return s.draft.Record != nil && trust.Same(s.draft.Record.State, s.draft.Live)
}

// notOurs decides about objects that are not kolla's.
func notOurs(_ context.Context, e *env, s *subject) (*outcome.Outcome, error) {
	owner := s.draft.Live.GetLabels()[providers.LabelCloud]
	switch {
	case s.draft.Object.Partial:
		return nil, nil
	case owner != "" && owner != e.inv.Input.Cloud:
		return unowned(s), nil
	case !s.draft.Ours && !inventory.Adopted(e.inv, s.draft.Object.Address):
		return unowned(s), nil
	case !s.draft.Ours && s.draft.Object.Generated():
		warnKnownValues(s)
	}
	return nil, nil
}

// unowned returns the outcome of an object that blocks the plan because it is not kolla's.
// outcome.UnownedConflicts has its problem.
func unowned(s *subject) *outcome.Outcome {
	out := s.draft
	out.Unowned, out.Withheld = true, true
	return &out
}

// warnKnownValues warns that kolla takes over a Secret with the values of others, instead of
// generating new ones.
func warnKnownValues(s *subject) {
	warning := plans.ProblemOf(s.draft.Object, fmt.Sprintf("%s is taken over with the values that it has", s.draft.Action.Ref),
		fmt.Sprintf("kolla did not generate these values: whoever made the Secret knows them. %s To get new values, delete the Secret, and plan without its -adopt or import block.", outcome.CreationInfo(s.draft.Live)))
	warning.Warning = true
	s.draft.Problems = append(s.draft.Problems, warning)
}
