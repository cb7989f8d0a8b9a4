package lang_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/internal/dev/golden"
	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/lang/mark"
)

const expressionConfig = `
cloud "test" {
  release   = "2025.1"
  namespace = "ns"
}
variable "password" {
  default   = "hunter2"
  sensitive = true
}
service "mariadb" {}
service "memcached" {}
service "keystone" {}
`

// TestEvaluate checks that an expression sees what the configuration declares, and
// that what must not be shown is marked.
func TestEvaluate(t *testing.T) {
	_, console, diags := loadConsole(t, lang.Options{}, expressionConfig)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	for expression, want := range map[string]cty.Value{
		`upper("a")`:                 cty.StringVal("A"),
		`cloud.namespace`:            cty.StringVal("ns"),
		`service.memcached.port + 1`: cty.NumberIntVal(11212),
	} {
		got, diags := console.Evaluate(expression, "typed")
		if diags.HasErrors() || !got.RawEquals(want) {
			t.Errorf("%s is %#v, want %#v; %v", expression, got, want, diags)
		}
	}
	for _, expression := range []string{`var.password`, `"x${var.password}"`, `service.keystone.admin_password`, `[service.keystone]`} {
		if got, diags := console.Evaluate(expression, "typed"); diags.HasErrors() || !got.ContainsMarked() {
			t.Errorf("%s is %#v without a mark; %v", expression, got, diags)
		}
	}
	for expression, want := range map[string]string{
		`1 +`:                                    "Missing expression",
		`service.keystne`:                        `There is no service "keystne"`,
		`upper(service.keystone.admin_password)`: "expressions cannot compute with it",
		`tonumber(var.password)`:                 "",
		`nope`:                                   `Unknown name "nope"`,
		`self.url`:                               `Unknown name "self"`,
	} {
		got, diags := console.Evaluate(expression, "typed")
		if !diags.HasErrors() || !strings.Contains(diags.Error(), want) || diags[0].Subject.Filename != "typed" || got.IsKnown() {
			t.Errorf("%s is %#v; %v, want %q", expression, got, diags, want)
		}
		if strings.Contains(diags.Error(), "hunter2") {
			t.Errorf("%s: a sensitive value is shown: %v", expression, diags)
		}
	}
	// Every expression is complained about anew.
	if _, diags := console.Evaluate("nope", "typed"); !diags.HasErrors() {
		t.Error("nope is complained about only once")
	}
}

// TestConsoleDiagnostics compares what is said of expressions that somebody types with a
// golden file.
func TestConsoleDiagnostics(t *testing.T) {
	_, console, diags := loadConsole(t, lang.Options{}, expressionConfig+`
service "cache" {
  for_each   = toset(["a", "b"])
  definition = "memcached"
}
`)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	var got []byte
	for _, expression := range []string{
		`type`, `type.x`, `type()`, `type(1, 2)`, `type([1]...)`,
		`"x${service.mariadb}"`, `"x${service.keystone}"`, `"x${service.cache["a"]}"`, `"x${cloud}"`, `"x${["a"]}"`, `"x${service.cache}"`,
		`service.cache[0]`, `service.cache["z"]`, `service.mariadb[0]`,
		`1 2`, `"a" "b"`, `cloud.name extra`, `1 and 2`, `a = 1`, `"${1 2}"`,
	} {
		_, _, diags := console.EvaluateTyped(expression, "typed")
		if !diags.HasErrors() {
			t.Errorf("%s is no error", expression)
		}
		got = append(append(got, "# "+expression+"\n\n"...), render(diags, "")...)
	}
	golden.Compare(t, "testdata/console/want.txt", got)
}

func TestEvaluateWithoutConfiguration(t *testing.T) {
	_, console, _ := lang.LoadConsole(t.TempDir(), lang.Options{})
	if got, diags := console.Evaluate("1 + 1", "typed"); diags.HasErrors() || got.IsKnown() {
		t.Errorf("got %#v; %v", got, diags)
	}
}

// FuzzEvaluate checks that no expression makes Evaluate panic, that no diagnostic shows
// a secret, and that no value holds one without saying so.
func FuzzEvaluate(f *testing.F) {
	for _, seed := range []string{
		`cloud.namespace`, `var.password`, `"x${var.password}"`, `service.keystone`, `service.keystone.admin_password`,
		`[for k, v in service.keystone : v]`, `{ for k, v in service.keystone : k => [v] }`, `upper(var.password)`,
		`service.keystone.admin_password == "a" ? 1 : 2`, `{ (service.keystone.admin_password) = 1 }`, `tonumber(var.password)`,
		`try(var.password.x, service.keystone.admin_password[0], "a")`, `jsonencode(service.keystone)`, "<<E\n${var.password}\nE\n",
		`service.*.url`, `var.password...`, `"%{for a in [1]}${a}%{endfor}"`, `-1 / 0`, `{`, `a.b[*].c`,
	} {
		f.Add(seed)
	}
	_, console, diags := loadConsole(f, lang.Options{}, expressionConfig)
	if diags.HasErrors() {
		f.Fatal(diags)
	}
	// Numbers of millions of digits are worked out, which takes minutes.
	huge := regexp.MustCompile(`(?i)e\+?[0-9]{5}`)
	f.Fuzz(func(t *testing.T, expression string) {
		if huge.MatchString(expression) {
			return
		}
		value, diags := console.Evaluate(expression, "typed")
		for _, d := range diags {
			if d.EvalContext != nil || d.Expression != nil {
				t.Errorf("%s: a renderer could show values of variables", d.Summary)
			}
			if text := fmt.Sprint(d.Summary, d.Detail, lang.FactsOf(d)); !strings.Contains(expression, "hunter2") && strings.Contains(text, "hunter2") || strings.ContainsAny(text, "\uefe0\uefe1") && !strings.ContainsAny(expression, "\uefe0\uefe1") {
				t.Errorf("%s is complained about with a secret: %v", expression, diags)
			}
		}
		_ = cty.Walk(value, func(_ cty.Path, v cty.Value) (bool, error) {
			if mark.Hidden(v) {
				return false, nil
			}
			v, _ = v.Unmark()
			if v.Type() == cty.String && v.IsKnown() && !v.IsNull() && strings.ContainsAny(v.AsString(), "\uefe0\uefe1") {
				t.Errorf("%s gives a token that is not marked", expression)
			}
			return true, nil
		})
	})
}
