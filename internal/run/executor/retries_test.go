package executor_test

import (
	"context"
	"testing"

	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// TestSaysWhyAWriteIsRepeated checks that each repeated write causes an event with the reason.
func TestSaysWhyAWriteIsRepeated(t *testing.T) {
	a := newApply(t, newCluster(live("ConfigMap old")), recorded("ConfigMap old", true))
	repeat := func(ctx context.Context) error {
		providers.ReportRetry(ctx, `the webhook "w" does not answer: connection refused`)
		providers.ReportRetry(ctx, "")
		return nil
	}
	a.onApply = func(ctx context.Context, _ providers.Ref, _ providers.ApplyOptions) error { return repeat(ctx) }
	a.onDelete = func(ctx context.Context, _ providers.Ref) error { return repeat(ctx) }
	a.options.Parallelism = 1
	a.run(t.Context(), t, act(plans.Create, "ConfigMap new"), act(plans.Delete, "ConfigMap old"))
	diff(t, "events", []string{
		"started new", `waiting new: the webhook "w" does not answer: connection refused`, "waiting new", "done new",
		"started old", `waiting old: the webhook "w" does not answer: connection refused`, "waiting old", "done old",
	}, a.events)
}
