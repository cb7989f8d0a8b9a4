package decision

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/internal/outcome"
	"kolla.openstack.org/kolla/planner/internal/ownership"
	"kolla.openstack.org/kolla/planner/internal/trial"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/planner/proof"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// requested decides about objects that must be replaced because of -replace or of the
// configuration.
func requested(ctx context.Context, e *env, s *subject) (*outcome.Outcome, error) {
	why, ok := demanded(e, s.draft.Object)
	if !ok || why.Triggered() && s.draft.Adopts() {
		return nil, nil
	}
	if s.draft.Object.Partial {
		return refusedFor(s, fmt.Sprintf("-replace=%s: kolla did not make %s", s.draft.Object.Address, s.draft.Action.Ref),
			"It only owns some of its fields, and so never deletes it."), nil
	}
	return replace(ctx, e, s, []plans.Reason{why})
}

// replace decides to delete the object and create it again. Conditions: no data is lost that
// the operator did not name, nothing uses the object, and the server would accept the new one.
func replace(ctx context.Context, e *env, s *subject, reasons []plans.Reason) (*outcome.Outcome, error) {
	s.keepsPods = canKeepPods(s, reasons[0].Kind)
	o, err := findObstacle(ctx, e, s, reasons[0].Kind)
	if err != nil {
		return nil, err
	}
	if o.stands() {
		summary, detail := o.about(s, reasons)
		return refusedFor(s, summary, detail), nil
	}
	manifest, err := resolve(e, s)
	if err != nil {
		return nil, err
	}
	answer, err := e.ask.Replace(ctx, s.draft.Object, manifest, s.draft.Live, reasons)
	if err != nil {
		return nil, err
	}
	if answer.Refused {
		return withheld(s, answer), nil
	}
	if !s.since.done {
		if err := s.compareRecord(ctx, e, manifest); err != nil {
			return nil, err
		}
	}
	differences, err := fields.Compare(s.draft.Live, answer.After)
	if err != nil {
		return nil, err
	}
	out := act(s, plans.Replace, reasons...)
	answered(out, answer)
	out.Action.Force, out.Action.Yields, out.Action.Holds, out.Action.KeepsPods = false, nil, dataLost(s), s.keepsPods
	added, err := addedTo(ctx, e, s, nil, differences) // a new object leaves no field to others
	if err != nil {
		return nil, err
	}
	differences = fields.Declared(differences, fields.OwnersOf(s.draft.Live, s.draft.Manager), fields.OwnersOf(answer.After, s.draft.Manager))
	originOf(s, answer.After).Differences(differences)
	if len(added) > 0 {
		differences = append(differences, added...)
		slices.SortFunc(differences, func(a, b fields.Difference) int { return strings.Compare(a.Path, b.Path) })
		out.Action.Reasons = append(slices.Clip(out.Action.Reasons), ownership.Drift(added, s.draft.Adopts())...)
	}
	ownership.StartOver(&s.draft, e.inv.Input.ForceConflicts, differences)
	out.Action.Changes = fields.Changes(out.WithUnknown(differences))
	return out, nil
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
	case plans.ReasonTriggered:
		return fmt.Sprintf("%s has to be replaced (%s), and %s", s.draft.Action.Ref, reasons[0].TriggerWords(), o.what),
			fmt.Sprintf("Take the entry out of replace_triggered_by, or leave it out of this plan (%s); or: %s", words.Option("-exclude", s.draft.Object.Address.String()), o.remedy)
	case plans.ReasonCleaned:
		return fmt.Sprintf("%s has to be replaced, and %s", s.draft.Action.Ref, o.what), fmt.Sprintf("The reason: %s. %s", trial.Cleaned, o.remedy)
	case plans.ReasonImmutable:
		return fmt.Sprintf("%s cannot be changed in place, and %s", s.draft.Action.Ref, o.what),
			fmt.Sprintf("%s cannot change. %sUndo the change; or: %s", trial.PathsOf(reasons), shrinking(s), o.remedy)
	}
	return fmt.Sprintf("-replace=%s: it %s", s.draft.Object.Address, o.what), o.remedy
}

