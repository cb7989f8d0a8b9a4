package report_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/internal/present/report"
	"kolla.openstack.org/kolla/planner/plans"
)

// TestDisturbed checks that each block stands once in the impact, with its grave lines first, and
// that blocks with a grave line come first.
func TestDisturbed(t *testing.T) {
	job := plans.Effect{Kind: plans.EffectJob, Name: "sync"}
	stop := plans.Effect{Kind: plans.EffectStop, Pods: 2, Grave: true}
	plan := &plans.Plan{Impact: []plans.Impact{
		{Block: "service.quiet", Effects: []plans.Effect{job}},
		{Block: "service.a", Effects: []plans.Effect{job, stop}},
		{Block: "service.b", Effects: []plans.Effect{stop, job}},
	}}
	var got [][]string
	for _, d := range report.Of(plan, report.Moment{}).Disturbed(false) {
		row := []string{d.Label}
		for _, line := range d.Lines {
			row = append(row, line.Text)
		}
		got = append(got, row)
	}
	want := [][]string{
		{"a", "2 pods will be deleted", "job sync runs"},
		{"b", "2 pods will be deleted", "job sync runs"},
		{"quiet", "job sync runs"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("impact (-want +got):\n%s", diff)
	}
}
