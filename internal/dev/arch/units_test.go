package arch_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// exposed is the maximum exposure level of the service in examples/drift, by systemd-analyze
// security. 0.0 is the best, and 10.0 means no protection.
const exposed = "1.2"

// TestDriftUnits checks examples/drift/systemd with systemd's own tools: the units are valid,
// and the service is protected.
func TestDriftUnits(t *testing.T) {
	tool, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("NOT RUN: there is no systemd-analyze")
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "kolla") // systemd-analyze verify needs the file
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(root, "examples/drift/systemd/*@.*"))
	if err != nil || len(names) != 3 {
		t.Fatalf("found the units %v: %v", names, err)
	}
	var units []string
	for _, name := range names {
		text := read(t, strings.TrimPrefix(name, root+"/"))
		unit := filepath.Join(dir, strings.Replace(filepath.Base(name), "@.", "@prod.", 1))
		if err := os.WriteFile(unit, []byte(strings.ReplaceAll(text, "/usr/local/bin/kolla", program)), 0o600); err != nil {
			t.Fatal(err)
		}
		units = append(units, unit)
	}
	verify := exec.Command(tool, append([]string{"verify", "--man=no"}, units...)...)
	verify.Env = append(os.Environ(), "SYSTEMD_UNIT_PATH="+dir+":")
	if out, err := verify.CombinedOutput(); err != nil || strings.Contains(string(out), "prod") {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
	security := exec.Command(tool, "security", "--offline=true", "--no-pager", filepath.Join(dir, "kolla-drift@prod.service"))
	out, err := security.CombinedOutput()
	found := regexp.MustCompile(`Overall exposure level for kolla-drift@prod.service: ([0-9.]+)`).FindSubmatch(out)
	if found == nil || string(found[1]) > exposed {
		t.Errorf("systemd-analyze security: %v\n%s", err, out)
	}
	timer := regexp.MustCompile(`(?m)^OnCalendar=(.+)$`).FindStringSubmatch(read(t, "examples/drift/systemd/kolla-drift@.timer"))
	if out, err := exec.Command(tool, "calendar", timer[1]).CombinedOutput(); err != nil {
		t.Errorf("systemd-analyze calendar %s: %v\n%s", timer[1], err, out)
	}
}
