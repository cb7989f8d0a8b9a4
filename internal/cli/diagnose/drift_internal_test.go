package diagnose

import (
	"bytes"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"time"

	"kolla.openstack.org/kolla/internal/present/drift"
	"kolla.openstack.org/kolla/internal/present/view"
)

// readOnly is a storage on a read-only disk.
type readOnly struct{}

func (readOnly) Load() ([]byte, error) { return nil, fs.ErrNotExist }
func (readOnly) Save([]byte) error     { return errors.New("read-only file system") }
func (readOnly) String() string        { return ".kolla/drift.json" }

// TestHistoryOnAReadOnlyDisk checks that a job with a read-only disk gets one warning.
func TestHistoryOnAReadOnlyDisk(t *testing.T) {
	var out, warnings bytes.Buffer
	printer := view.New(&out, &warnings, true)
	history, writable := openHistory(printer, readOnly{})
	if !writable || warnings.Len() > 0 {
		t.Fatalf("writable %v: %s", writable, warnings.String())
	}
	history.Add(&drift.Look{Cloud: "prod", At: time.Now()})
	saveHistory(printer, history, readOnly{})
	if text := warnings.String(); strings.Count(text, "Warning:") != 1 || !strings.Contains(text, "read-only file system") || out.Len() > 0 {
		t.Errorf("it prints\n%s%s", out.String(), text)
	}
}

func TestTimeOf(t *testing.T) {
	now := time.Date(2026, 11, 21, 3, 1, 0, 0, time.Local)
	for text, want := range map[string]time.Time{
		"90m":                       now.Add(-90 * time.Minute),
		"1.5d":                      now.Add(-36 * time.Hour),
		"2w":                        now.Add(-14 * 24 * time.Hour),
		"2026-11-20":                time.Date(2026, 11, 20, 0, 0, 0, 0, time.Local),
		"2026-11-20 03:00":          time.Date(2026, 11, 20, 3, 0, 0, 0, time.Local),
		"2026-11-20T03:00:00+02:00": time.Date(2026, 11, 20, 1, 0, 0, 0, time.UTC),
		"-1h":                       {}, "yesterday": {}, "": {}, "d": {}, "-2d": {},
	} {
		got, err := timeOf(text, now)
		if (err != nil) != want.IsZero() || !got.Equal(want) {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
}
