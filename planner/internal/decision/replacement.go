package decision

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/internal/blame"
	"kolla.openstack.org/kolla/planner/internal/objects"
	"kolla.openstack.org/kolla/planner/internal/outcome"
	"kolla.openstack.org/kolla/planner/internal/trial"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/planner/proof"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// requested decides about objects that have to be replaced because of -replace or of the
// configuration.
func (p *decider) requested(ctx context.Context, s *subject) (bool, error) {
	why, demanded := p.demanded(s.out.Object)
	if !demanded || why.Triggered() && s.out.Adopts() {
		return false, nil
	}
	if s.out.Object.Partial {
		s.out.Refuse(fmt.Sprintf("-replace=%s: kolla did not make %s", s.out.Object.Address, s.out.Action.Ref),
			"It only owns some of its fields, and so never deletes it.")
		return true, nil
	}
	return true, p.replace(ctx, s, []plans.Reason{why})
}

// replace decides to delete the object and create it again. Conditions: no data is lost that
// the operator did not name, nothing uses the object, and the server would accept the new one.
func (p *decider) replace(ctx context.Context, s *subject, reasons []plans.Reason) error {
	o, err := p.obstacle(ctx, s, reasons[0].Kind)
	if err != nil {
		return err
	}
	if o.stands() {
		s.out.Refuse(o.about(s, reasons))
		return nil
	}
	manifest, err := p.resolve(s)
	if err != nil {
		return err
	}
	s.out.Action.Verb = plans.Replace
	s.out.Action.Force = false
	s.out.Action.Yields = nil
	s.out.Action.Reasons = reasons
	s.out.Action.Holds = s.loses()
	answer, err := p.ask.Replace(ctx, s.out.Object, manifest, s.out.Live, reasons)
	if err != nil {
		return err
	}
	if s.out.Take(answer); answer.Refused {
		return nil
	}
	differences, err := fields.Compare(s.out.Live, s.out.After)
	if err != nil {
		return err
	}
	added, err := p.addedTo(ctx, s, differences)
	if err != nil {
		return err
	}
	differences = fields.Declared(differences, fields.OwnersOf(s.out.Live, s.out.Manager), fields.OwnersOf(s.out.After, s.out.Manager))
	p.originOf(s, s.out.After).Differences(differences)
	if len(added) > 0 {
		differences = append(differences, added...)
		slices.SortFunc(differences, func(a, b fields.Difference) int { return strings.Compare(a.Path, b.Path) })
		s.out.Action.Reasons = append(s.out.Action.Reasons, blame.Drift(added, s.out.Adopts())...)
	}
	p.startOver(s, differences)
	s.out.Action.Changes = fields.Changes(s.out.WithUnknown(differences))
	return nil
}

// obstacle prevents a replacement; zero: nothing does.
type obstacle struct {
	what   string // as the end of a sentence about the object: "must not be replaced"
	remedy string
}

func (o obstacle) stands() bool { return o.what != "" }

// about returns the summary and the detail of the problem.
func (o obstacle) about(s *subject, reasons []plans.Reason) (summary, detail string) {
	switch reasons[0].Kind {
	case plans.ReasonTriggered, plans.ReasonOwed:
		return fmt.Sprintf("%s is to be made again (%s), and %s", s.out.Action.Ref, reasons[0].TriggerWords(), o.what),
			fmt.Sprintf("Take the entry out of replace_triggered_by, or leave it out of this plan (%s); or: %s", words.Option("-exclude", s.out.Object.Address.String()), o.remedy)
	case plans.ReasonCleaned:
		return fmt.Sprintf("%s is to be made again, and %s", s.out.Action.Ref, o.what), fmt.Sprintf("It has to be made again because %s. %s", trial.Cleaned, o.remedy)
	case plans.ReasonImmutable:
		return fmt.Sprintf("%s cannot be changed in place, and %s", s.out.Action.Ref, o.what),
			fmt.Sprintf("%s cannot change. Take the change back; or: %s", trial.PathsOf(reasons), o.remedy)
	}
	return fmt.Sprintf("-replace=%s: it %s", s.out.Object.Address, o.what), o.remedy
}

