package openstack_test

import (
	"bufio"
	"encoding/json"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/providers/openstack"
)

// TestServersOfANode checks that the servers of a node are listed with the names that their users
// gave them, and that a failed command is an error.
func TestServersOfANode(t *testing.T) {
	const virsh = `
case "$1 $2" in
"list --uuid") printf 'id-1\nid-2\nid-3\n\n' ;;
"metadata id-1") echo '<instance>
  <package version="31"/>
  <name>web &amp; more</name>
  <owner><user uuid="u">admin</user></owner>
</instance>' ;;
"metadata id-2") echo '<nova:instance><nova:name>db</nova:name></nova:instance>' ;;
*) echo 'error: metadata not found' >&2; exit 1 ;;
esac`
	got, err := runScript(t, "nova/servers.sh", map[string]string{"virsh": virsh})
	if want := "web & more (id-1)\ndb (id-2)\nunnamed (id-3)\n"; err != nil || got != want {
		t.Errorf("%v, (-want +got):\n%s", err, cmp.Diff(want, got))
	}
	const ports = `echo 'external_ids        : {}

external_ids        : {attached-mac="fa:16:3e:00:00:01", iface-id="p", vm-uuid="4a5b6c7d-0000-4000-8000-000000000001"}

external_ids        : {vm-uuid=fa5b6c7d-0000-4000-8000-000000000001, iface-status=active}
external_ids        : {vm-uuid=fa5b6c7d-0000-4000-8000-000000000001, iface-status=active}'`
	got, err = runScript(t, "openvswitch/servers.sh", map[string]string{"ovs-vsctl": ports})
	if want := "4a5b6c7d-0000-4000-8000-000000000001\nfa5b6c7d-0000-4000-8000-000000000001\n"; err != nil || got != want {
		t.Errorf("%v, (-want +got):\n%s", err, cmp.Diff(want, got))
	}
	for script, tool := range map[string]string{"nova/servers.sh": "virsh", "openvswitch/servers.sh": "ovs-vsctl"} {
		if out, err := runScript(t, script, map[string]string{tool: "exit 1"}); err == nil {
			t.Errorf("%s without an answer ends with 0: %s", script, out)
		}
	}
}

// TestOpenvswitchLeaves checks that the script deletes all bridges, and gives the address of a
// bridge back to its interface.
func TestOpenvswitchLeaves(t *testing.T) {
	const db = `shift
case "$*" in
list-br) printf 'br-int\nbr-tunnel\n' ;;
"list-ports br-tunnel") printf 'patch-1\neth1\n' ;;
"--if-exists get Interface patch-1 type") echo patch ;;
"--if-exists get Interface eth1 type") echo '""' ;;
*) echo "$@" ;;
esac`
	const ip = `case "$*" in
"-o address show dev br-tunnel scope global") echo '7: br-tunnel    inet 203.0.113.7/24 scope global br-tunnel' ;;
"-o address show"*) ;;
*) echo ip "$@" ;;
esac`
	got, err := runScript(t, "openvswitch/leave.sh", map[string]string{
		"ovs-vsctl": db, "ip": ip, "ovs-dpctl": `test "$1" = dump-dps && echo system@old || echo "$@"`,
	})
	want := `--if-exists del-br br-int
ip link set eth1 up
ip address replace 203.0.113.7/24 dev eth1
--if-exists del-br br-tunnel
del-dp system@old
`
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v, (-want +got):\n%s", err, diff)
	}
	got, err = runScript(t, "openvswitch/leave.sh", map[string]string{"ovs-vsctl": "", "ip": "exit 1", "ovs-dpctl": "exit 1"})
	if err != nil || got != "" {
		t.Errorf("once more: %v, %s", err, got)
	}
	if _, err := runScript(t, "openvswitch/leave.sh", map[string]string{"ovs-vsctl": "exit 1", "ovs-dpctl": ""}); err == nil {
		t.Error("without the database it ends with 0")
	}
}

