package view_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/internal/present/jsonview"
	"kolla.openstack.org/kolla/internal/present/view"
	"kolla.openstack.org/kolla/planner/plans"
)

// written are the events that something writes, in a short form: level, type,
// message and, of an object, its address and action.
func written(t *testing.T, do func(*view.Printer)) []string {
	t.Helper()
	var out bytes.Buffer
	p := view.New(&bytes.Buffer{}, &bytes.Buffer{}, true)
	p.Events = jsonview.New(&out, "v1.2.3")
	do(p)
	var short []string
	for text := range strings.Lines(out.String()) {
		var e struct {
			Level     string    `json:"@level"`
			Message   string    `json:"@message"`
			Module    string    `json:"@module"`
			Timestamp time.Time `json:"@timestamp"`
			Type      string    `json:"type"`
			Change    *struct {
				Resource struct{ Addr string }
				Action   string
				Reason   string
			}
		}
		if err := json.Unmarshal([]byte(text), &e); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if e.Module != "kolla.ui" || e.Timestamp.IsZero() {
			t.Errorf("%s lacks what every event has", text)
		}
		line := e.Level + " " + e.Type + " " + e.Message
		if e.Change != nil && e.Change.Reason != "" {
			line += " because " + e.Change.Reason
		}
		short = append(short, line)
	}
	return short
}

func TestPlanEvents(t *testing.T) {
	tests := map[string]struct {
		plan *plans.Plan
		want []string
	}{
		"drift": {driftOnly(), []string{
			"info resource_drift service.glance/Deployment/glance-api: Drift detected (update)",
			"info planned_change service.glance/Deployment/glance-api: Plan to update",
			"info change_summary Plan: 0 to add, 1 to change, 0 to destroy.",
		}},
		"replace and delete": {replaceAndDelete(), []string{
			"info planned_change service.keystone/Service/keystone: Plan to replace because cannot_update",
			"info planned_change service.keystone/Job/keystone-bootstrap-77d0: Plan to replace because tainted",
			"info planned_change service.redis/StatefulSet/redis: Plan to delete because delete_because_no_resource_config",
			"info planned_change service.redis/Service/redis: Plan to delete because delete_because_no_resource_config",
			"info planned_prune service.keystone/ConfigMap/keystone.conf-4be2a1: Plan to prune",
			"info planned_prune service.glance/ConfigMap/glance-api.conf-0a77c2: Plan to prune",
			"info planned_change role.compute/Node/hv-9: Plan to update",
			"info change_summary Plan: 2 to add, 1 to change, 4 to destroy, 2 to prune.",
		}},
		"not put back": {keptDrift(), []string{
			"info resource_drift service.glance/Deployment/glance-api: Drift detected (update)",
			"info resource_drift service.keystone/Secret/keystone-admin: Drift detected (update)",
			"info change_summary No changes will be made. Fields that others added stay, because foreign = \"report\".",
		}},
		"not compared": {unreadOnly(), []string{
			"warn resource_not_compared manifest.metrics/Rule/latency: Not compared: objects of kind Rule in metrics.example.org/v1 cannot be read: the server behind metrics.example.org/v1 does not answer",
			"info change_summary No changes were found, but 1 object could not be compared.",
		}},
		"nothing": {unchanged(3, 0)(), []string{
			"info change_summary No changes. Your infrastructure matches the configuration.",
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := written(t, func(p *view.Printer) {
				if err := p.Plan(test.plan, view.PlanOptions{}); err != nil {
					t.Fatal(err)
				}
			})
			want := append([]string{"info version kolla v1.2.3"}, test.want...)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

// TestDiagnosticEvents checks that each diagnostic has its place in the configuration and the
// lines.
func TestDiagnosticEvents(t *testing.T) {
	var out bytes.Buffer
	p := view.New(&bytes.Buffer{}, &bytes.Buffer{}, true)
	p.Events = jsonview.New(&out, "v1.2.3")
	diagnostics(p)
	p.Problems([]plans.Problem{{Address: address("service.a/Deployment/a"), Source: "cloud.hcl:1", Summary: "it is broken"}})
	p.Warn("careful", "it is hot")
	type position struct{ Line, Column, Byte int }
	type diagnostic struct {
		Severity, Summary, Address string
		Range                      *struct {
			Filename   string
			Start, End position
		}
		Snippet *struct {
			Code  string
			Start int `json:"highlight_start_offset"`
			End   int `json:"highlight_end_offset"`
		}
	}
	var all []diagnostic
	for text := range strings.Lines(out.String()) {
		var e struct{ Diagnostic *diagnostic }
		if err := json.Unmarshal([]byte(text), &e); err != nil {
			t.Fatal(err)
		}
		if e.Diagnostic != nil {
			all = append(all, *e.Diagnostic)
		}
	}
	quoted := 0
	for _, d := range all {
		if d.Snippet == nil {
			continue
		}
		quoted++
		if d.Range == nil || d.Snippet.End > len(d.Snippet.Code) || d.Range.End.Byte-d.Range.Start.Byte != d.Snippet.End-d.Snippet.Start {
			t.Errorf("%q quotes %+v at %+v", d.Summary, d.Snippet, d.Range)
		}
	}
	if quoted == 0 {
		t.Error("no diagnostic quotes the configuration")
	}
	last := all[len(all)-2:]
	if got := fmt.Sprint(last[0].Severity, last[0].Address, last[0].Range.Filename, last[0].Range.Start.Line); got != "errorservice.a/Deployment/acloud.hcl1" {
		t.Errorf("the problem is %s", got)
	}
	if last[1].Severity != "warning" || last[1].Range != nil {
		t.Errorf("the warning is %+v", last[1])
	}
}
