package realcloud_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

const withBackups = `
cloud "real" {
  release  = "2025.1"
  distro   = "debian-trixie"
  registry = "kolla.test/openstack.kolla"
}

service "mariadb" {}

service "memcached" {}

service "keystone" {}

service "placement" {}

manifest "backups" {
  object = {
    apiVersion = "v1"
    kind       = "PersistentVolumeClaim"
    metadata   = { name = "backups" }
    spec = {
      accessModes = ["ReadWriteOnce"]
      resources   = { requests = { storage = "2Gi" } }
    }
  }
}
`

// TestBackup saves the databases of a cloud and brings them back: with newer data, newer passwords, a
// server that does not start, and a kolla that is killed.
func TestBackup(t *testing.T) {
	c := emptyCloud(t, 1)
	c.write(t, "cloud.hcl", withBackups)
	take(t, c, []step{
		{"apply", func(t *testing.T, c *cloud) { c.kolla(t, 0, "apply", "-auto-approve") }},
		{"saved", databasesAreSaved},
		{"refused", damagedBackupIsRefused},
		{"restored", databasesComeBack},
		{"killed", killedRestoreGoesOn},
		{"server broken", brokenServerIsRestored},
		{"nothing left", wholeCloudComesBack},
	})
}

// sql runs a statement in MariaDB as the user of its data, and returns the rows.
func (c *cloud) sql(t *testing.T, statement string) string {
	t.Helper()
	return strings.TrimSpace(c.kubectl(t, "exec", "mariadb-server-0", "-c", "server", "--",
		"mariadb", "--defaults-file=/etc/mysql/my.cnf", "--user=mysql", "-N", "-e", statement))
}

// place returns the directory with the backups.
func (c *cloud) place() string { return filepath.Join(c.dir, "place") }

// keyForBackups makes the files public and private.
func (c *cloud) keyForBackups(t *testing.T) {
	t.Helper()
	c.write(t, "public", c.kolla(t, 0, "backup", "key", "private").out)
}

// saved matches the end of the output of a backup.
var saved = regexp.MustCompile(`Backup complete: (\S+) in `)

// save makes a backup and returns its name.
func (c *cloud) save(t *testing.T, place string) string {
	t.Helper()
	public, err := os.ReadFile(filepath.Join(c.dir, "public"))
	if err != nil {
		t.Fatal(err)
	}
	r := c.kolla(t, 0, "backup", "-to="+place, "-secrets", "-recipient="+strings.TrimSpace(string(public)))
	t.Log(r.out)
	found := saved.FindStringSubmatch(r.out)
	if found == nil {
		t.Fatalf("the backup says no name:\n%s", r.out)
	}
	return found[1]
}

// databasesAreSaved checks that backups into a directory and into a claim have the same data, while
// the server goes on.
func databasesAreSaved(t *testing.T, c *cloud) {
	c.keyForBackups(t)
	c.sql(t, "CREATE DATABASE witness; CREATE TABLE witness.kept (n INT PRIMARY KEY AUTO_INCREMENT, text VARCHAR(1000)) ENGINE=InnoDB; INSERT INTO witness.kept (text) VALUES (REPEAT('x', 1000))")
	doublings := 14 // 16 MB
	if os.Getenv(longVariable) != "" {
		doublings = 20 // 1 GB
	}
	for range doublings {
		c.sql(t, "INSERT INTO witness.kept (text) SELECT text FROM witness.kept")
	}
	began := time.Now()
	name := c.save(t, c.place())
	info, err := os.Stat(filepath.Join(c.place(), name, "service.mariadb-StatefulSet-mariadb-server.age"))
	if err != nil {
		t.Fatal(err)
	}
	measured(t, fmt.Sprintf("backup of %s of databases into a directory, and its size", c.sql(t, "SELECT CONCAT(ROUND(SUM(data_length + index_length) / 1000000), ' MB') FROM information_schema.tables")),
		fmt.Sprintf("%s, %d MB", time.Since(began).Round(time.Second), info.Size()/1000000))
	inClaim := c.save(t, "claim:backups")
	wantSaid(t, "list", c.kolla(t, 0, "backup", "list", "-from=claim:backups").out, inClaim, "databases", "2025.1-debian-trixie")
	for _, arguments := range [][]string{{filepath.Join(c.place(), name)}, {"-from=claim:backups", inClaim}} {
		wantSaid(t, "verification", c.kolla(t, 0, append([]string{"backup", "verify", "-identity=private"}, arguments...)...).out, "All data can be decrypted")
	}
	c.write(t, "name", name)
	c.write(t, "name-in-claim", inClaim)
	c.noChanges(t)
}

