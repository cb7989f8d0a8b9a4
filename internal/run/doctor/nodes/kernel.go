package nodes

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/run/doctor/cluster"
	"kolla.openstack.org/kolla/internal/run/probe"
	"kolla.openstack.org/kolla/providers/kinds"
)

// feature is a feature of the kernel that some pods need.
type feature struct {
	module, symbol string // symbol: a function of the module, by which it is found if it is built in
	needs          func(w *cluster.Workload) bool
	reason, next   string
}

var features = []feature{
	{
		"openvswitch", "ovs_vport_add",
		func(w *cluster.Workload) bool { return runs(w, "ovs-vswitchd") && !runs(w, "netdev@") },
		"Open vSwitch moves the packets of servers in the kernel. Without the module, no server has a network.",
		`Install the package with the module (often linux-modules-extra), or set datapath_type = "netdev" of the definition openvswitch, which is slow.`,
	},
	{
		"tun", "tun_chr_open",
		func(w *cluster.Workload) bool {
			return slices.ContainsFunc(w.Pod.Volumes, func(v corev1.Volume) bool {
				return v.HostPath != nil && v.HostPath.Path == "/dev/net/tun"
			})
		},
		"The pods mount /dev/net/tun, and do not start without it.",
		"Load it: modprobe tun. /etc/modules-load.d keeps it over reboots.",
	},
	{
		"nf_tables", "nft_do_chain",
		func(w *cluster.Workload) bool { return runs(w, "neutron-ovn-metadata-agent") },
		"iptables of the images writes its rules with nf_tables. Without it, servers do not reach the metadata service.",
		"Load it: modprobe nf_tables. /etc/modules-load.d keeps it over reboots.",
	},
}

// runs reports whether a command of a workload contains a text, such as the name of a program.
func runs(w *cluster.Workload, text string) bool {
	return slices.ContainsFunc(slices.Concat(w.Pod.InitContainers, w.Pod.Containers), func(c corev1.Container) bool {
		return slices.ContainsFunc(slices.Concat(c.Command, c.Args), func(word string) bool { return strings.Contains(word, text) })
	})
}

// Modules returns the modules that a node needs, each with a symbol.
func Modules(f *cluster.Facts, node *corev1.Node) map[string]string {
	out := map[string]string{}
	for _, w := range f.On(node) {
		for _, feature := range features {
			if feature.needs(&w) {
				out[feature.module] = feature.symbol
			}
		}
	}
	return out
}

// virtType finds the setting of nova.conf for hypervisors with KVM.
var virtType = regexp.MustCompile(`(?m)^virt_type\s*=\s*kvm\s*$`)

// needsKVM reports whether a workload starts servers with KVM.
func needsKVM(f *cluster.Facts, w *cluster.Workload) bool {
	if !runs(w, "nova-compute") {
		return false
	}
	for i := range f.Objects {
		o := &f.Objects[i]
		if o.Ref().GVK.GroupKind() != kinds.ConfigMap || o.Address.Block != w.Object.Address.Block {
			continue
		}
		data, _, _ := unstructured.NestedStringMap(o.Manifest.Object, "data")
		for _, text := range data {
			if virtType.MatchString(text) {
				return true
			}
		}
	}
	return false
}

// Kernel checks the kernels of the nodes for what the pods there need.
func Kernel(f *cluster.Facts) ([]cluster.Finding, error) {
	reports, err := f.Reports()
	var found cluster.ByNode
	var unknown []string
	for _, n := range reports {
		for _, w := range f.On(&n.Node) {
			if needsKVM(f, &w) && !n.Report.Kernel.KVM {
				found.Add(withoutKVM(n.Report.Kernel.Virtualization), n.Node.Name)
			}
			if n.Report.Kernel.SELinux == "enforcing" && confined(w.Pod) {
				found.Add(cluster.Finding{
					Severity: cluster.Warning, Problem: "SELinux confines the pods of " + w.Address() + ", which use files of the node",
					Reason: "Processes of the type container_t cannot use these files, unless somebody labelled them container_file_t.",
					Next:   "Set seLinuxOptions.type = \"spc_t\" for the pods. docs/selinux.md has the reasons.",
				}, n.Node.Name)
			}
		}
		wanted := Modules(f, &n.Node)
		for _, feature := range features {
			switch state := n.Report.Kernel.Modules[feature.module]; {
			case wanted[feature.module] != "" && state == "":
				unknown = append(unknown, n.Node.Name)
			case state == probe.ModuleMissing:
				found.Add(cluster.Finding{
					Severity: cluster.Error, Problem: "the kernel has no module " + feature.module, Reason: feature.reason, Next: feature.next,
				}, n.Node.Name)
			}
		}
		if n.Report.Kernel.Cgroup == 1 {
			found.Add(cluster.Finding{
				Severity: cluster.Warning, Problem: "the node has version 1 of cgroups",
				Reason: "Kubernetes has deprecated it: from 1.35 on, a kubelet with the default failCgroupV1 does not start.",
				Next:   "Boot the node with version 2 (systemd.unified_cgroup_hierarchy=1), before the next update of its kubelet.",
			}, n.Node.Name)
		}
	}
	if len(unknown) > 0 {
		why := cmp.Or(f.Probed.Withheld, "the pod cannot see the modules of the node")
		slices.Sort(unknown)
		err = errors.Join(err, fmt.Errorf("modules of the kernel on %s: %s", words.Few(slices.Compact(unknown), 5), why))
	}
	return found.Findings(), err
}

