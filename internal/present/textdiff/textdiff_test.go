package textdiff_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"kolla.openstack.org/kolla/internal/present/textdiff"
)

// TestOf compares files with and without sections. A replaced line contains its replacement.
func TestOf(t *testing.T) {
	for name, test := range map[string]struct {
		before, after string
		want          []textdiff.Line
	}{
		"sections": {"[a]\nx = 1\ny = 1\n", "[a]\nx = 1\ny = 2\n", []textdiff.Line{
			{Kind: textdiff.Heading, Text: "  [a]"},
			{Kind: textdiff.Removed, Text: "y = 1", Number: 3, Other: "y = 2", Paired: true},
			{Kind: textdiff.Added, Text: "y = 2", Number: 3, Other: "y = 1", Paired: true},
		}},
		"no sections": {"one\ntwo\nthree\nfour\n", "one\ntwo\nthree\nfour\nfive", []textdiff.Line{
			{Kind: textdiff.Heading, Text: "@@ line 3 @@", Number: 3},
			{Text: "three", Number: 3},
			{Text: "four", Number: 4},
			{Kind: textdiff.Added, Text: "five  (no newline at the end)", Number: 5},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, textdiff.Of(test.before, test.after), cmpopts.IgnoreUnexported(textdiff.Line{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