// TestOVNLeaves checks that ovn-controller first forgets its node, and that the script then deletes
// the node from OVN's database until it does not come back.
func TestOVNLeaves(t *testing.T) {
	const db = `shift
case "$*" in
*external_ids:hostname) echo '"node-1"' ;;
*external_ids:ovn-remote) echo '"tcp:sb:6642"' ;;
*) echo "$@" ;;
esac`
	const left = `remove Open_vSwitch . external_ids system-id
--if-exists chassis-del node-1
--if-exists destroy Chassis_Private node-1
remove Open_vSwitch . external_ids ovn-remote
remove Open_vSwitch . external_ids ovn-encap-type
remove Open_vSwitch . external_ids ovn-encap-ip
remove Open_vSwitch . external_ids ovn-bridge-datapath-type
remove Open_vSwitch . external_ids ovn-bridge-mappings
remove Open_vSwitch . external_ids ovn-chassis-mac-mappings
remove Open_vSwitch . external_ids ovn-cms-options
remove Open_vSwitch . external_ids ovn-match-northd-version
remove Open_vSwitch . external_ids ovn-remote-probe-interval
remove Open_vSwitch . external_ids hostname
`
	for name, c := range map[string]struct {
		db, found, want string
		away            int // number of times that ovn-sbctl fails before it answers
		fails           bool
	}{
		"there": {db: db, want: left},
		"comes back": {db: db, found: "node-1", fails: true, want: "remove Open_vSwitch . external_ids system-id\n" +
			strings.Repeat("--if-exists chassis-del node-1\n--if-exists destroy Chassis_Private node-1\n", 5) + "OVN may still have the chassis node-1.\n"},
		"not at once":  {db: db, away: 3, want: left},
		"away":         {db: db, away: 5, fails: true, want: "remove Open_vSwitch . external_ids system-id\nOVN may still have the chassis node-1.\n"},
		"gone":         {},
		"no data base": {db: "exit 1", fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			tries := filepath.Join(t.TempDir(), "tries")
			t.Setenv("TRIES", tries)
			if err := os.WriteFile(tries, []byte(strings.Repeat("x", c.away)), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := runScript(t, "ovn/leave.sh", map[string]string{
				"ovs-vsctl": c.db, "sleep": "",
				"ovn-sbctl": `tries=$(cat "$TRIES")
if test -n "$tries"; then printf %s "${tries#x}" > "$TRIES"; exit 1; fi
test "$2 $3" = "--no-leader-only --db=tcp:sb:6642" || exit 1
shift 3
case "$*" in
*find*) echo ` + c.found + ` ;;
*) echo "$@" ;;
esac`,
			})
			if diff := cmp.Diff(c.want, got); (err != nil) != c.fails || diff != "" {
				t.Errorf("%v, (-want +got):\n%s", err, diff)
			}
		})
	}
}

