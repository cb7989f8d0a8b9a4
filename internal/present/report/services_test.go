package report_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/internal/present/report"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// TestServices checks the picture of a cloud: each block with its change and with the blocks that
// it needs.
func TestServices(t *testing.T) {
	needing := func(a plans.Action, on ...plans.Action) plans.Action {
		for _, needed := range on {
			a.DependsOn = append(a.DependsOn, needed.Address)
		}
		return a
	}
	restart := func(block string, strategy plans.Strategy, grave bool) plans.Impact {
		return plans.Impact{Block: block, Effects: []plans.Effect{{Kind: plans.EffectRestart, Pods: 3, Strategy: strategy, Grave: grave}}}
	}
	role := action(t, plans.Update, "role.control/Node/ctl-1")
	db := needing(action(t, plans.None, "service.db/StatefulSet/db"), role)
	cache := action(t, plans.Create, "service.cache/Deployment/cache")
	api := needing(action(t, plans.Update, "service.api/Deployment/api"), db, cache)
	job := needing(action(t, plans.None, "service.api/Job/api"), db)
	agent := action(t, plans.Update, "service.agent/DaemonSet/agent")
	rule := action(t, plans.None, "manifest.rule/Rule/rule")
	rule.Evidence.Kind = plans.Unverified
	old := action(t, plans.Delete, "service.old/Deployment/old")
	gone := action(t, plans.Create, "service.gone/Secret/gone")
	gone.Reasons = []plans.Reason{{Kind: plans.ReasonGone}}
	queue := needing(action(t, plans.Delete, "service.queue/StatefulSet/queue"), old) // old needs it
	plan := &plans.Plan{
		Actions: []plans.Action{role, db, cache, api, job, agent, rule, old, queue, gone},
		Losses:  []plans.Loss{{Address: gone.Address, Refs: []providers.Ref{gone.Ref}}},
		Impact:  []plans.Impact{restart("service.api", plans.Rolling, true), restart("service.agent", plans.OnRequest, false)},
	}
	want := []report.Service{
		{Block: "manifest.rule", Change: report.NotCompared, Summary: "not compared"},
		{Block: "service.agent", Change: report.Modified, Summary: "changes"},
		{Block: "service.api", Change: report.Restarted, Grave: true, Summary: "restarts, danger", Needs: []string{"service.cache", "service.db"}},
		{Block: "service.cache", Change: report.Created, Summary: "new"},
		{Block: "service.db", Change: report.Unchanged, Summary: "unchanged"},
		{Block: "service.gone", Change: report.Modified, Grave: true, Summary: "changes, danger"},
		{Block: "service.old", Change: report.Deleted, Summary: "destroyed", Needs: []string{"service.queue"}},
		{Block: "service.queue", Change: report.Deleted, Summary: "destroyed"},
	}
	doc := report.Of(plan, report.Moment{Zone: time.UTC})
	if diff := cmp.Diff(want, doc.Services); diff != "" {
		t.Errorf("services (-want +got):\n%s", diff)
	}
}

// TestEvidence checks that each action shows how its result is known.
func TestEvidence(t *testing.T) {
	tried := action(t, plans.Create, "service.a/Deployment/a")
	tried.Evidence = plans.Evidence{Kind: plans.Surrogate, Detail: "tried in the namespace \"x\""}
	asked := action(t, plans.Update, "service.b/Deployment/b")
	got := map[addrs.Object]string{}
	for _, a := range report.Of(&plans.Plan{Actions: []plans.Action{tried, asked}}, report.Moment{Zone: time.UTC}).Actions {
		got[a.Object.Address] = a.Evidence
	}
	want := map[addrs.Object]string{
		tried.Address: "the API server calculated the result in a dry run under a temporary name (tried in the namespace \"x\")",
		asked.Address: "the API server calculated the result in a dry run",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("evidence (-want +got):\n%s", diff)
	}
}
