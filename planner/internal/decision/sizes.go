package decision

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/planner/dryrun"
	"kolla.openstack.org/kolla/planner/internal/objects"
	"kolla.openstack.org/kolla/planner/internal/outcome"
	"kolla.openstack.org/kolla/planner/internal/volumes"
	"kolla.openstack.org/kolla/providers/kinds"
)

// stiff decides about a claim that its storage class does not let grow. Nil: the server refuses
// something else.
func stiff(e *env, s *subject, manifest *unstructured.Unstructured, r dryrun.Refusal) *outcome.Outcome {
	if s.draft.Action.Ref.GVK.GroupKind() != kinds.PersistentVolumeClaim || r.World || r.Denied || r.Permission != nil || r.Unasked != "" || len(r.Immutable) > 0 || e.inv.Input.RefreshOnly {
		return nil
	}
	want, declared := objects.ClaimSize(manifest.Object)
	has, known := objects.ClaimSize(s.draft.Live.Object)
	if !declared || !known || want.Cmp(has) <= 0 {
		return nil
	}
	return refusedFor(s, fmt.Sprintf("%s cannot grow from %s to %s", s.draft.Action.Ref, &has, &want), volumes.Remedy(s.draft.Live, r, has))
}

// shrinking says that a claim is declared smaller than it is; empty: it is not.
func shrinking(s *subject) string {
	want, declared := objects.ClaimSize(s.draft.Object.Manifest.Object)
	has, known := objects.ClaimSize(s.draft.Live.Object)
	if s.draft.Action.Ref.GVK.GroupKind() != kinds.PersistentVolumeClaim || !declared || !known || want.Cmp(has) >= 0 {
		return ""
	}
	return fmt.Sprintf("A volume cannot shrink, and this one has %s. ", &has)
}
