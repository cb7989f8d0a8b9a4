package openstack_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/openstack"
)

// script returns a script of the catalogue.
func script(t *testing.T, name string) string {
	t.Helper()
	text, err := fs.ReadFile(openstack.Catalogue(), name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// executable writes a program that a script finds in the place of a real one.
func executable(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// rabbit is a home directory of RabbitMQ, with fakes of its commands.
type rabbit struct {
	*testing.T
	home, bin string
}

func newRabbit(t *testing.T) rabbit {
	r := rabbit{t, t.TempDir(), t.TempDir()}
	executable(t, r.bin, "uname", "echo mq-server-0\n")
	executable(t, r.bin, "getent", "test \"$2\" = mq-server-0.mq-server.openstack\n")
	// The node runs until another command stops it. Its data are in a directory with its name.
	executable(t, r.bin, "rabbitmq-server", `. "$RABBITMQ_CONF_ENV_FILE"
mkdir -p "$HOME/mnesia/$NODENAME"
echo "$NODENAME $USE_LONGNAME starts" >>"$HOME/log"
test -e "$HOME/broken" && exit 1
touch "$HOME/up"
while [ -e "$HOME/up" ]; do sleep 0.02; done
`)
	executable(t, r.bin, "rabbitmqctl", `. "$RABBITMQ_CONF_ENV_FILE"
case $1 in
await_startup) test -e "$HOME/up" ;;
export_definitions) echo "definitions of $NODENAME" >"$2" ;;
import_definitions)
  test -e "$HOME/killed" && kill -9 $PPID
  cp "$2" "$HOME/mnesia/$NODENAME/definitions"
  ;;
shutdown) rm "$HOME/up" ;;
esac
`)
	return r
}

// run runs the script that chooses the name of the node, and returns the name.
func (r rabbit) run(rename string) (name string, err error) {
	r.Helper()
	conf := filepath.Join(r.home, "rabbitmq-env.conf")
	cmd := exec.Command("sh", "-ec", script(r.T, "rabbitmq/name.sh"))
	cmd.Env = []string{"PATH=" + r.bin + ":" + os.Getenv("PATH"), "HOME=" + r.home, "RABBITMQ_CONF_ENV_FILE=" + conf, "NODE_DOMAIN=mq-server.openstack", "RENAME=" + rename}
	cmd.WaitDelay = time.Second
	output, err := cmd.CombinedOutput()
	r.Logf("%s", output)
	text, _ := os.ReadFile(conf)
	return strings.ReplaceAll(strings.TrimSpace(string(text)), "\n", " "), err
}

// must calls run, and checks that it succeeds and returns the name.
func (r rabbit) must(rename, want string) {
	r.Helper()
	if name, err := r.run(rename); err != nil || name != want {
		r.Errorf("rename=%s: %q, %v, want %q", rename, name, err, want)
	}
}

func (r rabbit) write(name, text string) {
	r.Helper()
	path := filepath.Join(r.home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		r.Fatal(err)
	}
}

func (r rabbit) read(name string) string {
	text, _ := os.ReadFile(filepath.Join(r.home, name))
	return string(text)
}

const (
	shortNode = "rabbit@mq-server-0"
	longNode  = "rabbit@mq-server-0.mq-server.openstack"
	shortName = "NODENAME=" + shortNode + " USE_LONGNAME=false"
	longName  = "NODENAME=" + longNode + " USE_LONGNAME=true"
)

// TestNodeNames checks that a new node of RabbitMQ gets a long name, and that a node with data
// keeps the name under which the data were written.
func TestNodeNames(t *testing.T) {
	r := newRabbit(t)
	r.must("false", longName)
	r.must("true", longName)
	r.write("mnesia/"+longNode+"/data", "new")
	r.must("false", longName)

	r = newRabbit(t)
	r.write("mnesia/"+shortNode+"/data", "old")
	r.must("false", shortName)
	if r.read("mnesia/"+shortNode+"/data") != "old" || r.read("log") != "" {
		t.Errorf("data %q, log %q", r.read("mnesia/"+shortNode+"/data"), r.read("log"))
	}
}

// TestRenameNode checks that the definitions of a node are copied to its long name, that the old
// data are kept, and that a killed attempt is repeated.
func TestRenameNode(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	r := newRabbit(t)
	r.write("mnesia/"+shortNode+"/data", "old")
	r.write("killed", "")
	if _, err := r.run("true"); err == nil {
		t.Fatal("it was killed")
	}
	os.Remove(filepath.Join(r.home, "up")) // the node ends with its container
	if r.read("mnesia/"+shortNode+"/data") != "old" {
		t.Error("the data were moved before the definitions went on")
	}
	r.must("false", shortName) // back to the short name
	os.Remove(filepath.Join(r.home, "killed"))
	r.must("true", longName)
	r.must("true", longName)
	r.must("false", longName)
	for name, want := range map[string]string{
		"mnesia/" + longNode + "/definitions": "definitions of " + shortNode + "\n",
		"data-of-" + shortNode + "/data":      "old",
		"log": shortNode + " false starts\n" + longNode + " true starts\n" + // killed
			shortNode + " false starts\n" + longNode + " true starts\n",
	} {
		if got := r.read(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if _, err := os.Stat(filepath.Join(r.home, "mnesia", shortNode)); err == nil {
		t.Error("the data of the short name are still in place")
	}
}

// TestRenameBrokenNode checks that a node that does not start fails the step, instead of blocking
// it for ever, and that its data are kept.
func TestRenameBrokenNode(t *testing.T) {
	r := newRabbit(t)
	r.write("mnesia/"+shortNode+"/data", "old")
	r.write("broken", "")
	if name, err := r.run("true"); err == nil {
		t.Errorf("it ended well with %q", name)
	}
	if r.read("mnesia/"+shortNode+"/data") != "old" {
		t.Error("the data are gone")
	}
}

// TestDataVersionOfImage checks that the version of the data is that of the image that runs, and not that of the
// cloud's release, which other images have.
func TestDataVersionOfImage(t *testing.T) {
	for name, c := range map[string]struct{ cloud, service, rabbitmq, mariadb string }{
		"the cloud's":          {"", "", "4.0", "10.11"},
		"tag of the cloud":     {`tag = "2025.2-rocky-9"`, "", "4.1", "11.4"},
		"image of the cloud":   {`images = { "rabbit*" = "registry.example.org:5000/k/rabbitmq:2026.1-rocky-10@sha256:` + strings.Repeat("0", 64) + `" }`, "", "4.2", "10.11"},
		"image of the service": {`tag = "2026.1-rocky-10"`, `images = { rabbitmq = "registry.example.org/rabbitmq:2025.1-rocky-9" }`, "4.0", "11.4"},
		"another tag":          {"", `images = { rabbitmq = "registry.example.org:5000/rabbitmq" }`, "4.0", "10.11"},
	} {
		t.Run(name, func(t *testing.T) {
			objects := render(t, written(t, "service \"mariadb\" {}\nservice \"rabbitmq\" {\n"+c.service+"\n}\n", c.cloud), facts())
			rabbitmq := providers.DataVersionOf(find(t, objects, "StatefulSet/rabbitmq-server").Manifest)
			mariadb := providers.DataVersionOf(find(t, objects, "StatefulSet/mariadb-server").Manifest)
			if rabbitmq.Version != c.rabbitmq || mariadb.Version != c.mariadb {
				t.Errorf("RabbitMQ %s and MariaDB %s, want %s and %s", rabbitmq.Version, mariadb.Version, c.rabbitmq, c.mariadb)
			}
		})
	}
}