// TestNovaLeaves checks that the script stops servers and virtlogd, deletes devices of servers,
// unmounts shares from the inside out, and removes all control groups of libvirt.
func TestNovaLeaves(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{"proc/self", "run/libvirt", "sys/fs/cgroup/cpu/machine/qemu-1/emulator", "sys/fs/cgroup/cpu/kubepods", "sys/fs/cgroup/memory/machine", "sys/class/net/tap2"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(root, path), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	mounts := root + "/var/lib/nova/mnt"
	write("proc/self/mounts", "nas:/a "+mounts+"/a nfs rw 0 0\nnas:/b "+mounts+"/a/b\\040c nfs rw 0 0\ndev "+mounts+" ext4 rw 0 0\n")
	virtlogd := filepath.Join(t.TempDir(), "virtlogd")
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(sleep, virtlogd); err != nil {
		t.Fatal(err)
	}
	process := exec.Command(virtlogd, "60")
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- process.Wait() }()
	write("run/libvirt/virtlogd.pid", strconv.Itoa(process.Process.Pid)+"\n")
	virsh := `
case "$*" in
"list --uuid") test -e ` + root + `/ended || echo id-1 ;;
"list --all --uuid") printf 'id-1\nid-2\n' ;;
"domiflist id-1") printf ' Interface   Type       Source   Model    MAC\n-------\n tap1  ethernet - virtio m\n tap2  ethernet - virtio m\n' ;;
"domiflist id-2") printf ' Interface   Type       Source   Model    MAC\n-------\n -  hostdev - - m\n' ;;
*) echo "$@"; touch ` + root + `/ended; test "$2" != id-2 ;;
esac`
	tools := map[string]string{"virsh": virsh, "umount": `echo umount "$@"`, "ip": `echo ip "$@"`, "ovs-vsctl": `echo "$3 $4"; exit 1`}
	got, err := runScript(t, "nova/leave.sh", tools, "sh", root)
	want := "destroy id-1\ndel-port tap1\ndel-port tap2\nip link delete tap2\nundefine id-1 --keep-nvram --snapshots-metadata\nundefine id-2 --keep-nvram --snapshots-metadata\n" +
		"umount " + mounts + "/a/b c\numount " + mounts + "/a\n"
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v, (-want +got):\n%s", err, diff)
	}
	if err := <-ended; err == nil {
		t.Error("virtlogd has ended by itself")
	}
	for path, stays := range map[string]bool{"run/libvirt/virtlogd.pid": false, "sys/fs/cgroup/cpu/machine": false, "sys/fs/cgroup/memory/machine": false, "sys/fs/cgroup/cpu/kubepods": true} {
		if _, err := os.Stat(filepath.Join(root, path)); (err == nil) != stays {
			t.Errorf("%s: %v", path, err)
		}
	}
	write("proc/self/mounts", "")
	if got, err := runScript(t, "nova/leave.sh", tools, "sh", root); err != nil {
		t.Errorf("once more: %v\n%s", err, got)
	}
	tools["virsh"] = "echo id-1"
	if got, err := runScript(t, "nova/leave.sh", tools, "sh", root); err == nil || !strings.Contains(got, "Servers still run: id-1") {
		t.Errorf("a server that runs on: %v\n%s", err, got)
	}
}

// TestMetadataLeaves checks that the script removes the network namespaces of the agent, with their
// processes and ports, and no others.
func TestMetadataLeaves(t *testing.T) {
	source, err := fs.ReadFile(openstack.Catalogue(), "ovn/metadata-leave.py")
	if err != nil {
		t.Fatal(err)
	}
	root, err := os.MkdirTemp("", "leave") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	for _, name := range []string{"run/netns/ovnmeta-0123456789abcdef", "run/netns/other", "run/openvswitch"} {
		if err := os.MkdirAll(filepath.Join(root, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	listener, err := net.Listen("unix", filepath.Join(root, "run/openvswitch/db.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	asked := make(chan string, 4)
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			var request struct{ Params []json.RawMessage }
			_ = json.NewDecoder(bufio.NewReader(c)).Decode(&request)
			var said []string
			for _, p := range request.Params[1:] {
				said = append(said, string(p))
			}
			asked <- strings.Join(said, "\n")
			_, _ = c.Write([]byte(`{"id":"leave","error":null,"result":[{"rows":[{"_uuid":["uuid",`))
			_, _ = c.Write([]byte(`"row-1"]}]}]}`))
			_ = c.Close()
		}
	}()
	bin := t.TempDir()
	script := "#!/bin/sh\ncase \"$2\" in pids) ;; *) echo \"$@\" ;; esac\n"
	if err := os.WriteFile(filepath.Join(bin, "ip"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	python := exec.Command("python3", "-c", string(source), root)
	python.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
	out, err := python.CombinedOutput()
	if err != nil || string(out) != "netns delete ovnmeta-0123456789abcdef\n" {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{
		`{"op": "select", "table": "Port", "where": [["name", "==", "tap01234567890"]], "columns": ["_uuid"]}`,
		`{"op": "mutate", "table": "Bridge", "where": [], "mutations": [["ports", "delete", ["set", [["uuid", "row-1"]]]]]}`,
	} {
		if got := <-asked; got != want {
			t.Errorf("asked %s, want %s", got, want)
		}
	}
}