// obstacle finds what stands in the way of a replacement.
func (p *decider) obstacle(ctx context.Context, s *subject, why plans.ReasonKind) (obstacle, error) {
	if l := s.out.Object.Lifecycle; l != nil && l.PreventDestroy && why != plans.ReasonFailedJob {
		return obstacle{"must not be replaced", fmt.Sprintf("%s. Take the protection away first, if it is really meant.",
			outcome.Prevention(s.out.Object.Address.Block, l.Source))}, nil
	}
	holds := objects.Holds(s.out.Live, s.out.Object.Holds)
	if why == plans.ReasonCleaned && s.out.Action.Serves() {
		holds = "" // whoever needs its pods has lost them already
	}
	address := s.out.Object.Address
	again := words.Option("-replace", address.String())
	if s.out.Adopts() && why == plans.ReasonImmutable {
		return obstacle{"was not made by kolla", fmt.Sprintf("to have it deleted and made again all the same, plan with %s.", again)}, nil
	}
	switch kind := s.out.Live.GroupVersionKind().GroupKind(); {
	case why == plans.ReasonImmutable && !proof.BuiltIn(s.out.Live.GroupVersionKind()):
		return obstacle{"what is lost with it is known only to what looks after its kind", fmt.Sprintf("to have it deleted and made again, plan with %s.", again)}, nil
	case kind == kinds.Namespace:
		return obstacle{"holds " + holds, fmt.Sprintf("A Namespace is not replaced under what is in it. To start afresh:\n\n  kolla destroy %s -delete-data='*'\n  kolla apply", words.Option("-target", address.String()))}, nil
	case kind == kinds.CustomResourceDefinition:
		return obstacle{"holds " + holds, fmt.Sprintf("It is valid under its own name only, so that nobody can try out whether the server would take the new one. Take its declaration away, apply with %s, and declare it again.", words.Option("-delete-data", address.String()))}, nil
	case kind == kinds.APIService:
		return obstacle{"cannot be tried out under another name", "Take its declaration away, apply, and declare it again."}, nil
	case holds == "" && objects.OwnVolumes(s.out.Live) != "":
		holds = objects.OwnVolumes(s.out.Live)
	}
	if holds != "" && !p.inv.DeleteData.Covers(address) {
		return obstacle{"holds " + holds, s.dataRemedy()}, nil
	}
	users, err := trial.UsersOf(ctx, p.inv.Input.Reader, s.out.Live)
	var hidden *providers.UnreadableError
	switch {
	case errors.As(err, &hidden):
		return obstacle{"may be in use by pods that cannot be seen", fmt.Sprintf("Kubernetes does not let go of it while a pod uses it, and %v.", hidden)}, nil
	case err != nil, len(users) == 0:
		return obstacle{}, err
	}
	return obstacle{"is in use by " + words.Few(users, 3), "Kubernetes does not let go of it until then: stop what uses it, and apply again."}, nil
}

// dataRemedy says how to replace an object that holds data, and what happens to the data.
func (s *subject) dataRemedy() string {
	fate := "to delete it with what it holds, and make it again empty"
	switch {
	case s.out.Object.Generated():
		fate = "to have it made again with the values that it has, which are lost if that is cut short"
	case s.out.Action.Serves() && s.out.Object.Holds != "":
		fate = "to have it deleted and made again"
	case s.loses() == "":
		fate = "to have it made again. Its volumes stay, and it takes them up as they are, in their size and class"
	}
	return fmt.Sprintf("%s: plan with %s.", fate, words.Option("-delete-data", s.out.Object.Address.String()))
}

// loses returns the data that a replacement loses. Generated values are restored, and a
// StatefulSet uses its volumes again.
func (s *subject) loses() string {
	if s.out.Object.Generated() {
		return ""
	}
	return objects.Holds(s.out.Live, s.out.Object.Holds)
}
