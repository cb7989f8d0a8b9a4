package pods

import (
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	corev1 "k8s.io/client-go/applyconfigurations/core/v1"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers/openstack/internal/object"
)

// securityContextOf returns the context that runs the pod as the image's fixed user, and lets
// that user write to its volumes.
//
// A pod with files of the node gets the SELinux type spc_t: kubelet does not relabel these files,
// and the default type cannot use them. The level is the same for all containers, because they share
// volumes. Container runtimes do not use either for privileged containers, which run as spc_t anyway.
func securityContextOf(pod configs.Pod, volumes []*corev1.VolumeApplyConfiguration) *corev1.PodSecurityContextApplyConfiguration {
	c := corev1.PodSecurityContext().
		WithSeccompProfile(corev1.SeccompProfile().WithType(v1.SeccompProfileTypeRuntimeDefault))
	if pod.User != 0 {
		id := int64(pod.User)
		c.WithFSGroup(id).WithFSGroupChangePolicy(v1.FSGroupChangeOnRootMismatch)
		if pod.Start != object.StartKolla {
			c.WithRunAsUser(id).WithRunAsGroup(id).WithRunAsNonRoot(true)
		}
	}
	if pod.Root {
		c.WithRunAsUser(0).WithRunAsGroup(0)
		if other := otherUser(pod.Inits); other != 0 { // root reads the files of any group
			c.WithFSGroup(other).WithFSGroupChangePolicy(v1.FSGroupChangeOnRootMismatch)
		}
	}
	if slices.ContainsFunc(volumes, func(v *corev1.VolumeApplyConfiguration) bool { return v.HostPath != nil }) {
		c.WithSELinuxOptions(corev1.SELinuxOptions().WithType("spc_t").WithLevel("s0"))
	}
	return c
}

// otherUser returns the user of the first step or sidecar that does not run as root, or 0.
func otherUser(inits []configs.Init) int64 {
	for _, init := range inits {
		if init.User != 0 {
			return int64(init.User)
		}
	}
	return 0
}

// containerContextOf returns a context that passes the Pod Security Standard "restricted"
// in the direct start mode, except for declared powers. The start script of an image needs sudo
// and a writable root.
func containerContextOf(pod configs.Pod) *corev1.SecurityContextApplyConfiguration {
	p := pod.Powers
	c := corev1.SecurityContext()
	kept := corev1.Capabilities().WithAdd(capabilities(p)...)
	if pod.Start == object.StartKolla {
		c.WithAllowPrivilegeEscalation(true)
		if len(p.Capabilities) > 0 {
			c.WithCapabilities(kept)
		}
	} else {
		// Kubernetes refuses a privileged container that may not gain privileges. Container
		// runtimes disagree about dropped capabilities of a privileged container.
		c.WithAllowPrivilegeEscalation(p.Privileged).WithReadOnlyRootFilesystem(!p.WritableRoot)
		if !p.Privileged {
			c.WithCapabilities(kept.WithDrop("ALL"))
		}
	}
	if p.Privileged {
		c.WithPrivileged(true)
	}
	if p.Seccomp != "" {
		c.SeccompProfile = corev1.SeccompProfile().WithType(v1.SeccompProfileTypeUnconfined)
		if name, local := strings.CutPrefix(p.Seccomp, "localhost/"); local {
			c.SeccompProfile.WithType(v1.SeccompProfileTypeLocalhost).WithLocalhostProfile(name)
		}
	}
	if p.AppArmor != "" {
		c.AppArmorProfile = corev1.AppArmorProfile().WithType(v1.AppArmorProfileTypeUnconfined)
		if name, local := strings.CutPrefix(p.AppArmor, "localhost/"); local {
			c.AppArmorProfile.WithType(v1.AppArmorProfileTypeLocalhost).WithLocalhostProfile(name)
		}
	}
	if p.SELinux != "" {
		c.WithSELinuxOptions(corev1.SELinuxOptions().WithType(p.SELinux))
	}
	return c
}

func capabilities(p configs.Powers) []v1.Capability {
	var out []v1.Capability
	for _, name := range p.Capabilities {
		out = append(out, v1.Capability(name))
	}
	return out
}
