package foreign_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"kolla.openstack.org/kolla/internal/base/foreign"
)

func TestText(t *testing.T) {
	for source, want := range map[string]string{
		"": "",
		"Zürich 東京 العربية ½ 🚀\u00a0x\u3000y\tz": "Zürich 東京 العربية ½ 🚀\u00a0x\u3000y\tz",
		"a\nb\r\nc":                     `a\nb\r\nc`,
		"\x1b[2J\x00\x7f\u0085":         `\u001b[2J\u0000\u007f\u0085`,
		"a\u202eb\u200b\ufeff\u00ad":    `a\u202eb\u200b\ufeff\u00ad`,
		"\u2028\u2029":                  `\u2028\u2029`,
		"\U000e0041\U000e0100":          `\U000e0041\U000e0100`,
		"\u034f\u3164\ufe0f":            `\u034f\u3164\ufe0f`,
		"\ue000\U0010ffff":              `\ue000\U0010ffff`,
		"\x9b31m\xff":                   `\x9b31m\xff`,
		"##vso[a] ##[b] ###teamcity[c]": `#\#vso[a] #\#[b] ##\#teamcity[c]`,
		"# [a] ## b ##c d[":             "# [a] ## b ##c d[",
	} {
		got := foreign.Text(source)
		if got != want {
			t.Errorf("%q becomes %q, want %q", source, got, want)
		}
		if again := foreign.Text(got); again != got {
			t.Errorf("%q becomes %q at a second time", got, again)
		}
	}
}

func TestLine(t *testing.T) {
	for source, want := range map[string]string{
		"::set-output name=a::b": `\::set-output name=a::b`,
		"\t \u3000::error::x":    "\t \u3000\\::error::x",
		"a ::error::x":           "a ::error::x",
		"```":                    "\\```",
		"   ~~~~ x":              `   \~~~~ x`,
		"    ```":                "    ```",
		"\t```":                  "\t```",
		"a\n::b":                 `a\n::b`,
	} {
		if got := foreign.Line(source); got != want {
			t.Errorf("%q becomes %q, want %q", source, got, want)
		}
	}
}

func TestName(t *testing.T) {
	for source, want := range map[string]string{
		"kube-controller-manager": "kube-controller-manager",
		"a.b/c:d@e+f_g":           "a.b/c:d@e+f_g",
		"kubectl 5 min ago":       `"kubectl 5 min ago"`,
		"":                        `""`,
		"-x":                      `"-x"`,
		"a\u202e\n":               `"a\u202e\n"`,
		"##vso[a]":                `"#\#vso[a]"`,
	} {
		if got := foreign.Name(source); got != want {
			t.Errorf("%q becomes %q, want %q", source, got, want)
		}
	}
}

func TestWord(t *testing.T) {
	for source, want := range map[string]string{
		"data-mariadb-0": "data-mariadb-0",
		"a; rm -rf ~":    "'a; rm -rf ~'",
		"a'$(b)`c`\n":    `'a'\''$(b)` + "`c`" + `\n'`,
		"":               "''",
		"--all":          "'--all'",
	} {
		if got := foreign.Word(source); got != want {
			t.Errorf("%q becomes %q, want %q", source, got, want)
		}
	}
}

func TestForges(t *testing.T) {
	for line, want := range map[string]bool{
		"Plan: 0 to add":                       true,
		"  Plan: 0 to add":                     false, // indented, so it is not a line of kolla's
		"No changes.":                          true,
		"Error: x":                             true,
		"Apply complete! x":                    true,
		"  # service.a/Job/b will be created":  true,
		"      # a must be replaced":           true,
		"# a has moved to b":                   true,
		"# the value of a":                     false,
		"a # b will be created":                false,
		"Planning: x":                          false,
		"# service.a/Job/b will probably fail": false,
	} {
		if got := foreign.Forges(line); got != want {
			t.Errorf("%q: %t", line, got)
		}
	}
	if got := foreign.Unsaid("x will be destroyed\n"); foreign.Forges("# " + got) {
		t.Errorf("%q still says what becomes of it", got)
	}
}

func TestFprintf(t *testing.T) {
	type name string
	var b strings.Builder
	foreign.Fprintf(&b, "%s\t%s\t%d\t%q\n", "a\tb\nc", name("##[x]"), 5, "\u202e")
	if got, want := b.String(), "a b\\nc\t#\\#[x]\t5\t\"\\\\u202e\"\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// FuzzJSON checks that readers get the original strings from a document, and that the document
// contains no hidden characters.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{"", "a", "\u202e\u2028\x7f\U000e0041", "\n::x\n##vso[y]", `\"##[`, "<b>&", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, indent := range []string{"", "  "} {
			var b bytes.Buffer
			if err := foreign.JSON(&b, map[string]any{s: []any{s}}, indent); err != nil {
				t.Fatal(err)
			}
			for l := range strings.Lines(b.String()) {
				if body := strings.TrimSuffix(l, "\n"); strings.ContainsFunc(body, foreign.Hidden) || foreign.Line(body) != body {
					t.Errorf("%q is written as %q", s, l)
				}
			}
			var back map[string][]string
			if err := json.Unmarshal(b.Bytes(), &back); err != nil {
				t.Fatalf("%q: %v", b.String(), err)
			}
			if utf8.ValidString(s) && (len(back[s]) != 1 || back[s][0] != s) {
				t.Errorf("%q is read as %q", s, back)
			}
		}
	})
}
