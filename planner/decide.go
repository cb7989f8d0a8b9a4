package planner

import (
	"context"
	"errors"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// subject is one desired object on its way to a decision.
type subject struct {
	object *providers.Object
	// manager is the field manager that the object is applied by.
	manager string
	record  *record                    // nil: not in the state
	live    *unstructured.Unstructured // nil: not in the cluster
	ours    bool                       // kolla made the live object, or owns fields of it by record

	// action is the decision; without a verb while there is none, or because a
	// problem stands in its way.
	action Action
	// after is the object as it would become, in the words of the server where it
	// could be asked; nil where nothing changes.
	after *unstructured.Unstructured
	// pending are the keys of a Secret whose values are only made at apply.
	pending []string
	// idle are the fields that controllers have and do not look after any more.
	idle     []Reason
	problems []Problem

	// check of the live object, zero where it has none.
	check state.Check
	// claim is what the cheap steps say, if they say that nothing changes.
	claim Evidence
	// confirmed: by the answer to a dry run, kolla owns already what it would own, with
	// the values that it would have.
	confirmed bool
	// raced: somebody wrote to the object between the LIST and the dry run.
	raced bool
}

// A step either decides about an object, or leaves it to the next step. A
// decision is to set the action's verb, or to name a problem.
type step func(context.Context, *subject) (decided bool, err error)

// decide takes the object through the steps, the cheapest first. The last one
// asks the server; the ones before it may only decide what is certain without.
func (p *planning) decide(ctx context.Context, object *providers.Object) (*subject, error) {
	s := &subject{object: object, manager: providers.ManagerOf(p.Cloud, object.Partial), record: p.recordOf(object)}
	s.live = p.liveOf(s)
	s.action = Action{
		Address:   object.Address,
		Object:    object,
		Ref:       object.Ref(),
		DependsOn: p.dependencies(object),
	}
	if s.live != nil {
		s.ours = s.recordedNow() || p.labelled(s.live)
		s.action.Prior = providers.Precondition{UID: s.live.GetUID(), ResourceVersion: s.live.GetResourceVersion()}
	}
	for _, step := range p.steps(s) {
		decided, err := step(ctx, s)
		if err != nil {
			return nil, fmt.Errorf("plan %s: %w", object.Address, err)
		}
		if decided {
			break
		}
	}
	p.settle(s)
	return s, nil
}

// recordOf finds what the state knows of a desired object: by its address, or
// under the address that the same object had before. What had the address and is
// another object does not count.
func (p *planning) recordOf(object *providers.Object) *record {
	id := identify(object.Ref())
	if r := p.recorded[object.Address]; r != nil && identify(r.ref) == id {
		return r
	}
	return p.known[id]
}

// recordedNow reports whether the state knows the very object that is live.
func (s *subject) recordedNow() bool {
	return s.record != nil && s.record.UID == string(s.live.GetUID())
}

// movedHere reports whether the state knows the object under another address.
func (s *subject) movedHere() bool {
	return s.record != nil && s.record.Address != s.object.Address.String()
}

func (p *planning) labelled(live *unstructured.Unstructured) bool {
	return live.GetLabels()[providers.LabelCloud] == p.Cloud
}

// dependencies are the declared ones, and the namespace and the definition of the
// kind where this plan has them too.
func (p *planning) dependencies(object *providers.Object) []lang.Address {
	dependencies := slices.Clone(object.DependsOn)
	ref := object.Ref()
	namespace, inPlan := p.byRef[identify(providers.Ref{GVK: namespaces, Name: ref.Namespace})]
	if ref.Namespace != "" && inPlan {
		dependencies = append(dependencies, namespace)
	}
	if definer, ok := p.definers[ref.GVK.GroupKind()]; ok {
		dependencies = append(dependencies, definer)
	}
	slices.SortFunc(dependencies, lang.Address.Compare)
	return slices.Compact(dependencies)
}

// absent decides about objects that are not in the cluster.
func (p *planning) absent(ctx context.Context, s *subject) (bool, error) {
	why, again := p.demanded(s.object)
	switch {
	case s.live != nil:
		return false, nil
	case s.object.Partial:
		s.refuse(fmt.Sprintf("%s does not exist", s.action.Ref),
			"Only some of its fields are declared here, so it is never created. Correct its name, or bring it into the cluster first.")
		return true, nil
	case s.finished() && s.sameInputs() && !again:
		s.action.Verb = None
		s.action.Evidence = Evidence{Kind: Recorded, Detail: "finished; cleaned up since"}
		return true, nil
	}
	s.action.Verb = Create
	if s.object.Run() {
		s.action.Verb = Run
	}
	reason := Reason{Kind: ReasonNew}
	switch {
	case s.finished() && again:
		reason = why
	case s.finished():
		reason.Kind = ReasonConfig
	case s.record != nil && s.record.UID != "":
		reason.Kind = s.record.absence()
	}
	s.action.Reasons = []Reason{reason}
	manifest, err := p.resolve(s)
	if err != nil {
		return false, err
	}
	s.action.Reasons = append(s.action.Reasons, s.renewal()...)
	if err := p.tryNew(ctx, s, manifest, !p.namespaceLive(s.action.Ref.Namespace)); err != nil {
		return false, err
	}
	shown := manifest
	if s.action.Evidence.Kind == Schema {
		shown = s.after // with the defaults, which nobody can look up yet
	}
	differences, err := compare(nil, shown)
	s.action.Changes = changesOf(s.withUnknown(differences))
	return true, err
}

// finished reports whether the object is a job that was seen complete.
func (s *subject) finished() bool {
	return s.object.Run() && s.record != nil && s.record.Ready
}

// versioned reports whether the object's name says what is in it.
func (s *subject) versioned() bool { return s.object.Family != (lang.Address{}) }

// sameInputs reports whether a job would run for the same as it last did.
func (s *subject) sameInputs() bool {
	return s.versioned() || s.record.Desired == s.object.Digest()
}

// leaving decides about objects that are on their way out: what they would
// become cannot be told.
func (p *planning) leaving(_ context.Context, s *subject) (bool, error) {
	if s.live.GetDeletionTimestamp() == nil {
		return false, nil
	}
	detail := "Plan again when it is gone."
	if finalizers := s.live.GetFinalizers(); len(finalizers) > 0 {
		detail += fmt.Sprintf(" It waits for its finalizers %q.", finalizers)
	}
	s.refuse(fmt.Sprintf("%s is being deleted", s.action.Ref), detail)
	return true, nil
}

// foreign decides about objects that are not kolla's.
func (p *planning) foreign(_ context.Context, s *subject) (bool, error) {
	owner := s.live.GetLabels()[providers.LabelCloud]
	switch {
	case s.object.Partial:
		return false, nil
	case owner != "" && owner != p.Cloud:
		s.refuse(fmt.Sprintf("%s belongs to cloud %q", s.action.Ref, owner),
			fmt.Sprintf("Its label %s says so. Two clouds cannot have one object: choose another namespace or name.", providers.LabelCloud))
		return true, nil
	case !s.ours && !p.Adopt && !p.imported(s.object.Address):
		s.refuse(fmt.Sprintf("%s exists and is not kolla's", s.action.Ref),
			"It has neither the label of this cloud nor a place in the state. To take it over as it is and change it to what is declared, write an import block for it, or plan with -adopt, which takes over all that are in the way; otherwise rename one of the two.")
		return true, nil
	}
	return false, nil
}

// adopts reports whether the action takes over somebody else's object.
func (s *subject) adopts() bool { return s.live != nil && !s.ours && !s.object.Partial }

// ran decides about jobs that are in the cluster. The name of a versioned one
// says what it ran, so that there is nothing to compare.
func (p *planning) ran(ctx context.Context, s *subject) (bool, error) {
	if !s.object.Run() {
		return false, nil
	}
	if condition := jobCondition(s.live, batchv1.JobFailed); condition != "" {
		return true, p.replace(ctx, s, []Reason{{Kind: ReasonFailedJob, Detail: condition}})
	}
	if !s.versioned() {
		return false, nil
	}
	s.matches(Evidence{Kind: Recorded, Detail: "its name is made of what it runs"})
	return true, nil
}

// jobCondition gives the message of a job's condition that is true, or its type
// where there is no message; empty: the condition is not true.
func jobCondition(job *unstructured.Unstructured, kind batchv1.JobConditionType) string {
	conditions, _, _ := unstructured.NestedSlice(job.Object, "status", "conditions")
	for _, c := range conditions {
		condition, _ := c.(map[string]any)
		if condition["type"] != string(kind) || condition["status"] != "True" {
			continue
		}
		if message, _ := condition["message"].(string); message != "" {
			return message
		}
		return string(kind)
	}
	return ""
}

// matches decides that the cluster has nothing to be written to. An object that
// the state does not know, or knows under an earlier address, is taken into it; an
// object that was not seen ready since its last write is still to be waited for.
func (s *subject) matches(evidence Evidence) {
	s.action.Verb = None
	s.action.Evidence = evidence
	switch {
	case s.adopts(), s.object.Partial && s.record == nil:
		s.action.Verb, s.action.Reasons = Adopt, []Reason{{Kind: ReasonUnowned}}
	case s.record == nil:
		s.action.Verb, s.action.Reasons = Adopt, []Reason{{Kind: ReasonUnrecorded}}
	case s.movedHere():
		s.action.Verb, s.action.Reasons = Adopt, []Reason{{Kind: ReasonMoved, Detail: s.record.Address}}
	default:
		s.action.Force = false
		s.action.Pending = !s.recordedNow() || !s.record.Ready
	}
}

// verified asks the server what an apply would change.
func (p *planning) verified(ctx context.Context, s *subject) (bool, error) {
	manifest, err := p.sent(s)
	if err != nil {
		return false, err
	}
	answer, err := p.Reader.DryRun(ctx, manifest, providers.DryRunOptions{Manager: s.manager})
	var conflict *providers.ConflictError
	if errors.As(err, &conflict) {
		answer, manifest, err = p.contend(ctx, s, manifest, conflict.Conflicts)
		if manifest == nil {
			return err == nil, err
		}
	}
	evidence, refusal := Evidence{Kind: DryRun}, ""
	if err != nil {
		r := classify(err)
		switch {
		case r.world:
			return false, err
		case len(r.immutable) > 0:
			return true, p.replace(ctx, s, s.causes(manifest, r.immutable))
		case r.unasked != "":
			evidence = Evidence{Kind: Unverified, Detail: r.unasked}
		case r.shape && p.comingFor(s) != nil:
			refusal = r.text()
		default:
			s.reject(r)
			return true, nil
		}
		if answer, err = predict(s.live, manifest, s.manager); err != nil {
			return false, err
		}
	}
	if p.comingFor(s) != nil && evidence.Kind != Unverified {
		if answer, evidence = p.overrule(s, manifest, answer, refusal); answer == nil {
			return true, nil
		}
	}
	return true, p.conclude(s, answer, evidence)
}

// conclude decides by what the object would become.
func (p *planning) conclude(s *subject, answer *unstructured.Unstructured, evidence Evidence) error {
	differences, err := compare(s.live, answer)
	if err != nil {
		return err
	}
	s.raced = answer.GetResourceVersion() != s.live.GetResourceVersion()
	s.confirmed = evidence.Kind == DryRun && p.rules.Check(answer, p.namespaceOf(s), s.manager) == s.check
	if s.raced {
		// What kolla does not declare differs by what somebody wrote, not by the apply.
		differences = declared(differences, ownershipOf(s.live, s.manager), ownershipOf(answer, s.manager))
	}
	differences = s.withUnknown(differences)
	if len(differences) == 0 {
		s.matches(evidence)
		return nil
	}
	origin := p.originOf(s, answer)
	reasons := origin.blame(differences)
	if s.object.Partial && (s.record == nil || origin.same) {
		s.warnTwin(p.Cloud, differences)
	}
	if evidence.Kind == Schema {
		reasons = p.blameDefinition(s, reasons)
	}
	s.action.Verb = Update
	if s.adopts() {
		s.action.Verb = Adopt
	}
	s.action.Evidence = evidence
	s.action.Changes = changesOf(differences)
	s.action.Reasons = slices.Concat(reasons, s.freed(), s.replacedValues(), s.renewal())
	if s.movedHere() {
		s.action.Reasons = append(s.action.Reasons, Reason{Kind: ReasonMoved, Detail: s.record.Address})
	}
	s.after = answer
	return nil
}

// warnTwin says of fields that kolla owns by this cloud's name and would give up, though
// nothing that the state knows of has declared them, where they must have come from.
func (s *subject) warnTwin(cloud string, differences []difference) {
	var taken []string
	for _, d := range differences {
		if d.After == nil && d.Before != nil {
			taken = append(taken, d.Path)
		}
	}
	if len(taken) == 0 {
		return
	}
	warning := problemOf(s.object, fmt.Sprintf("Another configuration or state manages %s for cloud %q", s.action.Ref, cloud),
		fmt.Sprintf("It was given %s for this cloud, and not from here: the state does not know of that. This plan takes it away, and the other one takes away what is given here. A cloud has one configuration and one state: give one of the two another cloud name. If the state was lost or is an old one, kolla state rebuild makes it anew.", enumerate(taken, 4)))
	warning.Warning = true
	s.problems = append(s.problems, warning)
}

func (p *planning) originOf(s *subject, answer *unstructured.Unstructured) origin {
	held := ownershipOf(s.live, s.manager)
	same := s.record != nil && s.record.Desired == s.object.Digest() && !s.givenAnew(answer, held)
	return origin{
		live:   held,
		after:  ownershipOf(answer, s.manager),
		same:   same,
		edited: s.record != nil && !same,
		ours:   !s.adopts(),
	}
}

// resolve gives the manifest as it is to be sent, and remembers which of its
// values are only made at apply.
func (p *planning) resolve(s *subject) (*unstructured.Unstructured, error) {
	manifest, pending, err := s.object.Resolve(p.values, false)
	s.pending = pending
	return manifest, err
}

// values reads Secrets of the snapshot.
func (p *planning) values(namespace, name string) map[string][]byte {
	return providers.ValuesOf(p.Snapshot.Get(providers.Ref{GVK: secrets, Namespace: namespace, Name: name}))
}

// withUnknown marks the values of a Secret that will only be made at apply, and
// what is told about them.
func (s *subject) withUnknown(differences []difference) []difference {
	if len(s.pending) == 0 {
		return differences
	}
	for i := range differences {
		d := &differences[i]
		isValue := len(d.path) == 2 && slices.Contains(s.pending, *d.path[1].FieldName) && d.Sensitive
		if isValue || d.Path == annotationPath(providers.AnnotationChecksum) || d.Path == annotationPath(providers.AnnotationNotAfter) {
			d.After = Unknown
		}
	}
	return differences
}

// declared keeps the differences in what kolla owns before or after: a new object
// differs from a live one also in what the cluster gave to the latter.
func declared(differences []difference, before, after ownership) []difference {
	return slices.DeleteFunc(differences, func(d difference) bool {
		return !touches(before.kolla, d.path) && !touches(after.kolla, d.path)
	})
}