// withoutKVM reports a hypervisor without KVM. virtualization: the processor has what it needs.
func withoutKVM(virtualization bool) cluster.Finding {
	next := "The processor can do it. Load the module: modprobe kvm_intel, or kvm_amd."
	if !virtualization {
		next = "The processor shows no virtualization. Enable it in the firmware, or on the machine below if the node is a virtual machine."
	}
	return cluster.Finding{
		Severity: cluster.Error, Problem: "the kernel offers no KVM",
		Reason: "Servers do not start on this node.",
		Next:   next + ` Without KVM, virt_type = "qemu" of the definition nova-compute works, slowly.`,
	}
}

// confined reports whether a container uses directories of the node as a type that SELinux confines.
func confined(pod *corev1.PodSpec) bool {
	free := func(options *corev1.SELinuxOptions) bool { return options != nil && options.Type == "spc_t" }
	host := map[string]bool{}
	for _, v := range pod.Volumes {
		host[v.Name] = v.HostPath != nil
	}
	if pod.SecurityContext != nil && free(pod.SecurityContext.SELinuxOptions) {
		return false
	}
	return slices.ContainsFunc(slices.Concat(pod.InitContainers, pod.Containers), func(c corev1.Container) bool {
		s := c.SecurityContext
		if s != nil && (free(s.SELinuxOptions) || s.Privileged != nil && *s.Privileged) {
			return false
		}
		return slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return host[m.Name] })
	})
}

// Initiators checks that no two nodes have the same name for iSCSI or NVMe.
func Initiators(f *cluster.Facts) ([]cluster.Finding, error) {
	reports, err := f.Reports()
	var nodes cluster.Grouped[string] // by the name of the initiator
	for _, n := range reports {
		for _, name := range n.Report.Initiators {
			nodes.Add(name, n.Node.Name)
		}
	}
	var out []cluster.Finding
	for _, name := range nodes.Keys {
		if len(nodes.Of[name]) < 2 {
			continue
		}
		out = append(out, cluster.Finding{
			Severity: cluster.Error, Subject: cluster.Subject(nodes.Of[name]), Problem: "have the same initiator name " + name,
			Reason: "Storage takes them for one machine: a volume of one node may be given to the other, and data is lost.",
			Next:   "The machines were probably copied. On all of them but one, remove the file that has the name, and restart the pod of nova-compute or iscsid there. No server with a volume may run on the node then.",
		})
	}
	named := slices.ContainsFunc(reports, func(n cluster.NodeProbe) bool {
		paths := HostPaths(f, &n.Node)
		return paths["iscsi"] != "" || paths["nvme"] != ""
	})
	if named && f.Probed.Withheld != "" {
		err = errors.Join(err, errors.New(f.Probed.Withheld))
	}
	return out, err
}

// HostPaths returns the directories of a node that its pod mounts, by their names below /host. The pods of the
// configuration on such a node mount directories, too. No name makes a directory on the node.
func HostPaths(f *cluster.Facts, node *corev1.Node) map[string]string {
	out := map[string]string{}
	for _, w := range f.On(node) {
		for _, volume := range w.Pod.Volumes {
			if volume.HostPath == nil {
				continue
			}
			out["lib"], out["sys-fs"] = "/lib", "/sys/fs" // every node has these
			for _, name := range []string{"iscsi", "nvme"} {
				if path := volume.HostPath.Path; mounts(w.Pod, volume.Name, "/etc/"+name) && (path == "/etc/"+name || inUse(f, node, path)) {
					out[name] = path
				}
			}
		}
	}
	return out
}

// mounts reports whether a container mounts a volume at a path.
func mounts(pod *corev1.PodSpec, volume, path string) bool {
	return slices.ContainsFunc(slices.Concat(pod.InitContainers, pod.Containers), func(c corev1.Container) bool {
		return slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == volume && m.MountPath == path })
	})
}

// inUse reports whether a running pod of a node mounts a directory of it, so that it exists.
func inUse(f *cluster.Facts, node *corev1.Node, path string) bool {
	return slices.ContainsFunc(f.PodsOn(node.Name), func(pod corev1.Pod) bool {
		return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.HostPath != nil && v.HostPath.Path == path })
	})
}
