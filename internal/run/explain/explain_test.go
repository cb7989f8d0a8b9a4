package explain_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"net"
	"strings"
	"syscall"
	"testing"

	"kolla.openstack.org/kolla/internal/present/view"
	"kolla.openstack.org/kolla/internal/run/approval"
	"kolla.openstack.org/kolla/internal/run/engine"
	"kolla.openstack.org/kolla/internal/run/explain"
	"kolla.openstack.org/kolla/lang/configs"
)

// TestFiles checks that an error of the operating system is explained with a remedy.
func TestFiles(t *testing.T) {
	for errno, want := range map[syscall.Errno][]string{
		syscall.ENOSPC: {"Error: No space left", "Free some space"},
		syscall.EDQUOT: {"Error: No space left", "Free some space"},
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

// TestEngine checks that an error of the engine is explained with the option that helps.
func TestEngine(t *testing.T) {
	planned := []engine.Assignment{{Name: "size", Value: "a b"}}
	for want, err := range map[string]error{
		"name that directory with -chdir.":                       engine.ErrNoConfiguration,
		"The plan was made with\n\n  -var 'size=a b'\n\n":        &engine.NotAsPlannedError{Names: []string{"size"}, Planned: planned},
		"The rest of the plan depends on data.x. kolla":          &engine.NotAsPlannedError{Rest: true, Waiting: []string{"data.x"}},
		"changed since the plan was made. Make a new plan.":      &engine.NotAsPlannedError{},
		"differs from the saved plan:\n\n  the file says create": &engine.OtherPlanError{Differences: []approval.Difference{{Text: "the file says create"}}},
		"unless they do less than the plan shows":                &engine.OtherPlanError{Differences: []approval.Difference{{Text: "it exists by now", Drift: true}}},
		"or with a longer -timeout.":                             &engine.MissingDataError{Data: []configs.Data{{Block: "data.x"}}},
		"The value given now for data[\"password\"] of ":         &engine.OtherValueError{Path: `data["password"]`},
	} {
		summary, detail := explain.Error(fmt.Errorf("apply: %w", err), "v1", nil)
		if !strings.Contains(detail, want) || strings.HasPrefix(summary, "Unexpected") {
			t.Errorf("%v is explained without %q:\n%s\n%s", err, want, summary, detail)
		}
	}
	if _, detail := (&engine.MissingValuesError{Planned: planned}).Warning(); !strings.HasSuffix(detail, "\n\n  -var 'size=a b'") {
		t.Errorf("missing values are explained with\n%s", detail)
	}
}
