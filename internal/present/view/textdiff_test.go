package view_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/internal/present/view"
	"kolla.openstack.org/kolla/planner/plans"
)

// TestFileDiff checks the diff of a changed config file.
func TestFileDiff(t *testing.T) {
	numbers := func(n int, changed ...int) string {
		var b strings.Builder
		for i := 1; i <= n; i++ {
			word := "line"
			for _, c := range changed {
				if c == i {
					word = "LINE"
				}
			}
			fmt.Fprintf(&b, "%s %d\n", word, i)
		}
		return b.String()
	}
	tests := map[string]struct{ before, after, want string }{
		"option under its section": {
			before: "[a]\nx = 1\ny = 2\nz = 3\n\n[b]\nx = 1\n",
			after:  "[a]\nx = 1\ny = 2\nz = 4\n\n[b]\nx = 1\n",
			want:   "  [a]\n- z = 3\n+ z = 4\n",
		},
		"same option of two sections": {
			before: "[a]\nx = 1\n[b]\nx = 1\n[c]\nx = 1\n",
			after:  "[a]\nx = 2\n[b]\nx = 1\n[c]\nx = 2\n",
			want:   "  [a]\n- x = 1\n+ x = 2\n  [c]\n- x = 1\n+ x = 2\n",
		},
		"section added": {
			before: "[a]\nx = 1\n",
			after:  "[a]\nx = 1\n\n[b]\ny = 1\n",
			want:   "+ [b]\n+ y = 1\n",
		},
		"section taken out of the middle": {
			before: "[a]\nx = 1\n[b]\ny = 1\n[c]\nz = 1\n",
			after:  "[a]\nx = 1\n[c]\nz = 2\n",
			want:   "- [b]\n- y = 1\n  [c]\n- z = 1\n+ z = 2\n",
		},
		"option before any section": {
			before: "debug = false\n[a]\nx = 1\n",
			after:  "debug = true\n[a]\nx = 1\n",
			want:   "- debug = false\n+ debug = true\n",
		},
		"other files with what is around": {
			before: numbers(30),
			after:  numbers(30, 4, 20),
			want: "@@ line 2 @@\n  line 2\n  line 3\n- line 4\n+ LINE 4\n  line 5\n  line 6\n" +
				"@@ line 18 @@\n  line 18\n  line 19\n- line 20\n+ LINE 20\n  line 21\n  line 22\n",
		},
		"nothing but empty lines": {
			before: "[a]\nx = 1\n",
			after:  "[a]\n\nx = 1\n",
			want:   "  [a]\n+\n  x = 1\n",
		},
		"blanks at the end": {
			before: "[a]\nx = 1\n",
			after:  "[a]\nx = 1 \t\n",
			want:   "  [a]\n- x = 1\n+ x = 1··\n",
		},
		"end without a newline": {
			before: "[a]\nx = 1\n",
			after:  "[a]\nx = 1",
			want:   "  [a]\n- x = 1\n+ x = 1  (no newline at the end)\n",
		},
		"whole new file": {
			after: "[a]\nx = 1\n",
			want:  "+ [a]\n+ x = 1\n",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			change := plans.Change{Path: `data["a.conf"]`, Before: test.before, After: test.after, Text: true}
			sample := func() *plans.Plan {
				return newPlan(0, action(plans.Update, "service.a/ConfigMap/a", change))
			}
			out := string(capture(80, false, plan(sample, view.PlanOptions{})))
			_, rest, found := strings.Cut(out, "    ~ a.conf\n")
			body, _, _ := strings.Cut(rest, "\n\nPlan:")
			if !found {
				t.Fatalf("the file is not named:\n%s", out)
			}
			var got strings.Builder
			for _, l := range strings.Split(body, "\n") {
				got.WriteString(strings.TrimPrefix(l, "      ") + "\n")
			}
			if diff := cmp.Diff(test.want, got.String()); diff != "" {
				t.Errorf("diff (-want +got):\n%s", diff)
			}
		})
	}
}

// TestLongDiffIsCut checks that a long diff is cut unless -full is given.
func TestLongDiffIsCut(t *testing.T) {
	long := strings.Repeat("a line of a policy\n", 500)
	sample := func() *plans.Plan {
		return newPlan(0, action(plans.Update, "service.a/ConfigMap/a",
			plans.Change{Path: `data["policy"]`, Before: "old\nold\n", After: long, Text: true}))
	}
	short := string(capture(80, false, plan(sample, view.PlanOptions{})))
	if got := strings.Count(short, "\n"); got > 220 {
		t.Errorf("the plan has %d lines, want fewer than 220", got)
	}
	if !strings.Contains(short, "(302 more lines of this diff; -full shows them)") {
		t.Errorf("the plan does not say what it leaves out")
	}
	full := string(capture(80, false, plan(sample, view.PlanOptions{Full: true})))
	if got := strings.Count(full, "a line of a policy"); got != 500 {
		t.Errorf("-full shows %d lines, want 500", got)
	}
}

func TestTextDiff(t *testing.T) {
	got := string(capture(80, false, func(p *view.Printer) {
		must(view.TextDiff(p.Out, "cloud.hcl", "cloud \"prod\" {\nrelease=\"2025.1\"\n}\n", "cloud \"prod\" {\n  release = \"2025.1\"\n}\n"))
	}))
	want := `--- old/cloud.hcl
+++ new/cloud.hcl
@@ -1,3 +1,3 @@
 cloud "prod" {
-release="2025.1"
+  release = "2025.1"
 }
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("diff (-want +got):\n%s", diff)
	}
}