// findObstacle finds the obstacle to a replacement; zero: there is none.
func findObstacle(ctx context.Context, e *env, s *subject, why plans.ReasonKind) (obstacle, error) {
	if s.keepsPods {
		return obstacle{}, nil
	}
	if l := s.draft.Object.Lifecycle; l != nil && l.PreventDestroy && why != plans.ReasonFailedJob && why != plans.ReasonRegistration {
		return obstacle{"must not be replaced", fmt.Sprintf("%s. Remove the protection first if the object should really be replaced.",
			outcome.Prevention(s.draft.Object.Address.Block, l.Source))}, nil
	}
	holds := inventory.Holds(s.draft.Live, s.draft.Object.Holds)
	if why == plans.ReasonCleaned && s.draft.Action.RunsPodsContinuously() {
		holds = "" // whoever needs its pods has lost them already
	}
	address := s.draft.Object.Address
	again := words.Option("-replace", address.String())
	if s.draft.Adopts() && why == plans.ReasonImmutable {
		return obstacle{"was not made by kolla", fmt.Sprintf("to have it deleted and made again all the same, plan with %s.", again)}, nil
	}
	switch kind := s.draft.Live.GroupVersionKind().GroupKind(); {
	case why == plans.ReasonImmutable && !proof.BuiltIn(s.draft.Live.GroupVersionKind()):
		return obstacle{"only its controller knows which data would be lost with it", fmt.Sprintf("to have it deleted and made again, plan with %s.", again)}, nil
	case kind == kinds.Namespace:
		return obstacle{"holds " + holds, fmt.Sprintf("A Namespace cannot be replaced while it contains objects. To start afresh:\n\n  kolla destroy %s -delete-data='*'\n  kolla apply", words.Option("-target", address.String()))}, nil
	case kind == kinds.CustomResourceDefinition:
		return obstacle{"holds " + holds, fmt.Sprintf("It is valid under its own name only, so that nobody can try out whether the server would take the new one. Take its declaration away, apply with %s, and declare it again.", words.Option("-delete-data", address.String()))}, nil
	case kind == kinds.APIService:
		return obstacle{"cannot be tried out under another name", "Take its declaration away, apply, and declare it again."}, nil
	case holds == "" && inventory.OwnVolumes(s.draft.Live) != "":
		holds = inventory.OwnVolumes(s.draft.Live)
	}
	if holds != "" && !e.inv.DeleteData.Covers(address) {
		return obstacle{"holds " + holds, dataRemedy(s)}, nil
	}
	users, err := trial.UsersOf(ctx, e.inv.Input.Reader, s.draft.Live)
	var hidden *providers.UnreadableError
	switch {
	case errors.As(err, &hidden):
		return obstacle{"may be in use by pods that cannot be seen", fmt.Sprintf("Kubernetes does not let go of it while a pod uses it, and %v.", hidden)}, nil
	case err != nil, len(users) == 0:
		return obstacle{}, err
	}
	return obstacle{"is in use by " + words.Few(users, 3), "Kubernetes does not let go of it until then: stop what uses it, and apply again."}, nil
}

// canKeepPods reports whether a StatefulSet can be replaced while its pods keep running with their
// volumes. The new StatefulSet adopts pods with its labels, and restarts them only if the template
// differs. It needs the same selector, the same Service, through which the pods find each other,
// and claims with the same names: the cluster cannot add a volume to a running pod.
func canKeepPods(s *subject, why plans.ReasonKind) bool {
	live, declared := s.draft.Live, s.draft.Object.Manifest
	if why != plans.ReasonImmutable || live.GroupVersionKind().GroupKind() != kinds.StatefulSet || s.draft.Adopts() || inventory.TakesVolumesAlong(live) {
		return false
	}
	for _, field := range []string{"selector", "serviceName"} {
		was, _, _ := unstructured.NestedFieldNoCopy(live.Object, "spec", field)
		is, _, _ := unstructured.NestedFieldNoCopy(declared.Object, "spec", field)
		if !reflect.DeepEqual(was, is) {
			return false
		}
	}
	return len(unusedClaims(live, declared))+len(unusedClaims(declared, live)) == 0
}

// unusedClaims returns the claim names of one StatefulSet that the other lacks.
func unusedClaims(of, by *unstructured.Unstructured) []string {
	names := inventory.ClaimNames(by)
	return slices.DeleteFunc(inventory.ClaimNames(of), func(name string) bool { return slices.Contains(names, name) })
}

// dataRemedy says how to replace an object that holds data, and what happens to the data.
func dataRemedy(s *subject) string {
	fate := "to delete it with what it holds, and make it again empty"
	switch {
	case s.draft.Object.Generated():
		fate = "to have it made again with the values that it has, which are lost if that is cut short"
	case s.draft.Action.RunsPodsContinuously() && s.draft.Object.Holds != "":
		fate = "to have it deleted and made again"
	case dataLost(s) == "":
		fate = "to have it made again. Its volumes stay with their data, and it takes them up"
		if unused := unusedClaims(s.draft.Live, s.draft.Object.Manifest); len(unused) > 0 {
			fate = fmt.Sprintf("to have it made again. Its volumes stay with their data, but it no longer uses those of %s %s",
				words.Plural(len(unused), "its claim", "its claims"), words.Few(unused, 3))
		}
	}
	return fmt.Sprintf("%s: plan with %s.", fate, words.Option("-delete-data", s.draft.Object.Address.String()))
}

// dataLost returns the data that a replacement loses. Generated values are restored, and a
// StatefulSet uses its volumes again.
func dataLost(s *subject) string {
	if s.draft.Object.Generated() || s.keepsPods {
		return ""
	}
	return inventory.Holds(s.draft.Live, s.draft.Object.Holds)
}
