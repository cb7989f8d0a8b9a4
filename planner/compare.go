package planner

import (
	"context"
	"slices"
	"time"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/planner/internal/removal"
	"kolla.openstack.org/kolla/planner/internal/rendering"
	"kolla.openstack.org/kolla/planner/output"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// Compare plans the changes from one rendering of a configuration to another, without a
// cluster. It treats the objects and outputs of the first rendering as the content of a
// cluster. The input describes the second. Its cluster and state, and all permissions, are
// ignored: the plan shows deletions that an apply would refuse. So no plan of Compare can be
// applied.
//
// The problems have the same meaning as those of Make. The caller may show the plan despite an
// error among them: the error says why an apply would be refused.
func Compare(ctx context.Context, in Input, base []providers.Object, outputs []configs.Output) (*plans.Plan, []plans.Problem, error) {
	started := time.Now()
	cluster, err := rendering.NewCluster(in.Cloud, base)
	if err != nil {
		return nil, nil, err
	}
	in.Reader, in.Snapshot, in.State = cluster, providers.NewSnapshot(cluster), cluster.State()
	in.DeleteData = []string{"*"}
	before, err := output.Compare(nil, outputs)
	if err != nil {
		return nil, nil, err
	}
	in.State.Outputs = output.Recorded(before)
	seen, problems, err := observe(ctx, in)
	if seen == nil {
		return nil, problems, err
	}
	decided, err := decide(ctx, seen.inv, seen.set, rendering.Decide)
	if err != nil {
		return nil, nil, err
	}
	removed := removal.Undeclared(seen.inv, seen.set, decided.copied, decided.outcomes, decided.actions)
	plan, err := assess(seen.inv, decided, removed)
	if err != nil {
		return nil, nil, err
	}
	plan.Elapsed = time.Since(started)
	return plan, slices.Concat(problems, decided.problems, removed.Problems), nil
}
