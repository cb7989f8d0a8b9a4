package planner_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/present/report"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// triggered adds replace_triggered_by to an object.
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
					if providers.RefOf(u) == providers.RefOf(object) { // undeclared fields stay
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

// TestTriggeredGuards checks that replace_triggered_by has the same guards as -replace.
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
		"StatefulSet openstack/db has to be replaced (replace_triggered_by manifest.base), and holds volumes of its own",
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

// TestTriggerThatIsNotDeclared checks that one message reports a trigger that is not declared,
// although two objects name it.
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

// TestTriggeredInAnEarlierRound checks that a later round of an apply replaces the objects that an
// earlier round announced, although their triggers no longer change.
func TestTriggeredInAnEarlierRound(t *testing.T) {
	const (
		base = "manifest.base/ConfigMap/base"
		web  = "service.web/Deployment/web"
	)
	w := &world{}
	w.add(base, thing("v1", "ConfigMap", "base"))
	w.add(web, workload("Deployment", "web"))
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
	changed := thing("v1", "ConfigMap", "base")
	changed.Object["data"] = map[string]any{"a": "2"}
	waits := triggered(declared(web, workload("Deployment", "web")), "manifest.base")
	waits.Deferred = []string{"data.x"}
	first := mustPlan(t, w.input(declared(base, changed), waits))
	_, later := first.Divide()
	before := plans.Triggered(later)
	if diff := cmp.Diff(map[addrs.Object]string{address(web): "manifest.base"}, before); diff != "" {
		t.Fatalf("announced (-want +got):\n%s", diff)
	}
	rest := func(deferred ...string) planner.Input {
		known := triggered(declared(web, workload("Deployment", "web")), "manifest.base")
		known.Deferred = deferred
		return w.input(declared(base, thing("v1", "ConfigMap", "base")), known)
	}
	for _, deferred := range [][]string{nil, {"data.y"}} {
		in := rest(deferred...)
		in.Triggered = before
		a := find(t, mustPlan(t, in), web)
		if diff := cmp.Diff([]plans.Reason{{Kind: plans.ReasonTriggered, Detail: "manifest.base"}}, a.Reasons); diff != "" || a.Verb != plans.Replace {
			t.Errorf("with %v, %s (-want +got):\n%s", deferred, a.Verb, diff)
		}
	}
	if a := find(t, mustPlan(t, rest()), web); a.Verb == plans.Replace {
		t.Errorf("another apply replaces it: %v", a.Reasons)
	}
}
