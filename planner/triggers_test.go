package planner_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/report"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// triggered declares an object that is replaced with others.
func triggered(o providers.Object, by ...string) providers.Object {
	o.Lifecycle = &providers.Lifecycle{ReplaceTriggeredBy: by, Source: "cloud.hcl:7"}
	return o
}

func TestReplaceTriggeredBy(t *testing.T) {
	const (
		base = "manifest.base/ConfigMap/base"
		web  = "service.web/Deployment/web"
		last = `manifest.last["x"]/ConfigMap/last`
	)
	changedBase := func() providers.Object {
		u := thing("v1", "ConfigMap", "base")
		u.Object["data"] = map[string]any{"a": "2"}
		return declared(base, u)
	}
	tests := map[string]struct {
		by      []string // of web
		base    providers.Object
		refresh bool
		verbs   map[string]plans.Verb
		reason  string
	}{
		"changed":         {[]string{"manifest.base"}, changedBase(), false, map[string]plans.Verb{base: "update", web: "replace", last: "replace"}, "manifest.base"},
		"its object":      {[]string{"manifest.other", base}, changedBase(), false, map[string]plans.Verb{base: "update", web: "replace", last: "replace"}, base},
		"unchanged":       {[]string{"manifest.base"}, declared(base, thing("v1", "ConfigMap", "base")), false, map[string]plans.Verb{base: "none", web: "none", last: "none"}, ""},
		"another changed": {[]string{"manifest.other"}, changedBase(), false, map[string]plans.Verb{base: "update", web: "none", last: "none"}, ""},
		"refresh only":    {[]string{"manifest.base"}, changedBase(), true, map[string]plans.Verb{}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := &world{}
			w.add(base, thing("v1", "ConfigMap", "base"))
			w.add("manifest.other/ConfigMap/other", thing("v1", "ConfigMap", "other"))
			w.add(web, workload("Deployment", "web"))
			w.add("service.web/Service/web", thing("v1", "Service", "web"))
			w.add(last, thing("v1", "ConfigMap", "last"))
			w.cluster.answer = func(object *unstructured.Unstructured, _ providers.DryRunOptions) (*unstructured.Unstructured, error) {
				answer := object.DeepCopy()
				for _, u := range w.cluster.objects {
					if providers.RefOf(u) == providers.RefOf(object) { // what is not declared stays
						answer.SetLabels(u.GetLabels())
						answer.SetAnnotations(u.GetAnnotations())
					}
				}
				return answer, nil
			}
			in := w.input(
				test.base,
				declared("manifest.other/ConfigMap/other", thing("v1", "ConfigMap", "other")),
				triggered(declared(web, workload("Deployment", "web")), test.by...),
				triggered(declared("service.web/Service/web", thing("v1", "Service", "web")), test.by...),
				triggered(declared(last, thing("v1", "ConfigMap", "last")), "service.web"),
			)
			in.RefreshOnly = test.refresh
			plan := mustPlan(t, in)
			for at, want := range test.verbs {
				if got := find(t, plan, at).Verb; got != want {
					t.Errorf("%s of %s, want %s", got, at, want)
				}
			}
			for _, a := range plan.Actions {
				if a.Verb == plans.Replace && a.Address.Kind == "Service" || test.refresh && a.Verb == plans.Replace {
					t.Errorf("%s is replaced", a.Address)
				}
			}
			if test.reason == "" {
				return
			}
			want := []plans.Reason{{Kind: plans.ReasonTriggered, Detail: test.reason}}
			if diff := cmp.Diff(want, find(t, plan, web).Reasons); diff != "" {
				t.Errorf("reasons (-want +got):\n%s", diff)
			}
			if got := strings.Join(report.ImpactOf(plan)[0].Lines, "\n"); !strings.Contains(got, "new ones are made: replace_triggered_by "+test.reason) {
				t.Errorf("impact:\n%s", got)
			}
		})
	}
}

// The guards are those of -replace.
func TestTriggeredGuards(t *testing.T) {
	const base = "manifest.base/ConfigMap/base"
	change := func() providers.Object {
		u := thing("v1", "ConfigMap", "base")
		u.Object["data"] = map[string]any{"a": "2"}
		return declared(base, u)
	}
	w := &world{}
	w.add(base, thing("v1", "ConfigMap", "base"))
	w.add("service.db/StatefulSet/db", database(t, "db"))
	db := triggered(declared("service.db/StatefulSet/db", database(t, "db")), "manifest.base")
	text := mustNotPlan(t, w.input(change(), db))
	for _, part := range []string{
		"StatefulSet openstack/db is to be made again (replace_triggered_by manifest.base), and holds volumes of its own",
		"-exclude=service.db/StatefulSet/db", "-delete-data=service.db/StatefulSet/db",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in:\n%s", part, text)
		}
	}
	in := w.input(change(), db)
	in.DeleteData = []string{"service.db/StatefulSet/db"}
	if got := find(t, mustPlan(t, in), "service.db/StatefulSet/db").Verb; got != plans.Replace {
		t.Errorf("allowed, it is %s", got)
	}
	db.Lifecycle.PreventDestroy = true
	if text := mustNotPlan(t, in); !strings.Contains(text, "must not be replaced") {
		t.Errorf("prevented:\n%s", text)
	}
}

