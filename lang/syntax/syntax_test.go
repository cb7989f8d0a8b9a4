package syntax_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"kolla.openstack.org/kolla/lang/syntax"
)

// TestSyntaxOfParts parses all that the faulty files begin and end with: whatever is
// missing, there are few errors, and each has a place in the file.
func TestSyntaxOfParts(t *testing.T) {
	names, err := filepath.Glob("../testdata/diagnostics/syntax/*.hcl")
	if err != nil || len(names) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, name := range names {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for i := range source {
			for _, part := range [][]byte{source[:i], source[i:], slices.Concat(source[:i], source[i+1:])} {
				_, diags := syntax.Parse("part.hcl", part)
				lines := map[int]bool{}
				for _, d := range diags {
					if d.Subject.Start.Byte > d.Subject.End.Byte || d.Subject.End.Byte > len(part) {
						t.Fatalf("%q: %s: %v is not in the file", part, d.Summary, d.Subject)
					}
					if lines[d.Subject.Start.Line] {
						t.Fatalf("%q: two errors in line %d", part, d.Subject.Start.Line)
					}
					lines[d.Subject.Start.Line] = true
				}
			}
		}
	}
}
