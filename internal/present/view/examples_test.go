package view_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kolla.openstack.org/kolla/internal/dev/golden"
	"kolla.openstack.org/kolla/internal/present/view"
	"kolla.openstack.org/kolla/planner/plans"
)

// tuesday is the plan in the documentation: a new setting, drift of last night, a selector that
// cannot change, and a service that will be deleted.
func tuesday() *plans.Plan {
	p := driftAndConfig()
	undeclared := plans.Reason{Kind: plans.ReasonUndeclared}
	selector := because(action(plans.Replace, "service.placement/Deployment/placement-api",
		plans.Change{Path: `spec.selector.matchLabels["app"]`, Before: "placement", After: "placement-api"}),
		plans.Reason{Kind: plans.ReasonImmutable, Path: "spec.selector"})
	volume := because(action(plans.Delete, "service.redis/PersistentVolumeClaim/data-redis-0"), undeclared)
	volume.Holds = "the data on its volume"
	p.Actions = append(p.Actions, selector,
		because(action(plans.Delete, "service.redis/StatefulSet/redis"), undeclared), volume,
		because(action(plans.Delete, "service.keystone/ConfigMap/keystone.conf-11d0e3"), plans.Reason{Kind: plans.ReasonSuperseded}))
	p.Impact = append(p.Impact,
		disturbs("service.placement", plans.Effect{Kind: plans.EffectRecreate, Pods: 3, Why: selector.Reasons, Grave: true}),
		disturbs("service.redis", stops(1), plans.Effect{Kind: plans.EffectDataDeleted, Ref: volume.Ref, Data: volume.Holds, Grave: true}))
	slices.SortFunc(p.Impact, func(a, b plans.Impact) int { return strings.Compare(a.Block, b.Block) })
	return p
}

// TestDocumentedExamples checks that the outputs in docs match the output of kolla.
func TestDocumentedExamples(t *testing.T) {
	for file, example := range map[string]struct {
		command string
		options view.PlanOptions
	}{
		"plan.txt":         {"$ kolla plan -delete-data=service.redis/PersistentVolumeClaim/data-redis-0\n", view.PlanOptions{}},
		"plan-compact.txt": {"$ kolla plan -delete-data=service.redis/PersistentVolumeClaim/data-redis-0 -compact\n", view.PlanOptions{Compact: true}},
	} {
		out := capture(80, false, plan(tuesday, example.options))
		golden.Compare(t, filepath.Join("..", "..", "..", "docs", "examples", file), append([]byte(example.command), out...))
	}
}
