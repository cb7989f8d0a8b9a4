// Package planner compares the desired objects with the live ones. Make returns a plan of
// the changes, with the reasons and the evidence for each: a plans.Plan. It writes nothing to
// the cluster.
package planner

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/internal/crash"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/dryrun"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/internal/selection"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/state"
)

// Input is everything that a plan depends on.
type Input = inventory.Input

// Known returns the scopes of the objects in a state. A plan lists them whatever the
// configuration contains.
func Known(st *state.State) []providers.Scope { return inventory.Known(st) }

// Heirs maps the address of each generated Secret whose name changed to the Secret
// in the cluster that holds its current values. Both Secrets have to be in the snapshot.
func Heirs(in Input) map[addrs.Object]providers.Ref { return inventory.RenamedSecrets(in) }

// Make compares what is desired with what is live. It changes nothing.
//
// Problems are all that stands in the way of a plan, and warnings. With any
// problem that is not a warning the plan must not be used: it is nil where
// nothing could be compared, else it holds what could be found out. The error is
// for failures of the world: a server that is gone, a cancelled context.
func Make(ctx context.Context, in Input) (*plans.Plan, []plans.Problem, error) {
	started := time.Now()
	inv, problems := inventory.Index(in)
	if inv == nil {
		return nil, problems, nil
	}
	if err := inv.Observe(ctx); err != nil {
		return nil, nil, err
	}
	p := newPlanning(inv)
	p.problems = problems
	var refused []plans.Problem
	if p.chosen, refused = selection.Of(inv); stops(refused) {
		return nil, refused, nil
	}
	p.problems = append(p.problems, refused...)
	if err := p.decideOnActions(ctx); err != nil {
		return nil, nil, err
	}
	if err := p.askPods(ctx); err != nil {
		return nil, nil, fmt.Errorf("ask the pods that are to go: %w", err)
	}
	p.refuseLosses()
	p.checkDeleteData()
	p.guard()
	if err := plans.CheckSingle(p.actions); err != nil {
		return nil, nil, err
	}
	if in.Values {
		if err := p.noteValues(); err != nil {
			return nil, nil, err
		}
	}
	actions, err := plans.InOrder(p.actions)
	if err != nil {
		return nil, nil, err
	}
	left, err := p.leftToOthers()
	if err != nil {
		return nil, nil, err
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
		State:   plans.StateRef{Lineage: p.State.Lineage, Serial: p.State.Serial},

		RefreshOnly: in.RefreshOnly,
		Selection:   in.Selection,

		Actions: actions,
		Kept:    p.kept,
		Foreign: left,
		Impact:  p.impact(actions),
		Elapsed: time.Since(started),

		Losses:        p.losses,
		ForeignPolicy: in.ForeignPolicy,
	}
	if err := conclude(plan, &in); err != nil {
		return nil, nil, err
	}
	if len(plan.Waiting()) > 0 {
		plan.Resume = &plans.Resume{Selection: in.Selection, DeleteData: in.DeleteData, Adopt: in.Adopt, ForceConflicts: in.ForceConflicts, VerifyAll: in.VerifyAll}
	}
	return plan, p.problems, nil
}

// stops reports whether a problem is more than a warning.
func stops(problems []plans.Problem) bool {
	return slices.ContainsFunc(problems, func(problem plans.Problem) bool { return !problem.Warning })
}

// decideOnActions finds out what is to be done.
func (p *planning) decideOnActions(ctx context.Context) error {
	warnings, err := p.inv.ObserveSelected(ctx, p.chosen.Has)
	if err != nil {
		return err
	}
	if p.Destroy {
		p.destroy()
		return nil
	}
	return p.converge(ctx, warnings)
}

// planning is a plan in the making.
type planning struct {
	Input
	inv *inventory.Inventory
	// coming are the definitions that this plan creates or changes.
	coming map[schema.GroupKind]*dryrun.CRD
	limits map[string][]string // what is declared to limit objects, by namespace
	policy conflictPolicy
	chosen selection.Set

	subjects []*subject // desired objects, as they were decided
	actions  []plans.Action
	kept     []plans.Kept
	losses   []plans.Loss
	problems []plans.Problem
	guarded  []guarded                       // what is to go and would take data along; see refuseLosses
	cutOffs  map[providers.Ref]*plans.CutOff // users of the pods that this plan deletes, such as servers
	removed  map[types.UID]addrs.Object      // live objects about which it was decided that nothing declares them
	replaced []addrs.Target                  // what Replace names
	// triggered are the objects that are replaced because of others, and of which.
	triggered map[addrs.Object]plans.Reason
	// carried are the Secrets whose values go on under another name, and where.
	carried map[providers.Ref]inventory.CopiedValues
}

func newPlanning(inv *inventory.Inventory) *planning {
	p := &planning{
		Input:    inv.Input,
		inv:      inv,
		coming:   map[schema.GroupKind]*dryrun.CRD{},
		limits:   map[string][]string{},
		policy:   conflictPolicy{force: inv.Input.ForceConflicts},
		removed:  map[types.UID]addrs.Object{},
		replaced: inventory.TargetsOf(inv.Input.Replace),
	}
	for i := range p.Objects {
		p.indexLimit(&p.Objects[i])
	}
	return p
}

var podKind = schema.GroupVersionKind{Version: "v1", Kind: "Pod"}

// converge plans to make the cluster what is desired.
func (p *planning) converge(ctx context.Context, warnings []plans.Problem) error {
	p.problems = slices.Concat(p.problems, inventory.CheckImported(p.inv, p.chosen.Has), warnings)
	p.carried = inventory.CopyValues(p.inv, p.chosen.Has)
	objects := p.chosen.Objects(p.Objects)
	p.subjects = make([]*subject, len(objects))
	// What becomes of a custom resource is up to the definition of its kind.
	if err := p.decideAll(ctx, objects, true); err != nil {
		return err
	}
	p.expectKinds()
	if err := p.decideAll(ctx, objects, false); err != nil {
		return err
	}
	if err := p.replaceTriggered(ctx); err != nil {
		return err
	}
	p.warnHidden()
	if err := p.reuseVolumes(ctx); err != nil {
		return err
	}
	p.findLosses()
	if p.RefreshOnly {
		p.refresh()
		return nil
	}
	p.problems = append(p.problems, p.strangers()...)
	p.refuseFewer()
	p.warnPassing()
	for _, s := range p.subjects {
		p.problems = append(p.problems, s.problems...)
	}
	p.warnPodSecurity()
	if err := p.retire(); err != nil {
		return err
	}
	for _, s := range p.subjects {
		if s.action.Verb != "" {
			p.actions = append(p.actions, s.action)
		}
	}
	p.keepVolumes()
	p.linkDeletes()
	p.warnOrphans()
	return nil
}

// decideAll decides about the objects that define kinds, or about all others.
func (p *planning) decideAll(ctx context.Context, objects []*providers.Object, definitions bool) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(p.Parallelism)
	for i, object := range objects {
		if (object.Ref().GVK.GroupKind() == kinds.CustomResourceDefinition) != definitions {
			continue
		}
		group.Go(crash.Catching(func() error {
			s, err := p.decide(ctx, object)
			p.subjects[i] = s
			return err
		}))
	}
	return group.Wait()
}
