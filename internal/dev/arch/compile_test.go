package arch_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestCompile checks that the script compile counts the packages that Go compiles, and passes on what
// else Go says, and its failure.
func TestCompile(t *testing.T) {
	const fake = `#!/bin/sh
case "$*" in
"list -deps -tags x ./one") seq 250 ;;
"build -v -o $WANTED -tags x ./one")
  for n in $(seq 230); do echo "example.org/one-1/v2/p_$n"; done >&2
  echo "# example.org/one" >&2
  echo "one.go:1:1: syntax error" >&2
  exit 3
  ;;
*) echo "wrong: $*" >&2 ;;
esac
`
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "go"), []byte(fake), 0o755); err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs(filepath.Join(root, "internal", "dev", "devcluster", "compile"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(script, "out/one", "-tags", "x", "./one")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "PWD="+dir, "WANTED="+filepath.Join(dir, "out", "one"))
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	if err == nil || cmd.ProcessState.ExitCode() != 3 {
		t.Errorf("the script ends with %v, want the exit code of go, 3", err)
	}
	if got, want := stdout.String(), "100 of at most 250 packages compiled\n200 of at most 250 packages compiled\n"; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
	if got, want := stderr.String(), "# example.org/one\none.go:1:1: syntax error\n"; got != want {
		t.Errorf("on standard error it says %q, want %q", got, want)
	}
}
