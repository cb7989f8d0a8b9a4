package jsonview_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"kolla.openstack.org/kolla/internal/dev/objecttest"
	"kolla.openstack.org/kolla/internal/present/jsonview"
	"kolla.openstack.org/kolla/internal/present/report/applied"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
)

// short formats events as level, type and message.
func short(all []m) []string {
	var out []string
	for _, e := range all {
		out = append(out, words(e["@level"], e["type"], e["@message"]))
	}
	return out
}

// TestApplying checks the events of an apply, with their fields.
func TestApplying(t *testing.T) {
	made, broken, waiting, idle, again := action(t, plans.Create), action(t, plans.Update), action(t, plans.Delete), action(t, plans.None), action(t, plans.Replace)
	for i, a := range []*plans.Action{&made, &broken, &waiting, &idle, &again} {
		a.Address.Name = string(rune('a' + i))
	}
	broken.Prior.UID, again.Prior.UID = "uid-b", "uid-e"
	all := events(t, func(e *jsonview.Events) {
		progress := e.Applying()
		for _, o := range []plans.Event{
			{Action: &idle, Kind: plans.Started},
			{Action: &made, Kind: plans.Started},
			{Action: &made, Kind: plans.Waiting, Status: "1 of 3 replicas ready"},
			{Action: &made, Kind: plans.Waiting, Status: "1 of 3 replicas ready"},
			{Action: &made, Kind: plans.Done, Elapsed: 12 * time.Second, Status: "node a is down"},
			{Action: &made, Kind: plans.Waiting, Status: "late"},
			{Action: &broken, Kind: plans.Started},
			{Action: &broken, Kind: plans.Failed, Elapsed: 3 * time.Second, Err: errors.New("no such image")},
			{Action: &again, Kind: plans.Interrupted, Elapsed: time.Second, Err: errors.New("stopped")},
			{Action: &waiting, Kind: plans.Skipped, Because: broken.Address},
			{Action: &waiting, Kind: plans.Skipped},
			{Action: &idle, Kind: plans.Failed, Err: errors.New("never ready")},
		} {
			progress.Observe(o)
		}
		progress.Close()
	})[1:]
	want := []string{
		"info apply_start service.a/Service/a: Creating...",
		"info apply_progress service.a/Service/a: Still creating... [0s elapsed]",
		"info apply_complete service.a/Service/a: Created after 12 s",
		"info apply_start service.a/Service/b: Updating...",
		"error apply_errored service.a/Service/b: Failed after 3 s",
		"error apply_errored service.a/Service/e: Interrupted after 1 s",
		"info apply_skipped service.a/Service/c: Skipped, because service.a/Service/b failed",
		"info apply_skipped service.a/Service/c: Skipped, because the apply was interrupted",
		"error apply_errored service.a/Service/d: Failed after 0 s",
	}
	if diff := cmp.Diff(want, short(all)); diff != "" {
		t.Fatalf("events (-want +got):\n%s", diff)
	}
	wantHooks := []string{ // the seconds, the UID, the status, the failed action, the error
		"<nil> <nil> <nil> <nil> <nil>",
		"0 <nil> 1 of 3 replicas ready <nil> <nil>",
		"12 <nil> node a is down <nil> <nil>",
		"<nil> uid-b <nil> <nil> <nil>",
		"3 uid-b <nil> <nil> no such image",
		"1 <nil> <nil> <nil> stopped", // the replacement gets another UID
		"<nil> <nil> <nil> service.a/Service/b <nil>",
		"<nil> <nil> <nil> <nil> <nil>",
		"0 <nil> <nil> <nil> never ready",
	}
	var hooks []string
	for _, e := range all {
		h := e["hook"]
		hooks = append(hooks, fmt.Sprint(within(h, "elapsed_seconds"), " ", within(h, "id_value"), " ", within(h, "kolla", "status"), " ", within(h, "kolla", "because"), " ", within(h, "kolla", "error")))
	}
	if diff := cmp.Diff(wantHooks, hooks); diff != "" {
		t.Errorf("hooks (-want +got):\n%s", diff)
	}
}

// TestApplied checks that each failed object has a diagnostic, or one for all if they are many.
func TestApplied(t *testing.T) {
	failed := func(others int) []applied.Failed {
		f := applied.Failed{Address: objecttest.Address(t, "service.a/Service/a"), Source: "cloud.hcl:41", Reason: "no image", Detail: []string{"not found"}}
		for i := range others {
			f.Others = append(f.Others, addrs.Object{Block: "service.b", Kind: "Service", Name: fmt.Sprint(i)})
		}
		return []applied.Failed{f}
	}
	tests := map[string]struct {
		result      applied.Result
		diagnostics []string // address, line, detail
		operation   string
	}{
		"none":         {applied.Result{Added: 1}, nil, "apply"},
		"a destroy":    {applied.Result{Destroyed: 1, Destroy: true}, nil, "destroy"},
		"one":          {applied.Result{Failed: failed(0)}, []string{"service.a/Service/a 41 not found"}, "apply"},
		"two":          {applied.Result{Failed: failed(1)}, []string{"service.a/Service/a 41 not found", "service.b/Service/0 not found"}, "apply"},
		"very many":    {applied.Result{Failed: failed(50)}, []string{"service.a/Service/a 41 51 objects failed for this reason.\nnot found"}, "apply"},
		"in a destroy": {applied.Result{Failed: failed(0), Destroy: true}, []string{"service.a/Service/a 41 not found"}, "destroy"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			all := events(t, func(e *jsonview.Events) { e.Applied(test.result) })[1:]
			var got []string
			for _, e := range all[:len(all)-1] {
				d := e["diagnostic"]
				got = append(got, words(within(d, "address"), within(d, "range", "start", "line"), within(d, "detail")))
			}
			if diff := cmp.Diff(test.diagnostics, got); diff != "" {
				t.Errorf("diagnostics (-want +got):\n%s", diff)
			}
			sum := within(all[len(all)-1], "changes")
			if within(sum, "operation") != test.operation || within(sum, "add") != float64(test.result.Added) || within(sum, "remove") != float64(test.result.Destroyed) {
				t.Errorf("the summary is %v", sum)
			}
		})
	}
}

