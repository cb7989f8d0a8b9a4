package openstack_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/providers/openstack"
)

// cellScript runs a script for all cells: cell0, cell1 and the given cells.
func cellScript(t *testing.T, script, manage string, cells ...string) (string, error) {
	t.Helper()
	functions, err := fs.ReadFile(openstack.Catalogue(), "nova/cells.sh")
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	for _, dir := range []string{"etc/nova", "var/lib/nova"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	var text string
	for _, cell := range cells {
		text += "[" + cell + "]\nconnection = mysql://" + cell + "\ntransport_url = rabbit://" + cell + "\n\n"
	}
	secrets := filepath.Join(root, "etc/nova/nova.conf.d/secrets.conf")
	if err := os.MkdirAll(filepath.Dir(secrets), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(secrets, []byte("[api_database]\nconnection = mysql://api:secret@db/api\n\n[database]\nconnection = mysql://nova:secret@db/nova\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if text != "" {
		if err := os.WriteFile(filepath.Join(root, "etc/nova/cells.conf"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := runScript(t, script, map[string]string{"nova-manage": manage, "python3": `shift; echo "$@"`}, "sh", string(functions), root, "map")
	return strings.ReplaceAll(got, root, ""), err
}

// TestNovaDatabases checks that cells are created once, that no argument contains a password, that
// further cells get changed connections, and that a failure ends the job.
func TestNovaDatabases(t *testing.T) {
	const template = `{scheme}://{username}:{password}@{hostname}:{port}/{path}`
	const both = "api_db sync\ncell_v2 map_cell0 --database_connection " + template + "\n" +
		"map /etc/nova/cell0.conf database update_cell --cell_uuid 00000000-0000-0000-0000-000000000000 --name cell0\n" +
		"--config-file /etc/nova/nova.conf --config-file /etc/nova/cell0.conf db sync --local_cell\ndb sync --local_cell\n"
	const update = "cell_v2 update_cell --cell_uuid 1111-11 --name cell1 --transport-url " + template + " --database_connection " + template + "\n"
	const create = "cell_v2 create_cell --name cell1 --transport-url " + template + " --database_connection " + template + "\n"
	const there = `
case $2 in list_cells)
	echo "|    Name    |   UUID   | Transport URL |  Database Connection  | Disabled |"
	echo "|   cell0    | 00000000-0000-0000-0000-000000000000 | none:/// | mysql://nova:****@db/cell0 | False |"
	echo "|   cell1    | 1111-11  | rabbit://one  | mysql://nova:****@db/nova |  False   |"
	echo "| nova-cell2 | 2222-22  | rabbit://two  | mysql://nova:****@db/nova |  False   |"
	exit ;;
esac
`
	const cell2 = "map /etc/nova/cells.conf nova-cell2 "
	for name, c := range map[string]struct {
		manage string
		cells  []string
		want   string
		fails  bool
	}{
		"new":             {``, nil, both + create, false},
		"renamed":         {strings.ReplaceAll(there, "   cell1    |", "   other    |"), []string{"nova-cell2"}, both + update + cell2 + "update_cell --cell_uuid 2222-22\n", false},
		"another's":       {strings.ReplaceAll(strings.ReplaceAll(there, "   cell1    |", "   other    |"), "db/nova |", "db/other |"), []string{"nova-cell2"}, both + create + cell2 + "update_cell --cell_uuid 2222-22\n", false},
		"there":           {there, []string{"nova-cell2"}, both + update + cell2 + "update_cell --cell_uuid 2222-22\n", false},
		"second cell":     {``, []string{"nova-cell2"}, both + create + cell2 + "create_cell --name nova-cell2\n", false},
		"made by another": {`case $2 in create_cell) echo "$@"; exit 2 ;; esac`, nil, both + create, false},
		"not made":        {`case $2 in create_cell) echo "$@"; exit 1 ;; esac`, nil, both + create, true},
		"not listed":      {`case $2 in list_cells) exit 1 ;; esac`, nil, both, true},
		"no database":     {`case $1 in api_db) exit 1 ;; esac`, nil, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := cellScript(t, "nova/db-sync.sh", c.manage+"\n"+`test "$2" != list_cells || exit 0
echo "$@"`, c.cells...)
			if (err != nil) != c.fails {
				t.Error(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("commands (-want +got):\n%s", diff)
			}
		})
	}
}

// TestDiscover checks that a node that is down does not fail the job, and that the job then removes
// the nodes that have left. If that fails, the job fails.
func TestDiscover(t *testing.T) {
	const list = `case $2 in
list_cells) echo "|  cell1  | 1111-11 |"; echo "| cell2 | 2222-22 |" ;;
list_hosts) echo "| cell1 | uuid | $(cat %s) |" ;;
discover_hosts) test "$6" = 1111-11 && echo node-2 > %s ;;
esac`
	const retired = "-c retire.py /etc/nova/nova.conf /etc/nova/nova.conf.d/secrets.conf\n"
	for name, c := range map[string]struct {
		nodes, known, python, want string
		fails                      bool
	}{
		"none":        {"", "", "", retired, false},
		"found":       {"node-2", "node-1", "", retired, false},
		"node-1 down": {"node-1 node-2", "", "", "Not found, as their nova-compute has not reported: node-1 \n" + retired, false},
		"has servers": {"node-2", "node-1", "exit 1", retired, true},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "hosts")
			if err := os.WriteFile(file, []byte(c.known), 0o600); err != nil {
				t.Fatal(err)
			}
			t.Setenv("KOLLA_NODES", c.nodes)
			t.Setenv("CELL", "cell1")
			got, err := runScript(t, "nova/discover.sh", map[string]string{
				"nova-manage": strings.ReplaceAll(list, "%s", file), "sleep": "", "python3": `echo "$@"` + "\n" + c.python,
			}, "sh", "retire.py")
			if (err != nil) != c.fails || got != c.want {
				t.Errorf("%q, %v, want %q", got, err, c.want)
			}
		})
	}
	t.Setenv("CELL", "cell3")
	got, err := runScript(t, "nova/discover.sh", map[string]string{"nova-manage": `echo "| cell1 | 1111-11 |"`, "python3": `echo "$@"`}, "sh", "retire.py")
	if err == nil || got != "Nova does not know cell cell3: name the service in \x60cells\x60 of service nova.\n" {
		t.Errorf("with a cell that Nova does not know the job has ended with %v: %s", err, got)
	}
	got, err = runScript(t, "nova/discover.sh", map[string]string{"nova-manage": "exit 1", "python3": `echo "$@"`}, "sh", "retire.py")
	if err == nil || got != "" {
		t.Errorf("without the database the job has ended with %v: %s", err, got)
	}
}

// libvirtNode returns the root directory of a node, with the files that libvirt.sh needs.
func libvirtNode(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	files := map[string]string{
		"etc/libvirt/libvirtd.conf": "auth_unix_rw = \"none\"\n", "etc/kolla/qemu.conf": "user = \"nova\"\n", "etc/libvirt/secrets/there": "",
		"etc/ceph/ceph.client.cinder.keyring": "[client.cinder]\n\tkey = QUJD\n", "sys/fs/cgroup/memory/cgroup.procs": "", "sys/fs/cgroup/cpu/cgroup.procs": "",
		"run/libvirt/pki/address": "198.51.100.7",
	}
	for _, name := range []string{"libvirt/cacert.pem", "libvirt/servercert.pem", "libvirt/clientcert.pem", "libvirt/serverkey.pem", "libvirt/clientkey.pem", "qemu/server-key.pem"} {
		files["run/libvirt/pki/"+name] = name
	}
	for path, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, path)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, path), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// TestLibvirtLeavesGroups checks that libvirtd leaves the control groups of its pod with cgroups of
// version 2, too, and does not start if it cannot leave them.
func TestLibvirtLeavesGroups(t *testing.T) {
	root := libvirtNode(t)
	t.Setenv("NODE", "node-1")
	t.Setenv("CEPH_SECRET", "")
	commands := map[string]string{"libvirtd": "echo started", "virtlogd": "", "chgrp": ""}
	groups := filepath.Join(root, "sys/fs/cgroup")
	if err := os.RemoveAll(groups); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(groups, "cgroup.procs"), 0o700); err != nil { // a directory, so writing to it fails
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(groups, "cgroup.controllers"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if output, err := runScript(t, "nova/libvirt.sh", commands, "sh", root); err == nil || strings.Contains(output, "started") {
		t.Errorf("libvirtd starts in the group of the pod: %s", output)
	}
	if err := os.Remove(filepath.Join(groups, "cgroup.procs")); err != nil {
		t.Fatal(err)
	}
	output, err := runScript(t, "nova/libvirt.sh", commands, "sh", root)
	if err != nil || output != "started\n" {
		t.Errorf("libvirtd has not started: %v\n%s", err, output)
	}
	if process, err := os.ReadFile(filepath.Join(groups, "cgroup.procs")); err != nil || !regexp.MustCompile(`^[0-9]+\n$`).Match(process) {
		t.Errorf("the root group got %q (%v), want a process", process, err)
	}
}

// TestLibvirt checks that each node gets a different host UUID, that libvirtd and QEMU get their
// certificates and the address for live migration, that libvirtd gets the key of Ceph in a file
// that nobody else can read, and that it leaves the control groups of the pod.
func TestLibvirt(t *testing.T) {
	numbers := map[string]bool{}
	for _, node := range []string{"node-1", "node-2"} {
		root := libvirtNode(t)
		t.Setenv("NODE", node)
		t.Setenv("CEPH_SECRET", "0b1f")
		output, err := runScript(t, "nova/libvirt.sh", map[string]string{
			"libvirtd": `test "$1 $2" = "--listen --config" && cat "$3"`, "virtlogd": "", "chgrp": `echo "$@"`,
		}, "sh", root)
		if err != nil {
			t.Fatalf("%v\n%s", err, output)
		}
		group, config, _ := strings.Cut(output, "\n")
		if want := "-R nova " + root + "/run/libvirt/pki/qemu"; group != want {
			t.Errorf("%q, want %q", group, want)
		}
		config, address, _ := strings.Cut(config, "listen_addr = ")
		_, number, _ := strings.Cut(config, "host_uuid = ")
		if numbers[number] || len(number) != len("\"00000000-0000-0000-0000-000000000000\"\n") {
			t.Errorf("the number of %s is %q, want another", node, number)
		}
		numbers[number] = true
		if !strings.HasPrefix(config, "auth_unix_rw") || address != "\"198.51.100.7\"\n" {
			t.Errorf("libvirtd has %q, and listens on %s", config, address)
		}
		holdFiles(t, root, map[string]file{
			"etc/libvirt/qemu.conf":                 {"user = \"nova\"\nmigration_address = \"198.51.100.7\"\n", 0o600},
			"etc/pki/CA/cacert.pem":                 {"libvirt/cacert.pem", 0o600},
			"etc/pki/libvirt/servercert.pem":        {"libvirt/servercert.pem", 0o600},
			"etc/pki/libvirt/clientcert.pem":        {"libvirt/clientcert.pem", 0o600},
			"etc/pki/libvirt/private/serverkey.pem": {"libvirt/serverkey.pem", 0o600},
			"etc/pki/libvirt/private/clientkey.pem": {"libvirt/clientkey.pem", 0o600},
			"run/libvirt/pki/qemu/server-key.pem":   {"qemu/server-key.pem", 0o640},
			"etc/libvirt/secrets/0b1f.base64":       {"QUJD", 0o600},
		})
		text := func(path string) string {
			text, err := os.ReadFile(filepath.Join(root, path))
			if err != nil {
				t.Error(err)
			}
			return string(text)
		}
		if memory, cpu := text("sys/fs/cgroup/memory/cgroup.procs"), text("sys/fs/cgroup/cpu/cgroup.procs"); memory == "" || memory != cpu {
			t.Errorf("libvirtd is in the groups %q and %q", memory, cpu)
		}
	}
}

// file is the content and the mode of a file.
type file struct {
	text string
	mode os.FileMode
}

// holdFiles compares files in a directory with the wanted files.
func holdFiles(t *testing.T, root string, want map[string]file) {
	t.Helper()
	for path, w := range want {
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Error(err)
			continue
		}
		info, err := os.Stat(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		if got := (file{string(text), info.Mode().Perm()}); got != w {
			t.Errorf("%s: %q, %v, want %q, %v", path, got.text, got.mode, w.text, w.mode)
		}
	}
}

// TestVirtlogd checks that virtlogd is started once, and again only if it has ended, even if
// another process has its process ID now.
func TestVirtlogd(t *testing.T) {
	root := libvirtNode(t)
	t.Setenv("NODE", "node-1")
	started := func() bool {
		t.Helper()
		output, err := runScript(t, "nova/libvirt.sh", map[string]string{"libvirtd": "", "virtlogd": `echo "$@"`, "chgrp": ""}, "sh", root)
		if err != nil {
			t.Fatalf("%v\n%s", err, output)
		}
		if output != "" && output != "--daemon --pid-file "+root+"/run/libvirt/virtlogd.pid\n" {
			t.Errorf("started as %s", output)
		}
		return output != ""
	}
	if !started() {
		t.Error("virtlogd is not started on a new node")
	}
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	virtlogd := filepath.Join(t.TempDir(), "virtlogd")
	if err := os.Symlink(sleep, virtlogd); err != nil {
		t.Fatal(err)
	}
	for program, again := range map[string]bool{sleep: true, virtlogd: false} {
		process := exec.Command(program, "60")
		if err := process.Start(); err != nil {
			t.Fatal(err)
		}
		pid := strconv.Itoa(process.Process.Pid)
		if err := os.WriteFile(filepath.Join(root, "run/libvirt/virtlogd.pid"), []byte(pid+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		got := started()
		_ = process.Process.Kill()
		_ = process.Wait()
		if got != again {
			t.Errorf("with the number of %s it is started: %v, want %v", filepath.Base(program), got, again)
		}
	}
	if !started() {
		t.Error("virtlogd is not started when it has ended")
	}
}

// TestOVNMember checks which member creates a cluster and which members join it, and that a member
// with data does neither.
func TestOVNMember(t *testing.T) {
	const (
		members = "ovn-nb-0.ns ovn-nb-1.ns ovn-nb-2.ns"
		create  = "--election-timer=4000 create-cluster ovnnb.db.new ovn-nb.ovsschema tcp:ovn-nb-0.ns:6643\n"
		join    = "join-cluster ovnnb.db.new OVN_Northbound tcp:ovn-nb-%d.ns:6643 tcp:ovn-nb-%d.ns:6643 tcp:ovn-nb-%d.ns:6643\n"
		waits   = "Waiting for ovn-nb-1.ns to say whether it has data.\n"
		none    = "00000000-0000-0000-0000-000000000000"
		some    = "63feb459-7796-4d80-858a-25551384accc"
		left    = `{"comment":"this server left the cluster","note":"left"}`
	)
	const tool = `echo "$@" | sed 's|/[^ ]*/||g'; for arg; do case $arg in *.new) echo data > "$arg" ;; esac; done`
	// The second query gets the answer after the comma.
	const client = `test "$2" = query || { echo no; exit; }
member=${3#tcp:ovn-nb-}; member=${member%%.*}
answer=$(cat "$DATA/answer-$member")
case $answer in *,*) echo "${answer#*,}" > "$DATA/answer-$member"; answer=${answer%%,*} ;; esac
test -n "$answer" || exit 1
echo '[{"rows":[{"cid":["uuid","'"$answer"'"]}]}]'`
	for name, c := range map[string]struct {
		self, members string
		answers       [3]string // cluster IDs that the members answer with
		data, want    string
	}{
		"first":              {"ovn-nb-0", members, [3]string{1: none, 2: none}, "", create},
		"first, waiting":     {"ovn-nb-0", members, [3]string{1: "," + none, 2: none}, "", waits + create},
		"alone":              {"ovn-nb-0", "ovn-nb-0.ns", [3]string{}, "", create},
		"second":             {"ovn-nb-1", members, [3]string{0: none, 2: none}, "", fmt.Sprintf(join, 1, 0, 2)},
		"lost its data":      {"ovn-nb-0", members, [3]string{1: none, 2: some}, "", fmt.Sprintf(join, 0, 1, 2)},
		"lost it, all ended": {"ovn-nb-0", members, [3]string{1: "," + some}, "", waits + fmt.Sprintf(join, 0, 1, 2)},
		"started before":     {"ovn-nb-0", members, [3]string{}, "data", ""},
		"left":               {"ovn-nb-2", members, [3]string{}, "data\n" + left, fmt.Sprintf(join, 2, 0, 1)},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			files := map[string]string{"ovnnb.db": c.data, "answer-0": c.answers[0], "answer-1": c.answers[1], "answer-2": c.answers[2]}
			for file, text := range files {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			for key, value := range map[string]string{"HOSTNAME": c.self, "MEMBERS": c.members, "DATA": dir, "DB_PORT": "6641", "RAFT_PORT": "6643", "PORTS": "6641"} {
				t.Setenv(key, value)
			}
			got, err := runScript(t, "ovn/db.sh", map[string]string{
				"ovsdb-tool": tool, "ovsdb-client": client, "ovsdb-server": `test -s "$1" && echo "serves $2"`,
				"ovs-appctl": `echo "Status: cluster member"`, "sleep": "", "ovn-nbctl": "",
			}, "sh", "nb", "OVN_Northbound")
			if want := c.want + "serves --remote=ptcp:6641:0.0.0.0\n"; err != nil || got != want {
				t.Errorf("%v (-want +got):\n%s", err, cmp.Diff(want, got))
			}
		})
	}
}

// TestOVNPatience checks that a server that supports a config file gives its clients a minute to
// answer its probes.
func TestOVNPatience(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "ovnsb.db"), []byte("data"), 0o600); err != nil {
		t.Fatal(err)
	}
	for key, value := range map[string]string{"HOSTNAME": "ovn-sb-0", "MEMBERS": "ovn-sb-0.ns", "DATA": dir, "DB_PORT": "6642", "RAFT_PORT": "6644"} {
		t.Setenv(key, value)
	}
	got, err := runScript(t, "ovn/db.sh", map[string]string{
		"ovsdb-client": "echo no", "ovs-appctl": `echo "Status: cluster member"`, "sleep": "",
		"ovsdb-server": `case $1 in --help) echo "  --config-file=PATH  database configuration" ;; *) echo "$@" ;; esac`,
	}, "sh", "sb", "OVN_Southbound")
	want := "--config-file=" + dir + "/server.json --unixctl=/run/ovn/ovnsb_db.ctl --pidfile=/run/ovn/ovnsb_db.pid -vconsole:info\n"
	if err != nil || got != want {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	text, err := os.ReadFile(filepath.Join(dir, "server.json"))
	if err != nil {
		t.Fatal(err)
	}
	var config struct{ Remotes, Databases map[string]map[string]any }
	if err := json.Unmarshal(text, &config); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if probe := config.Remotes["ptcp:6642:0.0.0.0"]["inactivity-probe"]; probe != 60000.0 || config.Databases[dir+"/ovnsb.db"] == nil || config.Remotes["punix:/run/ovn/ovnsb_db.sock"] == nil {
		t.Errorf("the configuration is %s", text)
	}
}

// TestOVNPatienceBefore checks the same for a server without a config file, whose database has the
// time: for the clients of the relay as well, which serves the same database.
func TestOVNPatienceBefore(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "ovnsb.db"), []byte("data"), 0o600); err != nil {
		t.Fatal(err)
	}
	for key, value := range map[string]string{
		"HOSTNAME": "ovn-sb-0", "MEMBERS": "ovn-sb-0.ns", "DATA": dir, "DB_PORT": "6642", "RAFT_PORT": "6644", "PORTS": "6642 16642",
		"SOURCE": "tcp:ovn-sb-0.ns:6642", "PORT": "16642",
	} {
		t.Setenv(key, value)
	}
	// The first time, no member leads.
	const sbctl = `echo "$@" >> "$DATA/probes"; test "$(wc -l < "$DATA/probes")" = 2 && touch "$DATA/settled"`
	got, err := runScript(t, "ovn/db.sh", map[string]string{
		"ovsdb-client": "echo no", "ovs-appctl": `echo "Status: cluster member"`, "sleep": "", "ovn-sbctl": sbctl,
		"ovsdb-server": `test "$1" != --help || exit 0; until test -e "$DATA/settled"; do :; done; echo "$@"`,
	}, "sh", "sb", "OVN_Southbound")
	want := dir + "/ovnsb.db --remote=ptcp:6642:0.0.0.0 --remote=punix:/run/ovn/ovnsb_db.sock --remote=db:OVN_Southbound,SB_Global,connections " +
		"--unixctl=/run/ovn/ovnsb_db.ctl --pidfile=/run/ovn/ovnsb_db.pid -vconsole:info\n"
	if err != nil || got != want {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	probes, err := os.ReadFile(filepath.Join(dir, "probes"))
	once := "--timeout=30 --no-leader-only --db=unix:/run/ovn/ovnsb_db.sock --inactivity-probe=60000 set-connection ptcp:6642:0.0.0.0 ptcp:16642:0.0.0.0\n"
	if err != nil || string(probes) != once+once {
		t.Errorf("%v (-want +got):\n%s", err, cmp.Diff(once+once, string(probes)))
	}

	got, err = runScript(t, "ovn/relay.sh", map[string]string{"ovsdb-server": `test "$1" = --help || echo "$@"`}, "sh")
	want = "--remote=ptcp:16642:0.0.0.0 --remote=db:OVN_Southbound,SB_Global,connections relay:OVN_Southbound:tcp:ovn-sb-0.ns:6642 " +
		"--unixctl=/run/ovn/relay.ctl --pidfile=/run/ovn/relay.pid -vconsole:info\n"
	if err != nil || got != want {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
}

// TestOVNForgets checks that a member that has lost its data removes its former self from the
// cluster, and no other member.
func TestOVNForgets(t *testing.T) {
	const status = `Status: cluster member
Leader: %s
Servers:
    50a2 (50a2 at tcp:ovn-nb-1.ns:6643) (self)
    5450 (5450 at tcp:ovn-nb-0.ns:6643) last msg 107 ms ago
%s    e692 (e692 at tcp:ovn-nb-2.ns:6643) last msg 61 ms ago`
	lost := "    da90 (da90 at tcp:ovn-nb-1.ns:6643)\n"
	dir := t.TempDir()
	for i, text := range []string{fmt.Sprintf(status, "unknown", lost), fmt.Sprintf(status, "5450", lost), fmt.Sprintf(status, "5450", "")} {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("status-%d", i)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for key, value := range map[string]string{"HOSTNAME": "ovn-nb-1", "MEMBERS": "ovn-nb-0.ns ovn-nb-1.ns ovn-nb-2.ns", "DATA": dir, "DB_PORT": "6641", "RAFT_PORT": "6643", "PORTS": "6641"} {
		t.Setenv(key, value)
	}
	if err := os.WriteFile(filepath.Join(dir, "ovnnb.db"), []byte("data"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := runScript(t, "ovn/db.sh", map[string]string{
		"ovsdb-client": "echo no",
		"ovsdb-server": `test "$1" = --help || until test -e "$DATA/settled"; do :; done`,
		"ovn-nbctl":    "",
		"sleep":        "",
		"ovs-appctl": `case $3 in cluster/kick) shift 2; echo "$@"; exit ;; esac
for i in 0 1 2; do
  test -e "$DATA/status-$i" || continue
  cat "$DATA/status-$i"
  rm "$DATA/status-$i"
  test $i != 2 || touch "$DATA/settled"
  exit
done`,
	}, "sh", "nb", "OVN_Northbound")
	if want := "cluster/kick OVN_Northbound da90\n"; err != nil || got != want {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
}

// TestOpenVSwitchDatabase checks that the database is created once, and converted to the schema of
// a newer image.
func TestOpenVSwitchDatabase(t *testing.T) {
	for name, c := range map[string]struct{ data, older, want string }{
		"first":  {"", "no", "create\n"},
		"second": {"data", "no", ""},
		"newer":  {"data", "yes", "convert\n"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if c.data != "" {
				if err := os.WriteFile(filepath.Join(dir, "conf.db"), []byte(c.data), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("DATA", dir)
			got, err := runScript(t, "openvswitch/db.sh", map[string]string{
				"ovsdb-tool":   `case $1 in needs-conversion) echo ` + c.older + ` ;; create) echo create; echo data > "$2" ;; *) echo "$1" ;; esac`,
				"ovsdb-server": `test -s "$1"`,
			})
			if err != nil || got != c.want {
				t.Errorf("%q, %v, want %q", got, err, c.want)
			}
		})
	}
}

// TestOVNSettings checks the settings that a node gives to OVN, and that the userspace datapath
// gets a bridge with the address of the tunnels.
func TestOVNSettings(t *testing.T) {
	const eth1 = `echo "3: eth1    inet 198.51.100.7/24 brd 198.51.100.255 scope global eth1"`
	// The script added bond0 and bond1 to br-ex before. The configuration now names only bond1.
	const given = `case "$*" in *find*'"br-ex"') echo bond0; echo bond1 ;; *find*) ;; *) echo "$@" ;; esac`
	for name, c := range map[string]struct {
		datapath, network, ip string
		want                  []string
		not                   []string
		fails                 bool
	}{
		"kernel":    {"system", "", "", []string{`external-ids:ovn-match-northd-version="true"`, `external-ids:ovn-encap-ip="192.0.2.7"`, `add-port br-ex bond1`, "ip link set bond1 up"}, []string{"br-tunnel", "ip address"}, false},
		"network":   {"system", "198.51.100.0/24", eth1, []string{`external-ids:ovn-encap-ip="198.51.100.7"`}, []string{"br-tunnel", "ip address"}, false},
		"netdev":    {"netdev", "198.51.100.0/24", eth1, []string{`external-ids:ovn-encap-ip="198.51.100.7"`, "add-br br-tunnel", "add-port br-tunnel eth1", "ip address replace 198.51.100.7/24 dev br-tunnel", "ip address delete 198.51.100.7/24 dev eth1"}, nil, false},
		"again":     {"netdev", "198.51.100.0/24", strings.ReplaceAll(eth1, "eth1", "br-tunnel"), []string{`external-ids:ovn-encap-ip="198.51.100.7"`}, []string{"add-br br-tunnel", "ip address"}, false},
		"no such":   {"system", "198.51.100.0/24", "", []string{"The node has no address in 198.51.100.0/24."}, []string{"external-ids"}, true},
		"no bridge": {"system", "", "", []string{"remove Open_vSwitch . external-ids ovn-cms-options"}, nil, false},
		"both":      {"netdev", "198.51.100.0/24", eth1 + "\n" + strings.ReplaceAll(eth1, "eth1", "br-tunnel"), []string{`external-ids:ovn-encap-ip="198.51.100.7"`, "ip address delete 198.51.100.7/24 dev eth1"}, []string{"dev br-tunnel\nip address delete 198.51.100.7/24 dev br-tunnel"}, false},
		"two":       {"netdev", "198.51.100.0/24", eth1 + "\n" + strings.NewReplacer("eth1", "eth2", ".7/", ".8/").Replace(eth1), []string{"add-port br-tunnel eth1"}, []string{"eth2"}, false},
		"interface": {"netdev", "eth1", eth1, []string{`external-ids:ovn-encap-ip="198.51.100.7"`, "add-port br-tunnel eth1"}, nil, false},
		"nowhere":   {"netdev", "", "", []string{"tunnel_network"}, []string{"external-ids"}, true},
		"changed":   {"system", "", "", []string{"del-port br-ex bond0"}, []string{"del-port br-ex bond1", "del-port br-lan"}, false},
		"own":       {"netdev", "192.0.2.0/24", strings.ReplaceAll(eth1, "198.51.100.7", "192.0.2.7"), []string{"Interface eth1 has the node's own address"}, []string{"add-port", "ip address"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			for key, value := range map[string]string{
				"NODE": "node-1", "NODE_IP": "192.0.2.7", "REMOTE": "tcp:ovn-sb-0:6642", "DATAPATH": c.datapath, "GATEWAY": "",
				"TUNNEL": c.network, "MAPPINGS": "physnet1:br-ex", "BRIDGES": "br-ex:bond1 br-lan",
			} {
				t.Setenv(key, value)
			}
			got, err := runScript(t, "ovn/settings.sh", map[string]string{
				"ovs-vsctl": given,
				"ip":        `if test "$1" = -o; then ` + c.ip + "\n:; else echo ip \"$@\"; fi",
			})
			if (err != nil) != c.fails {
				t.Errorf("%v\n%s", err, got)
			}
			for _, want := range c.want {
				if !strings.Contains(got, want) {
					t.Errorf("%q is missing in:\n%s", want, got)
				}
			}
			for _, not := range c.not {
				if strings.Contains(got, not) {
					t.Errorf("%q is in:\n%s", not, got)
				}
			}
		})
	}
}

// TestOVNAddresses checks that a node has a locally administered MAC address of its own in each
// physical network, which stays the same, and none without physical networks.
func TestOVNAddresses(t *testing.T) {
	for name, c := range map[string]struct{ node, mappings, want string }{
		"two networks": {"node-1", "physnet1:br-ex,physnet2:br-lan", `set Open_vSwitch . external-ids:ovn-chassis-mac-mappings="physnet1:52:62:ca:71:91:da,physnet2:52:1a:d8:6b:93:75"`},
		"other bridge": {"node-1", "physnet1:br-lan", `set Open_vSwitch . external-ids:ovn-chassis-mac-mappings="physnet1:52:62:ca:71:91:da"`},
		"other node":   {"node-2", "physnet1:br-ex", `set Open_vSwitch . external-ids:ovn-chassis-mac-mappings="physnet1:52:16:ca:3a:74:6f"`},
		"none":         {"node-1", "", "remove Open_vSwitch . external-ids ovn-chassis-mac-mappings"},
	} {
		for key, value := range map[string]string{
			"NODE": c.node, "NODE_IP": "192.0.2.7", "REMOTE": "tcp:ovn-sb-0:6642", "DATAPATH": "system", "GATEWAY": "",
			"TUNNEL": "", "MAPPINGS": c.mappings, "BRIDGES": "",
		} {
			t.Setenv(key, value)
		}
		got, err := runScript(t, "ovn/settings.sh", map[string]string{"ovs-vsctl": `echo "$@"`, "ip": ""})
		if err != nil || !strings.Contains(got, c.want+"\n") {
			t.Errorf("%s: %v, %q is missing in:\n%s", name, err, c.want, got)
		}
	}
}

// TestNovaOnline checks that the job migrates the data of all cells, and that a failure ends the
// job.
func TestNovaOnline(t *testing.T) {
	const cell0 = "--config-file /etc/nova/nova.conf --config-file /etc/nova/cell0.conf db online_data_migrations\n"
	const cell2 = "--config-file /etc/nova/nova.conf --config-file /var/lib/nova/cell2.conf db online_data_migrations\n"
	for name, c := range map[string]struct {
		manage string
		cells  []string
		want   string
		fails  bool
	}{
		"both":        {`echo "$@"`, nil, cell0 + "db online_data_migrations\n", false},
		"three":       {`echo "$@"`, []string{"cell2"}, cell0 + cell2 + "db online_data_migrations\n", false},
		"cell0 fails": {`echo "$@"; exit 1`, nil, cell0, true},
		"other cell":  {`echo "$@"; test $# -gt 2`, nil, cell0 + "db online_data_migrations\n", true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := cellScript(t, "nova/db-online.sh", c.manage, c.cells...)
			if (err != nil) != c.fails {
				t.Error(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("commands (-want +got):\n%s", diff)
			}
		})
	}
}

// TestOVNConnect checks that a client of OVN gets addresses in place of names, and does not start
// if a name has no address.
func TestOVNConnect(t *testing.T) {
	const getent = `test "$1" = ahosts || exit 2
case $2 in
ovn) echo "10.0.0.6 STREAM ovn"; echo "10.0.0.6 DGRAM" ;;
ovn-relay) echo "10.0.0.7 STREAM ovn-relay" ;;
six) echo "2001:db8::7 STREAM six" ;;
*) exit 2 ;;
esac`
	for name, c := range map[string]struct {
		nb, sb, want string
		fails        bool
	}{
		"both":       {"ovn:6641", "ovn-relay:16642", "tcp:10.0.0.6:6641 tcp:10.0.0.7:16642 two words\n", false},
		"members":    {"ovn:6641 six:6641", "ovn-relay:16642", "tcp:10.0.0.6:6641,tcp:[2001:db8::7]:6641 tcp:10.0.0.7:16642 two words\n", false},
		"one gone":   {"ovn:6641 gone:6641", "ovn-relay:16642", "gone has no address.\n", true},
		"an agent":   {"", "ovn-relay:16642", "- tcp:10.0.0.7:16642 two words\n", false},
		"IPv6":       {"six:6641", "six:16642", "tcp:[2001:db8::7]:6641 tcp:[2001:db8::7]:16642 two words\n", false},
		"no address": {"", "gone:16642", "gone has no address.\n", true},
		"one of two": {"gone:6641", "ovn-relay:16642", "gone has no address.\n", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("NB", c.nb)
			t.Setenv("SB", c.sb)
			got, err := runScript(t, "ovn/connect.sh", map[string]string{
				"getent": getent,
				"client": `echo "${OS_OVN__OVN_NB_CONNECTION--} $OS_OVN__OVN_SB_CONNECTION $1"`,
			}, "sh", "client", "two words")
			if (err != nil) != c.fails || got != c.want {
				t.Errorf("%q, %v, want %q", got, err, c.want)
			}
		})
	}
}

// TestOpenVSwitchSettings checks that the script removes settings that are no longer declared, and
// that it passes each value as one argument.
func TestOpenVSwitchSettings(t *testing.T) {
	const first = "--no-wait|init|\n--no-wait|clear|Open_vSwitch|.|other_config|\n"
	for name, c := range map[string]struct {
		settings, refused, want string
		fails                   bool
	}{
		"none":    {"", "", first, false},
		"some":    {"hw-offload=true\nnote=two words", "", first + "--no-wait|set|Open_vSwitch|.|other_config:hw-offload=true|\n--no-wait|set|Open_vSwitch|.|other_config:note=two words|\n", false},
		"refused": {"a=1\nb=2", "other_config:a=1", first + "--no-wait|set|Open_vSwitch|.|other_config:a=1|\n", true},
		"down":    {"a=1", "init", "--no-wait|init|\n", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("SETTINGS", c.settings)
			got, err := runScript(t, "openvswitch/settings.sh", map[string]string{
				"ovs-vsctl": `printf '%s|' "$@"; echo; for last; do :; done; test "$last" != "` + c.refused + `"`,
			})
			if (err != nil) != c.fails || got != c.want {
				t.Errorf("%q, %v, want %q", got, err, c.want)
			}
		})
	}
}

// TestNovaMap checks that nova-manage gets the connections of a cell, and that no argument of a
// process contains them.
func TestNovaMap(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("NOT RUN: there is no python3, so nobody has seen map.py run")
	}
	program, err := fs.ReadFile(openstack.Catalogue(), "nova/map.py")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for path, text := range map[string]string{
		"nova/__init__.py": "", "nova/cmd/__init__.py": "",
		"nova/cmd/manage.py": "import sys\ndef main():\n    print(*sys.argv, open('/proc/self/cmdline').read().count('p%word'))\n    return 3\n",
		"cells.conf":         "[cell0]\nconnection = mysql://nova:p%word@cell0\n\n[cell2]\nconnection = mysql://nova:p%word@cell2\ntransport_url = rabbit://nova:p%word@cell2\n",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, path)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, path), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for cell, want := range map[string]string{
		"cell0": "nova-manage cell_v2 update_cell --cell_uuid 1 --transport-url none:/// --database_connection mysql://nova:p%word@cell0 0\n",
		"cell2": "nova-manage cell_v2 update_cell --cell_uuid 1 --transport-url rabbit://nova:p%word@cell2 --database_connection mysql://nova:p%word@cell2 0\n",
	} {
		command := exec.Command(python, "-c", string(program), filepath.Join(dir, "cells.conf"), cell, "update_cell", "--cell_uuid", "1")
		command.Env = append(os.Environ(), "PYTHONPATH="+dir)
		got, err := command.CombinedOutput()
		if string(got) != want || command.ProcessState.ExitCode() != 3 {
			t.Errorf("%s: %v, %q, want %q", cell, err, got, want)
		}
	}
}

// TestNames checks that each node gets its own names for iSCSI and NVMe, and keeps names that exist.
func TestNames(t *testing.T) {
	files := []string{"iscsi/initiatorname.iscsi", "nvme/hostnqn", "nvme/hostid"}
	const id = "0f1e2d3c-0000-4000-8000-000000000001"
	node := func(have map[string]string) map[string]string {
		root := t.TempDir()
		write := func(name, content string) {
			path := filepath.Join(root, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		write("proc/sys/kernel/random/uuid", id+"\n")
		for _, name := range []string{"etc/iscsi", "etc/nvme"} {
			if err := os.MkdirAll(filepath.Join(root, name), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		for name, content := range have {
			write("etc/"+name, content)
		}
		for range 2 { // the pod starts again
			if out, err := runScript(t, "nova/names.sh", nil, "sh", root); err != nil || out != "" {
				t.Fatalf("%v, %q", err, out)
			}
		}
		got := map[string]string{}
		for _, name := range files {
			content, _ := os.ReadFile(filepath.Join(root, "etc", name))
			got[name] = string(content)
		}
		return got
	}
	made := map[string]string{
		files[0]: "InitiatorName=iqn.2016-04.com.open-iscsi:" + id + "\n",
		files[1]: "nqn.2014-08.org.nvmexpress:uuid:" + id + "\n",
		files[2]: id + "\n",
	}
	own := map[string]string{files[0]: "InitiatorName=iqn.1993-08.org.debian:01:1\n", files[1]: "nqn.2014-08.org.nvmexpress:uuid:2\n", files[2]: "2\n"}
	for name, c := range map[string]struct{ have, want map[string]string }{
		"new":         {nil, made},
		"own":         {own, own},
		"interrupted": {map[string]string{files[0]: "", files[2]: "3\n"}, made},
	} {
		if diff := cmp.Diff(c.want, node(c.have)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestUserspaceInterfaces checks that an interface is set up if it is down, and that its port is added
// again if the datapath reads the device of another run: the loopback interface is never promiscuous.
func TestUserspaceInterfaces(t *testing.T) {
	got, err := runScript(t, "openvswitch/netdev.sh", map[string]string{
		"sleep": `test ! -e "$0.once" || exit 1; : >"$0.once"`,
		"ovs-vsctl": `
case $* in
*find*) printf 'tap-gone,down\nlo,up\n' ;;
*"iface-to-br tap-gone") echo br-int ;;
esac`,
		"ovs-ofctl":  `echo "ofctl $*"`,
		"ovs-appctl": `echo "appctl $*"`,
	}, "sh", "echo", "the command runs")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(got), "\n")
	slices.Sort(lines)
	want := []string{
		"appctl -T 8 dpctl/del-if netdev@ovs-netdev lo", "ofctl mod-port br-int tap-gone up", "opened lo again", "set tap-gone up", "the command runs",
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
