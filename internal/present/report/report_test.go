package report_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/internal/present/report"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

func action(t *testing.T, verb plans.Verb, at string, changes ...plans.Change) plans.Action {
	t.Helper()
	a, err := addrs.ParseObject(at)
	if err != nil {
		t.Fatal(err)
	}
	return plans.Action{
		Address: a, Verb: verb, Changes: changes, Evidence: plans.Evidence{Kind: plans.DryRun},
		Ref: providers.Ref{GVK: schema.GroupVersionKind{Version: "v1", Kind: a.Kind}, Namespace: "openstack", Name: a.Name},
	}
}

// TestOf reads a document like a renderer: the summary, the dangers, the actions by risk, and their
// fields.
func TestOf(t *testing.T) {
	now := time.Date(2026, 11, 21, 3, 1, 0, 0, time.UTC)
	claim := action(t, plans.Delete, "service.db/PersistentVolumeClaim/data")
	claim.Holds = "the data on its volume"
	claim.Reasons = []plans.Reason{{Kind: plans.ReasonUndeclared}}
	scaled := plans.Change{Path: "spec.replicas", Before: int64(5), After: int64(3), Drift: true, Manager: "kubectl-edit", Time: now.Add(-50 * time.Minute)}
	rules := plans.Change{Path: "rules", Before: []any{"a", "b"}, After: []any{"a", "c"}}
	doc := report.Of(&plans.Plan{
		ID: "1", Created: now, Cloud: "prod", Namespace: "openstack",
		Actions: []plans.Action{action(t, plans.Update, "service.api/Deployment/api", scaled, rules), claim},
	}, report.Moment{Zone: time.UTC})

	if want := "Plan: 0 to add, 1 to change, 1 to destroy."; doc.Summary != want {
		t.Errorf("the summary is %q, want %q", doc.Summary, want)
	}
	if diff := cmp.Diff([]string{"service.db/PersistentVolumeClaim/data: the data on its volume is lost"}, doc.Dangers(false)); diff != "" {
		t.Errorf("grave (-want +got):\n%s", diff)
	}
	var risks []string
	for _, a := range doc.ByRisk() {
		risks = append(risks, a.Object.Address.Name+a.Head.After+a.Head.Danger+": "+strings.Join(a.Comments, "; "))
	}
	if diff := cmp.Diff([]string{
		"data will be destroyed: no longer in the configuration; what it holds is lost: the data on its volume",
		"api will be updated in-place: ",
	}, risks); diff != "" {
		t.Errorf("actions (-want +got):\n%s", diff)
	}
	if doc.Drift == nil || len(doc.Drift.Objects) != 1 {
		t.Fatalf("drift is %+v, want one object", doc.Drift)
	}
	drift := doc.Drift.Objects[0].Fields()
	if want := "scaled to 5 by kubectl edit 50 min ago, 2026-11-21 02:11 UTC"; len(drift) != 1 || drift[0].Note != want {
		t.Errorf("drift is %+v, want %q", drift, want)
	}
	fields := doc.Actions[0].Object.Fields()
	want := []report.Field{
		{Path: "spec.replicas", Before: int64(5), After: int64(3), Sign: report.Change, Note: "# put back"},
		{Path: "rules", Before: rules.Before, After: rules.After, Sign: report.Change, Split: true, Parts: []report.Field{
			{Path: "rules[1]", Before: "b", After: "c", Sign: report.Change},
		}},
	}
	if diff := cmp.Diff(want, fields); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
}

// TestFolds checks that objects with the same text are folded, and also many objects whose texts
// differ only in their names.
func TestFolds(t *testing.T) {
	own := func(name string) func(string) string {
		return func(s string) string { return strings.ReplaceAll(s, name, "*") }
	}
	items := []report.Foldable{{Text: "same"}, {Text: "other"}, {Text: "same"}, {Text: "new", Create: true}, {Text: "new", Create: true}}
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		items = append(items, report.Foldable{Text: "about " + strings.ToUpper(name) + "1", Own: own(strings.ToUpper(name) + "1")})
	}
	exact := []report.Fold{{Members: []int{0, 2}}, {Members: []int{1}}, {Members: []int{3}}, {Members: []int{4}}}
	alike := slices.Concat(exact, []report.Fold{{Members: []int{5, 6, 7, 8, 9, 10}, Alike: true}})
	if diff := cmp.Diff(alike, report.Folds(items, false)); diff != "" {
		t.Errorf("folds (-want +got):\n%s", diff)
	}
	for i := 5; i < 11; i++ {
		exact = append(exact, report.Fold{Members: []int{i}})
	}
	if diff := cmp.Diff(exact, report.Folds(items, true)); diff != "" {
		t.Errorf("full folds (-want +got):\n%s", diff)
	}
}
