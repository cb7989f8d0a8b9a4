// Package planner compares the declared objects with a live cluster, and returns the changes
// with the reasons and the evidence for each: a [plans.Plan]. It writes nothing to the cluster.
//
// Start with [Make]:
//
//	plan, problems, err := planner.Make(ctx, planner.Input{
//		Cloud:     config.Cloud.Name,
//		Namespace: config.Cloud.Namespace,
//		Digest:    config.Digest,
//		Objects:   objects, // of openstack.Render
//		Reader:    client,  // of kubernetes.Connect
//		Snapshot:  providers.NewSnapshot(client),
//		State:     st, // of state.Store.Read
//		Cluster:   identity, // of client.Identity
//		Now:       time.Now(),
//	})
//	if err != nil {
//		return err // the server is gone, or ctx has ended
//	}
//	for _, p := range problems {
//		if !p.Warning {
//			return errors.New(p.Summary) // the plan must not be used
//		}
//	}
//
// [Compare] plans the changes between two versions of a configuration, without a cluster. [Draft]
// writes a declaration of a live object. [Claimants] finds the objects that a lost state lacks.
// An apply calls [Reassess] for an object that others changed after the plan.
//
// Mistakes to avoid:
//
//   - Using a plan before the problems are checked. A refused plan can be nil, or incomplete.
//   - Keeping the Snapshot when the cluster has changed. It lists each scope only once, so the
//     next plan would compare old objects.
//   - Changing Input.Objects after Make. The actions of the plan share the manifests.
//   - Applying a plan of Compare. It shows deletions that an apply would refuse.
//
// A plan has three phases. Each phase gets the results of the phases before it. Package decision
// decides about each declared object. Package removal decides about objects that are no longer
// declared. Package impact names the services that the actions disturb. Before these phases, package
// inventory reads the objects, and package selection applies -target and -exclude. All are below
// internal.
package planner

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/internal/decision"
	"kolla.openstack.org/kolla/planner/internal/impact"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/internal/outcome"
	"kolla.openstack.org/kolla/planner/internal/placement"
	"kolla.openstack.org/kolla/planner/internal/removal"
	"kolla.openstack.org/kolla/planner/internal/selection"
	"kolla.openstack.org/kolla/planner/internal/sides"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// Input is everything that a plan depends on.
type Input = inventory.Input

// Known returns the scopes of the objects in a state. A plan lists them whatever the
// configuration contains.
func Known(st *state.State) []providers.Scope { return inventory.Known(st) }

// RenamedSecrets maps the address of each generated Secret whose name changed to the Secret
// in the cluster that holds its current values. Both Secrets have to be in the snapshot.
func RenamedSecrets(in Input) map[addrs.Object]providers.Ref { return inventory.RenamedSecrets(in) }

// Make compares the declared objects with the live ones. It changes nothing.
//
// The problems are warnings and everything that prevents a plan. With any problem that is not
// a warning the plan must not be used. It is nil if nothing could be compared; otherwise it
// has everything that could be found out. The error is for failures of the world, such as a
// server that is gone, or a cancelled context.
func Make(ctx context.Context, in Input) (*plans.Plan, []plans.Problem, error) {
	started := time.Now()
	seen, problems, err := observe(ctx, in)
	if seen == nil {
		return nil, problems, err
	}
	inv, set := seen.inv, seen.set

	var decided decisions
	var removed removal.Result
	if !in.Destroy && !in.RefreshOnly {
		if elsewhere := removal.OtherNamespace(inv, set); len(elsewhere) > 0 {
			return nil, slices.Concat(problems, elsewhere), nil
		}
	}
	if in.Destroy {
		removed = removal.Destroy(inv, set)
	} else {
		problems = slices.Concat(problems, inventory.CheckImported(inv, set.Has), seen.warnings)
		if decided, err = decide(ctx, inv, set, decision.All); err != nil {
			return nil, nil, err
		}
		decided.problems = append(decided.problems, placement.MissingClaims(inv, decided.outcomes)...)
		removed = removal.Undeclared(inv, set, decided.copied, decided.outcomes, decided.actions)
	}
	problems = slices.Concat(problems, decided.problems, removed.Problems)
	problems = append(problems, removed.Refusals(inv, problems)...)
	plan, err := assess(inv, decided, removed)
	if err != nil {
		return nil, nil, err
	}
	plan.Elapsed = time.Since(started)
	return plan, problems, nil
}

// observation is what a plan compares, and the part of it that was selected.
type observation struct {
	inv      *inventory.Inventory
	set      selection.Set
	warnings []plans.Problem // about the live objects; a destroy does not report them
}

