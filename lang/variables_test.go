package lang_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/lang/configs"
)

const regionFromVariable = `
cloud "test" {
  release = "2025.1"
  region  = var.region
}

variable "region" {
  type        = string
  description = "Where it is."
  %DEFAULT%
}
`

func TestVariablePrecedence(t *testing.T) {
	main := strings.Replace(regionFromVariable, "%DEFAULT%", `default = "default"`, 1)
	varFile := filepath.Join(t.TempDir(), "given.hcl")
	if err := os.WriteFile(varFile, []byte(`region = "var-file"`), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name    string
		options lang.Options
		files   []string
		want    string
	}{
		{name: "default", want: "default"},
		{name: "environment", options: lang.Options{Environ: []string{"KOLLA_VAR_region=environment", "region=x"}}, want: "environment"},
		{
			name:    "kolla.vars.hcl over the environment",
			options: lang.Options{Environ: []string{"KOLLA_VAR_region=environment"}},
			files:   []string{"kolla.vars.hcl", `region = "vars"`},
			want:    "vars",
		},
		{
			name:  "auto files over kolla.vars.hcl, the last in order of names",
			files: []string{"kolla.vars.hcl", `region = "vars"`, "b.auto.vars.hcl", `region = "b"`, "a.auto.vars.hcl", `region = "a"`},
			want:  "b",
		},
		{
			name:  "other vars files do not count",
			files: []string{"other.vars.hcl", `region = "other"`, ".hidden.auto.vars.hcl", `region = "hidden"`},
			want:  "default",
		},
		{
			name:    "-var-file over auto files",
			options: lang.Options{Vars: varFiles(varFile)},
			files:   []string{"z.auto.vars.hcl", `region = "auto"`},
			want:    "var-file",
		},
		{
			name:    "-var over auto files, the last one",
			options: lang.Options{Vars: append(varFiles(varFile), assigned("region=first", "region=a=b c")...)},
			files:   []string{"z.auto.vars.hcl", `region = "auto"`},
			want:    "a=b c",
		},
		{
			name:    "-var-file after -var",
			options: lang.Options{Vars: append(assigned("region=first"), varFiles(varFile)...)},
			want:    "var-file",
		},
		{
			name:  "JSON after native",
			files: []string{"kolla.vars.hcl", `region = "native"`, "kolla.vars.hcl.json", `{"region": "json"}`},
			want:  "json",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.options.Catalogue = smallCatalogue()
			config, diags := load(t, test.options, append([]string{"main.hcl", strings.Replace(main, "region  =", `namespace = "x"`+"\n  prefix =", 1)}, test.files...)...)
			if len(diags) > 0 {
				t.Fatalf("diagnostics:\n%s", render(diags, ""))
			}
			if config.Cloud.Prefix != test.want {
				t.Errorf("got %q, want %q", config.Cloud.Prefix, test.want)
			}
		})
	}
}

func TestVariableTypes(t *testing.T) {
	tests := []struct{ name, typ, given, want string }{
		{"no type takes the text as it is", "", `["x"]`, `["x"]`},
		{"string takes the text as it is", "type = string", `"x"`, `"x"`},
		{"number", "type = number", "3", "3"},
		{"bool", "type = bool", "true", "true"},
		{"list", "type = list(number)", "[1, 2]", "[1,2]"},
		{"map", "type = map(string)", `{ a = "b" }`, `{"a":"b"}`},
		{"optional attributes", "type = object({ a = string, b = optional(number, 7) })", `{ a = "x" }`, `{"a":"x","b":7}`},
		{"any is an expression", "type = any", `["x"]`, `["x"]`},
		{"null means the default", "type = list(string)\nnullable = false\ndefault = [\"d\"]", "null", `["d"]`},
		{"null is a value", "type = list(string)\ndefault = [\"d\"]", "null", "null"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			config, diags := load(t, lang.Options{Vars: assigned("x=" + test.given)}, `
cloud "test" {
  release = "2025.1"
  prefix  = can(tostring(var.x)) && var.x != null ? tostring(var.x) : jsonencode(var.x)
}

variable "x" {
  `+test.typ+`
}
`)
			if len(diags) > 0 {
				t.Fatalf("diagnostics:\n%s", render(diags, ""))
			}
			if config.Cloud.Prefix != test.want {
				t.Errorf("got %s, want %s", config.Cloud.Prefix, test.want)
			}
		})
	}
}

