package realcloud_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
	"kolla.openstack.org/kolla/internal/run/tempest"
	"kolla.openstack.org/kolla/providers/openstack"
)

const (
	// chosenVariable chooses tests of Tempest: "all", or a regular expression. If it is empty, the tests
	// that the interop guideline requires run.
	chosenVariable = "KOLLA_TEMPEST"
	// atOnceVariable is the number of tests at once.
	atOnceVariable = "KOLLA_TEMPEST_CONCURRENCY"
	// runningVariable names the directory of a cluster with a cloud that is up already, with its VIP.
	runningVariable = "KOLLA_TEMPEST_CLUSTER"
	// holdVariable keeps the cloud after the tests, until somebody interrupts the test.
	holdVariable = "KOLLA_TEMPEST_HOLD"
)

// TestTempest runs OpenStack's own tests against a cloud with all services, as a machine outside. It
// fails for each failure that internal/run/tempest does not know, and prints the results by group.
func TestTempest(t *testing.T) {
	if running := os.Getenv(runningVariable); running != "" {
		take(t, runningCloud(t, running), []step{{"tempest", testsPass}})
		return
	}
	c := newCloud(t, "compute-kit", 3)
	c.write(t, "real.auto.vars.hcl", values(`rbd = { type = "rbd" }`))
	c.edit(t, "service \"keystone\" {\n", "service \"keystone\" {\n"+rulesForPasswords)
	c.ceph(t)
	take(t, c, []step{{"apply", appliesAll}})
	c.haproxy(t)
	if os.Getenv(holdVariable) != "" {
		t.Cleanup(func() {
			fmt.Printf("The cloud stays up until you interrupt the test. To run tests against it:\n\n  make test-tempest TEMPEST_CLUSTER=%s TEMPEST=REGEX\n", c.cluster.Dir())
			select {}
		})
	}
	take(t, c, []step{
		{"endpoints", endpointsAreTheVIPs},
		{"resources", resourcesAreMade},
		{"tempest", testsPass},
		{"no changes", func(t *testing.T, c *cloud) { c.noChanges(t) }},
	})
}

// rulesForPasswords are rules that tests of passwords need. They are those of Tempest's defaults.
const rulesForPasswords = `  config "keystone.conf" {
    values = {
      security_compliance = {
        lockout_failure_attempts   = 2
        lockout_duration           = 5
        unique_last_password_count = 2
      }
    }
  }
`

// runningCloud returns the cloud of a cluster that runs already, such as that of `make demo-real`. Its clients
// have addresses that the program which started it does not use.
func runningCloud(t *testing.T, dir string) *cloud {
	t.Helper()
	cluster, err := clustertest.Running(dir)
	if err != nil {
		t.Fatal(err)
	}
	return withoutConfiguration(t, cluster, 130)
}

// testsPass runs the chosen tests of Tempest, and fails for each surprising result.
func testsPass(t *testing.T, c *cloud) {
	text, err := fs.ReadFile(openstack.Catalogue(), "tempest/known.txt")
	if err != nil {
		t.Fatal(err)
	}
	known, err := tempest.Known(string(text))
	if err != nil {
		t.Fatal(err)
	}
	c.describe(t)
	said := c.tempest(t, io.Discard, "--list-tests")
	list := tempest.Lists(said)
	if len(list) == 0 {
		t.Fatalf("Tempest lists no tests:\n%s", said)
	}
	for _, problem := range list.Check(known) {
		t.Error(problem)
	}
	if t.Failed() {
		return
	}
	var choice []string
	switch chosen := os.Getenv(chosenVariable); chosen {
	case "":
		list = list.Required()
		c.write(t, "required", strings.Join(list, "\n"))
		choice = []string{"--load-list", "required"}
	case "all":
	default:
		choice = []string{"--regex", chosen}
		list = tempest.Lists(c.tempest(t, io.Discard, "--list-tests", "--regex", chosen))
	}
	if len(list) == 0 {
		t.Fatalf("no test of Tempest matches %q", os.Getenv(chosenVariable))
	}
	atOnce := "2"
	if given := os.Getenv(atOnceVariable); given != "" {
		atOnce = given
	}
	log, err := os.Create(filepath.Join(c.root, "bin", "tempest.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	began := time.Now()
	output := c.tempest(t, io.MultiWriter(log, os.Stdout), append([]string{"--concurrency", atOnce}, choice...)...)
	measured(t, fmt.Sprintf("%d tests of Tempest, %s at once", len(list), atOnce), time.Since(began).Round(time.Second))
	results, err := tempest.Read(output)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("\n%s:\n\n", time.Now().Format(time.DateOnly))
	tempest.Table(os.Stdout, results)
	for _, problem := range list.Judge(results, known) {
		t.Error(problem)
	}
}

// describe writes the configuration of Tempest. The values come from the APIs of the cloud.
func (c *cloud) describe(t *testing.T) {
	t.Helper()
	c.script(t, "describe.py")
	c.guest(t)
	r := c.outside(t, c.credentials(t), "python3", "describe.py")
	lines := strings.Split(strings.TrimSpace(r.out), "\n")
	described := tempest.Cloud{
		AuthURL:         "http://" + vip + ":5000/v3",
		ImageURL:        c.serve(t, "guest.qcow2"),
		StorageProtocol: "ceph",
		Vendor:          "Open Source",
		Consoles:        true,
		PasswordRules:   tempest.PasswordRules(c.kubectl(t, "exec", "deployment/keystone-api", "--", "cat", "/etc/keystone/keystone.conf")),
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &described); r.code != 0 || err != nil {
		t.Fatalf("describe.py: exit code %d, %v\n%s", r.code, err, r.out)
	}
	c.write(t, "tempest.conf", described.Config())
	if r := c.outside(t, nil, "stestr", "init"); r.code != 0 {
		t.Fatalf("stestr init: exit code %d\n%s", r.code, r.out)
	}
}

// tempest runs Tempest in the network outside, also in that of the floating IPs, and returns its output. The
// output is also copied to a writer.
func (c *cloud) tempest(t *testing.T, to io.Writer, args ...string) string {
	t.Helper()
	cmd := c.providerCommand(t, append([]string{"tempest", "run", "--config-file", "tempest.conf"}, args...)...)
	cmd.Env = append(os.Environ(), tempest.Passwords(c.password(t))...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = io.MultiWriter(&out, to), os.Stderr
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatalf("run %s: %v", cmd, err)
	}
	return out.String()
}

// serve serves a file to Glance over HTTP, and returns its URL.
func (c *cloud) serve(t *testing.T, name string) string {
	t.Helper()
	const address = "10.200.0.105"
	served := filepath.Join(c.dir, "served")
	if err := errors.Join(os.MkdirAll(served, 0o755), os.Link(filepath.Join(c.dir, name), filepath.Join(served, name))); err != nil {
		t.Fatal(err)
	}
	cmd, err := c.cluster.Outside(context.WithoutCancel(t.Context()), address, filepath.Join(c.root, "bin", "outside"), "python3", "-m", "http.server", "--directory", "served", "80")
	if err != nil {
		t.Fatal(err)
	}
	cmd.Dir = c.dir
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	return "http://" + address + "/" + name
}
