package rootfs

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestFixTimes(t *testing.T) {
	dir := t.TempDir()
	began := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	packaged := began.Add(-time.Hour)
	fixed := time.Unix(fixedTime.Sec, 0)
	times := map[string]struct{ before, after time.Time }{
		"packaged": {packaged, packaged},
		"made":     {began, fixed},
		"later":    {began.Add(time.Minute), fixed},
	}
	for name, times := range times {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, time.Time{}, times.before); err != nil {
			t.Fatal(err)
		}
	}
	// The link is newer than began. Its target does not exist.
	if err := os.Symlink("nothing", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	times["link"] = struct{ before, after time.Time }{time.Now(), fixed}

	if err := fixTimes(dir, began); err != nil {
		t.Fatal(err)
	}
	for name, times := range times {
		info, err := os.Lstat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if !info.ModTime().Equal(times.after) {
			t.Errorf("%s of %v has the time %v now, want %v", name, times.before, info.ModTime(), times.after)
		}
	}
}
