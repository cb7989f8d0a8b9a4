package lang_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/lang/configs"
)

// load loads a configuration of the given files, or of one file cloud.hcl.
func load(t testing.TB, options lang.Options, files ...string) (*configs.Config, hcl.Diagnostics) {
	t.Helper()
	config, _, diags := loadConsole(t, options, files...)
	return config, diags
}

// loadConsole is load, with the console.
func loadConsole(t testing.TB, options lang.Options, files ...string) (*configs.Config, *lang.Console, hcl.Diagnostics) {
	t.Helper()
	dir := t.TempDir()
	if len(files) == 1 {
		files = []string{"cloud.hcl", files[0]}
	}
	for i := 0; i < len(files); i += 2 {
		name := filepath.Join(dir, files[i])
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(files[i+1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if options.Catalogue == nil {
		options.Catalogue = smallCatalogue()
	}
	return lang.LoadConsole(dir, options)
}

// environment evaluates expressions as the environment of a workload, in a
// service with a generated secret and with sensitive and public variables.
func environment(t *testing.T, expressions map[string]string) (map[string]configs.Text, hcl.Diagnostics) {
	t.Helper()
	var env strings.Builder
	for name, expression := range expressions {
		fmt.Fprintf(&env, "%s = %s\n", name, expression)
	}
	config, diags := load(t, lang.Options{}, "cloud.hcl", fmt.Sprintf(`
cloud "test" {
  release = "2025.1"
}

variable "password" {
  sensitive = true
  default   = "hunter2"
}

variable "marked" {
  default = sensitive("marked")
}

variable "name" {
  default = "world"
}

definition "own" {
  secret "a" {}
  secret "b" {}
  workload "w" {
    kind  = "Deployment"
    image = "own"
    env = {
      %s
    }
  }
}

service "own" {}
`, env.String()), "some.txt", "content\n", "some.tmpl", "hello ${who}, ${upper(who)}", "plain.tmpl", "hello ${who}", "binary", "\xff")
	out := map[string]configs.Text{}
	for _, s := range config.Services {
		for _, e := range s.Workloads[0].Pod.Env {
			out[e.Name] = e.Value
		}
	}
	return out, diags
}

// TestText is about how secrets get into texts, and what of a text is secret.
func TestText(t *testing.T) {
	tests := []struct {
		name       string
		expression string
		want       string // secrets as <references>
	}{
		{"public", `"x"`, "x"},
		{"number", `1.50`, "1.5"},
		{"bool", `true`, "true"},
		{"empty", `""`, ""},
		{"secret", `secret.a.value`, "<own/a/value>"},
		{"in a template", `"x:${secret.a.value}@${var.name}"`, "x:<own/a/value>@world"},
		{"two in a template", `"${secret.a.value}${secret.b.value}"`, "<own/a/value><own/b/value>"},
		{"twice", `"${secret.a.value}/${secret.a.value}"`, "<own/a/value>/<own/a/value>"},
		{"heredoc", "<<-X\n  a: ${secret.a.value}\n  b\nX\n", "a: <own/a/value>\nb\n"},
		{"template directive", `"%{for s in [secret.a.value, "x"]}[${s}]%{endfor}"`, "[<own/a/value>][x]"},
		{"format", `format("%s/%q", "x", secret.a.value)`, `x/"<own/a/value>"`},
		{"join", `join(",", ["x", secret.a.value, secret.b.value])`, "x,<own/a/value>,<own/b/value>"},
		{"jsonencode", `jsonencode({ a = secret.a.value, b = ["<&>"] })`, `{"a":"<own/a/value>","b":["\u003c\u0026\u003e"]}`},
		{"yamlencode", `yamlencode({ a = secret.a.value })`, "\"a\": \"<own/a/value>\"\n"},
		{"indent", `indent(2, "a\n${secret.a.value}")`, "a\n  <own/a/value>"},
		{"coalesce", `coalesce(null, "", secret.a.value)`, "<own/a/value>"},
		{"try", `try(secret.a.value, "x")`, "<own/a/value>"},
		{"templatefile", `templatefile("plain.tmpl", { who = secret.a.value })`, "hello <own/a/value>"},
		{"templatestring", `templatestring("$${who}!", { who = secret.a.value })`, "<own/a/value>!"},
		{"length of a list", `length([secret.a.value, "x"])`, "2"},
		{"one", `one([secret.a.value])`, "<own/a/value>"},
		{"issensitive", `issensitive(secret.a.value)`, "true"},
		{"can", `can(secret.a.value)`, "true"},
		{"lookup", `lookup({ a = secret.a.value, b = "x" }, "a")`, "<own/a/value>"},
		{"lookup of another key", `lookup({ a = secret.a.value, b = "x" }, "b", "")`, "x"},
		{"merge", `merge({ a = "x" }, { b = secret.b.value }).b`, "<own/b/value>"},
		{"merge, the other key", `merge({ a = "x" }, { b = secret.b.value }).a`, "x"},
		{"for", `join(" ", [for k, v in { a = secret.a.value, b = "x" } : "${k}=${v}"])`, "a=<own/a/value> b=x"},
		{"formatlist", `join(" ", formatlist("%s!", [secret.a.value, "x"]))`, "<own/a/value>! x!"},
		{"element", `element(concat([secret.a.value], ["x"]), 1)`, "x"},
		{"values", `join("", values({ a = secret.a.value }))`, "<own/a/value>"},
		{"keys", `join("", keys({ a = secret.a.value }))`, "a"},
		{"name", `secret.a.name`, "own-a"},
		{"chosen branch", `var.name == "world" ? secret.a.value : "x"`, "<own/a/value>"},
		{"other branch", `var.name == "world" ? "x" : secret.a.value`, "x"},
		{"sensitive variable", `var.password`, "<sensitive hunter2>"},
		{"sensitive in a template", `"x:${var.password}"`, "<sensitive x:hunter2>"},
		{"sensitive and generated", `"x:${var.password}:${secret.a.value}:y"`, "<sensitive x:hunter2:><own/a/value><sensitive :y>"},
		{"computed from a sensitive variable", `upper(var.password)`, "<sensitive HUNTER2>"},
		{"sensitive function", `sensitive("x")`, "<sensitive x>"},
		{"sensitive default", `var.marked`, "<sensitive marked>"},
		{"reference by index", `var["name"]`, "world"},
		{"nonsensitive function", `nonsensitive(var.password)`, "hunter2"},
		{"sensitive condition", `var.password == "x" ? "a" : "b"`, "<sensitive b>"},
	}
	expressions, want := map[string]string{}, map[string]string{}
	for i, test := range tests {
		key := fmt.Sprintf("E%d", i)
		expressions[key], want[key] = test.expression, test.want
	}
	got, diags := environment(t, expressions)
	if len(diags) > 0 {
		t.Errorf("diagnostics:\n%s", render(diags, ""))
	}
	for i, test := range tests {
		key := fmt.Sprintf("E%d", i)
		if diff := cmp.Diff(want[key], show(got[key])); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// TestComputedSecret is about what cannot be done with a value that nobody knows.
func TestComputedSecret(t *testing.T) {
	for _, expression := range []string{
		`upper(secret.a.value)`,
		`sha256(secret.a.value)`,
		`sha256("x${secret.a.value}")`,
		`base64encode(jsonencode({ a = secret.a.value }))`,
		`substr(secret.a.value, 0, 3)`,
		`split("/", secret.a.value)[0]`,
		`replace(secret.a.value, "a", "b")`,
		`trimspace(secret.a.value)`,
		`length(secret.a.value)`,
		`sort([secret.a.value])[0]`,
		`contains([secret.a.value], "x")`,
		`file(secret.a.value)`,
		`templatefile("some.tmpl", { who = secret.a.value })`,
		`format("%.8s", secret.a.value)`,
		`secret.a.value == "x"`,
		`secret.a.value != ""`,
		`secret.a.value == "x" ? "a" : "b"`,
		`jsonencode({ a = secret.a.value == "x" ? "a" : "b" })`,
		`nonsensitive(secret.a.value)`,
		`{ (secret.a.value) = "x" }["x"]`,
		`can(upper(secret.a.value))`,
		`try(tonumber(secret.a.value), 1)`,
		`try(templatefile("some.tmpl", { who = secret.a.value }), "x")`,
		`templatestring("%%{if who == \"x\"}a%%{else}b%%{endif}", { who = secret.a.value })`,
		`templatestring(secret.a.value, {})`,
		`lookup({ a = 1 }, secret.a.value, 2)`,
		`format("%80s", secret.a.value)`,
		`startswith(secret.a.value, "a")`,
		`textencodebase64(secret.a.value, "UTF-8")`,
		`base64sha256(secret.a.value)`,
		`uuidv5("dns", secret.a.value)`,
	} {
		got, diags := environment(t, map[string]string{"E": expression})
		if !diags.HasErrors() {
			t.Errorf("%s: no error, but %s", expression, show(got["E"]))
		}
		if text := string(render(diags, "")); strings.ContainsAny(text, "\uefe0\uefe1") {
			t.Errorf("%s: a token is shown:\n%s", expression, text)
		}
	}
}

func TestFunctions(t *testing.T) {
	tests := map[string]string{ // expression → JSON
		`abs(-1)`:                                    `1`,
		`ceil(1.1)`:                                  `2`,
		`floor(1.9)`:                                 `1`,
		`max(1, 3, 2)`:                               `3`,
		`min(1, 3, 2)`:                               `1`,
		`pow(2, 8)`:                                  `256`,
		`signum(-4)`:                                 `-1`,
		`parseint("ff", 16)`:                         `255`,
		`upper("a")`:                                 `"A"`,
		`lower("A")`:                                 `"a"`,
		`title("a b")`:                               `"A B"`,
		`trim("!a!", "!")`:                           `"a"`,
		`trimspace(" a ")`:                           `"a"`,
		`trimprefix("ab", "a")`:                      `"b"`,
		`trimsuffix("ab", "b")`:                      `"a"`,
		`replace("a.b", ".", "-")`:                   `"a-b"`,
		`replace("a1", "/[0-9]/", "")`:               `"a"`,
		`regex("[a-z]+", "1abc")`:                    `"abc"`,
		`regexall("[a-z]", "a1b")`:                   `["a","b"]`,
		`split(",", "a,b")`:                          `["a","b"]`,
		`join("-", ["a", "b"])`:                      `"a-b"`,
		`substr("abc", 1, 2)`:                        `"bc"`,
		`format("%03d", 7)`:                          `"007"`,
		`formatlist("%s!", ["a"])`:                   `["a!"]`,
		`indent(1, "a\nb")`:                          `"a\n b"`,
		`chomp("a\n")`:                               `"a"`,
		`strrev("ab")`:                               `"ba"`,
		`length("åb")`:                               `2`,
		`length([1, 2])`:                             `2`,
		`length({ a = 1 })`:                          `1`,
		`length({})`:                                 `0`,
		`coalesce("", "a")`:                          `"a"`,
		`coalescelist([], [1])`:                      `[1]`,
		`compact(["a", "", null])`:                   `["a"]`,
		`concat([1], [2])`:                           `[1,2]`,
		`contains(["a"], "a")`:                       `true`,
		`distinct([1, 1])`:                           `[1]`,
		`element([1, 2], 3)`:                         `2`,
		`flatten([[1], [[2]]])`:                      `[1,2]`,
		`index(["a", "b"], "b")`:                     `1`,
		`keys({ b = 1, a = 2 })`:                     `["a","b"]`,
		`lookup({ a = 1 }, "b", 2)`:                  `2`,
		`values({ a = 1 })`:                          `[1]`,
		`merge({ a = 1 }, { a = 2 })`:                `{"a":2}`,
		`range(3)`:                                   `[0,1,2]`,
		`reverse([1, 2])`:                            `[2,1]`,
		`setunion(["a"], ["b"])`:                     `["a","b"]`,
		`setintersection(["a", "b"], ["b"])`:         `["b"]`,
		`setsubtract(["a", "b"], ["b"])`:             `["a"]`,
		`setproduct(["a"], ["b"])`:                   `[["a","b"]]`,
		`slice([1, 2, 3], 0, 2)`:                     `[1,2]`,
		`sort(["b", "a"])`:                           `["a","b"]`,
		`zipmap(["a"], [1])`:                         `{"a":1}`,
		`chunklist([1, 2, 3], 2)`:                    `[[1,2],[3]]`,
		`jsondecode("{\"a\":[1]}")`:                  `{"a":[1]}`,
		`yamldecode("a: 1")`:                         `{"a":1}`,
		`yamlencode({ a = 1 })`:                      `"\"a\": 1\n"`,
		`csvdecode("a,b\n1,2")`:                      `[{"a":"1","b":"2"}]`,
		`timeadd("2026-01-01T00:00:00Z", "1h")`:      `"2026-01-01T01:00:00Z"`,
		`formatdate("YYYY", "2026-01-01T00:00:00Z")`: `"2026"`,
		`tostring(1)`:                                `"1"`,
		`tonumber("1")`:                              `1`,
		`tobool("true")`:                             `true`,
		`tolist(toset(["a", "a"]))`:                  `["a"]`,
		`tomap({ a = 1 })`:                           `{"a":1}`,
		`can(var.name.x)`:                            `false`,
		`try(var.name.x, "a")`:                       `"a"`,
		`cidrhost("10.0.0.0/24", 5)`:                 `"10.0.0.5"`,
		`cidrnetmask("10.0.0.0/24")`:                 `"255.255.255.0"`,
		`cidrsubnet("10.0.0.0/16", 8, 2)`:            `"10.0.2.0/24"`,
		`cidrsubnets("10.0.0.0/16", 8, 8)`:           `["10.0.0.0/24","10.0.1.0/24"]`,
		`base64encode("a")`:                          `"YQ=="`,
		`base64decode("YQ==")`:                       `"a"`,
		`urlencode("a b")`:                           `"a+b"`,
		`md5("")`:                                    `"d41d8cd98f00b204e9800998ecf8427e"`,
		`sha1("")`:                                   `"da39a3ee5e6b4b0d3255bfef95601890afd80709"`,
		`substr(sha256(""), 0, 8)`:                   `"e3b0c442"`,
		`substr(sha512(""), 0, 8)`:                   `"cf83e135"`,
		`uuidv5("dns", "example.org")`:               `"aad03681-8b63-5304-89e0-8ca8f49461b5"`,
		`basename("/a/b")`:                           `"b"`,
		`dirname("/a/b")`:                            `"/a"`,
		`abspath("/a/../b")`:                         `"/b"`,
		`pathexpand("/a")`:                           `"/a"`,
		`file("some.txt")`:                           `"content\n"`,
		`file("${path.root}/some.txt")`:              `"content\n"`,
		`filebase64("binary")`:                       `"/w=="`,
		`fileexists("some.txt")`:                     `true`,
		`fileexists("other.txt")`:                    `false`,
		`templatefile("some.tmpl", { who = "you" })`: `"hello you, YOU"`,
		`nonsensitive(sensitive("x"))`:               `"x"`,
	}
	expressions, want := map[string]string{}, map[string]string{}
	for expression, value := range tests {
		key := fmt.Sprintf("E%d", len(want))
		expressions[key], want[key] = "jsonencode("+expression+")", value
	}
	got, diags := environment(t, expressions)
	if len(diags) > 0 {
		t.Errorf("diagnostics:\n%s", render(diags, ""))
	}
	for key, value := range want {
		if diff := cmp.Diff(value, show(got[key])); diff != "" {
			t.Errorf("%s (-want +got):\n%s", expressions[key], diff)
		}
	}
}

func TestFunctionErrors(t *testing.T) {
	for expression, want := range map[string]string{
		`file("none.txt")`:                        "no such file or directory",
		`file("binary")`:                          "not a UTF-8 file",
		`file("/")`:                               "not a regular file",
		`index(["a"], "b")`:                       "does not have the value",
		`index({}, "b")`:                          "a list is required",
		`lookup({ a = 1 }, "b")`:                  "no default is given",
		`lookup({ a = 1 }, "b", 1, 2)`:            "at most three arguments",
		`lookup([], "b")`:                         "a map is required",
		`templatefile("some.tmpl", {})`:           "who",
		`templatefile("some.tmpl", "x")`:          "a map is required",
		`uper("x")`:                               `Did you mean "upper"?`,
		`strfmt("x")`:                             "docs/functions.md",
		`jsondecode("{")`:                         "unexpected end",
		`tostring([1])`:                           "cannot convert tuple",
		`templatefile("${path.root}/x.tmpl", {})`: "no such file",
	} {
		_, diags := environment(t, map[string]string{"E": expression})
		if text := string(render(diags, "")); !strings.Contains(text, want) {
			t.Errorf("%s: want %q in\n%s", expression, want, text)
		}
	}
}

func mergeConfig(definition, cloud, service string) string {
	values := func(expr string) string {
		if expr == "" {
			return ""
		}
		return "values = " + expr
	}
	if cloud != "" {
		cloud = fmt.Sprintf("defaults {\n config \"*.conf\" {\n %s\n }\n }", values(cloud))
	}
	return fmt.Sprintf(`
cloud "test" {
  release = "2025.1"
  %s
}

variable "yes" {
  default = true
}

definition "own" {
  config "own.conf" {
    path = "/etc/own.conf"
    %s
  }
}

service "own" {
  config "own.conf" {
    %s
  }
}
`, cloud, values(definition), values(service))
}

// TestOriginOfNames checks that an option knows where its name and its section are written,
// as far as they are, and its file whether there may be more.
func TestOriginOfNames(t *testing.T) {
	for expr, want := range map[string]string{
		`{ a = { x = 1 } }`:                                  `a x`,
		`{ (var.yes ? "a" : "b") = { x = 1 } }`:              ` `,
		`{ "a" = merge({ x = 1 }, {}) }`:                     `"a" `,
		`merge({ a = { x = 1 } }, {})`:                       ` `,
		`{ a = { x = 1 }, b = var.missing }`:                 `a x and more`,
		`{ a = { x = 1 }, b = sensitive({ y = 1 }) }`:        `a x and more`,
		`{ a = { x = 1 }, b = 1 }`:                           `a x and more`,
		`{ a = { x = 1 }, b = { " y" = 1 } }`:                `a x and more`,
		`{ a = { x = var.missing }, b = { y = null } }`:      `a x`,
		`{ a = { x = 1 } , b = { (var.missing) = "value" }}`: `a x and more`,
	} {
		config, _ := load(t, lang.Options{}, mergeConfig(expr, "", ""))
		f := config.Services[0].Configs[0]
		o := f.Options[0].Origin
		source := config.Files[o.Range.Filename].Bytes
		got := fmt.Sprintf("%s %s", o.Section.SliceBytes(source), o.Key.SliceBytes(source))
		if f.Partial {
			got += " and more"
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", expr, got, want)
		}
	}
}

// TestOrigin checks that every option knows the line that set it.
func TestOrigin(t *testing.T) {
	config, _ := load(t, lang.Options{}, mergeConfig(`{ a = { x = 1, y = 1 } }`, "", `{ a = { x = 3 } }`))
	var got []string
	for _, o := range config.Services[0].Configs[0].Options {
		source := config.Files[o.Origin.Range.Filename].Bytes
		got = append(got, fmt.Sprintf("%s line %d: %s", o.Key, o.Origin.Range.Start.Line, o.Origin.Range.SliceBytes(source)))
	}
	want := []string{"x line 20: 3", "y line 14: 1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("origins (-want +got):\n%s", diff)
	}
}
