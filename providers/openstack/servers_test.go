package openstack_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/internal/dev/golden"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/releases"
	"kolla.openstack.org/kolla/providers"
)

// ofServers are the services whose objects are in the golden files of testdata/servers.
var ofServers = []string{"nova", "neutron", "ovn", "openvswitch", "ovn-controller", "neutron-ovn-metadata", "nova-compute-fast", "nova-compute-slow", "nova-cell2"}

// serviceOf returns the name of the service that an object belongs to.
func serviceOf(o providers.Object) string {
	return o.Manifest.GetLabels()[providers.LabelService]
}

// TestServers compares the objects of Nova, Neutron and OVN with golden files, in each release.
func TestServers(t *testing.T) {
	inEachRelease(t, "testdata/servers", ofServers...)
}

// TestServersByRelease checks the commands that start the processes in each release.
func TestServersByRelease(t *testing.T) {
	const (
		connect = "sh -ec connect.sh sh "
		files   = " --config-file /etc/neutron/neutron.conf --config-file /etc/neutron/plugins/ml2/ml2_conf.ini"
		sb      = "tcp:ovn-sb-0.ovn-sb.openstack.svc.cluster.local:6642,tcp:ovn-sb-1.ovn-sb.openstack.svc.cluster.local:6642,tcp:ovn-sb-2.ovn-sb.openstack.svc.cluster.local:6642"
		compute = "sh -ec a=$(cat /run/libvirt/pki/address); OS_LIBVIRT__LIVE_MIGRATION_INBOUND_ADDR=$a exec nova-compute"
		sshd    = `sh -ec chmod 0755 /run/sshd; exec /usr/sbin/sshd -D -e -o "ListenAddress=$NODE_IP"`
		many    = `ulimit -S -n 65535 2> /dev/null || ulimit -S -n "$(ulimit -H -n)"; exec "$@"`
		agent   = " --config-file /etc/neutron/neutron_ovn_metadata_agent.ini --config-dir /etc/neutron/neutron_ovn_metadata_agent.ini.d"
	)
	common := map[string]string{
		"nova/api":                  "uwsgi --ini /etc/nova/nova-api-uwsgi.ini",
		"nova/metadata":             "uwsgi --ini /etc/nova/nova-metadata-uwsgi.ini",
		"nova/scheduler":            "nova-scheduler",
		"nova/conductor":            "nova-conductor",
		"nova/novncproxy":           "nova-novncproxy",
		"nova-cell2/conductor":      "nova-conductor",
		"nova-cell2/novncproxy":     "nova-novncproxy",
		"ovn/nb":                    "sh -ec db.sh db nb OVN_Northbound",
		"ovn/sb":                    "sh -ec db.sh db sb OVN_Southbound",
		"ovn/northd":                "ovn-northd -vconsole:info --ovnnb-db=" + strings.NewReplacer("ovn-sb", "ovn-nb", "6642", "6641").Replace(sb) + " --ovnsb-db=" + sb + " --unixctl=/run/ovn/ovn-northd.ctl",
		"ovn/relay":                 "sh -ec relay.sh",
		"openvswitch/ovs":           "sh -c " + many + " sh ovs-vswitchd unix:/run/openvswitch/db.sock --pidfile=/run/openvswitch/ovs-vswitchd.pid -vconsole:info",
		"openvswitch/ovs/db":        "sh -ec db.sh",
		"ovn-controller/controller": "ovn-controller unix:/run/openvswitch/db.sock --pidfile=/run/ovn/ovn-controller.pid -vconsole:info",

		"neutron-ovn-metadata/agent":        "dumb-init --single-child -- " + connect + "neutron-ovn-metadata-agent" + agent,
		"nova-compute-fast/compute":         compute,
		"nova-compute-fast/compute/libvirt": "sh -ec libvirt.sh sh ",
		"nova-compute-fast/compute/ssh":     sshd,
		"nova-compute-slow/compute":         compute,
		"nova-compute-slow/compute/libvirt": "sh -ec libvirt.sh sh ",
		"nova-compute-slow/compute/ssh":     sshd,
	}
	one := map[string]string{"neutron/api": connect + "neutron-server" + files}
	split := map[string]string{
		"neutron/api":                    connect + "uwsgi --ini /etc/neutron/neutron-api-uwsgi.ini",
		"neutron/rpc-server":             connect + "neutron-rpc-server" + files,
		"neutron/periodic-worker":        connect + "neutron-periodic-workers" + files,
		"neutron/ovn-maintenance-worker": connect + "neutron-ovn-maintenance-worker" + files,
	}
	scripts := map[string]string{}
	for _, name := range []string{"ovn/connect.sh", "ovn/db.sh", "ovn/relay.sh", "openvswitch/db.sh", "nova/libvirt.sh"} {
		text, err := os.ReadFile(filepath.Join("catalogue", name))
		if err != nil {
			t.Fatal(err)
		}
		scripts[string(text)] = filepath.Base(name)
	}
	said := func(command []string) string {
		command = slices.Clone(command)
		for i, word := range command {
			if name := scripts[word]; name != "" {
				command[i] = name
			}
		}
		return strings.Join(command, " ")
	}
	for _, release := range releases.Names() {
		neutron := split
		if release < "2025.2" {
			neutron = one
		}
		want := maps.Clone(common)
		maps.Copy(want, neutron)
		got := map[string]string{}
		for _, s := range inRelease(t, "testdata/servers", release).Services {
			if !slices.Contains(ofServers, s.Name) {
				continue
			}
			for _, w := range s.Workloads {
				got[s.Name+"/"+w.Name] = said(w.Pod.Command)
				for _, init := range w.Pod.Inits {
					if init.Sidecar {
						got[s.Name+"/"+w.Name+"/"+init.Name] = said(init.Command)
					}
				}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", release, diff)
		}
	}
}

// TestAccelerated renders the blocks of docs/hypervisors.md, and compares their changes with a
// golden file. The last block replaces the first block of the same service.
func TestAccelerated(t *testing.T) {
	page, err := os.ReadFile("../../docs/hypervisors.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	base, err := os.ReadFile("testdata/accelerated/cloud.hcl.part") // this part is not valid without the page
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?ms)^```hcl\n(.*?)^```$").FindAllStringSubmatch(string(page), -1)
	if len(blocks) != 3 {
		t.Fatalf("the page has %d configurations, want 3", len(blocks))
	}
	network, _, found := strings.Cut(blocks[1][1], "\nservice \"openvswitch\"")
	if !found {
		t.Fatal("the page has no Open vSwitch without hugepages")
	}
	for name, text := range map[string]string{"cloud.hcl": string(base), "fast.hcl": blocks[0][1], "network.hcl": network, "openvswitch.hcl": blocks[2][1]} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	changed := []string{
		"ConfigMap/nova-compute-fast-nova-compute.conf", "ConfigMap/nova-scheduler.conf", "ConfigMap/nova-api.conf",
		"ConfigMap/neutron-ml2-conf.ini", "ConfigMap/neutron-sriov-neutron.conf", "ConfigMap/neutron-sriov-sriov-agent.ini",
		"DaemonSet/neutron-sriov-agent", "DaemonSet/nova-compute-fast-compute", "DaemonSet/openvswitch-ovs",
	}
	objects := slices.DeleteFunc(render(t, load(t, dir), facts()), func(o providers.Object) bool {
		_, name, _ := strings.Cut(logical(o), "/")
		return !slices.Contains(changed, name)
	})
	golden.Compare(t, "testdata/accelerated/want.golden.yaml", dump(t, objects))
	if len(objects) != len(changed) {
		t.Errorf("%d objects, want %d", len(objects), len(changed))
	}
}

// changedCloud renders testdata/servers in the newest release, with old replaced by text.
func changedCloud(t *testing.T, old, text string) []providers.Object {
	t.Helper()
	source, err := os.ReadFile("testdata/servers/cloud.hcl")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(source), old) {
		t.Fatalf("no %q", old)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "cloud.hcl"), []byte(strings.Replace(string(source), old, text, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	return render(t, inRelease(t, dir, newest), facts())
}

// touched returns the logical addresses of the objects that differ between two renders.
func touched(before, after []providers.Object) []string {
	seen := map[string]string{}
	for _, o := range before {
		seen[logical(o)] = o.Address.Name + o.Manifest.GetName() + text(o)
	}
	var out []string
	for _, o := range after {
		name := logical(o)
		if seen[name] != o.Address.Name+o.Manifest.GetName()+text(o) {
			out = append(out, name)
		}
		delete(seen, name)
	}
	out = append(out, slices.Collect(maps.Keys(seen))...)
	slices.Sort(out)
	return out
}

func text(o providers.Object) string {
	source, err := o.Manifest.MarshalJSON()
	if err != nil {
		panic(err)
	}
	return string(source)
}

// TestServersChange checks that a changed setting restarts only the processes that read it, and
// runs no job of a database.
func TestServersChange(t *testing.T) {
	const controller = "  role   = role.control\n  expose = exposure.public\n}\n\nservice \"neutron\""
	config := func(file, values string) (string, string) {
		return controller, strings.Replace(controller, "\n}\n", "\n\n  config \""+file+"\" { values = "+values+" }\n}\n", 1)
	}
	for name, c := range map[string]struct {
		change func() (old, text string)
		want   []string
	}{
		"all of Nova": {
			func() (string, string) { return config("nova.conf", `{ DEFAULT = { debug = true } }`) },
			[]string{
				"ConfigMap/nova-api.conf", "ConfigMap/nova-conductor.conf", "ConfigMap/nova-metadata.conf", "ConfigMap/nova-novncproxy.conf",
				"ConfigMap/nova-scheduler.conf", "ConfigMap/nova.conf", "Deployment/nova-api", "Deployment/nova-metadata", "Deployment/nova-novncproxy",
				"Job/nova-upgrade-check", "StatefulSet/nova-conductor", "StatefulSet/nova-scheduler",
			},
		},
		"one process": {
			func() (string, string) { return config("nova-scheduler.conf", `{ scheduler = { workers = 4 } }`) },
			[]string{"ConfigMap/nova-scheduler.conf", "StatefulSet/nova-scheduler"},
		},
		"hypervisors": {
			func() (string, string) { return `virt_type = "kvm"`, `virt_type = "qemu"` },
			[]string{"ConfigMap/nova-compute-fast-nova-compute.conf", "DaemonSet/nova-compute-fast-compute"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			before := render(t, inRelease(t, "testdata/servers", newest), facts())
			old, text := c.change()
			var got []string
			for _, name := range touched(before, changedCloud(t, old, text)) {
				_, name, _ = strings.Cut(name, "/")
				got = append(got, name)
			}
			slices.Sort(got)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
		})
	}
}

// TestOVNMembers checks that several members of OVN's databases never share a node, and that a
// single member may run on any node.
func TestOVNMembers(t *testing.T) {
	for members, want := range map[string]bool{"1": false, "3": true} {
		objects := render(t, written(t, "service \"ovn\" { replicas = "+members+" }\n"), facts())
		for _, name := range []string{"ovn-nb", "ovn-sb"} {
			if got := strings.Contains(text(find(t, objects, "StatefulSet/"+name)), `"requiredDuringScheduling`); got != want {
				t.Errorf("%s with %s members needs nodes of its own: %t, want %t", name, members, got, want)
			}
		}
	}
}

// TestNorthdChangesWithTheNodes checks that northd changes in the stage of the nodes, and that nothing waits for
// it: its dependants would change in that stage, too.
func TestNorthdChangesWithTheNodes(t *testing.T) {
	objects := render(t, inRelease(t, "testdata/servers", newest), facts())
	northd := find(t, objects, "Deployment/ovn-northd")
	if northd.Stage != configs.StageNodes {
		t.Errorf("northd changes in the stage %q", northd.Stage)
	}
	for _, o := range objects {
		if slices.Contains(o.DependsOn, northd.Address) {
			t.Errorf("%s waits for northd", o.Address)
		}
	}
}

// TestOVNNetworks checks the environment variables with the interfaces for a node's tunnels and
// bridges.
func TestOVNNetworks(t *testing.T) {
	controller := text(find(t, render(t, written(t, `
service "ovn" {}
service "openvswitch" {}
service "ovn-controller" {
  tunnel_interface = "bond0"
  bridges = {
    a = { bridge = "br-a", interface = "eth2" }
    b = { bridge = "br-b", network = "203.0.113.0/24" }
    c = { bridge = "br-c" }
  }
}
`), facts()), "DaemonSet/ovn-controller-controller"))
	for name, want := range map[string]string{"TUNNEL": "bond0", "MAPPINGS": "a:br-a,b:br-b,c:br-c", "BRIDGES": "br-a:eth2 br-b:203.0.113.0/24 br-c"} {
		if !strings.Contains(controller, fmt.Sprintf(`{"name":%q,"value":%q}`, name, want)) {
			t.Errorf("%s is not %q in %s", name, want, controller)
		}
	}
}

// TestServersCell checks which pods read the connections of a second cell and therefore restart if
// these change: the daemons and hypervisors of the cell, and Nova. Only these pods may connect to
// the cell's database and queue.
func TestServersCell(t *testing.T) {
	before := render(t, inRelease(t, "testdata/servers", newest), facts())
	const url = "service \"rabbitmq-cell2\" {\n"
	var restarted []string
	for _, name := range touched(before, changedCloud(t, url, url+"  port \"amqp\" { number = 5673 }\n")) {
		kind, object, _ := strings.Cut(name[strings.Index(name, "/")+1:], "/")
		if slices.Contains([]string{"DaemonSet", "Deployment", "StatefulSet"}, kind) {
			restarted = append(restarted, object)
		}
	}
	slices.Sort(restarted)
	want := []string{
		"nova-api", "nova-cell2-conductor", "nova-cell2-novncproxy", "nova-compute-slow-compute",
		"nova-conductor", "nova-metadata", "nova-scheduler", "rabbitmq-cell2-server",
	}
	if diff := cmp.Diff(want, restarted); diff != "" {
		t.Errorf("with another port of the cell's queue these change (-want +got):\n%s", diff)
	}
	for _, name := range []string{"mariadb-cell2", "rabbitmq-cell2"} {
		policy := text(find(t, before, "NetworkPolicy/"+name))
		for service, wanted := range map[string]bool{"nova": true, "nova-cell2": true, "nova-compute-slow": true, "nova-compute-fast": false, "neutron": false, "keystone": false} {
			if got := strings.Contains(policy, `"kolla.openstack.org/service":"`+service+`"`); got != wanted {
				t.Errorf("the policy of %s lets %s in: %t, want %t", name, service, got, wanted)
			}
		}
	}
}

// TestServersLosses checks the descriptions of the harm if a DaemonSet stops that servers of a node
// need.
func TestServersLosses(t *testing.T) {
	got := map[string]string{}
	for _, o := range render(t, inRelease(t, "testdata/servers", newest), facts()) {
		if o.Manifest.GetKind() == "DaemonSet" {
			got[o.Manifest.GetName()] = o.Loss
		}
	}
	const compute = "nobody can start, stop or move servers of the node"
	want := map[string]string{
		"openvswitch-ovs":            "servers of the node lose their network",
		"ovn-controller-controller":  "the network of the node's servers stays as it is, and new ones get none",
		"neutron-ovn-metadata-agent": "servers that start on the node are not told who they are",
		"nova-compute-fast-compute":  compute,
		"nova-compute-slow-compute":  compute,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("losses (-want +got):\n%s", diff)
	}
}

// TestNovaStops checks that daemons of Nova that are told to stop have time for what they do then. Those
// of 2026.1 sleep for manager_shutdown_timeout, and those of 2026.2 finish their work within 180 seconds.
func TestNovaStops(t *testing.T) {
	for _, release := range releases.Names() {
		config := inRelease(t, "testdata/servers", release)
		options := stackOptions(config)
		count := 0
		for _, s := range config.Services {
			for _, w := range s.Workloads {
				file := "nova-" + w.Name + ".conf"
				if !slices.Contains([]string{"compute", "conductor", "scheduler"}, w.Name) || !slices.Contains(w.Pod.Configs, file) {
					continue
				}
				count++
				grace, timeout := 90, ""
				switch {
				case release >= "2026.2":
					grace = 200
				case release >= "2026.1":
					timeout = "60"
				}
				if got := options[s.Name+" "+file+" DEFAULT manager_shutdown_timeout"]; got != timeout || w.Pod.GracePeriod != grace {
					t.Errorf("%s: %s %s has %d seconds, and manager_shutdown_timeout = %q", release, s.Name, w.Name, w.Pod.GracePeriod, got)
				}
			}
		}
		if count < 4 {
			t.Errorf("%s: found %d daemons", release, count)
		}
	}
}

// TestServersJobs checks that jobs of databases read only the configuration of their databases, so
// that they run again only if it changes. The job that removes nodes also reads credentials.
func TestServersJobs(t *testing.T) {
	got := map[string]string{}
	var config *configs.Config
	for _, release := range []string{"2025.1", newest} {
		config = inRelease(t, "testdata/servers", release)
		for _, s := range config.Services {
			if !slices.Contains(ofServers, s.Name) {
				continue
			}
			for _, job := range s.Jobs {
				got[s.Name+" "+job.When+" "+job.Name] = strings.Join(job.Pod.Configs, " ")
			}
			for _, f := range s.Configs {
				for _, o := range f.Options {
					if strings.HasSuffix(f.Name, "-db.conf") && !slices.Contains([]string{"database", "api_database", "service_user"}, o.Section) && !slices.Contains([]string{"use_stderr", "transport_url", "core_plugin"}, o.Key) {
						t.Errorf("%s has [%s] %s", f.Name, o.Section, o.Key)
					}
				}
			}
		}
	}
	want := map[string]string{
		"nova check upgrade-check":         "nova.conf",
		"neutron check upgrade-check":      "neutron-server.conf ml2_conf.ini",
		"nova before db-sync":              "nova-db.conf cell0.conf cells.conf",
		"nova after db-online":             "nova-db.conf cell0.conf cells.conf",
		"nova-cell2 before db-sync":        "nova-db.conf",
		"neutron after metadata-ports":     "",
		"neutron before db-expand":         "neutron-db.conf",
		"neutron after db-contract":        "neutron-db.conf",
		"nova-compute-fast after discover": "nova-db.conf",
		"nova-compute-slow after discover": "nova-db.conf",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("jobs read (-want +got):\n%s", diff)
	}
}
