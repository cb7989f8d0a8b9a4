package decision

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/planner/dryrun"
	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/internal/blame"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/internal/outcome"
	"kolla.openstack.org/kolla/planner/internal/selection"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/planner/proof"
	"kolla.openstack.org/kolla/planner/trust"
	"kolla.openstack.org/kolla/providers"
	secretvalues "kolla.openstack.org/kolla/providers/secrets"
	"kolla.openstack.org/kolla/state"
)

// subject is a declared object and everything that is known of it while the steps decide.
type subject struct {
	out outcome.Outcome
	// idle are fields of controllers that no longer use them.
	idle []plans.Reason

	// check is the fingerprint of the live object; zero: it has none.
	check state.Check
	// claim is the evidence of the cheap steps that nothing changes; zero: they have none.
	claim plans.Evidence
	// confirmed: a dry run shows that kolla already owns all fields of the declaration,
	// with the declared values.
	confirmed bool
	// raced: somebody wrote to the object between the LIST and the dry run, and reading it
	// again failed.
	raced bool
	// clean: the live object has the fingerprint of the last apply or check, which found
	// every field as declared.
	clean bool
	// altered: it is clean except for the values of a Secret, which no record contains.
	altered bool
	// holds: kolla owns the declared fields with the declared values, so that an apply of
	// them certainly changes nothing. Additions of others are not considered.
	holds bool
}

// A step decides about an object, or leaves it to the next step. To decide, it sets the verb
// of the action or adds a problem.
type step func(context.Context, *subject) (decided bool, err error)

