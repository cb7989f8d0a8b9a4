// Package decision decides about each declared object: what an apply does to it, and why. An
// object passes a list of steps (stepsFor), the cheapest first. The last one asks the API
// server. jobs.go decides when a Job runs again, proven.go when an object needs no dry run,
// and foreign.go which additions of others an apply removes.
package decision

import (
	"context"

	"golang.org/x/sync/errgroup"

	"kolla.openstack.org/kolla/internal/base/crash"
	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/internal/outcome"
	"kolla.openstack.org/kolla/planner/internal/selection"
	"kolla.openstack.org/kolla/planner/internal/trial"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// env has the facts that all decisions of a plan share. A decision changes only stored.
type env struct {
	inv      *inventory.Inventory
	ask      *trial.Asker
	replaced []addrs.Target // of -replace
	// triggered are the objects that are replaced because of their replace_triggered_by.
	triggered map[addrs.Object]plans.Reason
	stored    storedVersions
}

// All decides about all selected objects, in the order of the input. The problems are
// warnings about the cluster; each outcome has its own problems.
func All(ctx context.Context, inv *inventory.Inventory, set selection.Set) ([]*outcome.Outcome, []plans.Problem, error) {
	e := &env{
		inv:       inv,
		ask:       trial.New(inv, set.Has),
		replaced:  inventory.TargetsOf(inv.Input.Replace),
		triggered: map[addrs.Object]plans.Reason{},
	}
	declared := set.Objects(inv.Input.Objects)
	outcomes := make([]*outcome.Outcome, len(declared))
	// The decision about a custom resource depends on the CRD.
	if err := decideAll(ctx, e, declared, true, outcomes); err != nil {
		return nil, nil, err
	}
	expectKinds(e.ask, outcomes)
	if err := decideAll(ctx, e, declared, false, outcomes); err != nil {
		return nil, nil, err
	}
	if err := replaceTriggered(ctx, e, outcomes); err != nil {
		return nil, nil, err
	}
	warnings := append(outcome.HiddenRules(inv, outcomes), e.stored.warnings()...)
	reuseVolumes(inv.Input.Snapshot, outcomes)
	differ, err := trial.CompareClaims(ctx, inv, outcomes)
	if err != nil {
		return nil, nil, err
	}
	warnings = append(warnings, differ...)
	if inv.Input.RefreshOnly {
		return outcomes, warnings, nil
	}
	outcome.RefuseFewer(outcomes)
	return outcomes, warnings, outcome.Supersede(inv, outcomes)
}

// decideAll decides about all CRDs, or about all other objects. It puts each decision into the
// place of its object.
func decideAll(ctx context.Context, e *env, declared []*providers.Object, crds bool, into []*outcome.Outcome) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(e.inv.Input.Parallelism)
	for i, object := range declared {
		if (object.Ref().GVK.GroupKind() == kinds.CustomResourceDefinition) != crds {
			continue
		}
		group.Go(crash.Catching(func() error {
			out, err := decide(ctx, e, object)
			into[i] = out
			return err
		}))
	}
	return group.Wait()
}

// reuseVolumes adds to new StatefulSets the live volumes that they will use. A replaced
// StatefulSet may declare another size or class than these volumes have.
func reuseVolumes(snapshot *providers.Snapshot, outcomes []*outcome.Outcome) {
	for _, o := range outcomes {
		if !takesUpVolumes(o) {
			continue
		}
		var names []string
		for _, ref := range inventory.VolumesOf(snapshot, o.Object.Manifest) {
			names = append(names, ref.Name)
		}
		if len(names) > 0 {
			o.Action.Reasons = append(o.Action.Reasons, plans.Reason{Kind: plans.ReasonReuse, Detail: words.Few(names, 3)})
		}
	}
}

// takesUpVolumes reports whether the action creates a StatefulSet that will use the live
// volumes with its name.
func takesUpVolumes(o *outcome.Outcome) bool {
	switch o.Action.Verb {
	case plans.Create:
		return inventory.OwnVolumes(o.Object.Manifest) != ""
	case plans.Replace:
		return inventory.OwnVolumes(o.Object.Manifest) != "" && !inventory.TakesVolumesAlong(o.Live)
	}
	return false
}
