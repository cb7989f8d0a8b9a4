package decision

import (
	"slices"

	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/internal/outcome"
	"kolla.openstack.org/kolla/planner/internal/ownership"
	"kolla.openstack.org/kolla/planner/internal/selection"
	"kolla.openstack.org/kolla/planner/internal/trial"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/planner/trust"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// subject is a declared object with all facts about it that the steps need or find.
type subject struct {
	// draft has the facts about the object, and the notes of the steps so far. Each outcome
	// begins as a copy of it.
	draft outcome.Outcome
	// keepsPods: the object is a StatefulSet that is replaced while its pods keep running.
	keepsPods bool
	// idle are fields of controllers that no longer use them.
	idle []plans.Reason
	// addedRules: an aggregated ClusterRole has rules of others.
	addedRules bool
	// unshown are the fields that the declared version of the kind does not show.
	unshown []fields.Difference
	// since compares the live object with the state's record of it. It is zero in steps before
	// proven.
	since comparison
	// proof has the results of the step proven, which sends no request.
	proof proofs
}

// comparison is the live object compared with its record.
type comparison struct {
	done bool // false: the other fields are not set yet
	// fingerprint is the live object's fingerprint; zero: it has none.
	fingerprint state.Fingerprint
	// clean: the record has this fingerprint, so every field is as the last apply or plan
	// found or left it.
	clean bool
	// altered: it is clean except for the values of a Secret, which no record contains.
	altered bool
	// impersonated: somebody applied under the name of kolla's field manager since the last
	// apply or check that the state records.
	impersonated bool
}

// proofs show which requests about a live object kolla can leave out.
type proofs struct {
	// unchanged is the evidence that an apply changes nothing; zero: there is none.
	unchanged plans.Evidence
	// applied: kolla owns the declared fields with the declared values, so an apply of them
	// certainly changes nothing. Others may have added fields.
	applied bool
}

// subjectOf collects the facts about an object.
func subjectOf(e *env, object *providers.Object) *subject {
	s := &subject{draft: outcome.Outcome{Object: object, Manager: providers.ManagerOf(e.inv.Input.Cloud, object.Partial), Record: e.inv.RecordForObject(object)}}
	s.draft.Live = liveOf(e, s)
	s.draft.Action = plans.Action{
		Address:   object.Address,
		Object:    object,
		Ref:       object.Ref(),
		DependsOn: selection.Dependencies(object),
	}
	if s.draft.Live != nil {
		s.draft.Ours = madeBefore(s)
		s.draft.Action.Prior = providers.Precondition{UID: s.draft.Live.GetUID(), ResourceVersion: s.draft.Live.GetResourceVersion()}
		if s.draft.Ours && !s.draft.Object.Partial {
			s.draft.Action.Token = tokenOf(s)
		}
	}
	s.draft.Action.Scaled = s.draft.Live != nil && !object.Partial && e.inv.Scaled(s.draft.Action.Ref)
	return s
}

// tokenOf returns the token that the live object got at its creation, even if somebody removed or
// replaced the token since.
func tokenOf(s *subject) string {
	if s.draft.Record.Is(s.draft.Live) && s.draft.Record.State.Carried != "" {
		return s.draft.Record.State.Carried
	}
	return trust.Token(s.draft.Live)
}

// historyOf describes the writes to the live object since the last apply or check.
func historyOf(s *subject) ownership.History {
	return ownership.History{Clean: s.since.clean, Written: writtenSince(s)}
}

// act returns the outcome of a decision to do something, or nothing, for the reasons. The
// caller completes it.
func act(s *subject, verb plans.Verb, reasons ...plans.Reason) *outcome.Outcome {
	out := s.draft
	out.Action.Verb, out.Action.Reasons = verb, reasons
	return &out
}

// refused returns the outcome of an object with a problem that prevents any action.
func refused(s *subject, problem plans.Problem) *outcome.Outcome {
	out := s.draft
	out.Refuse(problem)
	return &out
}

// refusedFor is refused with a problem of this summary and detail.
func refusedFor(s *subject, summary, detail string) *outcome.Outcome {
	return refused(s, plans.ProblemOf(s.draft.Object, summary, detail))
}

// answered adds the answer about a new object to its outcome.
func answered(out *outcome.Outcome, answer trial.Answer) {
	out.After, out.Action.Evidence = answer.After, answer.Evidence
	out.Problems = append(slices.Clip(out.Problems), answer.Problems...)
}

// withheld returns the outcome of a new object that would not be accepted.
func withheld(s *subject, answer trial.Answer) *outcome.Outcome {
	out := s.draft
	out.Withheld = true
	answered(&out, answer)
	return &out
}

// updateOrAdopt returns the verb of a change of a live object.
func updateOrAdopt(s *subject) plans.Verb {
	if s.draft.Adopts() {
		return plans.Adopt
	}
	return plans.Update
}