// An object that there is not is told of once.
func TestTriggerThatIsNotDeclared(t *testing.T) {
	w := &world{}
	text := mustNotPlan(t, w.input(
		triggered(declared("service.web/Deployment/web", workload("Deployment", "web")), "service.web/ConfigMap/conf"),
		triggered(declared("service.web/Deployment/api", workload("Deployment", "api")), "service.web/ConfigMap/conf"),
		declared("service.web/ConfigMap/cont", thing("v1", "ConfigMap", "cont")),
	))
	if strings.Count(text, "replace_triggered_by names service.web/ConfigMap/conf, which is not declared") != 1 || !strings.Contains(text, `Did you mean "service.web/ConfigMap/cont"?`) {
		t.Errorf("problems:\n%s", text)
	}
}

// What an apply changed and did not come to replace something with is made up for.
func TestOwedReplacement(t *testing.T) {
	const (
		base = "manifest.base/ConfigMap/base"
		web  = "service.web/Deployment/web"
	)
	tests := map[string]struct {
		owed   []string // to web
		by     []string // that web names
		change func(w *world, in *planner.Input)
		verb   plans.Verb
		detail string
	}{
		"its block":           {[]string{base}, []string{"manifest.base"}, nil, plans.Replace, "manifest.base"},
		"itself":              {[]string{base}, []string{"manifest.other", base}, nil, plans.Replace, base},
		"no longer a trigger": {[]string{base}, []string{"manifest.other"}, nil, plans.None, ""},
		"nothing":             {nil, []string{"manifest.base"}, nil, plans.None, ""},
		"another object by now": {[]string{base}, []string{"manifest.base"}, func(w *world, in *planner.Input) {
			w.state.Objects[1].UID = "the old one"
			in.Adopt = []string{web}
		}, plans.Adopt, ""},
		"a plan of refreshing":   {[]string{base}, []string{"manifest.base"}, func(_ *world, in *planner.Input) { in.RefreshOnly = true }, "", ""},
		"moved, and so the name": {[]string{"manifest.ground/ConfigMap/base"}, []string{"manifest.base"}, func(_ *world, in *planner.Input) { in.Moves = []addrs.Move{move("manifest.ground", "manifest.base")} }, plans.Replace, "manifest.base"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := &world{}
			w.add(base, thing("v1", "ConfigMap", "base"))
			w.add(web, workload("Deployment", "web")).Owed = test.owed
			w.add("manifest.other/ConfigMap/other", thing("v1", "ConfigMap", "other"))
			w.cluster.answer = func(object *unstructured.Unstructured, _ providers.DryRunOptions) (*unstructured.Unstructured, error) {
				answer := object.DeepCopy()
				for _, u := range w.cluster.objects {
					if providers.RefOf(u) == providers.RefOf(object) {
						answer.SetLabels(u.GetLabels())
						answer.SetAnnotations(u.GetAnnotations())
					}
				}
				return answer, nil
			}
			in := w.input(
				declared(base, thing("v1", "ConfigMap", "base")),
				declared("manifest.other/ConfigMap/other", thing("v1", "ConfigMap", "other")),
				triggered(declared(web, workload("Deployment", "web")), test.by...),
			)
			if test.change != nil {
				test.change(w, &in)
			}
			plan := mustPlan(t, in)
			if test.verb == "" {
				if plan.Changes() {
					t.Errorf("it changes something: %+v", plan.Actions)
				}
				return
			}
			a := find(t, plan, web)
			if a.Verb != test.verb || len(a.Owed) > 0 {
				t.Errorf("%s, still owed %v; want %s, and nothing owed", a.Verb, a.Owed, test.verb)
			}
			if test.detail == "" {
				return
			}
			if diff := cmp.Diff([]plans.Reason{{Kind: plans.ReasonOwed, Detail: test.detail}}, a.Reasons); diff != "" {
				t.Errorf("reasons (-want +got):\n%s", diff)
			}
			if got := strings.Join(report.ImpactOf(plan)[0].Lines, "\n"); !strings.Contains(got, "replace_triggered_by "+test.detail+", which an earlier apply changed") {
				t.Errorf("impact:\n%s", got)
			}
		})
	}
}

// What changes knows what else is to be replaced because of it, also where that is not
// selected.
func TestTriggersOfAnAction(t *testing.T) {
	const base = "manifest.base/ConfigMap/base"
	for _, exclude := range [][]string{nil, {"service.web"}} {
		w := &world{}
		w.add(base, thing("v1", "ConfigMap", "base"))
		w.add("service.web/Deployment/web", workload("Deployment", "web"))
		u := thing("v1", "ConfigMap", "base")
		u.Object["data"] = map[string]any{"a": "2"}
		in := w.input(
			declared(base, u),
			triggered(declared("service.web/Deployment/web", workload("Deployment", "web")), "manifest.base"),
			triggered(declared("service.web/Deployment/new", workload("Deployment", "new")), "manifest.base"),
		)
		in.Selection.Excludes = exclude
		got := find(t, mustPlan(t, in), base).Triggers
		if diff := cmp.Diff([]string{"service.web/Deployment/web"}, got); diff != "" {
			t.Errorf("without %v (-want +got):\n%s", exclude, diff)
		}
	}
}
