package openstack_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/providers/openstack"
)

// runScript runs a script of the catalogue as a pod would, and returns its output. commands are
// shell scripts that replace commands, by name.
func runScript(t *testing.T, name string, commands map[string]string, args ...string) (string, error) {
	t.Helper()
	source, err := fs.ReadFile(openstack.Catalogue(), name)
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	for command, text := range commands {
		if err := os.WriteFile(filepath.Join(bin, command), []byte("#!/bin/sh\n"+text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	sh := exec.Command("sh", append([]string{"-ec", string(source)}, args...)...)
	sh.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
	out, err := sh.CombinedOutput()
	return string(out), err
}

// TestGlanceExpand checks that a new database gets its whole schema at once, and that a database
// with data is only expanded, because pods of the previous release may still use it.
func TestGlanceExpand(t *testing.T) {
	const manage = `
case $2 in
version) %s ;;
expand) %s ;;
*) echo "$@" ;;
esac
`
	for name, c := range map[string]struct {
		version, expand, want string
		fails                 bool
	}{
		"new":       {`echo 'Database is not under migration control, please run "glance-manage db sync".'`, "", "db sync\ndb load_metadefs\n", false},
		"there":     {"echo 2023_1_contract01", "echo expanded", "expanded\ndb migrate\ndb load_metadefs\n", false},
		"half way":  {"echo 2023_1_expand01; echo 2024_1_contract01", "echo expanded", "expanded\ndb migrate\ndb load_metadefs\n", false},
		"no answer": {"echo 'cannot connect'; exit 1", "", "", true},
		"refused":   {"echo 2023_1_contract01", "exit 1", "", true},
	} {
		got, err := runScript(t, "glance/expand.sh", map[string]string{"glance-manage": fmt.Sprintf(manage, c.version, c.expand)})
		if (err != nil) != c.fails {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: commands (-want +got):\n%s", name, diff)
		}
	}
}

// TestNeutronExpand checks the same for Neutron, whose tool prints more lines around the revisions.
func TestNeutronExpand(t *testing.T) {
	for name, c := range map[string]struct {
		current, want string
		fails         bool
	}{
		"new":       {`echo '  Running current for neutron ...'; echo '  OK'`, "--subproject neutron upgrade heads\n", false},
		"silent":    {":", "--subproject neutron upgrade heads\n", false},
		"there":     {`echo '  Running current for neutron ...'; echo '5c85685d616d (head)'; echo 4ffceebfada; echo '  OK'`, "--subproject neutron upgrade --expand\n", false},
		"no answer": {"echo 'cannot connect'; exit 1", "", true},
	} {
		got, err := runScript(t, "neutron/expand.sh", map[string]string{"neutron-db-manage": `case $3 in current) ` + c.current + ` ;; *) echo "$@" ;; esac`})
		if (err != nil) != c.fails {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: commands (-want +got):\n%s", name, diff)
		}
	}
}

// TestNeutronMetadataPorts checks that the script takes an empty MTU away from all ports, and does nothing without
// such ports.
func TestNeutronMetadataPorts(t *testing.T) {
	t.Setenv("NB", "tcp:a:6641,tcp:b:6641")
	const nbctl = `
test "$1 $2" = "--timeout=60 --db=tcp:a:6641,tcp:b:6641" || exit 1
case $* in
*" find "*) %s ;;
*) shift 2; echo "$@" ;;
esac`
	for name, c := range map[string]struct {
		find, want string
		fails      bool
	}{
		"old": {find: `printf 'u1\n\nu2\n'`, want: "Port u1 has an empty MTU.\nPort u2 has an empty MTU.\n" +
			`-- remove Logical_Switch_Port u1 external_ids "neutron:mtu" -- remove Logical_Switch_Port u2 external_ids "neutron:mtu"` + "\n"},
		"new":       {find: ":"},
		"no answer": {find: "exit 1", fails: true},
	} {
		got, err := runScript(t, "neutron/metadata-ports.sh", map[string]string{"ovn-nbctl": fmt.Sprintf(nbctl, c.find)})
		if diff := cmp.Diff(c.want, got); (err != nil) != c.fails || diff != "" {
			t.Errorf("%s: %v, (-want +got):\n%s", name, err, diff)
		}
	}
}

// TestGlanceAPI checks that the script puts the pod's own address into the environment, and then
// runs the API.
func TestGlanceAPI(t *testing.T) {
	for address, want := range map[string]string{
		"10.0.0.7":    "http://10.0.0.7:9292\n",
		"2001:db8::7": "http://[2001:db8::7]:9292\n",
	} {
		got, err := runScript(t, "glance/api.sh", map[string]string{
			"python3":    "echo " + address,
			"glance-api": `test "$1" = "two words" && echo "$OS_DEFAULT__WORKER_SELF_REFERENCE_URL"`,
		}, "9292", "glance-api", "two words")
		if err != nil || got != want {
			t.Errorf("%s: %q, %v", address, got, err)
		}
	}
	if out, err := runScript(t, "glance/api.sh", map[string]string{"python3": "exit 1"}, "9292", "echo", "started"); err == nil {
		t.Errorf("started without an address: %s", out)
	}
}

// TestCinderSudo checks that the replacement for sudo runs the command unchanged, and returns its
// exit code. A file that everybody may read keeps its owner.
func TestCinderSudo(t *testing.T) {
	look := map[string]string{"cinder-rootwrap": `printf '%s|' "$@"; exit 3`}
	for _, argv := range [][]string{{"/etc/cinder/rootwrap.conf", "rm", "-f", "two words"}, {"chown", "qemu-img", "chown"}} {
		got, err := runScript(t, "cinder/sudo.sh", look, append([]string{"sudo", "cinder-rootwrap"}, argv...)...)
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 3 || got != strings.Join(argv, "|")+"|" {
			t.Errorf("%v: %q, %v", argv, got, err)
		}
	}
	if got, err := runScript(t, "cinder/sudo.sh", look, "sudo", "cinder-rootwrap", "/etc/cinder/rootwrap.conf", "chown", "42407", "volume"); err != nil || got != "" {
		t.Errorf("chown runs: %q, %v", got, err)
	}
}
