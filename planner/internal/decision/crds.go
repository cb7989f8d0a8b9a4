package decision

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/planner/dryrun"
	"kolla.openstack.org/kolla/planner/internal/outcome"
	"kolla.openstack.org/kolla/planner/internal/trial"
	"kolla.openstack.org/kolla/planner/plans"
)

// expectKinds collects the CRDs that the plan creates or changes, after their decisions and
// before those of all other objects.
func expectKinds(ask *trial.Asker, outcomes []*outcome.Outcome) {
	for _, o := range outcomes {
		if o == nil || o.Action.Verb == plans.None {
			continue
		}
		kind, ok := dryrun.KindOf(o.Object.Manifest)
		if !ok || o.Live != nil && (o.After == nil || !dryrun.ChangesSchemas(o.Live, o.After)) {
			continue
		}
		coming := &dryrun.CRD{Live: o.Live != nil, Refused: o.Withheld, Object: o.After}
		if coming.Object == nil {
			coming.Object = o.Object.Manifest
		}
		ask.Expect(kind, coming)
	}
}

// crdOf returns the CRD that the plan brings for the object's kind; nil: it brings none.
func crdOf(e *env, s *subject) *dryrun.CRD {
	return e.ask.CRD(s.draft.Action.Ref.GVK.GroupKind())
}

// blameDefinition names the changed CRD as the reason of differences without another reason.
func blameDefinition(e *env, s *subject, reasons []plans.Reason) []plans.Reason {
	for i := range reasons {
		if k := reasons[i].Kind; k == plans.ReasonUpgrade || k == plans.ReasonUnexplained {
			reasons[i] = plans.Reason{Kind: plans.ReasonDefinition, Path: reasons[i].Path, Detail: crdOf(e, s).String()}
		}
	}
	return reasons
}

// liveOf returns the live object. If the cluster does not serve the declared version yet, the
// object may exist in the version in which it was applied.
func liveOf(e *env, s *subject) *unstructured.Unstructured {
	ref := s.draft.Object.Ref()
	coming := e.ask.CRD(ref.GVK.GroupKind())
	live := e.inv.Input.Snapshot.Get(ref)
	if live != nil || s.draft.Record == nil || coming == nil || !e.inv.Input.Snapshot.Missing(ref.GVK) || s.draft.Record.Ref.GVK.GroupKind() != ref.GVK.GroupKind() {
		return live
	}
	if live = e.inv.Input.Snapshot.Get(s.draft.Record.Ref); live == nil {
		return nil
	}
	live = live.DeepCopy()
	live.SetAPIVersion(ref.GVK.GroupVersion().String())
	return live
}
