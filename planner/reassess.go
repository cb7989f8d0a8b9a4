package planner

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/planner/internal/decision"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// Reassess returns the changes that an apply of an action of the plan would now make to the
// live object. With additions, the apply also removes all fields that others have added by
// now; that takes one more dry run. If the server has another version of the object by then,
// there are no changes. Reassess predicts the changes if the plan could only predict them.
// manifest contains the values of Secrets.
func Reassess(ctx context.Context, reader providers.Reader, plan *plans.Plan, a *plans.Action, manifest, live *unstructured.Unstructured, additions bool) ([]plans.Change, error) {
	return decision.Reassess(ctx, reader, plan, a, manifest, live, additions)
}
