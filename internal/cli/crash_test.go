package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/internal/run/explain"
)

// TestCrash checks that a panic is reported as an error, without the panic's text. The stack goes
// to a file for the bug report.
func TestCrash(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	crash := func() string {
		var out, err bytes.Buffer
		s := command.Streams{In: strings.NewReader(""), Out: &out, Err: &err}
		app := newApp(s)
		app.Commands = append(app.Commands, &cli.Command{Name: "crash", Action: func(*cli.Context) error { panic("hunter2") }})
		if code := run(context.Background(), s, app, []string{"kolla", "crash"}); code != command.ExitError || out.Len() > 0 {
			t.Errorf("exit code %d, output:\n%s", code, &out)
		}
		return err.String()
	}

	shown := crash()
	if !strings.HasPrefix(shown, "Error: This is a bug in kolla\n") || strings.Contains(shown, "goroutine") || strings.Contains(shown, "hunter2") {
		t.Errorf("shown:\n%s", shown)
	}
	files, err := filepath.Glob(filepath.Join(dir, "kolla-crash-*.txt"))
	if err != nil || len(files) != 1 || !strings.Contains(strings.Join(strings.Fields(shown), " "), "with the file "+files[0]) {
		t.Fatalf("files %v, %v; shown:\n%s", files, err, shown)
	}
	report, err := os.ReadFile(files[0])
	if err != nil || !strings.Contains(string(report), "panic: hunter2") || !strings.Contains(string(report), "crash_test.go") {
		t.Errorf("%v, report:\n%s", err, report)
	}
	if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}

	t.Setenv(explain.DebugVariable, "1")
	if shown := crash(); !strings.Contains(shown, "crash_test.go") {
		t.Errorf("with %s:\n%s", explain.DebugVariable, shown)
	}
	t.Setenv(explain.DebugVariable, "")
	t.Setenv("TMPDIR", filepath.Join(dir, "none"))
	if shown := crash(); !strings.Contains(shown, explain.DebugVariable+"=1") {
		t.Errorf("where no file can be written:\n%s", shown)
	}
}
