package doctor_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"kolla.openstack.org/kolla/internal/run/doctor"
	"kolla.openstack.org/kolla/internal/run/doctor/cluster"
	"kolla.openstack.org/kolla/internal/run/probe"
	"kolla.openstack.org/kolla/lang/configs"
)

// probed adds to facts what pods on nodes reported, in JSON by node. An empty report is none.
func probed(t *testing.T, f *cluster.Facts, reports ...string) {
	t.Helper()
	f.Probed = &cluster.Probed{Namespace: "openstack"}
	for i, text := range reports {
		n := cluster.NodeProbe{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(parse(t, node(fmt.Sprintf("n%d", i+1), "role: control", "", `addresses: [{type: InternalIP, address: 192.0.2.`+fmt.Sprint(i+1)+`}]`))[0].Object, &n.Node); err != nil {
			t.Fatal(err)
		}
		if text == "" {
			n.Problem = "the kubelet does not start the pod"
		} else {
			n.Report = &probe.Report{}
			if err := json.Unmarshal([]byte(text), n.Report); err != nil {
				t.Fatal(err)
			}
		}
		f.Probed.Nodes = append(f.Probed.Nodes, n)
	}
}

const (
	resolver = `"resolver": {"nameservers": ["10.96.0.10"], "search": ["openstack.svc.cluster.local", "svc.cluster.local"], "ndots": 5}`
	known    = `{"name": "kubernetes.default", "addresses": ["10.96.0.1"], "seconds": 0.01}, {"name": "web.openstack", "addresses": ["10.96.0.7"], "seconds": 0.01}, {"name": "kolla-probe-absent.openstack", "problem": "no such name", "seconds": 9}`
)

// TestDNS checks the findings about DNS.
func TestDNS(t *testing.T) {
	service := `{apiVersion: v1, kind: Service, metadata: {name: web, namespace: openstack}, spec: {clusterIP: 10.96.0.7, clusterIPs: [10.96.0.7]}}`
	good := `{` + resolver + `, "names": [` + known + `]}`
	for name, c := range map[string]struct {
		reports    []string
		want       []string
		notChecked string
	}{
		"good": {reports: []string{good, good}},
		"no answer on one node": {
			reports: []string{good, `{` + resolver + `, "names": [{"name": "kubernetes.default", "problem": "no answer", "seconds": 8}, {"name": "web.openstack", "problem": "no answer", "seconds": 8}]}`},
			want:    []string{"error Node n2: pods get no answer from DNS for kubernetes.default, web.openstack"},
		},
		"unknown on all nodes": {
			reports: []string{
				`{` + resolver + `, "names": [{"name": "web.openstack", "problem": "no such name"}]}`,
				`{` + resolver + `, "names": [{"name": "web.openstack", "problem": "no such name"}]}`,
			},
			want: []string{"error Nodes n1, n2: DNS does not know web.openstack"},
		},
		"another address": {
			reports: []string{`{` + resolver + `, "names": [{"name": "web.openstack", "addresses": ["203.0.113.9"]}]}`},
			want:    []string{"error Node n1: DNS gives other addresses than those of the Services"},
		},
		"a name that does not exist": {
			reports: []string{`{` + resolver + `, "names": [{"name": "kolla-probe-absent.openstack", "addresses": ["203.0.113.9"]}]}`},
			want:    []string{"warning Node n1: DNS has an address for a Service that does not exist: 203.0.113.9"},
		},
		"ndots": {
			reports: []string{`{"resolver": {"ndots": 1}, "names": [` + known + `]}`},
			want:    []string{"warning Node n1: the resolver of pods has ndots:1"},
		},
		"slow": {
			reports: []string{`{` + resolver + `, "names": [{"name": "kubernetes.default", "addresses": ["10.96.0.1"], "seconds": 2.01}]}`},
			want:    []string{"warning Node n1: looking up a name takes longer than the timeout of the resolver, 2 s"},
		},
		"no report":        {reports: []string{good, ""}, notChecked: "On n2: the kubelet does not start the pod."},
		"a mapped address": {reports: []string{`{` + resolver + `, "names": [{"name": "web.openstack", "addresses": ["::ffff:10.96.0.7"]}]}`}},
	} {
		t.Run(name, func(t *testing.T) {
			f := facts(t, service, service)
			probed(t, f, c.reports...)
			if c.notChecked != "" {
				if got := result(t, "dns", f); got.NotChecked != c.notChecked || len(got.Findings) > 0 {
					t.Errorf("got %+v, want %q", got, c.notChecked)
				}
				return
			}
			expect(t, "dns", f, c.want...)
		})
	}
}

// pod returns a Deployment with one container on nodes with the label role=control.
func pod(container, more string) string {
	return `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: openstack}, spec: {template: {spec: {nodeSelector: {role: control}, containers: [{name: c, image: "i:1", ` + container + `}]` + more + `}}}}`
}

// TestKernel checks the findings about nodes whose kernel lacks features that pods need.
func TestKernel(t *testing.T) {
	const v2 = `"cgroup": 2`
	nova := documents(pod(`command: [sh, -c, nova-compute]`, ""), `{apiVersion: v1, kind: ConfigMap, metadata: {name: nova}, data: {nova.conf: "[libvirt]\nvirt_type = kvm\n"}}`)
	host := `, volumes: [{name: v, hostPath: {path: /srv/data}}]`
	for name, c := range map[string]struct {
		config, kernel string
		want           []string
		notChecked     string
	}{
		"nothing needed":   {config: pod("", ""), kernel: v2},
		"module is there":  {config: pod(`command: [ovs-vswitchd]`, ""), kernel: v2 + `, "modules": {"openvswitch": "loadable"}`},
		"module is not":    {config: pod(`command: [ovs-vswitchd]`, ""), kernel: v2 + `, "modules": {"openvswitch": "missing"}`, want: []string{"error Node n1: the kernel has no module openvswitch"}},
		"nobody knows":     {config: pod(`command: [ovs-vswitchd]`, ""), kernel: v2 + `, "modules": {"openvswitch": null}`, notChecked: "Modules of the kernel on n1: the pod cannot see the modules of the node."},
		"KVM":              {config: nova, kernel: v2 + `, "kvm": true`},
		"no KVM":           {config: nova, kernel: v2, want: []string{"error Node n1: the kernel offers no KVM"}},
		"qemu needs none":  {config: strings.Replace(nova, "virt_type = kvm", "virt_type = qemu", 1), kernel: v2},
		"old cgroups":      {config: pod("", ""), kernel: `"cgroup": 1`, want: []string{"warning Node n1: the node has version 1 of cgroups"}},
		"SELinux":          {config: pod(`volumeMounts: [{name: v, mountPath: /v}]`, host), kernel: v2 + `, "selinux": "enforcing"`, want: []string{"warning Node n1: SELinux confines the pods of manifest.m/Deployment/web, which use files of the node"}},
		"SELinux, spc_t":   {config: pod(`volumeMounts: [{name: v, mountPath: /v}], securityContext: {seLinuxOptions: {type: spc_t}}`, host), kernel: v2 + `, "selinux": "enforcing"`},
		"SELinux, no host": {config: pod("", ""), kernel: v2 + `, "selinux": "enforcing"`},
	} {
		t.Run(name, func(t *testing.T) {
			f := facts(t, c.config, "")
			probed(t, f, `{"kernel": {`+c.kernel+`}}`)
			if c.notChecked != "" {
				if got := result(t, "kernel", f); got.NotChecked != c.notChecked || len(got.Findings) > 0 {
					t.Errorf("got %+v, want %q", got, c.notChecked)
				}
				return
			}
			expect(t, "kernel", f, c.want...)
		})
	}
}

// TestInitiators checks that names that nodes share are found.
func TestInitiators(t *testing.T) {
	f := facts(t, pod(`volumeMounts: [{name: v, mountPath: /etc/iscsi}]`, `, volumes: [{name: v, hostPath: {path: /etc/iscsi}}]`), "")
	probed(t, f, `{"initiators": ["iqn.a", "nqn.a"]}`, `{"initiators": ["iqn.b", "nqn.a"]}`, `{}`)
	expect(t, "initiators", f, "error Nodes n1, n2: have the same initiator name nqn.a")
	f.Probed.Withheld = "Namespace openstack does not allow pods with directories of the node: hostPath volumes"
	if got := result(t, "initiators", f); got.NotChecked != f.Probed.Withheld+"." || len(got.Findings) != 1 {
		t.Errorf("got %+v", got)
	}
	withheld := f.Probed.Withheld
	f = facts(t, pod("", ""), "")
	probed(t, f, "{}")
	f.Probed.Withheld = withheld
	if got := result(t, "initiators", f); got.NotChecked != "" {
		t.Errorf("nodes that need no names: %+v", got)
	}
}

// TestNetwork checks the findings about the size of packets and about published addresses.
func TestNetwork(t *testing.T) {
	f := facts(t, "", "")
	path := func(to int, mtu int, large string) string {
		return fmt.Sprintf(`{"paths": [{"address": "192.0.2.%d", "mtu": %d, "large": %s}], "reached": [{"address": "198.51.100.1:5000"}]}`, to, mtu, large)
	}
	probed(t, f, path(2, 1450, "true"), path(1, 1450, "true"))
	expect(t, "network", f)
	probed(t, f, path(2, 1500, "false"), path(1, 1450, "true"), path(1, 1450, "true"))
	expect(t, "network", f,
		"error Node n1: packets of 1500 bytes from pods do not reach node n2, and small ones do",
		"warning Nodes n1, n2, n3: pods have different MTUs: 1450 on n2, n3 and 1500 on n1")
	probed(t, f, path(2, 1500, "false"), "")
	if got := result(t, "network", f); len(got.Findings) != 1 || got.Findings[0].Problem != "packets of 1500 bytes from pods do not reach node n2, and small ones do" {
		t.Errorf("packets to a node whose pod did not start: %+v", got)
	}
	probed(t, f, path(2, 1450, "null"))
	f.Probed.Nodes = append(f.Probed.Nodes, f.Probed.Nodes[0])
	f.Probed.Nodes[1].Node.Status.Addresses = nil
	if got := result(t, "network", f); got.NotChecked != "" {
		t.Errorf("an address that is no longer known counts: %+v", got)
	}
	probed(t, f, path(2, 1450, "null"), path(1, 1450, "true"))
	if got := result(t, "network", f); !strings.HasPrefix(got.NotChecked, "The size of packets from n1 to n2: nothing there answers") {
		t.Errorf("got %+v", got)
	}
	probed(t, f, `{"reached": [{"address": "198.51.100.1:5000", "problem": "cannot connect: no route to host"}]}`)
	expect(t, "network", f, "warning Node n1: pods cannot connect to 198.51.100.1:5000: no route to host")
}

// TestPulls checks the findings about images.
func TestPulls(t *testing.T) {
	f := facts(t, "", "")
	probed(t, f)
	f.Probed.Images = []cluster.ImageProbe{
		{Node: "n1", Image: "web:1", Digest: "sha256:a"},
		{Node: "n2", Image: "web:1", Digest: "sha256:a"},
		{Node: "n3", Image: "web:1"},
		{Node: "n1", Image: "api:1", Digest: "sha256:b"},
		{Node: "n2", Image: "api:1", Digest: "sha256:c"},
		{Node: "n1", Image: "db:1", Refused: "ErrImagePull: not found"},
		{Node: "n2", Image: "db:1", Refused: "ErrImagePull: not found"},
	}
	expect(t, "image-pull", f,
		"error db:1: nodes n1, n2 cannot pull it",
		"warning api:1: nodes have 2 builds of this image")
	f.Probed.Images = []cluster.ImageProbe{{Node: "n1", Image: "web:1", Problem: "the image was not there in time"}}
	if got := result(t, "image-pull", f); got.NotChecked != "On n1: the image was not there in time." {
		t.Errorf("got %+v", got)
	}
	f.Config.Cloud.PullSecrets = []string{"registry"}
	f.Probed.Namespace = "default"
	if got := result(t, "image-pull", f); got.NotChecked != "Namespace openstack does not exist yet, and has the pull secrets of the images: registry." {
		t.Errorf("got %+v", got)
	}
}

// TestBinds checks the findings about storage classes.
func TestBinds(t *testing.T) {
	f := facts(t, "", "")
	probed(t, f)
	f.Probed.Volumes = []cluster.VolumeProbe{
		{Class: "fast", Claim: "service.db/StatefulSet/db"}, {Class: "slow", Claim: "service.db/StatefulSet/db", Problem: "no space"},
	}
	expect(t, "volumes", f, "error StorageClass slow: a pod with a claim of this class did not start: no space")
	f.Probed.Volumes = []cluster.VolumeProbe{{Skipped: "nobody makes volumes for it on demand"}}
	if got := result(t, "volumes", f); got.NotChecked != "StorageClass (default): nobody makes volumes for it on demand." {
		t.Errorf("got %+v", got)
	}
}

// TestNoPods checks that a check without its pods does not pass.
func TestNoPods(t *testing.T) {
	f := facts(t, "", "")
	f.Config.Exposures = []configs.Exposure{}
	f.Unprobed = errors.New("no pods were started, because of -no-pods")
	count := 0
	for _, check := range doctor.Checks() {
		if got := result(t, check.Name, f); check.Starts() {
			count++
			if got.NotChecked != "No pods were started, because of -no-pods." {
				t.Errorf("%s: %q", check.Name, got.NotChecked)
			}
		}
	}
	if count != 6 {
		t.Errorf("%d checks start pods, want 6", count)
	}
}

// TestNoPodPossible checks that a check does not pass if no node takes its pods, or no image is known.
func TestNoPodPossible(t *testing.T) {
	unknown := strings.ReplaceAll(deployment("web", 1, "", ""), "i:1", configs.KnownAfterApply)
	for name, c := range map[string]struct{ config, live, want string }{
		"no node":  {deployment("web", 1, "", ""), node("n1", "role: other", "", ""), "No pod was started, because no node takes pods of the configuration."},
		"no image": {unknown, node("n1", "role: control", "", ""), "On n1: no image of its pods is known yet."},
	} {
		t.Run(name, func(t *testing.T) {
			f := facts(t, c.config, c.live)
			checks, err := doctor.Select([]string{"dns"}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := doctor.Probe(t.Context(), &probe.Runner{}, f, checks); err != nil {
				t.Fatal(err)
			}
			if got := doctor.Examine(f, checks).Results[0]; got.NotChecked != c.want || len(got.Findings) > 0 {
				t.Errorf("got %+v, want %q", got, c.want)
			}
		})
	}
}
