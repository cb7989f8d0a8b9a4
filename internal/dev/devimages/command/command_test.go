package command_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kolla.openstack.org/kolla/internal/dev/devimages/command"
)

func run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = command.Run(t.Context(), args, &out, &err)
	return code, out.String(), err.String()
}

func TestUsage(t *testing.T) {
	tests := map[string]struct {
		args           []string
		code           int
		stdout, stderr string // parts
	}{
		"no command":         {nil, 2, "", "which command?"},
		"an unknown command": {[]string{"biuld"}, 2, "", `no command "biuld"; there are build, list`},
		"help":               {[]string{"help"}, 0, "build -out DIR [IMAGE...]", ""},
		"help of a command":  {[]string{"build", "-help"}, 0, "-cache directory", ""},
		"no directory":       {[]string{"build"}, 2, "", "-out has to name the directory"},
		"unknown release":    {[]string{"build", "-out", "x", "-release", "2025.2"}, 1, "", `no images of a release "2025.2"; there are those of 2025.1, 2025.1-bookworm, 2026.1, 2026.2`},
		"an unknown flag":    {[]string{"build", "-x"}, 2, "", "build: flag provided but not defined: -x"},
		"list of what":       {[]string{"list"}, 2, "", "-out is wanted"},
		"nothing there":      {[]string{"list", "-out", "/nowhere"}, 1, "", "no such file"},
		"unpack what":        {[]string{"unpack", "-out", "x"}, 2, "", "-to and the names of images are wanted"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := run(t, test.args...)
			if code != test.code {
				t.Errorf("exit code %d, want %d", code, test.code)
			}
			for _, stream := range []struct{ name, got, want string }{
				{"standard output", stdout, test.stdout},
				{"standard error", stderr, test.stderr},
			} {
				if stream.want == "" && stream.got != "" || !strings.Contains(stream.got, stream.want) {
					t.Errorf("%s is %q, want %q in it", stream.name, stream.got, stream.want)
				}
			}
		})
	}
}

func TestBuildAndList(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	if err := os.WriteFile(filepath.Join(dir, "pause"), []byte("program"), 0o755); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := run(t, "build", "-out", out, "-cache", filepath.Join(dir, "cache"), "-binaries", dir, "pause")
	if code != 0 || stdout != "" || !strings.Contains(stderr, "pause: packing") || !strings.Contains(stderr, "done: "+out) {
		t.Fatalf("exit code %d, output %q, progress %q", code, stdout, stderr)
	}
	code, stdout, stderr = run(t, "list", "-out", out)
	if code != 0 || stderr != "" {
		t.Fatalf("exit code %d, errors %q", code, stderr)
	}
	for _, want := range []string{"kolla.test/devcluster/pause:dev", "sha256:", "in all, shared layers once"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("the list has no %q:\n%s", want, stdout)
		}
	}
}