// noted returns the text of a file beside the configuration.
func (c *cloud) noted(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(c.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// newer writes a row that the backup does not have.
func (c *cloud) newer(t *testing.T) { c.sql(t, "INSERT INTO witness.kept (text) VALUES ('newer')") }

// newerRows returns the number of rows that the backup does not have.
func (c *cloud) newerRows(t *testing.T) string {
	return c.sql(t, "SELECT COUNT(*) FROM witness.kept WHERE text = 'newer'")
}

// damagedBackupIsRefused checks that a backup that lacks its end changes nothing, and that the server
// is not restarted.
func damagedBackupIsRefused(t *testing.T, c *cloud) {
	const damaged = "damaged"
	name := c.noted(t, "name")
	to := filepath.Join(c.dir, damaged, name)
	if err := os.CopyFS(to, os.DirFS(filepath.Join(c.place(), name))); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(to, "service.mariadb-StatefulSet-mariadb-server.age")
	info, err := os.Stat(file)
	if err == nil {
		err = os.Truncate(file, info.Size()-100)
	}
	if err != nil {
		t.Fatal(err)
	}
	c.newer(t)
	uptime := c.sql(t, "SHOW STATUS LIKE 'Uptime'")
	wantSaid(t, "restore", c.kolla(t, 1, "restore", "-from="+damaged, name, "-identity=private", "-auto-approve").out, "The backup is damaged", "Nothing was changed")
	if c.newerRows(t) != "1" {
		t.Error("a damaged backup changes the data")
	}
	if after := c.sql(t, "SHOW STATUS LIKE 'Uptime'"); len(after) < len(uptime) {
		t.Errorf("the server was restarted: it is up since %s, and was since %s", after, uptime)
	}
	if pods := c.kubectl(t, "get", "pods", "-o", "name"); strings.Contains(pods, "restore") {
		t.Errorf("a pod is left:\n%s", pods)
	}
	c.noChanges(t)
}

// databasesComeBack checks that a backup in a claim comes back after a password was replaced, and that
// the command that kolla then names makes Keystone's database usable again.
func databasesComeBack(t *testing.T, c *cloud) {
	c.kubectl(t, "patch", "secret", "keystone-db-keystone", "--type=merge", "-p", `{"stringData":{"password":"replaced-by-the-operator"}}`)
	c.kolla(t, 0, "apply", "-auto-approve")
	c.newer(t)
	r := c.kolla(t, 0, "restore", "-from=claim:backups", c.noted(t, "name-in-claim"), "-identity=private", "-auto-approve")
	t.Log(r.out)
	measured(t, "restore from a claim", r.took.Round(time.Second))
	wantSaid(t, "restore", r.out, "Replaces the databases by those of the backup", "Meanwhile these do not work: service.keystone", "Restore complete!", "Run them again")
	if got := c.newerRows(t); got != "0" {
		t.Errorf("%s rows are newer than the backup", got)
	}
	const login = "mariadb --no-defaults --host=127.0.0.1 --user=keystone --password=replaced-by-the-operator -e 'SELECT 1'"
	able := func() bool {
		return finish(t, c.inPod(t, "mariadb-server-0", "sh", "-c", login)).code == 0
	}
	if able() {
		t.Error("the restored database knows a newer password: the test proves nothing")
	}
	c.runAgain(t, r.out)
	if !able() {
		t.Error("after the named command, Keystone's password is not that of the cloud")
	}
	c.noChanges(t)
}

// runAgain runs the command that a restore names, with the jobs that ran after the backup.
func (c *cloud) runAgain(t *testing.T, said string) {
	t.Helper()
	if options := namedOptions(said); len(options) > 0 {
		c.kolla(t, 0, append([]string{"apply", "-auto-approve"}, options...)...)
	}
}

// namedOptions returns the options of the apply that a restore names; none: it names no jobs.
func namedOptions(said string) []string {
	for line := range strings.Lines(said) {
		if options, is := strings.CutPrefix(strings.TrimSpace(line), "kolla apply "); is {
			return strings.Fields(options)
		}
	}
	return nil
}

// killedRestoreGoesOn kills kolla after it has stopped the server, and checks that an apply starts it
// with either the old data or the new ones, and that the restore can be repeated.
func killedRestoreGoesOn(t *testing.T, c *cloud) {
	c.newer(t)
	c.killed(t, "stopping", "restore", filepath.Join(c.place(), c.noted(t, "name")), "-identity=private", "-auto-approve")
	c.kolla(t, 0, "apply", "-auto-approve")
	if got := c.newerRows(t); got != "1" && got != "0" {
		t.Errorf("after a kill, %q rows are newer", got)
	}
	c.kolla(t, 0, "restore", filepath.Join(c.place(), c.noted(t, "name")), "-identity=private", "-auto-approve")
	if got := c.newerRows(t); got != "0" {
		t.Errorf("after the second restore, %s rows are newer", got)
	}
}

// brokenServerIsRestored destroys files of the server, so that it does not start, and restores it.
func brokenServerIsRestored(t *testing.T, c *cloud) {
	c.kubectl(t, "exec", "mariadb-server-0", "-c", "server", "--", "sh", "-c", "head -c 1000000 /dev/urandom > /var/lib/mysql/ibdata1")
	c.kubectl(t, "delete", "pod", "mariadb-server-0", "--now")
	eventually(t, func() error {
		if n := c.kubectl(t, "get", "pod", "mariadb-server-0", "-o", "jsonpath={.status.initContainerStatuses[*].restartCount} {.status.containerStatuses[*].restartCount}"); !strings.ContainsAny(n, "123456789") {
			return errors.New("the server starts in spite of damaged files: " + n)
		}
		return nil
	})
	r := c.kolla(t, 0, "restore", filepath.Join(c.place(), c.noted(t, "name")), "-identity=private", "-auto-approve")
	measured(t, "restore of a server that does not start", r.took.Round(time.Second))
	if got := c.newerRows(t); got != "0" {
		t.Errorf("%s rows are newer than the backup", got)
	}
}

// wholeCloudComesBack loses the cloud, and makes it again from the configuration and the backup in the
// directory. The claim with backups goes too.
func wholeCloudComesBack(t *testing.T, c *cloud) {
	backup := filepath.Join(c.place(), c.noted(t, "name"))
	keys := func() string {
		return c.kubectl(t, "get", "secret", "keystone-fernet", "keystone-credential", "-o", "jsonpath={.items[*].data}")
	}
	before := keys()
	c.lose(t)
	began := time.Now()
	c.makeAgain(t, []string{"mariadb"}, backup)
	measured(t, "a cloud from its configuration and a backup", time.Since(began).Round(time.Second))
	if keys() != before {
		t.Error("the keys of Keystone are others than before")
	}
	c.kubectl(t, "exec", "deployment/placement-api", "--", "python3", "-c", serviceLogsIn)
	if rows, newer := c.sql(t, "SELECT COUNT(*) > 1000 FROM witness.kept"), c.newerRows(t); rows != "1" || newer != "0" {
		t.Errorf("the data did not come back: %s, %s", rows, newer)
	}
	c.noChanges(t)
}

// serviceLogsIn logs in as the user of Placement, by the names of the user and of its project.
const serviceLogsIn = `
import configparser
from keystoneauth1 import session
from keystoneauth1.identity import v3
c = configparser.RawConfigParser(strict=False)
c.read(["/etc/placement/placement.conf", "/etc/placement/placement.conf.d/secrets.conf"])
names = ("auth_url", "username", "password", "project_name", "user_domain_name", "project_domain_name")
session.Session(auth=v3.Password(**{name: c["keystone_authtoken"][name] for name in names})).get_token()
`

// lose destroys the cloud with all data, and removes its state.
func (c *cloud) lose(t *testing.T) {
	t.Helper()
	c.kolla(t, 0, "destroy", "-auto-approve", "-delete-data=*")
	for _, file := range []string{"kolla.state.json", ".kolla"} {
		if err := os.RemoveAll(filepath.Join(c.dir, file)); err != nil {
			t.Fatal(err)
		}
	}
}

// makeAgain makes a lost cloud with the Secrets and the data of a backup, as docs/backups.md says: first the
// services whose data the backup has. The other arguments name the backup.
func (c *cloud) makeAgain(t *testing.T, services []string, backup ...string) {
	t.Helper()
	c.cluster.Kubectl(t, "create", "namespace", namespace)
	secrets := c.kolla(t, 0, slices.Concat([]string{"backup", "print"}, backup, []string{"secrets", "-identity=private"})...).out
	c.write(t, "secrets.json", secrets)
	c.kubectl(t, "apply", "-f", filepath.Join(c.dir, "secrets.json"))
	var targets []string
	for _, service := range services {
		targets = append(targets, "-target=service."+service)
	}
	c.takeOver(t, targets...)
	r := c.kolla(t, 0, slices.Concat([]string{"restore", "-identity=private", "-auto-approve"}, backup)...)
	t.Log(r.out)
	measured(t, "restore into an empty cluster", r.took.Round(time.Second))
	c.takeOver(t, namedOptions(r.out)...)
}

// takeOver applies the configuration, with the objects that were made by hand.
func (c *cloud) takeOver(t *testing.T, options ...string) {
	t.Helper()
	c.kolla(t, 0, slices.Concat([]string{"apply", "-auto-approve", "-timeout=20m"}, options, adoptions(t, c, options...))...)
}

// adoptable matches the addresses of objects that are there and not kolla's.
var adoptable = regexp.MustCompile(`-adopt=(\S+)`)

// adoptions returns the options that take over the objects that were made by hand, which a plan lists.
func adoptions(t *testing.T, c *cloud, planned ...string) (options []string) {
	t.Helper()
	for _, found := range adoptable.FindAllString(c.kolla(t, 1, append([]string{"plan"}, planned...)...).out, -1) {
		options = append(options, strings.Trim(found, `"'.`))
	}
	if len(options) == 0 {
		t.Fatal("the plan names nothing to adopt")
	}
	return options
}