// observe reads the objects that a plan compares, and applies the selection. The observation is
// nil after an error, and if the problems forbid a plan.
func observe(ctx context.Context, in Input) (*observation, []plans.Problem, error) {
	in.State = inventory.Scoped(ctx, in.Reader, in.State)
	inv, problems := inventory.Index(in)
	if inv == nil {
		return nil, problems, nil
	}
	if err := inv.Observe(ctx); err != nil {
		return nil, nil, err
	}
	set, restricted := selection.Of(inv)
	if stops(restricted) {
		return nil, restricted, nil
	}
	warnings, err := inv.ObserveSelected(ctx, set.Has)
	if err != nil {
		return nil, nil, err
	}
	return &observation{inv, set, warnings}, slices.Concat(problems, restricted), nil
}

// stops reports whether a problem is more than a warning.
func stops(problems []plans.Problem) bool {
	return slices.ContainsFunc(problems, func(problem plans.Problem) bool { return !problem.Warning })
}

// decisions are those about the declared objects.
type decisions struct {
	outcomes []*outcome.Outcome
	copied   map[providers.Ref]inventory.CopiedValues
	actions  []plans.Action
	problems []plans.Problem
}

// decider decides about the declared objects, with a cluster or between two renderings.
type decider func(context.Context, *inventory.Inventory, selection.Set) ([]*outcome.Outcome, []plans.Problem, error)

// decide is the first phase of a plan. It first makes renamed Secrets take over the values of the former
// ones, in the declared objects.
func decide(ctx context.Context, inv *inventory.Inventory, set selection.Set, all decider) (decisions, error) {
	d := decisions{copied: inventory.CopyValues(inv, set.Has)}
	outcomes, warnings, err := all(ctx, inv, set)
	if err != nil {
		return decisions{}, err
	}
	d.outcomes = outcomes
	down, err := placement.PodsOnDownNodes(ctx, inv, outcomes)
	if err != nil {
		return decisions{}, err
	}
	older, closed := outcome.OlderState(outcomes), append(placement.ClosedNodes(inv, outcomes), down...)
	if inv.Input.RefreshOnly {
		var unowned []plans.Problem
		d.actions, unowned = outcome.Refreshed(inv, outcomes)
		d.problems = slices.Concat(warnings, unowned, older, closed)
		return d, nil
	}
	d.problems = slices.Concat(warnings, outcome.UnownedConflicts(inv.Input.Cloud, outcomes), older, closed, placement.PassingPods(inv, outcomes))
	for _, o := range outcomes {
		d.problems = append(d.problems, o.Problems...)
		switch {
		case !o.Withheld:
			d.actions = append(d.actions, o.Volumes...)
			d.actions = append(d.actions, o.Action)
		case o.Action.Evidence.Refused:
			d.actions = append(d.actions, plans.Action{
				Address: o.Action.Address, Verb: plans.None, Object: o.Action.Object, Ref: o.Action.Ref, Prior: o.Action.Prior, Evidence: o.Action.Evidence,
			})
		}
	}
	d.problems = append(d.problems, placement.RefusedPods(inv, outcomes)...)
	return d, nil
}

// assess is the last phase. It orders the actions and adds everything that the plan says of itself.
func assess(inv *inventory.Inventory, d decisions, removed removal.Result) (*plans.Plan, error) {
	in := &inv.Input
	actions := removed.Actions
	if err := plans.CheckSingle(actions); err != nil {
		return nil, err
	}
	if in.Values {
		values, err := sides.Of(inv, d.outcomes, actions)
		if err != nil {
			return nil, err
		}
		for i := range actions {
			actions[i].Values = values[i]
		}
	}
	checksFirst(actions)
	actions, err := plans.InOrder(actions)
	if err != nil {
		return nil, err
	}
	foreign, err := impact.Foreign(in.ForeignPolicy, d.outcomes)
	if err != nil {
		return nil, err
	}
	plan := &plans.Plan{
		Format:    plans.Format,
		ID:        uuid.NewString(),
		Tool:      in.Tool,
		Created:   in.Now.UTC(),
		Cloud:     in.Cloud,
		Namespace: in.Namespace,
		Config:    in.Digest,
		Destroy:   in.Destroy,

		Variables: in.Variables,
		Values:    in.Values,

		Cluster: in.Cluster,
		State:   plans.StateRef{Lineage: in.State.Lineage, Serial: in.State.Serial},

		RefreshOnly: in.RefreshOnly,
		Selection:   in.Selection,

		Actions: actions,
		Kept:    removed.Kept,
		Foreign: foreign,
		Impact:  impact.Of(inv, d.copied, d.outcomes, actions, removed.Losses),

		Losses:        removed.Losses,
		ForeignPolicy: in.ForeignPolicy,
	}
	if in.RefreshOnly {
		plan.ConfigChanges, plan.SecretChanges = outcome.Changes(d.outcomes)
		plan.ConfigChanges += removed.Removals
	}
	if err := addOutputsAndChecks(plan, in); err != nil {
		return nil, err
	}
	if len(plan.Waiting()) > 0 {
		plan.Resume = &plans.Resume{Selection: in.Selection, DeleteData: in.DeleteData, Adopt: in.Adopt, ForceConflicts: in.ForceConflicts, VerifyAll: in.VerifyAll, AllowUnverified: in.AllowUnverified}
	}
	return plan, nil
}