// TestPlaces checks the part of the configuration that a diagnostic quotes, and the line of a
// problem.
func TestPlaces(t *testing.T) {
	const text = "service \"a\" {\n  x = é + 1\n}\n"
	parsed, diags := hclsyntax.ParseConfig([]byte(text), "cloud.hcl", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	files := map[string]*hcl.File{"cloud.hcl": parsed}
	at := func(file string, from, to int) *hcl.Range {
		return &hcl.Range{Filename: file, Start: hcl.Pos{Line: 2, Column: 7, Byte: from}, End: hcl.Pos{Line: 2, Column: 8, Byte: to}}
	}
	tests := map[string]struct {
		subject *hcl.Range // of a diagnostic
		source  string     // of a problem
		want    string     // file, lines, bytes and last column of the place; block, code and marked text
	}{
		"an expression":           {subject: at("cloud.hcl", 20, 22), want: "cloud.hcl 2-2 20-22 8 service \"a\" |  x = é + 1| 6-8"},
		"several lines":           {subject: at("cloud.hcl", 0, len(text)-1), want: "cloud.hcl 2-2 0-28 8 service \"a\" |" + text[:len(text)-1] + "| 0-28"},
		"the end of the file":     {subject: at("cloud.hcl", len(text), len(text)), want: "cloud.hcl 2-2 29-29 8 || 0-0"},
		"behind the end":          {subject: at("cloud.hcl", len(text)+1, len(text)+2), want: "cloud.hcl 2-2 30-31 8"},
		"an end before its start": {subject: at("cloud.hcl", 22, 20), want: "cloud.hcl 2-2 22-20 8 service \"a\" |  x = é + 1| 8-8"},
		"another file":            {subject: at("other.hcl", 0, 1), want: "other.hcl 2-2 0-1 8"},
		"nowhere":                 {},
		"a line":                  {source: "cloud.hcl:2", want: "cloud.hcl 2-2 14-26 12"},
		"a line of another file":  {source: "c:/other.hcl:2", want: "c:/other.hcl 2-2 1"},
		"no such line":            {source: "cloud.hcl:9", want: "cloud.hcl 9-9 1"},
		"line zero":               {source: "cloud.hcl:0"},
		"no line":                 {source: "cloud.hcl"},
		"no number":               {source: "cloud.hcl:x"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			d := events(t, func(e *jsonview.Events) {
				if test.source == "" {
					e.Configuration(hcl.Diagnostics{{Severity: hcl.DiagWarning, Summary: "it is odd", Subject: test.subject}}, files)
					return
				}
				e.Configuration(nil, files)
				e.Problems([]plans.Problem{{Warning: true, Summary: "it is odd", Source: test.source}})
			})[1]
			if got := words(d["@level"], d["@message"], within(d, "diagnostic", "severity")); got != "warn Warning: It is odd warning" {
				t.Errorf("it says %q", got)
			}
			if got := place(within(d, "diagnostic")); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// place formats the place of a diagnostic and its quotation.
func place(d any) string {
	r, s := within(d, "range"), within(d, "snippet")
	between := func(v any, from, to string) any {
		if within(v, from) == nil {
			return nil
		}
		return fmt.Sprint(within(v, from), "-", within(v, to))
	}
	start, _ := within(r, "start").(m)
	end, _ := within(r, "end").(m)
	both := m{"line": start["line"], "to line": end["line"], "byte": start["byte"], "to byte": end["byte"]}
	got := words(within(r, "filename"), between(both, "line", "to line"), between(both, "byte", "to byte"), end["column"])
	if s != nil {
		got = words(got, within(s, "context"), fmt.Sprintf("|%v|", within(s, "code")), between(s, "highlight_start_offset", "highlight_end_offset"))
	}
	return got
}

// TestNoEvents checks that methods of nil events do nothing.
func TestNoEvents(t *testing.T) {
	var none *jsonview.Events
	none.Plan(planOf(action(t, plans.Update)))
	none.Configuration(nil, nil)
	none.Problems([]plans.Problem{{Summary: "x"}})
	none.Message(true, "x", "")
	none.Applied(applied.Result{})
	none.Outputs(nil)
	none.Log("x")
	progress := none.Applying()
	progress.Observe(plans.Event{Kind: plans.Started})
	progress.Close()
	if none.Err() != nil || progress != nil {
		t.Error("nil events do something")
	}
}

// broken is a writer whose writes fail.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// TestErr checks that the first write error is kept.
func TestErr(t *testing.T) {
	if err := jsonview.New(broken{}, "v1").Err(); err == nil || err.Error() != "write events: write JSON: no space left" {
		t.Errorf("got %v", err)
	}
}
