package openstack

import (
	"cmp"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	corev1 "k8s.io/client-go/applyconfigurations/core/v1"

	"kolla.openstack.org/kolla/lang/configs"
)

// init is a step or a sidecar as a container of the pod. What it mounts is added to the
// volumes of the pod.
func (t *podTemplate) init(decl configs.Init) *corev1.ContainerApplyConfiguration {
	own := t.within(decl)
	c := own.container(decl.Name)
	if len(decl.Command) > 0 {
		c.WithCommand(escapedAll(decl.Command)...)
	}
	if len(decl.Args) > 0 {
		c.WithArgs(escapedAll(decl.Args)...)
	}
	if user := int64(own.pod.User); user != 0 && (decl.User != 0 || own.pod.Start != t.pod.Start) {
		c.SecurityContext.WithRunAsUser(user).WithRunAsGroup(user).WithRunAsNonRoot(true)
	}
	if decl.Root {
		c.SecurityContext.WithRunAsUser(0).WithRunAsGroup(0).WithRunAsNonRoot(false)
	}
	if !decl.Sidecar {
		return c
	}
	c.WithRestartPolicy(v1.ContainerRestartPolicyAlways)
	c.WithPorts(t.containerPorts(decl.Ports)...)
	c.ReadinessProbe = t.probe(decl.Ready)
	c.LivenessProbe = t.probe(decl.Live)
	c.StartupProbe = t.probe(decl.Startup)
	return c
}

// within makes what a step or sidecar has of its own: a step beside what the main
// container has.
func (t *podTemplate) within(decl configs.Init) *podTemplate {
	own := *t
	own.name = t.name + "-" + decl.Name
	own.mounts, own.env, own.inits = nil, nil, nil
	own.pod = configs.Pod{
		Image: cmp.Or(decl.Image, t.pod.Image), User: cmp.Or(decl.User, t.pod.User), Start: startDirect,
		Powers: decl.Powers,
		Env:    decl.Env, Configs: decl.Configs, Writable: decl.Writable, WritableSize: t.pod.WritableSize,
		Requests: decl.Requests, Limits: decl.Limits,
	}
	switch {
	case decl.Root:
		own.pod.User = 0
	case decl.User == 0:
		own.pod.Root = t.pod.Root
	}
	if !decl.Sidecar {
		own.pod.Requests, own.pod.Limits = t.pod.Requests, t.pod.Limits
		own.pod.Configs = slices.DeleteFunc(slices.Clone(decl.Configs), func(name string) bool { return slices.Contains(t.pod.Configs, name) })
	}
	own.addVolumes(decl.Volumes)
	own.mountFiles()
	own.mounts = append(own.mounts, t.initMounts[decl.Name]...)
	if decl.Sidecar {
		own.mountWritable()
	}
	own.environment()
	if !decl.Sidecar {
		own.pod.Start = t.pod.Start
		own.mounts = slices.Concat(t.mounts, own.mounts)
		own.env = overlaid(t.env, own.env)
	}
	t.taken, t.volumes, t.dependsOn, t.deferred = own.taken, own.volumes, own.dependsOn, own.deferred
	return &own
}

// overlaid is an environment with variables of another one over it. What others may be made
// of comes first.
func overlaid(base, over []*corev1.EnvVarApplyConfiguration) []*corev1.EnvVarApplyConfiguration {
	out := slices.DeleteFunc(slices.Clone(base), func(e *corev1.EnvVarApplyConfiguration) bool {
		return slices.ContainsFunc(over, func(o *corev1.EnvVarApplyConfiguration) bool { return *o.Name == *e.Name })
	})
	out = append(out, over...)
	slices.SortStableFunc(out, func(a, b *corev1.EnvVarApplyConfiguration) int { return fieldRank(a) - fieldRank(b) })
	return out
}

func fieldRank(e *corev1.EnvVarApplyConfiguration) int {
	if e.ValueFrom != nil && e.ValueFrom.FieldRef != nil {
		return 0
	}
	return 1
}

// containerPorts are declared ports as a container has them.
func (t *podTemplate) containerPorts(names []string) []*corev1.ContainerPortApplyConfiguration {
	var out []*corev1.ContainerPortApplyConfiguration
	for _, p := range t.portsNamed(names) {
		out = append(out, corev1.ContainerPort().
			WithName(p.Name).WithContainerPort(int32(p.Number)).WithProtocol(v1.Protocol(p.Protocol())))
	}
	return out
}

// mainPorts are the names of the ports of the main container of a workload.
func mainPorts(w configs.Workload) []string {
	return slices.DeleteFunc(slices.Clone(w.Pod.Ports), func(name string) bool { return ofSidecar(w, name) })
}

// ofSidecar reports whether a port is one of a sidecar.
func ofSidecar(w configs.Workload, port string) bool {
	return slices.ContainsFunc(w.Pod.Inits, func(i configs.Init) bool { return slices.Contains(i.Ports, port) })
}

// targetPort is how a Service finds a port in pods: by name, or a sidecar's by number,
// since not all versions of Kubernetes look for names there.
func (s *service) targetPort(p configs.Port) intstr.IntOrString {
	if slices.ContainsFunc(s.decl.Workloads, func(w configs.Workload) bool { return ofSidecar(w, p.Name) }) {
		return intstr.FromInt32(int32(p.Number))
	}
	return intstr.FromString(p.Name)
}