func TestPrompt(t *testing.T) {
	source := strings.Replace(regionFromVariable, "%DEFAULT%", "sensitive = false", 1)
	var asked []configs.Variable
	config, diags := load(t, lang.Options{Prompt: func(v configs.Variable) (string, error) {
		asked = append(asked, v)
		return "answered", nil
	}}, source)
	if len(diags) > 0 {
		t.Fatalf("diagnostics:\n%s", render(diags, ""))
	}
	if config.Cloud.Region != "answered" {
		t.Errorf("region %q", config.Cloud.Region)
	}
	if len(asked) != 1 || asked[0].Name != "region" || asked[0].Description != "Where it is." || asked[0].Type != "string" {
		t.Errorf("asked for %+v", asked)
	}

	config, diags = load(t, lang.Options{Prompt: func(v configs.Variable) (string, error) {
		asked = append(asked, v)
		return []string{"many", "many", "5"}[len(asked)-2], nil
	}}, `
cloud "c" {
  release = "2025.1"
}
variable "count_of" {
  type = number
  validation {
    condition     = var.count_of < 3
    error_message = "At most two."
  }
}`)
	if len(asked) != 4 || asked[1].Refused != "" || asked[2].Refused != `The value must be of type number: "many" is not a number.` || asked[3].Refused != asked[2].Refused {
		t.Errorf("asked for %+v", asked[1:])
	}
	if config.Refused["count_of"] != "At most two." || len(diags) != 1 {
		t.Errorf("refused: %v, diagnostics:\n%s", config.Refused, render(diags, ""))
	}

	_, diags = load(t, lang.Options{Prompt: func(configs.Variable) (string, error) { return "", errors.New("no terminal") }}, source)
	if text := string(render(diags, "")); !strings.Contains(text, "no terminal") {
		t.Errorf("the failure is not reported:\n%s", text)
	}
}

func TestVarFileThatIsNotThere(t *testing.T) {
	_, diags := load(t, lang.Options{Vars: varFiles("/nowhere/x.hcl")}, strings.Replace(regionFromVariable, "%DEFAULT%", `default = "x"`, 1))
	if text := string(render(diags, "")); !strings.Contains(text, "/nowhere/x.hcl: no such file") {
		t.Errorf("diagnostics:\n%s", text)
	}
}

func TestDigest(t *testing.T) {
	source := func(sensitive string) string {
		return strings.Replace(regionFromVariable, "%DEFAULT%", sensitive, 1) + `
manifest "x" {
  object = { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "x" }, data = { x = file("read.txt") } }
}
`
	}
	digest := func(t *testing.T, value, read, main string) string {
		t.Helper()
		config, _ := load(t, lang.Options{Vars: assigned("region=" + value)}, "main.hcl", main, "read.txt", read)
		return config.Digest
	}
	base := digest(t, "a", "text", source(""))
	tests := []struct {
		name              string
		value, read, main string
		same              bool
	}{
		{"the same, elsewhere", "a", "text", source(""), true},
		{"another value", "b", "text", source(""), false},
		{"another file", "a", "text", source("") + "\n", false},
		{"another file that an expression reads", "a", "other", source(""), false},
	}
	for _, test := range tests {
		if got := digest(t, test.value, test.read, test.main); (got == base) != test.same {
			t.Errorf("%s: digest %s, base %s", test.name, got, base)
		}
	}
	if diff := cmp.Diff(digest(t, "a", "", source("sensitive = true")), digest(t, "b", "", source("sensitive = true"))); diff != "" {
		t.Errorf("a sensitive value went into the digest:\n%s", diff)
	}
	if len(base) != 64 {
		t.Errorf("%q is not a SHA-256 in hexadecimal", base)
	}
}

// TestVariablesRecorded checks that what the configuration makes a secret of is not
// recorded, although its variable is not sensitive.
func TestVariablesRecorded(t *testing.T) {
	config, diags := load(t, lang.Options{}, "cloud.hcl", `
cloud "test" {
  release = "2025.1"
}

variable "open" {
  default = "open"
}

variable "marked" {
  default = "marked"
}

variable "secret" {
  default = "secret"
}

variable "passed" {
  default = "passed"
}

variable "output" {
  default = "output"
}

variable "through" {
  default = "through"
}

variable "declared" {
  default   = "declared"
  sensitive = true
}

locals {
  through = "x-${var.through}"
  marked  = { a = [sensitive(var.marked)], b = var.open }
}

secret "x" {
  value = sensitive("${var.secret}${local.through}")
}

output "x" {
  value     = var.output
  sensitive = true
}

module "inner" {
  source   = "./inner"
  password = var.passed
}
`, "inner/main.hcl", `
variable "password" {
  sensitive = true
}
`)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	want := map[string]json.RawMessage{"open": json.RawMessage(`{"value":"open","type":"string"}`)}
	if diff := cmp.Diff(want, config.Variables); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestVariableConstants checks what a value that comes as text may be.
func TestVariableConstants(t *testing.T) {
	const main = `
cloud "test" {
  release = "2025.1"
}

variable "l" {
  type = list(string)
}

output "l" {
  value = join(",", var.l)
}
`
	for text, want := range map[string]string{
		`["a", "b"]`: "a,b",
		`[for k in ["a", "b", "c"] : k == "a" ? "first" : k if k != "b"]`: "first,c",
		`[for k, v in { a = 1, b = -1 } : k if v > 0]`:                    "a",
		`upper("a")`: "Functions may not be called here",
		`[var.l]`:    "Variables may not be used here",
	} {
		config, diags := load(t, lang.Options{Vars: assigned("l=" + text)}, "cloud.hcl", main)
		got := diags.Error()
		if !diags.HasErrors() {
			got = config.Outputs[0].Value.AsString()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}
