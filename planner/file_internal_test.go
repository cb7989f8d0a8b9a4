package planner

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

// What is saved can be loaded, and what could not be is not saved.
func TestSaveOfMoreThanLoadTakes(t *testing.T) {
	plan := &Plan{Format: Format, ID: "x", Cloud: strings.Repeat("c", 1<<12)}
	var packed bytes.Buffer
	if err := Write(&packed, plan); err != nil {
		t.Fatal(err)
	}
	defer func(size int) { largestEntry = size }(largestEntry)
	largestEntry = 1 << 12
	if _, err := Read(packed.Bytes()); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("loading it: got %v", err)
	}
	path := filepath.Join(t.TempDir(), "a.plan")
	if err := Save(path, plan); err == nil || !strings.Contains(err.Error(), "-target") {
		t.Errorf("saving it: got %v", err)
	}
	if _, err := Load(path); err == nil {
		t.Error("there is a file")
	}
}
