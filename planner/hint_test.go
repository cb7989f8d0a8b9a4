package planner_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/providers"
)

// A service that goes and one that comes, and look like one that was renamed.
func TestHintOfARename(t *testing.T) {
	const was = "service.web/Deployment/web-api"
	tests := map[string]struct {
		to     string // address of what is new
		adjust func(t *testing.T, was, is *unstructured.Unstructured)
		moves  []lang.Move
		keep   bool // the old one is still declared
		want   bool
	}{
		"another name":        {to: "service.site/Deployment/site-api", want: true},
		"another image":       {to: "service.site/Deployment/site-api", adjust: func(_ *testing.T, _, is *unstructured.Unstructured) { image(is) }, want: true},
		"the block moved":     {to: "service.site/Deployment/site-api", moves: []lang.Move{{From: lang.Target{Block: "service.web"}, To: lang.Target{Block: "service.site"}}}},
		"still declared":      {to: "service.site/Deployment/site-api", keep: true},
		"the same block":      {to: "service.web/Deployment/other-api"},
		"a block of its own":  {to: "manifest.site/Deployment/site-api"},
		"another kind":        {to: "service.site/DaemonSet/site-api"},
		"hardly alike":        {to: "service.site/Deployment/site-api", adjust: unlike},
		"too little to judge": {to: "service.site/Deployment/site-api", adjust: func(t *testing.T, was, is *unstructured.Unstructured) { tiny(t, was); tiny(t, is) }},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			at := address(test.to)
			old, fresh := workload("Deployment", "web-api"), workload(at.Kind, at.Name)
			if test.adjust != nil {
				test.adjust(t, old, fresh)
			}
			w := &world{}
			w.add(was, old)
			objects := []providers.Object{declared(test.to, fresh)}
			if test.keep {
				objects = append(objects, declared(was, old))
			}
			in := w.input(objects...)
			in.Moves = test.moves
			_, problems, err := planner.Make(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			if !test.want {
				if len(problems) > 0 {
					t.Errorf("it warns: %+v", problems)
				}
				return
			}
			if len(problems) != 1 || !problems[0].Warning || problems[0].Address != at || problems[0].Source != "cloud.hcl:41" ||
				problems[0].Summary != "service.web looks as if it was renamed to service.site" {
				t.Fatalf("problems are %+v", problems)
			}
			if block := "moved {\n    from = service.web\n    to   = service.site\n  }"; !strings.Contains(problems[0].Detail, block) {
				t.Errorf("the block to write is not in %q", problems[0].Detail)
			}
		})
	}
}

// A block is hinted at once, for the object that is most like one of its own.
func TestHintOnceABlock(t *testing.T) {
	w := &world{}
	w.add("service.web/Deployment/web-api", workload("Deployment", "web-api"))
	w.add("service.web/Deployment/web-task", workload("Deployment", "web-task"))
	other := workload("Deployment", "a-api")
	image(other)
	_, problems, err := planner.Make(t.Context(), w.input(
		declared("service.a/Deployment/a-api", other),
		declared("service.site/Deployment/site-api", workload("Deployment", "site-api")),
		declared("service.site/Deployment/site-task", workload("Deployment", "site-task"))))
	if err != nil || len(problems) != 1 || !strings.HasSuffix(problems[0].Summary, "renamed to service.site") {
		t.Errorf("Make: %v, problems %+v", err, problems)
	}
}

// unlike makes most fields of the new one others.
func unlike(t *testing.T, _, is *unstructured.Unstructured) {
	image(is)
	container(is)["name"] = "x"
	container(is)["env"] = []any{map[string]any{"name": "B", "value": "2"}}
	put(t, is, int64(1), "spec", "replicas")
}

// tiny leaves less than says anything.
func tiny(t *testing.T, u *unstructured.Unstructured) {
	put(t, u, map[string]any{"replicas": int64(1), "paused": true}, "spec")
}
