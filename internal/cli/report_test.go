package cli

import (
	"bytes"
	"fmt"
	"io/fs"
	"net"
	"strings"
	"syscall"
	"testing"

	"kolla.openstack.org/kolla/internal/view"
)

// TestReportFiles holds that what the system refuses comes with a remedy.
func TestReportFiles(t *testing.T) {
	for errno, want := range map[syscall.Errno][]string{
		syscall.ENOSPC: {"Error: No space left", "Make room"},
		syscall.EDQUOT: {"Error: No space left", "Make room"},
		syscall.EROFS:  {"Error: The file system is read-only", "-state"},
		syscall.EACCES: {"Error: No permission", "change its permissions"},
		syscall.EPERM:  {"Error: No permission", "change its permissions"},
		syscall.EIO:    {"Error: Unexpected failure"},
	} {
		var out bytes.Buffer
		report(view.New(&out, &out, true), fmt.Errorf("write the plan: %w", &fs.PathError{Op: "write", Path: "change.plan", Err: errno}))
		for _, text := range append(want, "change.plan: "+errno.Error()) {
			if !strings.Contains(out.String(), text) {
				t.Errorf("%v is reported without %q:\n%s", errno, text, &out)
			}
		}
	}
	var out bytes.Buffer
	report(view.New(&out, &out, true), &net.OpError{Op: "dial", Net: "tcp", Err: syscall.EACCES})
	if strings.Contains(out.String(), "No permission") {
		t.Errorf("a refused connection is reported as a file:\n%s", &out)
	}
}
