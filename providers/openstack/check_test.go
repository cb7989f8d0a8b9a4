package openstack_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers/openstack"
)

// checkResults is what programs with oslo.upgradecheck print: each result in a cell of a table, its details in
// several lines.
const checkResults = `
+------------------------------------------------------------------+
| Upgrade Check Results                                            |
+------------------------------------------------------------------+
| Check: Missing Root Provider IDs                                 |
| Result: %s                                                  |
| Details: There is at least one resource provider table record    |
|          which is missing its root provider id.                  |
+------------------------------------------------------------------+
| Check: Policy File JSON to YAML Migration                        |
| Result: %s                                                  |
| Details: None                                                    |
+------------------------------------------------------------------+
`

// placement is what nova-status prints after its check of Placement.
func placement(result, other string) string {
	head, _, _ := strings.Cut(checkResults, "| Check: Missing")
	_, tail, _ := strings.Cut(checkResults, "root provider id.                  |\n")
	return head + "| Check: Placement API |\n| Result: " + result + " |\n| Details: Discovery for placement API URI failed. |\n" + fmt.Sprintf(tail, other)
}

// TestUpgradeCheck checks how the job that checks an upgrade ends, and what it tells the person who applies. Its log has all
// that the program prints.
func TestUpgradeCheck(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("NOT RUN: there is no python3, so nobody has seen check.py run")
	}
	source, err := fs.ReadFile(openstack.Catalogue(), "check.py")
	if err != nil {
		t.Fatal(err)
	}
	const first = ": Missing Root Provider IDs: There is at least one resource provider table record which is missing its root provider id.\n"
	const second = ": Policy File JSON to YAML Migration: None\n"
	for name, c := range map[string]struct {
		prints string
		code   int // of the program
		ends   int
		told   string
	}{
		"success":                      {fmt.Sprintf(checkResults, "Success", "Success"), 0, 0, ""},
		"warnings":                     {fmt.Sprintf(checkResults, "Warning", "Success"), 1, 0, "Warning" + first},
		"failures come last":           {fmt.Sprintf(checkResults, "Failure", "Warning"), 2, 2, "Warning" + second + "Failure" + first},
		"Placement does not answer":    {placement("Failure", "Success"), 2, 255, "Failure: Placement API: Discovery for placement API URI failed.\n"},
		"and more fails":               {placement("Failure", "Failure"), 2, 2, "Failure: Policy File JSON to YAML Migration: None\nFailure: Placement API: Discovery for placement API URI failed.\n"},
		"broken":                       {"Error:\nTraceback (most recent call last):\n", 255, 255, ""},
		"crash, with the code 1":       {"Traceback (most recent call last):\n", 1, 255, ""},
		"wrong option, with a code 2":  {"usage: status\n", 2, 255, ""},
		"no answer":                    {"", 0, 255, ""},
		"broken after the other check": {fmt.Sprintf(checkResults, "Warning", "Success"), 255, 255, "Warning" + first},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			program := fmt.Sprintf("#!/bin/sh\n[ \"$*\" = \"--config-file a b upgrade check\" ] || exit 9\ncat <<'END'\n%sEND\nexit %d\n", c.prints, c.code)
			if err := os.WriteFile(filepath.Join(dir, "status"), []byte(program), 0o700); err != nil {
				t.Fatal(err)
			}
			message := filepath.Join(dir, "termination-log")
			run := exec.Command(python, "-c", strings.Replace(string(source), "/dev/termination-log", message, 1), "status", "--config-file", "a b")
			run.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
			out, err := run.CombinedOutput()
			if string(out) != c.prints || run.ProcessState.ExitCode() != c.ends {
				t.Errorf("it ended with %d (%v), want %d, and printed:\n%s", run.ProcessState.ExitCode(), err, c.ends, out)
			}
			told, _ := os.ReadFile(message)
			if diff := cmp.Diff(c.told, string(told)); diff != "" {
				t.Errorf("told (-want +got):\n%s", diff)
			}
		})
	}
}

// TestChecksReadTheFilesOfPods checks that the job that checks an upgrade of a service reads the options, the
// policy and the addresses that its pods read.
func TestChecksReadTheFilesOfPods(t *testing.T) {
	const policy = "\n  config \"policy.yaml\" {\n    values = { rule = \"role:admin\" }\n  }\n"
	const drivers = `
  backends = { a = { type = "other", settings = { volume_driver = "a.b.C" } } }
  backup   = { settings = { backup_driver = "d.e.F" } }
`
	want := map[string]string{
		"barbican":  "policy.yaml barbican-api.conf",
		"cinder":    "policy.yaml cinder-check.conf",
		"heat":      "policy.yaml heat-api.conf",
		"keystone":  "policy.yaml keystone.conf",
		"neutron":   "policy.yaml neutron-server.conf ml2_conf.ini",
		"nova":      "policy.yaml nova.conf",
		"placement": "policy.yaml placement-api.conf",
	}
	blocks := "service \"mariadb\" {}\nservice \"rabbitmq\" {}\nservice \"memcached\" {}\nservice \"ovn\" {}\n"
	for name := range want {
		more := map[string]string{"cinder": drivers}[name]
		blocks += "service \"" + name + "\" {" + policy + more + "}\n"
	}
	config := written(t, blocks)
	got, env := map[string]string{}, map[string][]configs.Env{}
	for _, s := range config.Services {
		for _, job := range s.Jobs {
			if job.When == "check" && s.Definition != "rabbitmq" { // which asks its API
				got[s.Name], env[s.Name] = strings.Join(job.Pod.Configs, " "), job.Pod.Env
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("checks read (-want +got):\n%s", diff)
	}
	checkOptions(t, config, map[string]string{
		"cinder cinder-check.conf DEFAULT enabled_backends": "a",
		"cinder cinder-check.conf a volume_driver":          "a.b.C",
		"cinder cinder-check.conf DEFAULT backup_driver":    "d.e.F",
		"neutron neutron-server.conf DEFAULT rpc_workers":   "1",
	})
	if names := env["neutron"]; len(names) != 2 || names[0].Name != "NB" || names[1].Name != "SB" {
		t.Errorf("the check of Neutron has the environment %v, want the addresses of OVN", names)
	}
}
