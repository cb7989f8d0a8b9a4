package realcloud_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// podsComeBack checks that deleted pods come back without kolla, and that the next plan is empty.
func podsComeBack(t *testing.T, c *cloud) {
	c.kubectl(t, "delete", "pods", "-l", "app.kubernetes.io/name=keystone", "--wait=false")
	c.kubectl(t, "rollout", "status", "deployment/keystone-api", "--timeout="+patience.String())
	c.eventualToken(t)
	c.noChanges(t)
}

// orphansEnd checks that containers collect processes whose parents have ended: a probe whose time is over
// leaves such processes behind.
func orphansEnd(t *testing.T, c *cloud) {
	for _, workload := range []string{"statefulset/mariadb-server", "statefulset/memcached-server", "statefulset/rabbitmq-server", "statefulset/nova-scheduler"} {
		left := c.kubectl(t, "exec", workload, "--", "sh", "-c", "(sleep 0.1 &); sleep 2; cat /proc/[0-9]*/status 2> /dev/null | grep -B2 'State:.*zombie' || true")
		if left != "" {
			t.Errorf("%s has processes that nobody collects:\n%s", workload, left)
		}
	}
}

// jobStaysDone checks that finished jobs do not run again after they were deleted.
func jobStaysDone(t *testing.T, c *cloud) {
	for _, job := range strings.Fields(c.kubectl(t, "get", "jobs", "-o", "name")) {
		c.kubectl(t, "delete", job)
	}
	c.noChanges(t)
	c.kolla(t, 0, "apply", "-auto-approve")
	if jobs := c.kubectl(t, "get", "jobs", "-o", "name"); jobs != "" {
		t.Errorf("jobs ran again: %s", jobs)
	}
}

// configRollsOut checks that a plan shows a changed setting and the restarts, and that no
// request through the VIP fails during the rollout.
func configRollsOut(t *testing.T, c *cloud) {
	c.edit(t, "default     = 86400", "default     = 7200")
	plan := c.kolla(t, 2, "plan", "-detailed-exitcode").out
	wantSaid(t, "plan", plan, "- expiration = 86400", "+ expiration = 7200", "2 pods restart", "[token] expiration in keystone.conf changed")
	result := c.underLoad(t, func() {
		time.Sleep(2 * time.Second)
		c.kolla(t, 0, "apply", "-auto-approve")
		// Old pods stop after the new ones are ready, so the load must continue for a while.
		time.Sleep(10 * time.Second)
	})
	measured(t, "requests during the rollout, and of them failed", fmt.Sprintf("%d, %d (slowest %s)", result.Requests, result.Failed, result.Slowest))
	if result.Failed > 0 || result.Requests < 100 {
		t.Errorf("of %d requests during the rollout %d failed, such as %s", result.Requests, result.Failed, strings.Join(result.Failures, "; "))
	}
	issued := c.openstack(t, "token", "issue", "-f", "value", "-c", "expires").out
	expires, err := time.Parse("2006-01-02T15:04:05-0700", strings.TrimSpace(issued))
	if left := time.Until(expires); err != nil || left > 2*time.Hour || left < 110*time.Minute {
		t.Errorf("a token expires at %q (%v), want two hours from now", issued, err)
	}
	c.noChanges(t)
}

