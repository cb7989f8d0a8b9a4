package view_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/mattn/go-runewidth"

	"kolla.openstack.org/kolla/internal/present/view"
	"kolla.openstack.org/kolla/internal/present/view/screen"
)

// TestLongLines checks that only the part around the subject is quoted of a very long line.
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

// TestExcerptWidth checks that a quoted line is never wider than the terminal, and that the carets
// are below the marked text.
func TestExcerptWidth(t *testing.T) {
	filler := strings.Repeat("filler ", 30)
	for name, c := range map[string]struct{ before, marked, after string }{
		"short":         {"  a = ", "WRONG", ""},
		"at the start":  {"  a = ", "WRONG", " " + filler},
		"in the middle": {filler, "WRONG", " " + filler},
		"at the end":    {filler, "WRONG", ""},
		"all but":       {filler, "WRONG", "."},
		"too long":      {"  a = ", "WRONG" + filler, "x"},
		"too long, in":  {filler, "WRONG" + filler, filler},
		"wide":          {strings.Repeat("世", 60), "WRONG世", strings.Repeat("世", 60)},
		"tabs":          {strings.Repeat("\t", 30), "WRONG", strings.Repeat("\tx", 30)},
		"nothing":       {filler, "", ""},
	} {
		for _, width := range []int{80, 40, 15} {
			t.Run(fmt.Sprintf("%s, %d columns", name, width), func(t *testing.T) {
				source := filler + "\n" + c.before + c.marked + c.after + "\n"
				at := len(filler) + 1 + len(c.before)
				subject := hcl.Range{Filename: "x.hcl", Start: hcl.Pos{Line: 2, Byte: at}, End: hcl.Pos{Line: 2, Byte: at + len(c.marked)}}
				around := hcl.Range{Filename: "x.hcl", Start: hcl.Pos{Line: 1}, End: hcl.Pos{Line: 2, Byte: len(source) - 1}}
				var problems bytes.Buffer
				p := view.Printer{Err: screen.Stream{Writer: &problems, Width: width, Terminal: true}}
				p.Diagnostics(hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Wrong", Subject: &subject, Context: &around}}, map[string]*hcl.File{"x.hcl": {Bytes: []byte(source)}})

				var rows []string // below the line with the place
				for _, row := range strings.Split(problems.String(), "\n")[2:] {
					if strings.HasPrefix(row, "  1: ") || rows != nil {
						rows = append(rows, row)
					}
				}
				if len(rows) < 3 || !strings.HasPrefix(rows[1], "  2: ") || strings.Trim(rows[2], " ^") != "" || !strings.Contains(rows[2], "^") {
					t.Fatalf("not the line before, the line, and the carets:\n%s", problems.String())
				}
				for _, row := range rows {
					if n := runewidth.StringWidth(row); n > width {
						t.Errorf("%d columns: %s", n, row)
					}
				}
				before, _, found := strings.Cut(rows[1], "WRONG")
				if c.marked == "" {
					before, found = rows[1]+" ", true // the space at the end is not printed
				}
				if !found || runewidth.StringWidth(before) != strings.Index(rows[2], "^") {
					t.Errorf("the carets are not below what is meant:\n%s\n%s", rows[1], rows[2])
				}
			})
		}
	}
}
