package planner_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/providers"
)

// A service that goes and one that comes, and look like one that was renamed.
func TestHintOfARename(t *testing.T) {
	const was = "service.web/Deployment/web-api"
	tests := map[string]struct {
		to     string // address of what is new
		adjust func(t *testing.T, was, is *unstructured.Unstructured)
		moves  []addrs.Move
		keep   bool // the old one is still declared
		want   bool
	}{
		"another name":        {to: "service.site/Deployment/site-api", want: true},
		"another image":       {to: "service.site/Deployment/site-api", adjust: func(_ *testing.T, _, is *unstructured.Unstructured) { image(is) }, want: true},
		"the block moved":     {to: "service.site/Deployment/site-api", moves: []addrs.Move{{From: addrs.Target{Block: "service.web"}, To: addrs.Target{Block: "service.site"}}}},
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

// Each block is in one hint at most, and in none where others are as likely. Of what is
// all of a module, the module is what was renamed.
func TestHintsOfSeveral(t *testing.T) {
	alike := func(name string) *unstructured.Unstructured { return workload("Deployment", name) }
	other := func(name string) *unstructured.Unstructured {
		u := alike(name)
		image(u)
		return u
	}
	type objects map[string]*unstructured.Unstructured // by block
	tests := map[string]struct {
		was, is objects
		want    []string
	}{
		"keys exchanged":      {objects{`service.m["a"]`: alike("m-a"), `service.m["b"]`: alike("m-b")}, objects{`service.m["c"]`: alike("m-c"), `service.m["d"]`: alike("m-d")}, nil},
		"two become one":      {objects{`service.m["a"]`: alike("m-a"), `service.m["b"]`: alike("m-b")}, objects{`service.m["c"]`: alike("m-c")}, nil},
		"one becomes two":     {objects{`service.m["a"]`: alike("m-a")}, objects{`service.m["c"]`: alike("m-c"), `service.m["d"]`: alike("m-d")}, nil},
		"one key":             {objects{`service.m["a"]`: alike("m-a")}, objects{`service.m["c"]`: alike("m-c")}, []string{`service.m["a"] looks as if it was renamed to service.m["c"]`}},
		"two that differ":     {objects{"service.a": alike("a"), "service.b": other("b")}, objects{"service.c": alike("c"), "service.d": other("d")}, []string{"service.a looks as if it was renamed to service.c", "service.b looks as if it was renamed to service.d"}},
		"the more alike":      {objects{"service.a": alike("a"), "service.b": other("b")}, objects{"service.c": alike("c")}, []string{"service.a looks as if it was renamed to service.c"}},
		"the key of a module": {objects{`module.m["a"].service.x`: alike("x-a"), `module.m["a"].service.y`: other("y-a")}, objects{`module.m["b"].service.x`: alike("x-b"), `module.m["b"].service.y`: other("y-b")}, []string{`module.m["a"] looks as if it was renamed to module.m["b"]`}},
		"keys of a module":    {objects{`module.m["a"].service.x`: alike("x-a"), `module.m["b"].service.x`: alike("x-b")}, objects{`module.m["c"].service.x`: alike("x-c"), `module.m["d"].service.x`: alike("x-d")}, nil},
		"a module in another": {objects{`module.m["a"].module.n.service.x`: alike("x-a")}, objects{`module.m["b"].module.n.service.x`: alike("x-b")}, []string{`module.m["a"] looks as if it was renamed to module.m["b"]`}},
		"out of a module that stays": {
			objects{`module.m["a"].service.x`: alike("x-a")},
			objects{`module.m["b"].service.x`: alike("x-b"), `module.m["a"].manifest.y`: thing("v1", "ConfigMap", "y")},
			[]string{`module.m["a"].service.x looks as if it was renamed to module.m["b"].service.x`},
		},
		"in a module": {objects{"module.m.service.x": alike("x")}, objects{"module.m.service.y": alike("y")}, []string{"module.m.service.x looks as if it was renamed to module.m.service.y"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := &world{}
			for _, block := range slices.Sorted(maps.Keys(test.was)) {
				w.add(block+"/Deployment/"+test.was[block].GetName(), test.was[block])
			}
			var now []providers.Object
			for _, block := range slices.Sorted(maps.Keys(test.is)) {
				now = append(now, declared(block+"/"+test.is[block].GetKind()+"/"+test.is[block].GetName(), test.is[block]))
			}
			_, problems, err := planner.Make(t.Context(), w.input(now...))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range problems {
				got = append(got, p.Summary)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("hints (-want +got):\n%s", diff)
			}
		})
	}
}
