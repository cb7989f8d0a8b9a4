package view_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/internal/view"
)

// TestLongLines holds that of a line which no person wrote only the part around the
// subject is quoted.
func TestLongLines(t *testing.T) {
	source := []byte(strings.Repeat("é", 50_000) + "wrong" + strings.Repeat("ü", 50_000))
	at := bytes.Index(source, []byte("wrong"))
	for name, end := range map[string]int{"a word": at + 5, "all the rest": len(source)} {
		var out, problems bytes.Buffer
		p := view.New(&out, &problems, true)
		p.Diagnostics(hcl.Diagnostics{{
			Severity: hcl.DiagError, Summary: "Wrong", Detail: "It is wrong.",
			Subject: &hcl.Range{Filename: "x.hcl", Start: hcl.Pos{Line: 1, Byte: at}, End: hcl.Pos{Line: 1, Byte: end}},
		}}, map[string]*hcl.File{"x.hcl": {Bytes: source}})
		shown := problems.String()
		if len(shown) > 2500 || !strings.Contains(shown, "éwrongü") || strings.Contains(shown, "�") {
			t.Errorf("%s: %d bytes are shown:\n%s", name, len(shown), shown)
		}
		line, under := "", ""
		for _, l := range strings.Split(shown, "\n") {
			switch {
			case strings.Contains(l, "wrongü"):
				line = l
			case strings.HasPrefix(strings.TrimSpace(l), "^^^^^"):
				under = l
			}
		}
		before, _, _ := strings.Cut(line, "wrong")
		if want := len([]rune(before)); strings.Index(under, "^") != want {
			t.Errorf("%s: underlined at %d, want %d:\n%s", name, strings.Index(under, "^"), want, shown)
		}
	}
}
