package acceptance_test

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// mayBecomeRoot checks that sudo lets the user run these commands as root, and no shell.
func (c container) mayBecomeRoot(user string, commands ...string) {
	c.Helper()
	for _, command := range commands {
		args := append([]string{"sudo", "--non-interactive", "--list"}, strings.Fields(command)...)
		if out, err := c.command(user, nil, args...).CombinedOutput(); err != nil {
			c.Errorf("%s may not run %s as root: %v\n%s", user, command, err, out)
		}
	}
	if err := c.command(user, nil, "sudo", "--non-interactive", "--list", "sh").Run(); err == nil {
		c.Errorf("%s may run a shell as root", user)
	}
}

func nova(c container) {
	c.commands("nova-manage", "nova-status", "nova-rootwrap", "privsep-helper", "openstack")
	config := map[string]string{"/etc/nova/nova.conf": daemon("nova", "database") + `
[api_database]
connection = sqlite:////var/lib/nova/api
[DEFAULT]
compute_driver = fake.FakeDriver
[vnc]
novncproxy_host = 127.0.0.1
`}
	sync := "nova-manage api_db sync\nnova-manage db sync --local_cell"
	switch program := c.image; program {
	case "nova-api":
		c.bootstraps("nova", config)
		c.once("KOLLA_UPGRADE=")
		c.once("KOLLA_OSM=")
		config["/etc/nova/uwsgi.ini"] = uwsgi(8774, "module = nova.wsgi.osapi_compute:application")
		c.answers("nova", config, sync, "uwsgi --ini /etc/nova/uwsgi.ini", "http://127.0.0.1:8774/")
	case "nova-novncproxy":
		c.answers("nova", config, "true", program, "http://127.0.0.1:6080/vnc_lite.html")
	case "nova-compute":
		c.mayBecomeRoot("nova", "nova-rootwrap /etc/nova/rootwrap.conf privsep-helper", "privsep-helper --help")
		c.succeeds("python3", "-c", "import libvirt, rados, rbd, vif_plug_ovs")
		c.succeeds("qemu-img", "--version")
		c.says("nova", config, "true", program, "Timed out waiting for nova-conductor")
	default:
		// These services look for Placement first, and the configuration does not contain it.
		c.says("nova", config, sync, program, "No authentication information found for placement API")
	}
}

func neutron(c container) {
	c.commands("neutron-db-manage", "neutron-status", "neutron-rootwrap", "privsep-helper", "openstack")
	config := map[string]string{
		"/etc/neutron/neutron.conf": daemon("neutron", "database") + `
[DEFAULT]
core_plugin = ml2
bind_host = 127.0.0.1
[ml2]
mechanism_drivers =
type_drivers = local
[ovs]
ovsdb_connection = tcp:127.0.0.1:6640
`,
	}
	switch c.image {
	case "neutron-metadata-agent":
		c.mayBecomeRoot("neutron", "neutron-rootwrap /etc/neutron/rootwrap.conf ip",
			"neutron-rootwrap-daemon /etc/neutron/rootwrap.conf", "privsep-helper --help")
		c.succeeds("haproxy", "-v")
		c.says("neutron", config, "true", "neutron-ovn-metadata-agent", "Could not retrieve schema from tcp:127.0.0.1:6640")
		return
	case "neutron-sriov-agent":
		config["/etc/neutron/plugins/ml2/sriov_agent.ini"] = `[sriov_nic]
physical_device_mappings = physnet2:eth9
[securitygroup]
firewall_driver = noop
`
		c.mayBecomeRoot("neutron", "privsep-helper --help")
		c.says("neutron", config, "true", "neutron-sriov-nic-agent --config-file /etc/neutron/neutron.conf --config-file /etc/neutron/plugins/ml2/sriov_agent.ini",
			"Physical Devices mappings: {'physnet2': ['eth9']}")
		return
	}
	// Neutron's migrations do not support SQLite.
	c.configure("true", "neutron", config)
	c.once()
	c.succeeds("neutron-db-manage", "--subproject", "neutron", "heads")
	c.answers("neutron", config, "true", "neutron-server --config-file /etc/neutron/neutron.conf", "http://127.0.0.1:9696/")
}

// ovn starts Open vSwitch and OVN's databases like Kolla's images, and runs their clients one after
// the other.
func ovn(c container) {
	start := "/usr/share/ovn/scripts/ovn-ctl "
	switch c.image {
	case "ovn-nb-db-server":
		c.configure(start+"run_nb_ovsdb", "root", nil)
		c.starts("ovn-nbctl", "show")
	case "ovn-sb-db-relay":
		c.succeeds("ovsdb-server", "--version")
	case "ovn-sb-db-server":
		c.configure(start+"run_sb_ovsdb", "root", nil)
		c.starts("ovn-sbctl", "show")
	case "ovn-northd":
		c.succeeds("ovn-northd", "--version")
	case "ovn-controller":
		c.succeeds("ovn-controller", "--version")
	default:
		c.configure("ovsdb-server /var/lib/openvswitch/conf.db --remote=punix:/run/openvswitch/db.sock", "root", nil)
		r := c.starts("ovs-vsctl", "--no-wait", "init")
		if c.image == "openvswitch-db-server" {
			return
		}
		for _, args := range [][]string{
			{"ovs-vswitchd", "unix:/run/openvswitch/db.sock", "--pidfile", "--detach"},
			{"ovs-vsctl", "--timeout=30", "add-br", "br-ex", "--", "set", "bridge", "br-ex", "datapath_type=netdev"},
			{"ip", "link", "set", "br-ex", "up"},
		} {
			if err := r.exec("root", args...); err != nil {
				c.Fatal(err)
			}
		}
	}
}