// decide takes an object through the steps, the cheapest first. The last step asks the server.
// The steps before it decide only if the answer is certain.
func (p *decider) decide(ctx context.Context, object *providers.Object) (*subject, error) {
	s := &subject{out: outcome.Outcome{Object: object, Manager: providers.ManagerOf(p.inv.Input.Cloud, object.Partial), Record: p.inv.RecordOf(object)}}
	s.out.Live = p.liveOf(s)
	s.out.Action = plans.Action{
		Address:   object.Address,
		Object:    object,
		Ref:       object.Ref(),
		DependsOn: selection.Dependencies(object),
	}
	if s.out.Live != nil {
		s.out.Ours = s.made()
		s.out.Action.Prior = providers.Precondition{UID: s.out.Live.GetUID(), ResourceVersion: s.out.Live.GetResourceVersion()}
		if s.out.Ours && !s.out.Object.Partial {
			s.out.Action.Token = trust.Token(s.out.Live)
		}
	}
	s.out.Action.Scaled = s.out.Live != nil && !object.Partial && p.inv.Scaled(s.out.Action.Ref)
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

// absent decides about objects that do not exist.
func (p *decider) absent(ctx context.Context, s *subject) (bool, error) {
	why, again := p.demanded(s.out.Object)
	switch {
	case s.out.Live != nil:
		return false, nil
	case s.out.Object.Partial:
		s.out.Refuse(fmt.Sprintf("%s does not exist", s.out.Action.Ref),
			"Only some of its fields are declared here, so it is never created. Correct its name, or bring it into the cluster first.")
		return true, nil
	case s.out.Finished() && s.sameInputs() && !again:
		s.out.Action.Verb = plans.None
		s.out.Action.Evidence = plans.Evidence{Kind: plans.Recorded, Detail: "finished; cleaned up since"}
		return true, nil
	}
	s.out.Action.Verb = plans.Create
	if s.out.Object.Run() && !s.out.Object.Skipped() {
		s.out.Action.Verb = plans.Run
	}
	reason := plans.Reason{Kind: plans.ReasonNew}
	switch {
	case s.out.Finished() && again:
		reason = why
	case s.out.Finished():
		reason.Kind = plans.ReasonConfig
	case s.out.Record != nil && s.out.Record.State.UID != "":
		reason.Kind = s.out.Record.Absence()
	}
	s.out.Action.Reasons = []plans.Reason{reason}
	manifest, err := p.resolve(s)
	if err != nil {
		return false, err
	}
	s.out.Action.Reasons = append(s.out.Action.Reasons, s.renewal()...)
	answer, err := p.ask.Create(ctx, s.out.Object, manifest)
	if err != nil {
		return false, err
	}
	s.out.Take(answer)
	// shown joins the differences of an apply and those of the removed additions. If both
	// concern one field, it shows the field as it is now and as it finally will be.
	shown := manifest
	if s.out.Action.Evidence.Kind == plans.Schema {
		shown = s.out.After // with the defaults, which nobody can look up yet
	}
	differences, err := fields.Compare(nil, shown)
	s.out.Action.Changes = fields.Changes(s.out.WithUnknown(differences))
	return true, err
}

// sameInputs reports whether a Job would run with the inputs of its last run.
func (s *subject) sameInputs() bool {
	return s.out.Versioned() || s.out.Record.State.Desired == s.out.Object.Digest()
}

// leaving refuses objects that are being deleted: nobody knows how they would change.
func (p *decider) leaving(_ context.Context, s *subject) (bool, error) {
	if s.out.Live.GetDeletionTimestamp() == nil {
		return false, nil
	}
	detail := "Plan again when it is gone."
	if finalizers := s.out.Live.GetFinalizers(); len(finalizers) > 0 {
		detail += fmt.Sprintf(" It waits for its finalizers %q.", finalizers)
	}
	s.out.Refuse(fmt.Sprintf("%s is being deleted", s.out.Action.Ref), detail)
	return true, nil
}

// ran decides about live Jobs. The name of a versioned Job contains a hash of its inputs, so
// there is nothing to compare.
func (p *decider) ran(ctx context.Context, s *subject) (bool, error) {
	if !s.out.Object.Run() {
		return false, nil
	}
	if condition := jobCondition(s.out.Live, batchv1.JobFailed); condition != "" {
		return true, p.replace(ctx, s, []plans.Reason{{Kind: plans.ReasonFailedJob, Detail: condition}})
	}
	if s.out.Ours && s.ranOtherwise() && jobCondition(s.out.Live, batchv1.JobComplete) == "" {
		return true, p.replace(ctx, s, []plans.Reason{{Kind: plans.ReasonConfig}})
	}
	if s.out.Ours {
		if decided, err := p.takeOutFixed(ctx, s); decided || err != nil {
			return decided, err
		}
	}
	if !s.out.Versioned() {
		return false, nil
	}
	s.matches(plans.Evidence{Kind: plans.Recorded, Detail: "its name is made of what it runs"})
	return true, nil
}

// ranOtherwise reports whether a Job that does not run again for new inputs had other inputs
// than it would have now.
func (s *subject) ranOtherwise() bool {
	want := s.out.Object.Manifest.GetAnnotations()[providers.AnnotationInputs]
	return want != "" && s.out.Live.GetAnnotations()[providers.AnnotationInputs] != want
}

// jobCondition returns the message of a true condition of a Job, or its type without a
// message; empty: the condition is not true.
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

// matches decides that nothing is written to the cluster. The state takes over adopted objects
// and new addresses. An apply still waits for objects that were not ready after their last
// write.
func (s *subject) matches(evidence plans.Evidence) {
	s.out.Action.Verb = plans.None
	s.out.Action.Evidence = evidence
	switch {
	case s.out.Adopts(), s.out.Object.Partial && s.out.Record == nil:
		s.out.Action.Verb, s.out.Action.Reasons = plans.Adopt, []plans.Reason{{Kind: plans.ReasonUnowned}}
	case s.out.Record.MovedFrom(s.out.Object.Address):
		s.out.Action.Verb, s.out.Action.Reasons = plans.Adopt, []plans.Reason{{Kind: plans.ReasonMoved, Detail: s.out.Record.State.Address}}
	default:
		s.out.Action.Force = false
		s.out.Action.Pending = !s.out.Record.Is(s.out.Live) || !s.out.Record.State.Ready
	}
}

// verified asks the server what an apply would change.
func (p *decider) verified(ctx context.Context, s *subject) (bool, error) {
	contention := providers.Contend()
	for first := true; ; first = false {
		x := &prospect{applied: s.out.Live, evidence: plans.Evidence{Kind: plans.DryRun}}
		if !s.holds || p.inv.Input.VerifyAll || !first {
			if decided, err := p.applied(ctx, s, x); decided || err != nil {
				s.passOn(x)
				return decided, err
			}
		}
		if x.applied.GetResourceVersion() != s.out.Live.GetResourceVersion() && contention.Again(ctx) {
			if again, err := p.reread(ctx, s); again || err != nil {
				if err != nil {
					return false, err
				}
				continue
			}
		}
		decided, err := p.takeOut(ctx, s, x)
		if apierrors.IsConflict(err) && contention.Again(ctx) {
			if _, err := p.reread(ctx, s); err != nil {
				return false, err
			}
			continue
		}
		if err != nil {
			return false, err
		}
		s.passOn(x)
		if decided {
			return true, nil
		}
		return true, p.conclude(s, x)
	}
}

// passOn adds the warnings of the server to the problems. Warnings about an object that is
// replaced, or that fields are removed from, may be about the additions of others, so other
// warnings count then.
func (s *subject) passOn(x *prospect) {
	if s.out.Action.Verb == plans.Replace {
		return
	}
	warned := x.warned
	if s.out.Action.Removes != "" {
		warned = x.finally
	}
	for _, text := range warned {
		s.out.Problems = append(s.out.Problems, plans.Problem{Warning: true, Address: s.out.Object.Address, Detail: text})
	}
}

// applied asks the server for the result of a server-side apply.
func (p *decider) applied(ctx context.Context, s *subject, x *prospect) (decided bool, err error) {
	manifest, err := p.sent(s)
	if err != nil {
		return false, err
	}
	answer, err := p.inv.Input.Reader.DryRun(ctx, manifest, providers.DryRunOptions{Manager: s.out.Manager, Warn: collect(&x.warned)})
	var conflict *providers.ConflictError
	if errors.As(err, &conflict) {
		answer, manifest, err = p.contend(ctx, s, x, manifest, conflict.Conflicts)
		if manifest == nil {
			return err == nil, err
		}
	}
	refusal := ""
	if err != nil {
		r := dryrun.Classify(err)
		switch {
		case r.World:
			return false, err
		case len(r.Immutable) > 0:
			return true, p.replace(ctx, s, dryrun.Causes(s.out.Live, manifest, s.out.Manager, r.Immutable))
		case r.Unasked != "":
			x.evidence = plans.Evidence{Kind: plans.Unverified, Detail: r.Unasked}
		case r.Permission != nil:
			x.evidence = r.Forbidden()
		case p.inv.Input.RefreshOnly:
			x.evidence = plans.Evidence{Kind: plans.Unverified, Detail: "the cluster refuses to say what an apply would change: " + r.Text()}
		case r.Shape && p.crdOf(s) != nil:
			refusal = r.Text()
		case !s.out.Owned():
			s.out.Reject(r)
			return true, nil
		default:
			x.invalid = &r
		}
		if answer, err = s.predicted(ctx, p.inv.Input.Reader, x, manifest); err != nil {
			return false, err
		}
	}
	if p.crdOf(s) != nil && x.evidence.Kind != plans.Unverified {
		changed := p.ask.Update(s.out.Object, manifest, answer, refusal)
		s.out.Problems = append(s.out.Problems, changed.Problems...)
		if changed.Refused {
			return true, nil
		}
		answer, x.evidence = changed.After, changed.Evidence
	}
	x.applied = answer
	return false, nil
}

// conclude decides by the difference between the live object and the result.
func (p *decider) conclude(s *subject, x *prospect) error {
	becomes := x.applied
	if x.invalid != nil {
		becomes = x.final // what is in between never comes about
	}
	differences, err := fields.Compare(s.out.Live, becomes)
	if err != nil {
		return err
	}
	s.raced = x.applied.GetResourceVersion() != s.out.Live.GetResourceVersion()
	s.confirmed = x.evidence.Kind == plans.DryRun && p.inv.Rules.Check(x.applied, p.namespaceOf(s), s.out.Manager, p.terms(s)) == s.check
	if s.raced {
		// Undeclared fields differ because somebody wrote them, not because of the apply.
		differences = fields.Declared(differences, fields.OwnersOf(s.out.Live, s.out.Manager), fields.OwnersOf(x.applied, s.out.Manager))
	}
	if x.invalid != nil {
		differences = slices.DeleteFunc(differences, func(d fields.Difference) bool { return d.Hollow() })
	}
	differences = s.out.WithUnknown(differences)
	if len(differences)+len(x.removed) == 0 {
		s.matches(x.evidence)
		return nil
	}
	origin := p.originOf(s, x.applied)
	reasons := origin.Differences(differences)
	if x.invalid != nil {
		reasons = origin.Additions(differences, reasons)
	}
	if s.out.Object.Partial && (s.out.Record == nil || origin.Same) {
		s.warnTwin(p.inv.Input.Cloud, differences)
	}
	if x.evidence.Kind == plans.Schema {
		reasons = p.blameDefinition(s, reasons)
	}
	s.out.Action.Verb = plans.Update
	if s.out.Adopts() {
		s.out.Action.Verb = plans.Adopt
	}
	s.out.Action.Evidence = x.evidence
	shown, err := s.shown(differences, x)
	if err != nil {
		return err
	}
	s.out.Action.Changes = fields.Changes(shown)
	s.out.Action.Reasons = slices.Concat(reasons, blame.Drift(x.removed, s.out.Adopts()), s.freed(), s.replacedValues(valuesIn(p.inv)), s.renewal())
	if s.out.Record.MovedFrom(s.out.Object.Address) {
		s.out.Action.Reasons = append(s.out.Action.Reasons, plans.Reason{Kind: plans.ReasonMoved, Detail: s.out.Record.State.Address})
	}
	s.out.After = x.final
	return nil
}

// shown merges the differences of an apply with the removals of added fields. If both change
// a field, the result has its present value and its final value.
func (s *subject) shown(differences []fields.Difference, x *prospect) ([]fields.Difference, error) {
	meets := func(all []fields.Difference, d fields.Difference) int {
		return slices.IndexFunc(all, func(other fields.Difference) bool { return fields.Overlap(other.At, d.At) })
	}
	all := slices.Concat(differences, x.removed)
	if x.invalid == nil && slices.ContainsFunc(x.removed, func(d fields.Difference) bool { return meets(differences, d) >= 0 }) {
		var err error
		if all, err = fields.Compare(s.out.Live, x.final); err != nil {
			return nil, err
		}
		all = s.out.WithUnknown(all)
		for i, d := range all {
			if r := meets(x.removed, d); r >= 0 {
				all[i].Drift, all[i].Manager, all[i].Time = x.removed[r].Drift, x.removed[r].Manager, x.removed[r].Time
			}
		}
	}
	slices.SortStableFunc(all, func(a, b fields.Difference) int { return strings.Compare(a.Path, b.Path) })
	return all, nil
}

// terms are the terms of the fingerprints of the object.
func (p *decider) terms(s *subject) proof.Terms {
	return proof.TermsOf(s.out.Action.Object, s.out.Action.Scaled, p.inv.Input.ForeignPolicy == plans.IgnoreForeign)
}

// warnTwin warns of another configuration or state for this cloud: kolla's field manager owns
// fields that no known declaration had.
func (s *subject) warnTwin(cloud string, differences []fields.Difference) {
	var taken []string
	for _, d := range differences {
		if d.After == nil && d.Before != nil {
			taken = append(taken, d.Path)
		}
	}
	if len(taken) == 0 {
		return
	}
	warning := plans.ProblemOf(s.out.Object, fmt.Sprintf("Another configuration or state manages %s for cloud %q", s.out.Action.Ref, cloud),
		fmt.Sprintf("It was given %s for this cloud, and not from here: the state does not know of that. This plan takes it away, and the other one takes away what is given here. A cloud has one configuration and one state: give one of the two another cloud name. If the state was lost or is an old one, kolla state rebuild makes it anew.", words.Few(taken, 4)))
	warning.Warning = true
	s.out.Problems = append(s.out.Problems, warning)
}

// originOf collects the facts that decide who changed the object.
func (p *decider) originOf(s *subject, answer *unstructured.Unstructured) blame.Origin {
	held := fields.OwnersOf(s.out.Live, s.out.Manager)
	same := s.out.Record != nil && s.out.Record.State.Desired == s.out.Object.Digest() && !s.givenAnew(answer, held)
	return blame.Origin{
		Live:   held,
		After:  fields.OwnersOf(answer, s.out.Manager),
		Same:   same,
		Edited: s.out.Record != nil && !same,
		Ours:   !s.out.Adopts(),
		// Judged by the same server, with no other change than that of the object.
		Written: s.written(),
	}
}

// written reports whether somebody certainly wrote to the object since the last apply or
// check, judged by the same server: its fingerprint differs, or somebody removed the record of
// kolla's fields.
func (s *subject) written() bool {
	return s.altered || s.out.Record.Is(s.out.Live) && s.out.Record.State.Check.Owned != "" && !s.clean && (s.check.Owned == "" || s.check.Server == s.out.Record.State.Check.Server)
}

// resolve returns the manifest to send, and notes which of its values only the apply makes.
func (p *decider) resolve(s *subject) (*unstructured.Unstructured, error) {
	manifest, pending, err := Resolve(p.inv, s.out.Object)
	s.out.Pending = pending
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
