package eval_test

import (
	"slices"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/langtest"
	"kolla.openstack.org/kolla/lang/internal/layers"
)

// TestMerge checks the values of a definition's block with a service's block of the same name over it.
// The service's block replaces arguments, joins maps, drops the alternative of its arguments, and adds
// blocks. A block that overrides nothing and is not complete is a stray.
func TestMerge(t *testing.T) {
	t.Parallel()
	report := diag.New()
	root, _ := langtest.Module(t, report, `
definition "web" {
  workload "api" {
    kind     = "Deployment"
    image    = "web"
    replicas = 2
    env      = { A = "1", B = "1" }
    ready { http = "/" }
  }
}

service "web" {
  workload "api" {
    replicas = 3
    env      = { B = "2" }
    ready { exec = ["true"] }
  }
  workload "more" {
    kind  = "Deployment"
    image = "more"
  }
  workload "apo" { replicas = 1 }
}`)
	whole, strays := layers.Merge(root.Document.One("definition", "web"), root.Document.One("service", "web"), configs.LayerService)
	e := langtest.Env(report)
	e.InDefinition, e.OfService, e.OfCloud = true, langtest.Env(report), langtest.Env(report)
	api := whole.One("workload", "api")
	if got := eval.Number(e, api, "replicas"); got != 3 {
		t.Errorf("replicas: %d", got)
	}
	if got := eval.String(e, api, "image"); got != "web" {
		t.Errorf("image: %s", got)
	}
	if got := eval.Strings(e, api, "env"); got["A"] != "1" || got["B"] != "2" || len(got) != 2 {
		t.Errorf("env: %v", got)
	}
	ready := api.One("ready", "")
	if eval.IsSet(e, ready, "http") || !slices.Equal(eval.List(e, ready, "exec"), []string{"true"}) {
		t.Errorf("the probe has arguments %v", ready.Attributes)
	}
	if whole.One("workload", "more") == nil {
		t.Error("the workload of the service is missing")
	}
	if len(strays) != 1 || strays[0].Block.Label != "apo" || !slices.Equal(strays[0].Known, []string{"api"}) {
		t.Errorf("strays: %+v", strays)
	}
	if eval.EnvOf(e, api, "replicas") != e.OfService || eval.EnvOf(e, api, "image") != e {
		t.Error("who says an argument is not known")
	}
}

// TestInstances checks the instances of repeated blocks, and which values cannot say them.
func TestInstances(t *testing.T) {
	t.Parallel()
	for argument, c := range map[string]struct {
		want []string // nil: an error
		said []string
	}{
		`count = 2`:                         {want: []string{"[0]", "[1]"}},
		`count = 0`:                         {want: []string{}},
		`count = -1`:                        {said: []string{`Unsuitable value for "count"`}},
		`for_each = toset(["b", "a"])`:      {want: []string{`["a"]`, `["b"]`}},
		`for_each = { b = 1, a = 2 }`:       {want: []string{`["a"]`, `["b"]`}},
		`for_each = ["a"]`:                  {said: []string{`Unsuitable value for "for_each"`}},
		`for_each = null`:                   {said: []string{`Unsuitable value for "for_each"`}},
		`for_each = { "$${a}" = 1 }`:        {said: []string{`Unsuitable value for "for_each"`}},
		`for_each = sensitive({ a = "b" })`: {said: []string{`Unsuitable value for "for_each"`}},
		``:                                  {want: []string{""}},
	} {
		t.Run(argument, func(t *testing.T) {
			report := diag.New()
			root, _ := langtest.Module(t, report, "role \"r\" {\n  nodes = []\n  "+argument+"\n}\n")
			b := root.Document.One("role", "r")
			list, ok := eval.Instances(langtest.Env(report), b)
			got := []string{}
			for _, it := range list {
				got = append(got, it.Suffix())
			}
			if ok != (c.want != nil) || ok && !slices.Equal(got, c.want) {
				t.Errorf("got %q, %v, want %q", got, ok, c.want)
			}
			if said := langtest.Summaries(report); !ok && len(said) != len(c.said) {
				t.Errorf("diagnostics: %q, want %q", said, c.said)
			}
		})
	}
}

// TestValue checks that an error is reported once, where it is, and that what follows from it is
// unknown.
func TestValue(t *testing.T) {
	t.Parallel()
	for text, said := range map[string][]string{
		`1 + 1`:                 {},
		`upper("a")`:            {},
		`role.control`:          {"Reference where there can be none"},
		`nothing("a")`:          {`There is no function "nothing"`},
		`{ a = 1 }.b`:           {"Unsupported attribute"},
		`"a${[1]}"`:             {"Unsuitable value in a string"},
		`[for x in missing: x]`: {"Reference where there can be none"},
	} {
		t.Run(text, func(t *testing.T) {
			report := diag.New()
			v := langtest.Env(report).Value(langtest.Expression(t, text))
			if got := langtest.Summaries(report); !slices.Equal(got, said) {
				t.Errorf("diagnostics: %q, want %q", got, said)
			}
			if len(said) > 0 && v != cty.DynamicVal {
				t.Errorf("after an error: %#v", v)
			}
		})
	}
}