// starts starts the image as root and waits until a program in the container succeeds.
func (c container) starts(args ...string) running {
	c.Helper()
	r := c.start()
	r.config.User = "root"
	r.becomes(args...)
	return r
}

// machine is a virtual machine in QEMU's user network, where the address of the metadata service is
// the host.
const machine = `
<domain type='qemu' xmlns:qemu='http://libvirt.org/schemas/domain/qemu/1.0'>
  <name>guest</name>
  <memory unit='MiB'>96</memory>
  <os><type>hvm</type></os>
  <features><acpi/></features>
  <devices>
    <disk type='file' device='disk'>
      <driver type='qcow2'/><source file='/var/lib/nova/guest.qcow2'/><target dev='vda' bus='virtio'/>
    </disk>
    <disk type='file' device='disk'>
      <driver type='raw'/><source file='/var/lib/nova/volume'/><target dev='vdb' bus='virtio'/>
    </disk>
    <serial type='file'><source path='/var/lib/nova/console.log'/></serial>
  </devices>
  <qemu:commandline>
    <qemu:arg value='-netdev'/>
    <qemu:arg value='user,id=net,net=169.254.0.0/16,host=169.254.169.254,dhcpstart=169.254.0.10'/>
    <qemu:arg value='-device'/>
    <qemu:arg value='virtio-net-pci,netdev=net,addr=0x10'/>
  </qemu:commandline>
</domain>
`

// metadataServer delays the first answer for each file by ten seconds. By then the guest has asked
// again.
const metadataServer = `
import http.server, time
asked = set()
class Handler(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        if self.path not in asked:
            asked.add(self.path)
            time.sleep(10)
        super().do_GET()
http.server.ThreadingHTTPServer(("", 80), Handler).serve_forever()
`

// libvirt starts libvirtd and the guest. It checks that the guest gets an address although its
// network comes late, that it gets its metadata, that its user data writes to a volume and reads
// it, and that the power button shuts it down.
func (b builder) libvirt(c container) {
	// The guest is that of the default release.
	guest := c.TempDir()
	b.run(c.T, "build", "-out", guest, "-cache", b.cache, "guest")
	disk, err := os.ReadFile(filepath.Join(guest, "guest.qcow2"))
	if err != nil {
		c.Fatal(err)
	}
	for name, content := range map[string]string{
		"guest.qcow2": string(disk),
		"volume":      strings.Repeat("\x00", 1<<20),
		"machine.xml": machine,
		"metadata/openstack/latest/meta_data.json": `{"uuid": "7d1b", "hostname": "first.test"}`,
		"metadata/openstack/latest/user_data":      "#!/bin/sh\necho written >/dev/vdb\necho \"the volume: $(head -n 1 /dev/vdb)\"\n",
	} {
		name = filepath.Join(c.root, "var/lib/nova", name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			c.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
			c.Fatal(err)
		}
	}
	c.succeeds("chown", "-R", "nova:", "/var/lib/nova")
	c.configure("/usr/sbin/libvirtd", "root", map[string]string{
		"/etc/libvirt/libvirtd.conf": "auth_unix_rw = \"none\"\n",
		"/etc/libvirt/qemu.conf": `
user = "nova"
group = "nova"
stdio_handler = "file"
security_driver = "none"
namespaces = []
remember_owner = 0
cgroup_controllers = []
`,
	})
	r := c.starts("virsh", "uri")
	if err := r.exec("root", "sh", "-c", "cd /var/lib/nova/metadata && exec python3 -c \"$0\" >/dev/null 2>&1 &", metadataServer); err != nil {
		c.Fatal(err)
	}
	if err := r.exec("root", "virsh", "create", "/var/lib/nova/machine.xml"); err != nil {
		c.Fatalf("%v\n%s", err, r.logged())
	}
	link := func(state string) {
		if err := r.exec("root", "virsh", "qemu-monitor-command", "guest", "--hmp", "set_link net "+state); err != nil {
			c.Error(err)
		}
	}
	link("off")
	r.becomes("grep", "-F", "guest: up", "/var/lib/nova/console.log")
	time.Sleep(30 * time.Second) // like after a power cut of the node
	link("on")
	console := []string{
		"guest: lease eth0 169.254.0.10/16", "guest: no meta_data.json (1)", `guest: metadata {"uuid": "7d1b"`, "guest: no user_data (1)", "guest: ready",
		"the volume: written", "guest: user data ended with 0", "guest: disks vda vdb",
	}
	for _, line := range console {
		r.becomes("grep", "-F", line, "/var/lib/nova/console.log")
	}
	if err := r.exec("root", "virsh", "shutdown", "guest"); err != nil {
		c.Error(err)
	}
	r.becomes("sh", "-c", "! virsh domstate guest")
}
