package variables_test

import (
	"slices"
	"testing"
	"testing/fstest"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/langtest"
	"kolla.openstack.org/kolla/lang/internal/variables"
)

// TestSources checks which source of a variable's value wins: the default is the weakest, then
// the environment, the files of the directory by name, and the options in their order.
func TestSources(t *testing.T) {
	t.Parallel()
	const declared = `variable "size" {
  type    = number
  default = 1
}`
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	for name, c := range map[string]struct {
		files   fstest.MapFS
		environ []string
		options []variables.Option
		want    int64 // 0: none
		said    []string
	}{
		"default":          {want: 1},
		"environment":      {environ: []string{"KOLLA_VAR_size=2"}, want: 2},
		"file":             {environ: []string{"KOLLA_VAR_size=2"}, files: fstest.MapFS{"kolla.vars.hcl": file("size = 3\n")}, want: 3},
		"later file":       {files: fstest.MapFS{"kolla.vars.hcl": file("size = 3\n"), "b.auto.vars.hcl": file("size = 5\n"), "a.auto.vars.hcl": file("size = 4\n")}, want: 5},
		"option":           {files: fstest.MapFS{"kolla.vars.hcl": file("size = 3\n")}, options: []variables.Option{{Assignment: "size=6"}}, want: 6},
		"later option":     {files: fstest.MapFS{"given.hcl": file("size = 7\n")}, options: []variables.Option{{Assignment: "size=6"}, {File: "given.hcl"}}, want: 7},
		"no number":        {options: []variables.Option{{Assignment: "size=big"}}, said: []string{`Unsuitable value for variable "size"`}},
		"no such variable": {options: []variables.Option{{Assignment: "sise=6"}}, want: 1, said: []string{`There is no variable "sise"`}},
		"no value":         {options: []variables.Option{{Assignment: "size"}}, want: 1, said: []string{"Unsuitable -var"}},
		"Terraform's":      {environ: []string{"TF_VAR_size=8"}, want: 1, said: []string{"Value not read"}},
	} {
		t.Run(name, func(t *testing.T) {
			report := diag.New()
			e := langtest.Env(report)
			root, sources := langtest.Module(t, report, declared)
			v := variables.Declare(e, sources, root.Document.One("variable", "size"))
			files := c.files
			if files == nil {
				files = fstest.MapFS{"cloud.hcl": file("")}
			}
			o := &variables.Outside{
				FS: files, Dir: ".", Environ: c.environ, Options: c.options, Constant: e,
				Keep: func(parsed map[string]*hcl.File, diags hcl.Diagnostics) (hcl.Body, bool) {
					for _, f := range parsed {
						return f.Body, !diags.HasErrors()
					}
					return nil, false
				},
				Hide: func(string) {},
			}
			o.Give([]*variables.Variable{v})
			value, unset := o.Value(v)
			if c.want != 0 && !value.RawEquals(cty.NumberIntVal(c.want)) || unset {
				t.Errorf("got %#v, %v, want %d", value, unset, c.want)
			}
			if got := langtest.Summaries(report); !slices.Equal(got, append([]string{}, c.said...)) {
				t.Errorf("diagnostics: %q, want %q", got, c.said)
			}
		})
	}
}

// TestWithoutValue checks that a variable without a value is an error, unknown where that is
// permitted, and asked for where somebody is there.
func TestWithoutValue(t *testing.T) {
	t.Parallel()
	declare := func(report *diag.Reporter) *variables.Variable {
		root, sources := langtest.Module(t, report, "variable \"name\" {\n  type = string\n}\n")
		return variables.Declare(langtest.Env(report), sources, root.Document.One("variable", "name"))
	}
	report := diag.New()
	o := &variables.Outside{FS: fstest.MapFS{}, Constant: langtest.Env(report)}
	if v, unset := o.Value(declare(report)); v.IsKnown() || unset || !slices.Equal(langtest.Summaries(report), []string{`Variable "name" has no value`}) {
		t.Errorf("%#v, %v, %v", v, unset, report.Sorted())
	}
	report = diag.New()
	o = &variables.Outside{FS: fstest.MapFS{}, Constant: langtest.Env(report), Unset: true}
	if v, unset := o.Value(declare(report)); v.IsKnown() || !unset || len(report.All()) > 0 {
		t.Errorf("%#v, %v, %v", v, unset, report.Sorted())
	}
	report = diag.New()
	o = &variables.Outside{FS: fstest.MapFS{}, Constant: langtest.Env(report), Prompt: func(v configs.Variable) (string, error) {
		return "typed for " + v.Name, nil
	}}
	if v, _ := o.Value(declare(report)); !v.RawEquals(cty.StringVal("typed for name")) {
		t.Errorf("typed: %#v, %v", v, report.Sorted())
	}
}
