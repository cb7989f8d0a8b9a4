package pods

import (
	"maps"
	"path"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	corev1 "k8s.io/client-go/applyconfigurations/core/v1"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers/openstack/internal/object"
)

// container collects the parts of one container.
type container struct {
	name string // for the names of its objects: keystone-api, keystone-api-STEP
	// decl has the arguments of the container in the form of a pod.
	decl configs.Pod
	// shared are the volumes of all containers; for a step or sidecar, also its own.
	shared []sharedVolume
	mounts []*corev1.VolumeMountApplyConfiguration
	env    []*corev1.EnvVarApplyConfiguration
}

// mountWritable mounts an empty directory at /tmp and at each writable path. It lives as long
// as the pod. Directories are needed because the root file system is read-only.
func (c *container) mountWritable(all *volumes) {
	if c.decl.Start == object.StartKolla {
		return
	}
	for _, path := range append([]string{"/tmp"}, c.decl.Writable...) {
		if path == "/tmp" && c.mountsAt(path) {
			continue
		}
		name := all.directory(path, c.decl.WritableSize)
		c.mounts = append(c.mounts, corev1.VolumeMount().WithName(name).WithMountPath(path))
	}
}

// mountsAt reports whether a declared volume is mounted at a path.
func (c *container) mountsAt(at string) bool {
	return slices.ContainsFunc(c.shared, func(v sharedVolume) bool { return path.Clean(v.decl.Path) == at })
}

// volumeMounts returns the mounts of the declared volumes.
func (c *container) volumeMounts() []*corev1.VolumeMountApplyConfiguration {
	var out []*corev1.VolumeMountApplyConfiguration
	for _, v := range c.shared {
		mount := corev1.VolumeMount().WithName(v.name).WithMountPath(v.decl.Path)
		if v.decl.ReadOnly {
			mount.WithReadOnly(true)
		}
		switch v.decl.Propagation {
		case "in":
			mount.WithMountPropagation(v1.MountPropagationHostToContainer)
		case "both":
			// Kubernetes refuses two-way propagation for a container that is not privileged.
			mount.WithMountPropagation(v1.MountPropagationHostToContainer)
			if c.decl.Privileged {
				mount.WithMountPropagation(v1.MountPropagationBidirectional)
			}
		}
		out = append(out, mount)
	}
	return out
}

// render returns the container with the settings that all containers of a pod have.
func (c *container) render(cloud object.Cloud, name string) *corev1.ContainerApplyConfiguration {
	return corev1.Container().
		WithName(name).
		WithImage(cloud.Image(c.decl.Image)).
		WithImagePullPolicy(v1.PullIfNotPresent).
		// The last output of a failed container becomes part of the pod's status, and kolla
		// reads it there while it waits.
		WithTerminationMessagePolicy(v1.TerminationMessageFallbackToLogsOnError).
		WithEnv(c.env...).
		WithVolumeMounts(append(c.volumeMounts(), c.mounts...)...).
		WithSecurityContext(containerContextOf(c.decl)).
		WithResources(resources(c.decl))
}

// defaultRequests are the requests of pods whose definition has none. The scheduler then always
// knows the needs of a pod.
var defaultRequests = map[string]string{"cpu": "50m", "memory": "256Mi"}

func resources(pod configs.Pod) *corev1.ResourceRequirementsApplyConfiguration {
	r := corev1.ResourceRequirements().WithRequests(Quantities(object.Merged(defaultRequests, pod.Requests)))
	if len(pod.Limits) > 0 {
		r.WithLimits(Quantities(pod.Limits))
	}
	return r
}

// Quantities parses the quantities that are known.
func Quantities(texts map[string]string) v1.ResourceList {
	out := v1.ResourceList{}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if texts[name] != "" {
			out[v1.ResourceName(name)] = resource.MustParse(texts[name]) // lang has checked the syntax
		}
	}
	return out
}

// Probe converts a probe. It returns nil for nil.
func Probe(p *configs.Probe) *corev1.ProbeApplyConfiguration {
	if p == nil {
		return nil
	}
	probe := corev1.Probe().
		WithPeriodSeconds(orDefault(p.Period, 10)).
		WithTimeoutSeconds(orDefault(p.Timeout, 5)).
		WithFailureThreshold(orDefault(p.Retries, 3))
	if p.Delay > 0 {
		probe.WithInitialDelaySeconds(int32(p.Delay))
	}
	switch {
	case p.HTTP != "":
		get := corev1.HTTPGetAction().WithPath(p.HTTP).WithPort(intstr.FromString(p.Port))
		if p.TLS {
			get.WithScheme(v1.URISchemeHTTPS)
		}
		for _, name := range slices.Sorted(maps.Keys(p.Headers)) {
			get.WithHTTPHeaders(corev1.HTTPHeader().WithName(name).WithValue(p.Headers[name]))
		}
		probe.WithHTTPGet(get)
	case p.TCP:
		probe.WithTCPSocket(corev1.TCPSocketAction().WithPort(intstr.FromString(p.Port)))
	default:
		probe.WithExec(corev1.ExecAction().WithCommand(p.Exec...))
	}
	return probe
}

func orDefault(value, fallback int) int32 {
	if value == 0 {
		return int32(fallback)
	}
	return int32(value)
}

// Ports converts declared ports to ports of a container.
func Ports(ports []configs.Port) []*corev1.ContainerPortApplyConfiguration {
	var out []*corev1.ContainerPortApplyConfiguration
	for _, p := range ports {
		out = append(out, corev1.ContainerPort().
			WithName(p.Name).WithContainerPort(int32(p.Number)).WithProtocol(v1.Protocol(p.Protocol())))
	}
	return out
}