// passwordRollsOut checks that a password that is replaced in the cluster is planned and
// applied like any other change.
func passwordRollsOut(t *testing.T, c *cloud) {
	c.kubectl(t, "patch", "secret", "keystone-db-keystone", "--type=merge", "-p", `{"stringData":{"password":"replaced-by-the-operator"}}`)
	// The new password of the database administrator contains characters with a meaning in SQL,
	// option files and shells.
	c.kubectl(t, "patch", "secret", "mariadb-root", "--type=merge", "-p", `{"stringData":{"value":"ro'ot\"\\n$HOME # ;"}}`)
	plan := c.kolla(t, 2, "plan", "-detailed-exitcode").out
	wantSaid(t, "plan", plan, "job keystone-db-create runs", "2 pods restart")
	if strings.Contains(plan, "replaced-by-the-operator") || strings.Contains(plan, "ro'ot") {
		t.Error("the plan shows a password")
	}
	c.kolla(t, 0, "apply", "-auto-approve")
	c.eventualToken(t)
	const connect = `
import configparser, pymysql
from urllib.parse import urlparse
c = configparser.RawConfigParser()
c.read("/etc/keystone/keystone.conf.d/secrets.conf")
u = urlparse(c["database"]["connection"])
assert u.password == "replaced-by-the-operator"
pymysql.connect(host=u.hostname, port=u.port, user=u.username, password=u.password, database=u.path[1:]).close()
`
	c.kubectl(t, "exec", "deployment/keystone-api", "--", "python3", "-c", connect)
	// The server never gets the root password, and no environment contains it.
	out := c.kubectl(t, "exec", "statefulset/mariadb-server", "--", "sh", "-c", "cat /run/secrets/root/value 2>&1; tr '\\0' '\\n' < /proc/1/environ; ls /etc/mysql")
	if strings.Contains(out, "ro'ot") || strings.Contains(out, "init.sql") {
		t.Errorf("the database server sees its root password:\n%s", out)
	}
	c.noChanges(t)
}

// applyWaitsForDatabase makes MariaDB unavailable while an apply needs it, and available again
// later. It checks that the apply reports the reason for its wait, and finishes.
func applyWaitsForDatabase(t *testing.T, c *cloud) {
	c.cluster.Kubectl(t, "cordon", "real-1")
	t.Cleanup(func() { c.cluster.Kubectl(t, "uncordon", "real-1") })
	c.kubectl(t, "delete", "pod", "mariadb-server-0")
	c.edit(t, "default     = 7200", "default     = 3600")
	cmd := c.command(t, "apply", "-auto-approve")
	out := &lockedBuffer{}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	const away = 20 * time.Second
	select {
	case err := <-ended:
		t.Fatalf("the apply ended while the database was away: %v\n%s", err, out)
	case <-time.After(away):
	}
	said := out.String()
	c.cluster.Kubectl(t, "uncordon", "real-1")
	select {
	case err := <-ended:
		if err != nil {
			t.Fatalf("the apply: %v\n%s", err, out)
		}
	case <-time.After(patience):
		t.Fatalf("the apply does not end:\n%s", out)
	}
	wantSaid(t, "apply", said, "Still waiting for service.mariadb/StatefulSet/mariadb-server", "no node can take the pod: node real-1 is cordoned")
	c.token(t)
	c.noChanges(t)
}

// oldPodsServe checks that a missing image stops the rollout and not the service.
func oldPodsServe(t *testing.T, c *cloud) {
	c.edit(t, "  replicas = 2\n", "  replicas = 2\n  images   = { keystone = \"kolla.test/openstack.kolla/keystone:no-such-tag\" }\n")
	result := c.underLoad(t, func() {
		r := c.kolla(t, 1, "apply", "-auto-approve")
		measured(t, "until an image that is not there is reported", r.took.Round(100*time.Millisecond))
		wantSaid(t, "apply", r.out, "kolla.test/openstack.kolla/keystone:no-such-tag", "not found")
	})
	if result.Failed > 0 {
		t.Errorf("%d of %d requests failed: %v", result.Failed, result.Requests, result.Failures)
	}
	c.token(t)
	c.edit(t, "  images   = { keystone = \"kolla.test/openstack.kolla/keystone:no-such-tag\" }\n", "")
	c.kolla(t, 0, "apply", "-auto-approve")
	c.token(t)
	c.noChanges(t)
}

// controlPlaneComesBack checks that an apply survives a restart of the API server.
func controlPlaneComesBack(t *testing.T, c *cloud) {
	c.edit(t, "default     = 3600", "default     = 1800")
	cmd := c.command(t, "apply", "-auto-approve")
	out := &lockedBuffer{}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		if !strings.Contains(out.String(), "Deployment/keystone-api: updating...") {
			return errors.New("the rollout does not begin:\n" + out.String())
		}
		return nil
	})
	c.cluster.Restart(t, "kube-apiserver")
	if err := cmd.Wait(); err != nil {
		t.Fatalf("the apply: %v\n%s", err, out)
	}
	c.token(t)
	c.noChanges(t)
}
