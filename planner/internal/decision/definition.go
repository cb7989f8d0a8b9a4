package decision

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/planner/dryrun"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers/kinds"
)

// expectKinds takes down the definitions that the plan creates or changes. They have
// been decided by now, and no other object has.
func (p *decider) expectKinds() {
	for _, s := range p.subjects {
		if s == nil || s.out.Action.Verb == plans.None {
			continue
		}
		kind, ok := dryrun.KindOf(s.out.Object.Manifest)
		if !ok || s.out.Live != nil && (s.out.After == nil || !dryrun.ChangesSchemas(s.out.Live, s.out.After)) {
			continue
		}
		coming := &dryrun.CRD{Live: s.out.Live != nil, Refused: s.out.Action.Verb == "", Object: s.out.After}
		if coming.Object == nil {
			coming.Object = s.out.Object.Manifest
		}
		p.coming[kind] = coming
	}
}

// comingFor is the definition that the plan brings for an object's kind; nil: none.
func (p *decider) comingFor(s *subject) *dryrun.CRD {
	return p.coming[s.out.Action.Ref.GVK.GroupKind()]
}

// tryUndefined decides about a new object of a kind, or of a version of it, that the
// cluster does not have.
func (p *decider) tryUndefined(s *subject, manifest *unstructured.Unstructured) error {
	if err := s.assume(manifest); err != nil {
		return err
	}
	coming := p.comingFor(s)
	gvk := s.out.Action.Ref.GVK
	if coming == nil {
		reason := fmt.Sprintf("the cluster has no kind %s in %s", gvk.Kind, gvk.GroupVersion())
		needsMore := func(address lang.Address) bool {
			needed := p.inv.Declared[address]
			return needed != nil && needed.Ref().GVK.GroupKind() != kinds.Namespace
		}
		if !slices.ContainsFunc(s.out.Object.DependsOn, needsMore) {
			s.out.withdraw(reason, "Nothing that is declared here defines it either. Install what it comes from first, or name in depends_on what brings it, such as the manifest of an operator; otherwise correct apiVersion and kind.")
			return nil
		}
		s.out.Action.Evidence = plans.Evidence{
			Kind: plans.Unverified, Detail: reason,
			Advice: "Nothing that is declared here defines it either. The object can only be made if something that it depends on brings its kind, such as an operator; otherwise correct apiVersion and kind.",
		}
		return nil
	}
	if coming.Refused {
		s.out.Action.Evidence = plans.Evidence{Kind: plans.Unverified, Detail: fmt.Sprintf("the cluster does not accept %s, which defines its kind", coming)}
		return nil
	}
	if err := p.tryForeseen(s, coming, manifest); err != nil || s.out.Action.Evidence.Kind != plans.Schema {
		return err
	}
	if p.inv.Rules.Meets(gvk) {
		s.out.Action.Evidence.Detail += "; the webhooks and policies that may change it are not asked before"
	}
	return nil
}

// tryForeseen decides about a new object by the definition that it will meet.
func (p *decider) tryForeseen(s *subject, coming *dryrun.CRD, manifest *unstructured.Unstructured) error {
	f, err := coming.Check(manifest, manifest)
	if err != nil {
		s.out.Action.Evidence = plans.Evidence{Kind: plans.Unverified, Detail: err.Error()}
		return nil
	}
	if len(f.Faults) > 0 {
		s.out.Action.Verb = ""
		s.out.rejectBy(coming.String(), f.Objection())
		return nil
	}
	s.out.Action.Evidence = f.Evidence
	s.warnOfDropped(coming, f)
	// What the schema adds is there for everybody to see, and nobody's own.
	f.After.SetManagedFields(s.out.After.GetManagedFields())
	s.out.After = f.After
	return nil
}

// warnOfDropped names declared fields that will not be there.
func (s *subject) warnOfDropped(by *dryrun.CRD, f dryrun.Forecast) {
	if len(f.Dropped) > 0 {
		s.out.warn(fmt.Sprintf("%s does not keep %s of %s", by, words.Few(f.Dropped, 4), s.out.Action.Ref),
			"The schema does not have such a field there. Correct its name, or take it out.")
	}
}

// refusedNow introduces what the server said of an object by a definition that this
// plan changes.
const refusedNow = "; by the one that the cluster has now the object is not accepted: "

// applyNewCRD re-evaluates an object against the version of its CRD that this plan installs.
// base is the object as the server's version makes it from the manifest, and refusal is why
// that version rejects it, if it does. Where the new version rejects it too, the evidence
// says so and the result is nil.
func (p *decider) applyNewCRD(s *subject, manifest, base *unstructured.Unstructured, refusal string) (*unstructured.Unstructured, plans.Evidence) {
	coming := p.comingFor(s)
	if coming.ConvertsByWebhook() && p.inv.Input.Snapshot.Missing(s.out.Action.Ref.GVK) {
		return base, plans.Evidence{Kind: plans.Unverified, Detail: fmt.Sprintf("the cluster does not serve its version yet, and a webhook of %s is to convert it", coming)}
	}
	f, err := coming.Check(manifest, base)
	if err != nil {
		return base, plans.Evidence{Kind: plans.Unverified, Detail: err.Error()}
	}
	if len(f.Faults) > 0 {
		s.out.rejectBy(coming.String(), f.Objection())
		return nil, plans.Evidence{}
	}
	s.warnOfDropped(coming, f)
	if refusal != "" {
		f.Evidence.Detail += refusedNow + refusal
	}
	return f.After, f.Evidence
}

// blameDefinition has reasons say that the definition of the object's kind changes,
// where nothing else explains a difference.
func (p *decider) blameDefinition(s *subject, reasons []plans.Reason) []plans.Reason {
	for i := range reasons {
		if reasons[i].Kind == plans.ReasonUpgrade {
			reasons[i] = plans.Reason{Kind: plans.ReasonDefinition, Path: reasons[i].Path, Detail: p.comingFor(s).String()}
		}
	}
	return reasons
}

// liveOf finds the object in the cluster. Of a version that the cluster does not
// serve yet, it may be there in the one that it was applied in.
func (p *decider) liveOf(s *subject) *unstructured.Unstructured {
	ref := s.out.Object.Ref()
	coming := p.coming[ref.GVK.GroupKind()]
	live := p.inv.Input.Snapshot.Get(ref)
	if live != nil || s.out.Record == nil || coming == nil || !p.inv.Input.Snapshot.Missing(ref.GVK) || s.out.Record.Ref.GVK.GroupKind() != ref.GVK.GroupKind() {
		return live
	}
	if live = p.inv.Input.Snapshot.Get(s.out.Record.Ref); live == nil {
		return nil
	}
	live = live.DeepCopy()
	live.SetAPIVersion(ref.GVK.GroupVersion().String())
	return live
}
