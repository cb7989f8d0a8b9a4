// Package golden compares what tests make with files that were checked by eye. With -update, which
// make golden gives, the tests write the files anew.
package golden

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write golden files anew")

// Update reports whether the test writes its golden files.
func Update() bool { return *update }

// Compare fails the test if the file has another content. With -update it writes the file first.
func Compare(t testing.TB, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, got) {
		t.Errorf("%s differs, see make golden (-want +got):\n%s", path, report(string(want), string(got)))
	}
}

// CompareChanges is [Compare] for a text that is nearly the same as another one, the base, which has a
// golden file of its own. The file at path has only the changes, so both files together say what the
// text must be.
//
// The heading of a change is the first line of its document, such as the address of an object, and
// the number of the line in this document. So the file stays the same if the base changes elsewhere.
func CompareChanges(t testing.TB, path string, base, got []byte) {
	t.Helper()
	Compare(t, path, []byte(changes(string(base), string(got))))
}
