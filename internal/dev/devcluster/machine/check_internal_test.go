package machine

import (
	"strings"
	"testing"
)

func TestCheckDisk(t *testing.T) {
	dir := t.TempDir()
	if err := checkDisk(dir, 1); err != nil {
		t.Error(err)
	}
	const want = "and real nodes need 4611686018.4 GB; make room"
	if err := checkDisk(dir, 1<<62); err == nil || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want an error with %q", err, want)
	}
}
