package decision

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/planner/dryrun"
	"kolla.openstack.org/kolla/planner/plans"
)

// expectKinds collects the CRDs that the plan creates or changes, after their decisions and
// before those of all other objects.
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
		p.ask.Expect(kind, coming)
	}
}

// crdOf returns the CRD that the plan brings for the object's kind; nil: it brings none.
func (p *decider) crdOf(s *subject) *dryrun.CRD {
	return p.ask.CRD(s.out.Action.Ref.GVK.GroupKind())
}

// blameDefinition names the changed CRD as the reason of differences without another reason.
func (p *decider) blameDefinition(s *subject, reasons []plans.Reason) []plans.Reason {
	for i := range reasons {
		if reasons[i].Kind == plans.ReasonUpgrade {
			reasons[i] = plans.Reason{Kind: plans.ReasonDefinition, Path: reasons[i].Path, Detail: p.crdOf(s).String()}
		}
	}
	return reasons
}

// liveOf returns the live object. If the cluster does not serve the declared version yet, the
// object may exist in the version in which it was applied.
func (p *decider) liveOf(s *subject) *unstructured.Unstructured {
	ref := s.out.Object.Ref()
	coming := p.ask.CRD(ref.GVK.GroupKind())
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
