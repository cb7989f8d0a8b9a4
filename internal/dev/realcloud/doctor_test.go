package realcloud_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// finding is a finding of kolla doctor.
type finding struct{ Subject, Problem string }

// doctor returns the findings of kolla doctor, and which checks it could not make. The version of cgroups is
// that of the machine, and no fault of the cloud.
func (c *cloud) doctor(t *testing.T, args ...string) (findings []finding, notChecked []string) {
	t.Helper()
	r := finish(t, c.command(t, args...))
	var report struct {
		Checks []struct {
			Name       string
			NotChecked string `json:"not_checked"`
			Findings   []finding
		}
	}
	if err := json.Unmarshal([]byte(r.out), &report); err != nil {
		t.Fatalf("%v\n%s", err, r.out)
	}
	_, err := os.Stat("/sys/fs/cgroup/cgroup.controllers")
	for _, check := range report.Checks {
		if check.NotChecked != "" {
			notChecked = append(notChecked, check.Name+": "+check.NotChecked)
		}
		findings = append(findings, slices.DeleteFunc(check.Findings, func(f finding) bool {
			return errors.Is(err, os.ErrNotExist) && strings.Contains(f.Problem, "version 1 of cgroups")
		})...)
	}
	return findings, notChecked
}

// probes returns the objects of the pods of checks.
func (c *cloud) probes(t *testing.T) string {
	t.Helper()
	var out []string
	for line := range strings.Lines(c.cluster.Kubectl(t, "get", "jobs,pods,persistentvolumeclaims", "-A", "-o", "name")) {
		if strings.Contains(line, "kolla-probe") {
			out = append(out, strings.TrimSpace(line))
		}
	}
	return strings.Join(out, ", ")
}

// doctorFindsNothing returns a step that checks that kolla doctor finds nothing in a healthy cloud, and checks all
// but the given names. This machine is not in the network of the VIP.
func doctorFindsNothing(unchecked ...string) func(*testing.T, *cloud) {
	return func(t *testing.T, c *cloud) {
		began := time.Now()
		findings, notChecked := c.doctor(t, "doctor", "-json", "-skip=vip")
		measured(t, "kolla doctor", time.Since(began).Round(100*time.Millisecond))
		asExpected := slices.EqualFunc(notChecked, unchecked, func(not, name string) bool { return strings.HasPrefix(not, name+": ") })
		if len(findings) > 0 || !asExpected {
			t.Errorf("kolla doctor finds in a healthy cloud %+v, and did not check %q, want only %q", findings, notChecked, unchecked)
		}
	}
}

// doctorExamines checks that kolla doctor finds nothing in a healthy cloud, names the node on which DNS does
// not answer, and leaves nothing behind, also when it is killed.
func doctorExamines(t *testing.T, c *cloud) {
	doctorFindsNothing()(t, c)
	if left := c.probes(t); strings.Contains(left, "job") || strings.Contains(left, "pod/") {
		t.Errorf("kolla doctor leaves behind: %s", left)
	}
	eventually(t, func() error { // the cluster removes claims a little later than their pods
		if left := c.probes(t); left != "" {
			return fmt.Errorf("kolla doctor leaves behind: %s", left)
		}
		return nil
	})

	c.answersInside(t)

	const victim = "real-1" // the only node that the services of this cloud use
	drop := func(how string) {
		network := c.kubectl(t, "get", "node", victim, "-o", "jsonpath={.spec.podCIDR}")
		// before the Service is resolved: a pod of DNS on the same node is not reached through FORWARD
		if err := c.inNetworkOf(victim, "", "iptables", "-w", "-t", "raw", how, "PREROUTING", "-s", network, "-p", "udp", "--dport", "53", "-j", "DROP"); err != nil {
			t.Error(err)
		}
	}
	drop("-I")
	findings, notChecked := c.doctor(t, "doctor", "-json", "-only=dns")
	drop("-D")
	if len(findings) != 1 || findings[0].Subject != "Node "+victim || !strings.HasPrefix(findings[0].Problem, "pods get no answer from DNS for kubernetes.default") || len(notChecked) > 0 {
		t.Errorf("DNS does not answer on %s, and kolla doctor finds %+v, and did not check %q", victim, findings, notChecked)
	}
	if left := c.probes(t); left != "" {
		t.Errorf("kolla doctor leaves behind: %s", left)
	}

	cmd := c.command(t, "doctor", "-only=dns,image-pull,volumes", "-timeout=10s")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		if c.probes(t) == "" {
			return errors.New("kolla doctor makes no Job")
		}
		return nil
	})
	_ = cmd.Process.Signal(syscall.SIGKILL)
	_ = cmd.Wait()
	killed := time.Now()
	eventually(t, func() error {
		if left := c.probes(t); left != "" {
			return fmt.Errorf("the killed kolla doctor leaves behind: %s", left)
		}
		return nil
	})
	measured(t, "kolla doctor killed, all removed by the cluster", time.Since(killed).Round(time.Second))
}

// answersInside checks that a pod reaches the internal and the public URL of Keystone. This machine is not in
// the network of the VIP.
func (c *cloud) answersInside(t *testing.T) {
	t.Helper()
	r := finish(t, c.command(t, "discover", "-check", "-json"))
	var found struct {
		Inside []struct {
			URL     string
			Status  int `json:"http_status"`
			Problem string
		} `json:"checks_from_pod"`
	}
	if err := json.Unmarshal([]byte(r.out), &found); err != nil {
		t.Fatalf("%v\n%s", err, r.out)
	}
	var urls []string
	for _, check := range found.Inside {
		urls = append(urls, check.URL)
		if check.Problem != "" || check.Status != 200 {
			t.Errorf("a pod opens %s: HTTP %d, %s", check.URL, check.Status, check.Problem)
		}
	}
	if want := []string{"http://keystone." + namespace + ":5000/v3", "http://" + vip + ":5000/v3"}; !slices.Equal(urls, want) {
		t.Errorf("a pod opened %q, want %q", urls, want)
	}
}
