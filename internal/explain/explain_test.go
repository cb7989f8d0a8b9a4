package explain_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"net"
	"strings"
	"syscall"
	"testing"

	"kolla.openstack.org/kolla/internal/approval"
	"kolla.openstack.org/kolla/internal/engine"
	"kolla.openstack.org/kolla/internal/explain"
	"kolla.openstack.org/kolla/internal/view"
	"kolla.openstack.org/kolla/lang/configs"
)

// TestFiles holds that what the system refuses comes with a remedy.
func TestFiles(t *testing.T) {
	for errno, want := range map[syscall.Errno][]string{
		syscall.ENOSPC: {"Error: No space left", "Make room"},
		syscall.EDQUOT: {"Error: No space left", "Make room"},
		syscall.EROFS:  {"Error: The file system is read-only", "-state"},
		syscall.EACCES: {"Error: No permission", "change its permissions"},
		syscall.EPERM:  {"Error: No permission", "change its permissions"},
		syscall.EIO:    {"Error: Unexpected failure"},
	} {
		var out bytes.Buffer
		view.New(&out, &out, true).Failure(explain.Error(fmt.Errorf("write the plan: %w", &fs.PathError{Op: "write", Path: "change.plan", Err: errno}), "v1", nil))
		for _, text := range append(want, "change.plan: "+errno.Error()) {
			if !strings.Contains(out.String(), text) {
				t.Errorf("%v is reported without %q:\n%s", errno, text, &out)
			}
		}
	}
	var out bytes.Buffer
	view.New(&out, &out, true).Failure(explain.Error(&net.OpError{Op: "dial", Net: "tcp", Err: syscall.EACCES}, "v1", nil))
	if strings.Contains(out.String(), "No permission") {
		t.Errorf("a refused connection is reported as a file:\n%s", &out)
	}
}

// TestEngine checks that errors of the engine come with the option that helps.
func TestEngine(t *testing.T) {
	planned := []engine.Assignment{{Name: "size", Value: "a b"}}
	for want, err := range map[string]error{
		"name that with -chdir.":                             engine.ErrNoConfiguration,
		"The plan was made with\n\n  -var 'size=a b'\n\n":    &engine.NotAsPlannedError{Names: []string{"size"}, Planned: planned},
		"The rest of the plan depends on data.x, and":        &engine.NotAsPlannedError{Rest: true, Waiting: []string{"data.x"}},
		"changed since. Make a new plan.":                    &engine.NotAsPlannedError{},
		"got another one:\n\n  the file says create":         &engine.OtherPlanError{Differences: []approval.Difference{{Text: "the file says create"}}},
		"do not start, unless they do less than the plan":    &engine.OtherPlanError{Differences: []approval.Difference{{Text: "it exists by now", Drift: true}}},
		"or with a longer -timeout.":                         &engine.MissingDataError{Data: []configs.Data{{Block: "data.x"}}},
		"What was given just now for data[\"password\"] of ": &engine.OtherValueError{Path: `data["password"]`},
	} {
		summary, detail := explain.Error(fmt.Errorf("apply: %w", err), "v1", nil)
		if !strings.Contains(detail, want) || strings.HasPrefix(summary, "Unexpected") {
			t.Errorf("%v is explained without %q:\n%s\n%s", err, want, summary, detail)
		}
	}
	if _, detail := explain.MissingValues(&engine.MissingValuesError{Planned: planned}); !strings.HasSuffix(detail, "\n\n  -var 'size=a b'") {
		t.Errorf("missing values are explained with\n%s", detail)
	}
}
