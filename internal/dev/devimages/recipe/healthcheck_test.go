package recipe_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestHealthcheckPort checks that the script takes for a connection what the script in Kolla's
// images takes for one.
func TestHealthcheckPort(t *testing.T) {
	const (
		queue   = `ESTAB    0 0 10.0.0.7:41000 10.0.0.9:5672 users:(("nova-conductor",pid=12,fd=7))`
		asking  = `SYN-SENT 0 1 10.0.0.7:41000 10.0.0.9:5672 users:(("nova-conductor",pid=12,fd=7))`
		serving = `ESTAB    0 0 10.0.0.7:5672 10.0.0.9:41000 users:(("nova-conductor",pid=12,fd=7))`
		longer  = `ESTAB    0 0 10.0.0.7:41000 10.0.0.9:56720 users:(("nova-conductor",pid=12,fd=7))`
		other   = `ESTAB    0 0 10.0.0.7:41000 10.0.0.9:5672 users:(("nova-compute",pid=123,fd=7))`
	)
	dir := t.TempDir()
	script := filepath.Join(dir, "healthcheck_port")
	for name, content := range map[string]string{
		script:                      string(file(t, "base", "usr/local/bin/healthcheck_port")),
		filepath.Join(dir, "pgrep"): "#!/bin/sh\n" + `test "$*" = "-d | -f nova-conductor" && echo "11|12"` + "\n",
		filepath.Join(dir, "ss"):    "#!/bin/sh\n" + `echo "$SOCKETS"` + "\n",
	} {
		if err := os.WriteFile(name, []byte(content), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		sockets string
		args    []string
		want    bool
	}{
		"connected":            {queue, []string{"nova-conductor", "5672"}, true},
		"one of two ports":     {queue, []string{"nova-conductor", "5671", "5672"}, true},
		"being opened":         {asking, []string{"nova-conductor", "5672"}, true},
		"the process's port":   {serving, []string{"nova-conductor", "5672"}, true},
		"begins with the port": {longer, []string{"nova-conductor", "5672"}, true},
		"another port":         {queue, []string{"nova-conductor", "5671"}, false},
		"another process":      {other, []string{"nova-conductor", "5672"}, false},
		"no process":           {queue, []string{"nova-compute", "5672"}, false},
		"no socket":            {"", []string{"nova-conductor", "5672"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			check := exec.Command("sh", append([]string{script}, c.args...)...)
			check.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "SOCKETS="+c.sockets)
			if out, err := check.CombinedOutput(); (err == nil) != c.want {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}
