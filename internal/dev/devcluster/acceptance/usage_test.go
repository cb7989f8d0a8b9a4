package acceptance_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMistakes checks that each mistake has its own message and exit code, and that no command
// changes a directory.
func TestMistakes(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "file")
	foreign := filepath.Join(folder, "foreign")
	broken := filepath.Join(folder, "broken")
	future := filepath.Join(folder, "future")
	write(t, file, "")
	write(t, filepath.Join(foreign, "letter.txt"), "dear reader")
	write(t, filepath.Join(broken, "devcluster.json"), `{"format": 1, "po`)
	write(t, filepath.Join(future, "devcluster.json"), `{"format": 99}`)
	absent := filepath.Join(folder, "absent")

	tests := []struct {
		args string
		code int
		want string
	}{
		{"", 2, "up"},
		{"fly", 2, `there is no command "fly"`},
		{"up", 2, "name one with -dir"},
		{"up -dir " + absent + ":b", 2, "a colon"},
		{"up -dir " + absent + " -nodes many", 2, "number"},
		{"up -dir " + absent + " -nodes -1", 2, "0 or more"},
		{"up -dir " + absent + " -nodes 2x", 2, "number"},
		{"up -dir " + absent + " -node Not_A_Name", 2, "no name for a node"},
		{"up -dir " + absent + " -node a=tier", 2, "no label"},
		{"up -dir " + absent + " -node a=x=1 -node a=x=2", 2, "two values"},
		{"up -dir " + absent + " -detach -until-eof", 2, "give one of them"},
		{"up -dir " + absent + " -detach -delete", 2, "give one of them"},
		{"up -dir " + absent + " -real=many", 2, "from 0 to 50"},
		{"up -dir " + absent + " -real=51", 2, "from 0 to 50"},
		{"up -dir " + absent + " extra", 2, "extra"},
		{"up -dir " + absent + " -unknown", 2, "unknown"},
		{"up -dir " + file, 1, "not a directory"},
		{"up -dir " + file + "/below", 1, "not a directory"},
		{"up -dir " + foreign, 1, "no cluster there"},
		{"up -dir " + foreign + " -detach", 1, "no cluster there"},
		{"up -dir " + broken, 1, "devcluster.json"},
		{"up -dir " + future, 1, "its format is 99"},
		{"up -dir /proc/devcluster", 1, "cluster directory"},
		{"down -dir " + absent, 1, "no cluster there"},
		{"down -dir " + foreign + " -delete", 1, "no cluster there"},
		{"status", 2, "name one with -dir"},
		{"status -dir " + absent, 3, "not running"},
		{"status -dir " + foreign, 3, "no cluster there"},
		{"restart -dir " + absent, 2, "COMPONENT is missing"},
		{"restart -dir " + absent + " etcd", 1, "no cluster there"},
		{"off -dir " + absent, 2, "NODE is missing"},
		{"off -dir " + absent + " real-1", 1, "no cluster there"},
		{"outside -dir " + absent, 2, "COMMAND is missing"},
		{"outside -dir " + absent + " true", 1, "no cluster there"},
		{"kubectl get nodes", 2, "no cluster given"},
		{"kubectl -dir", 2, "needs a directory"},
		{"kubectl -dir " + absent + " get nodes", 1, "no cluster there"},
		{"kubectl -dir=" + foreign + " get nodes", 1, "no cluster there"},
		{"component nova", 2, `no component "nova"`},
	}
	t.Setenv("KUBECONFIG", "")
	for _, test := range tests {
		t.Run(test.args, func(t *testing.T) {
			r := run(t, strings.Fields(test.args)...)
			if r.code != test.code || !strings.Contains(r.stdout+r.stderr, test.want) {
				t.Errorf("exit code %d, want %d and %q:\n%s%s", r.code, test.code, test.want, r.stdout, r.stderr)
			}
		})
	}
	if _, err := os.Stat(absent); err == nil {
		t.Error("a directory was made for a command that failed")
	}
	if _, err := os.Stat(filepath.Join(foreign, "letter.txt")); err != nil {
		t.Error("a file in a foreign directory is gone")
	}
}

func TestHelp(t *testing.T) {
	for _, args := range [][]string{{"help"}, {"up", "-help"}, {"down", "-h"}, {"status", "-h"}, {"restart", "-h"}} {
		if out := must(t, run(t, args...)); !strings.Contains(out, "kolla-devcluster") {
			t.Errorf("%v prints %q", args, out)
		}
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
