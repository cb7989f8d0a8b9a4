package golden_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/internal/dev/golden"
)

// recorder records the failures of a comparison.
type recorder struct {
	testing.TB
	failures string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.failures += fmt.Sprintf(format, args...)
}

// setUpdate sets the flag -update for a test.
func setUpdate(t *testing.T, value string) {
	t.Helper()
	before := flag.Lookup("update").Value.String()
	if err := flag.Set("update", value); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := flag.Set("update", before); err != nil {
			t.Error(err)
		}
	})
}

const base = `---
address: Service/a
ports:
- 1
- 2
- 3
- 4
---
address: Service/b
ports:
- 5
- 6
`

// TestCompareChanges writes the changes relative to a base to a file, and compares them with the
// file.
func TestCompareChanges(t *testing.T) {
	for name, c := range map[string]struct{ old, replacement, want string }{
		"none": {},
		"added line": {"- 4\n", "- 4\n- 7\n", `@@ line 5 @@ address: Service/a
 - 2
 - 3
 - 4
+- 7
 ---
 address: Service/b
 ports:
`},
		"removed line": {"- 6\n", "", `@@ line 2 @@ address: Service/b
 address: Service/b
 ports:
 - 5
-- 6
`},
		"changed line": {"- 5\n", "- 7 \n", `@@ line 1 @@ address: Service/b
 ---
 address: Service/b
 ports:
-- 5
+- 7 
 - 6
`},
		"changed lines of two objects": {"- 3\n- 4\n---\naddress: Service/b\n", "- 3\n---\naddress: Service/c\n", `@@ line 4 @@ address: Service/a
 - 1
 - 2
 - 3
-- 4
 ---
-address: Service/b
+address: Service/c
 ports:
 - 5
 - 6
`},
		"added object": {"---\naddress: Service/b\n", "---\naddress: Service/c\nports: []\n---\naddress: Service/b\n", `@@ line 1 @@ address: Service/c
 ---
+address: Service/c
+ports: []
+---
 address: Service/b
 ports:
 - 5
`},
		"last line break": {"- 6\n", "- 6", `@@ line 2 @@ address: Service/b
 address: Service/b
 ports:
 - 5
-- 6
+- 6
\ No newline at end of file
`},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "new", "want.diff")
			got := []byte(strings.Replace(base, c.old, c.replacement, 1))
			setUpdate(t, "true")
			golden.CompareChanges(t, path, []byte(base), got)
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(text)); diff != "" {
				t.Errorf("the file (-want +got):\n%s", diff)
			}
			setUpdate(t, "false")
			golden.CompareChanges(t, path, []byte(base), got)
		})
	}
}

// TestStaleChanges checks that a file with different changes fails the test, and that the message
// shows both. The same changes pass if the base changes in other places.
func TestStaleChanges(t *testing.T) {
	setUpdate(t, "false")
	path := filepath.Join(t.TempDir(), "want.diff")
	const want = "@@ line 1 @@ address: Service/b\n ---\n address: Service/b\n ports:\n-- 5\n+- 7\n - 6\n"
	if err := os.WriteFile(path, []byte(want), 0o600); err != nil {
		t.Fatal(err)
	}
	longer := strings.Replace(base, "ports:\n- 1\n", "ports:\n- 0\n- 1\n", 1)
	golden.CompareChanges(t, path, []byte(longer), []byte(strings.Replace(longer, "- 5", "- 7", 1)))

	for name, c := range map[string]struct{ got, want string }{
		"another change": {strings.Replace(base, "- 5", "- 8\t", 1), "-+- 7\n+\"+- 8\\t\"\n"},
		"no change":      {base, "-@@ line 1 @@ address: Service/b\n- ---\n"},
		"another place":  {strings.Replace(base, "- 6", "- 7", 1), "--- 5\n+ - 5\n+-- 6\n"},
	} {
		t.Run(name, func(t *testing.T) {
			r := &recorder{TB: t}
			golden.CompareChanges(r, path, []byte(base), []byte(c.got))
			if !strings.Contains(r.failures, path) || !strings.Contains(r.failures, c.want) {
				t.Errorf("got %q, want the path and %q", r.failures, c.want)
			}
		})
	}
}

// TestStaleObject checks that the message names the object whose changes differ.
func TestStaleObject(t *testing.T) {
	path := filepath.Join(t.TempDir(), "want.diff")
	changed := strings.NewReplacer("Service/a", "Service/c", "- 5", "- 7").Replace(base)
	setUpdate(t, "true")
	golden.CompareChanges(t, path, []byte(base), []byte(changed))
	setUpdate(t, "false")
	r := &recorder{TB: t}
	golden.CompareChanges(r, path, []byte(base), []byte(strings.Replace(changed, "- 7", "- 8", 1)))
	if want := "\n@@ line 3 @@ @@ line 1 @@ address: Service/b\n"; !strings.Contains(r.failures, want) {
		t.Errorf("got %s, want %q", r.failures, want)
	}
}

// TestLongReport checks that the report on long texts shows the first differences and the number of
// further lines.
func TestLongReport(t *testing.T) {
	setUpdate(t, "false")
	path := filepath.Join(t.TempDir(), "want.txt")
	if err := os.WriteFile(path, []byte(strings.Repeat("old\n", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	r := &recorder{TB: t}
	golden.Compare(r, path, []byte("\x1b[1mnew\n"))
	if !strings.Contains(r.failures, "-old\n") || !strings.HasSuffix(r.failures, "and 802 more lines\n") || strings.Count(r.failures, "\n") != 202 {
		t.Errorf("got %s", r.failures)
	}
	r = &recorder{TB: t}
	golden.Compare(r, path, []byte(strings.Repeat("old\n", 999)+"\x1b[1mnew\n"))
	if !strings.Contains(r.failures, `+"\x1b[1mnew"`) {
		t.Errorf("got %s", r.failures)
	}
}
