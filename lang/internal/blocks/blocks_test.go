package blocks_test

import (
	"fmt"
	"slices"
	"testing"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/blocks"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/langtest"
	"kolla.openstack.org/kolla/lang/internal/layers"
)

// TestLifecycle checks that the most special of several lifecycle blocks with an argument sets it.
func TestLifecycle(t *testing.T) {
	t.Parallel()
	report := diag.New()
	root, _ := langtest.Module(t, report, `
definition "web" {
  workload "api" {
    kind  = "Deployment"
    image = "web"
    lifecycle {
      prevent_destroy = true
      ignore_fields   = ["spec.replicas"]
      yield_to        = ["autoscaler"]
    }
  }
}
service "web" {
  lifecycle { ignore_fields = ["metadata.labels"] }
  workload "api" {
    lifecycle { prevent_destroy = false }
  }
}`)
	e := langtest.Env(report)
	service := root.Document.One("service", "web")
	got := blocks.Lifecycle(
		blocks.Layered{Block: root.Document.One("definition", "web").One("workload", "api"), Eval: e},
		blocks.Layered{Block: service, Eval: e},
		blocks.Layered{Block: service.One("workload", "api"), Eval: e},
		blocks.Layered{Eval: e},
	)
	var ignored []string
	for _, f := range got.IgnoreFields {
		ignored = append(ignored, f.Text)
	}
	if got.PreventDestroy || !slices.Equal(ignored, []string{"metadata.labels"}) || !slices.Equal(got.YieldTo, []string{"autoscaler"}) {
		t.Errorf("got %+v", got)
	}
	if len(report.All()) > 0 {
		t.Error(report.Sorted())
	}
}

// TestPatch checks which patches can be, and that a null in one stays: it takes a field away.
func TestPatch(t *testing.T) {
	t.Parallel()
	for object, c := range map[string]struct {
		want string
		said []string
	}{
		`{ spec = { replicas = null } }`:             {want: "Deployment api map[spec:map[replicas:<nil>]]"},
		`{ spec = { minReadySeconds = 5 } }`:         {want: "Deployment api map[spec:map[minReadySeconds:5]]"},
		`null`:                                       {},
		`"text"`:                                     {said: []string{`Unsuitable value for "object"`}},
		`{ metadata = { name = "b" } }`:              {said: []string{"Field that a patch cannot set"}},
		`{ spec = { minReadySeconds = missing } }`:   {said: []string{"Reference where there can be none"}},
		`{ metadata = { labels = { a = "b" } } }`:    {want: "Deployment api map[metadata:map[labels:map[a:b]]]"},
		`{ kind = "StatefulSet", apiVersion = "x" }`: {said: []string{"Field that a patch cannot set"}},
	} {
		t.Run(object, func(t *testing.T) {
			report := diag.New()
			root, _ := langtest.Module(t, report, "service \"web\" {\n  patch \"Deployment/api\" {\n    object = "+object+"\n  }\n}\n")
			b := root.Document.One("service", "web").One("patch", "Deployment/api")
			got := ""
			for _, p := range blocks.AddPatch(nil, langtest.Env(report), b, &layers.LayerExpr{Expression: b.Attributes["object"].Expr, Layer: configs.LayerService}) {
				got += fmt.Sprint(p.Kind, " ", p.Name, " ", p.Object)
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if said := langtest.Summaries(report); !slices.Equal(said, append([]string{}, c.said...)) {
				t.Errorf("diagnostics: %q, want %q", said, c.said)
			}
		})
	}
}
