package decision

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/planner/dryrun"
	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/internal/outcome"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/planner/proof"
	"kolla.openstack.org/kolla/providers"
)

// Reassess returns the changes that an apply of an action of the plan would now make to the live
// object. With additions, the apply also removes all fields that others have added since; this
// takes one more dry run. There are no changes if the server has another version of the object by
// then. If the plan could only predict the changes, so does Reassess. manifest contains the values
// of Secrets.
func Reassess(ctx context.Context, reader providers.Reader, plan *plans.Plan, a *plans.Action, manifest, live *unstructured.Unstructured, additions bool) ([]plans.Change, error) {
	s := &subject{draft: outcome.Outcome{Object: a.Object, Manager: providers.ManagerOf(plan.Cloud, a.Object.Partial), Live: live, Action: *a}}
	s.draft.Action.Removes = ""
	x := &prediction{evidence: a.Evidence, again: true}
	var err error
	if x.applied, err = reader.DryRun(ctx, manifest, providers.DryRunOptions{Manager: s.draft.Manager, Force: a.Force}); err != nil {
		if !predictable(x, a.Removes != "", err) {
			return nil, err
		}
		if x.applied, err = predictApply(ctx, s, reader, x, manifest); err != nil {
			return nil, err
		}
	}
	if x.applied.GetResourceVersion() != live.GetResourceVersion() {
		return nil, nil // a write that is bound to this version is refused, and assessed again
	}
	x.final = x.applied
	if additions && (plan.ForeignPolicy == plans.RevertForeign || plan.ForeignPolicy == "") {
		if err := findForeignAgain(ctx, s, reader, x); err != nil {
			return nil, err
		}
	}
	becomes := x.applied
	if x.invalid != nil {
		becomes = x.final
	}
	differences, err := fields.Compare(live, becomes)
	if err != nil {
		return nil, err
	}
	if x.invalid != nil || x.evidence.Kind == plans.Unverified {
		differences = slices.DeleteFunc(differences, func(d fields.Difference) bool { return d.Hollow() })
	}
	return fields.Changes(append(differences, x.removed...)), nil
}

// predictable reports whether to predict an apply that the server refuses in a dry run. This is so
// if a webhook cannot be asked or denies dry runs, as for the plan, or if the object is invalid
// with the fields that the apply removes.
func predictable(x *prediction, removes bool, refused error) bool {
	r := dryrun.Classify(refused)
	if x.evidence.Kind == plans.Unverified && (r.Unasked != "" || r.Denied) {
		return true
	}
	if removes && (r.Unasked != "" || !r.World && r.Permission == nil) {
		x.invalid = &r
		return true
	}
	return false
}

// findForeignAgain is findForeign for an object that changed since the plan was made.
func findForeignAgain(ctx context.Context, s *subject, reader providers.Reader, x *prediction) error {
	in := &inventory.Input{Reader: reader, Snapshot: providers.NewSnapshot(reader)}
	if len(s.draft.Object.Unwanted) > 0 {
		return removeUnwanted(in, s, x)
	}
	paths, refusal, err := dryRunWithoutForeign(ctx, in, s, x)
	switch {
	case err != nil || len(paths) == 0:
		return err
	case refusal != nil:
		return fmt.Errorf("find out what others added to %s: %w", s.draft.Action.Ref, errors.New(refusal.Text()))
	}
	return recordRemovals(in, s, x, paths)
}

// predictApply predicts the result of an apply that the server refuses. A dry run under a throw-
// away name shows the shape of a custom resource.
func predictApply(ctx context.Context, s *subject, reader providers.Reader, x *prediction, manifest *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if x.invalid == nil || proof.BuiltIn(s.draft.Action.Ref.GVK) {
		return dryrun.Predict(s.draft.Live, nil, manifest, s.draft.Manager)
	}
	model, err := reader.DryRun(ctx, manifest, providers.DryRunOptions{Surrogate: true, Namespace: s.draft.Action.Ref.Namespace})
	if err != nil && dryrun.Classify(err).World {
		return nil, err
	}
	return dryrun.Predict(s.draft.Live, model, manifest, s.draft.Manager)
}
