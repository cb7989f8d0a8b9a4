package plans

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"kolla.openstack.org/kolla/internal/base/failure"
)

// TestSaveOfMoreThanLoadTakes checks that Save does not write a plan that Load would reject as too
// large.
func TestSaveOfMoreThanLoadTakes(t *testing.T) {
	plan := &Plan{Format: Format, ID: "x", Cloud: strings.Repeat("c", 1<<12)}
	var packed bytes.Buffer
	if err := Write(&packed, plan); err != nil {
		t.Fatal(err)
	}
	defer func(size int) { maxEntry = size }(maxEntry)
	maxEntry = 1 << 12
	if _, err := Read(packed.Bytes()); err == nil || !strings.Contains(err.Error(), "more than a plan file may hold") {
		t.Errorf("loading it: got %v", err)
	}
	path := filepath.Join(t.TempDir(), "a.plan")
	if summary, detail, _ := failure.Explain(Save(path, plan)); summary != "The plan is too large for a file" || !strings.Contains(detail, "a part of the cloud") {
		t.Errorf("saving it: %s: %s", summary, detail)
	}
	if _, err := Load(path); err == nil {
		t.Error("there is a file")
	}
}

// TestReadBombs reads plan files with valid checksums that would exhaust the memory. It measures
// allocated bytes and not time, which depends on the machine.
func TestReadBombs(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	many := func(n int, open, item, end string) string {
		return open + strings.Repeat(item+",", n-1) + item + end
	}
	for name, test := range map[string]struct {
		content  string // of plan.json
		maxBytes uint64 // bytes that may be allocated
		reads    bool
	}{
		"empty actions":     {many(10_000_000, `{"actions":[`, "{}", `]}`), 64 << 20, false},
		"small actions":     {many(1_000_000, `{"actions":[`, `{"verb":"create"}`, `]}`), 64 << 20, false},
		"empty changes":     {many(10_000_000, `{"actions":[{"changes":[`, "{}", `]}]}`), 64 << 20, false},
		"small changes":     {many(2_000_000, `{"actions":[{"changes":[`, `{"path":"a"}`, `]}]}`), 256 << 20, false},
		"empty lists":       {many(10_000_000, `{"actions":[{"object":{"manifest":{"a":[`, "[]", `]}}}]}`), 64 << 20, false},
		"a long text":       {`{"id":"` + strings.Repeat("a", 140<<20) + `"}`, 512 << 20, false},
		"nested lists":      {`{"actions":` + strings.Repeat("[", 5_000_000) + strings.Repeat("]", 5_000_000) + "}", 64 << 20, false},
		"most that is read": {many(999_000, `{"format":1,"id":"x","actions":[{"changes":[`, `{"path":"a"}`, `]}]}`), 1 << 30, true},
	} {
		t.Run(name, func(t *testing.T) {
			file := bomb(t, test.content)
			test.content = ""
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := Read(file)
			runtime.ReadMemStats(&after)
			used := after.TotalAlloc - before.TotalAlloc
			t.Logf("a file of %d kB allocates %d MB: %v", len(file)>>10, used>>20, err)
			if used > test.maxBytes {
				t.Errorf("a file of %d kB allocates %d MB, want at most %d", len(file)>>10, used>>20, test.maxBytes>>20)
			}
			if refused := err != nil && strings.Contains(err.Error(), errTooMuch.Error()); refused == test.reads {
				t.Errorf("error is %v", err)
			}
		})
	}
}

// bomb packs a plan as tightly as possible.
func bomb(t *testing.T, content string) []byte {
	t.Helper()
	head, err := json.Marshal(manifest{Kind: manifestKind, Format: Format, ID: "x", SHA256: fmt.Sprintf("%x", sha256.Sum256([]byte(content)))})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	archive := zip.NewWriter(&b)
	archive.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestSpeed) })
	for _, entry := range []struct{ name, content string }{{manifestEntry, string(head)}, {planEntry, content}} {
		w, err := archive.Create(entry.name)
		if err == nil {
			_, err = io.WriteString(w, entry.content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
