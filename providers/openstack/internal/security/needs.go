package security

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers/openstack/internal/object"
	"kolla.openstack.org/kolla/providers/podsecurity"
)

// need is a reason why pods need more than the level restricted.
type need struct {
	level  string
	why    string // cause, such as an argument or a capability
	stated bool   // the block states a reason
}

// levelOf returns the Pod Security level that a pod and all of its containers need.
func levelOf(pod *configs.Pod) string { return highest(needsOf(pod)) }

// highest returns the least strict level among the needs, or restricted.
func highest(needs []need) string {
	level := podsecurity.Restricted
	for _, n := range needs {
		level = podsecurity.Weaker(level, n.level)
	}
	return level
}

// needsOf returns the reasons why a pod needs more than the level restricted.
func needsOf(pod *configs.Pod) []need {
	var needs []need
	for _, of := range []struct {
		node bool
		why  string
	}{{pod.HostNetwork, "host_network"}, {pod.HostPID, "host_pid"}, {pod.HostIPC, "host_ipc"}} {
		if of.node {
			needs = append(needs, need{podsecurity.Privileged, of.why, stated(pod.Powers)})
		}
	}
	unknown := ""
	switch {
	case pod.Start == object.StartKolla:
		unknown = `start = "kolla"`
	case pod.User == 0:
		unknown = "no user"
	}
	needs = append(needs, needsOfContainer(pod.Powers, pod.Volumes, unknown)...)
	for _, init := range pod.Inits {
		unknown := ""
		if init.User == 0 && !pod.Unsettled && (pod.User == 0 || pod.Start == object.StartKolla && !init.Sidecar) {
			unknown = "no user"
		}
		needs = append(needs, needsOfContainer(init.Powers, init.Volumes, unknown)...)
	}
	return needs
}

// stated reports whether the powers of a container have a reason. Powers that are not settled
// yet count as stated.
func stated(p configs.Powers) bool { return p.Reason != "" || p.Unsettled }

// needsOfContainer returns the needs of one container. There are none if it starts directly as
// a known user. It needs baseline if it starts through sudo, as root, or as an unknown user. It
// needs privileged with powers that reach the node, or with files of the node.
//
// unknown is the reason why the user is unknown; empty: it is known.
func needsOfContainer(p configs.Powers, volumes []configs.Volume, unknown string) []need {
	var needs []need
	add := func(level, why string) { needs = append(needs, need{level, why, stated(p)}) }
	if p.Privileged {
		add(podsecurity.Privileged, "privileged")
	}
	if p.Seccomp == unconfined {
		add(podsecurity.Privileged, "seccomp")
	}
	if p.AppArmor == unconfined {
		add(podsecurity.Privileged, "apparmor")
	}
	if p.SELinux != "" && !slices.Contains(containerTypes, p.SELinux) {
		add(podsecurity.Privileged, "selinux")
	}
	for _, v := range volumes {
		if v.Host != "" {
			add(podsecurity.Privileged, v.Host+" of the node")
		}
	}
	for _, c := range p.Capabilities {
		switch {
		case !slices.Contains(usualCapabilities, c):
			add(podsecurity.Privileged, c)
		case c != "NET_BIND_SERVICE":
			add(podsecurity.Baseline, c)
		}
	}
	switch {
	case p.Root:
		add(podsecurity.Baseline, "user = 0")
	case unknown != "":
		add(podsecurity.Baseline, unknown)
	}
	return needs
}

const unconfined = "unconfined"

// The SELinux types and the capabilities that the level baseline lets containers have:
// https://kubernetes.io/docs/concepts/security/pod-security-standards/#baseline
var (
	containerTypes    = []string{"container_t", "container_init_t", "container_kvm_t", "container_engine_t"}
	usualCapabilities = []string{
		"AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE",
		"SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT",
	}
)

// needsOfManifest returns the reasons why the pods of a manifest's object need more than the
// level restricted. Kubernetes' own checks decide.
func needsOfManifest(u *unstructured.Unstructured, stated bool) []need {
	for _, l := range []struct{ breaks, needs string }{{podsecurity.Baseline, podsecurity.Privileged}, {podsecurity.Restricted, podsecurity.Baseline}} {
		if result := podsecurity.Judge(u, podsecurity.Latest(l.breaks)); !result.Allowed {
			return []need{{l.needs, result.ForbiddenReason(), stated}}
		}
	}
	return nil
}
