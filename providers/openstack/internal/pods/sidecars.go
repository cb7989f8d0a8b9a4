package pods

import (
	"cmp"
	"slices"

	v1 "k8s.io/api/core/v1"
	corev1 "k8s.io/client-go/applyconfigurations/core/v1"

	"kolla.openstack.org/kolla/lang/configs"
)

// init returns the container of a step or sidecar. It adds the volumes that the container needs
// to the pod. mounts are the mounts of Secrets that only this container has.
func (p *Pod) init(decl configs.Init, mounts []*corev1.VolumeMountApplyConfiguration) *corev1.ContainerApplyConfiguration {
	own := p.within(decl, mounts)
	c := own.render(p.in.Service.Cloud, decl.Name)
	p.setCommand(c, own.decl.Image, decl.Command, decl.Args)
	if user := int64(own.decl.User); user != 0 && (decl.User != 0 || own.decl.Start != p.decl.Start) {
		c.SecurityContext.WithRunAsUser(user).WithRunAsGroup(user).WithRunAsNonRoot(true)
	}
	if decl.Root {
		c.SecurityContext.WithRunAsUser(0).WithRunAsGroup(0).WithRunAsNonRoot(false)
	}
	if !decl.Sidecar {
		return c
	}
	c.WithRestartPolicy(v1.ContainerRestartPolicyAlways)
	c.WithPorts(Ports(p.in.Service.Ports(decl.Ports))...)
	c.ReadinessProbe = Probe(decl.Ready)
	c.LivenessProbe = Probe(decl.Live)
	c.StartupProbe = Probe(decl.Startup)
	return c
}

// within returns the parts of a step or sidecar. A step also has the mounts and the environment
// of the main container.
func (p *Pod) within(decl configs.Init, mounts []*corev1.VolumeMountApplyConfiguration) *container {
	own := &container{name: p.name + "-" + decl.Name, decl: configs.Pod{
		Image: cmp.Or(decl.Image, p.decl.Image), User: cmp.Or(decl.User, p.decl.User), Start: startDirect,
		Powers: decl.Powers,
		Env:    decl.Env, Configs: decl.Configs, Writable: decl.Writable, WritableSize: p.decl.WritableSize,
		Requests: decl.Requests, Limits: decl.Limits,
	}}
	switch {
	case decl.Root:
		own.decl.User = 0
	case decl.User == 0:
		own.decl.Root = p.decl.Root
	}
	if !decl.Sidecar {
		own.decl.Requests, own.decl.Limits = p.decl.Requests, p.decl.Limits
		own.decl.Configs = slices.DeleteFunc(slices.Clone(decl.Configs), func(name string) bool { return slices.Contains(p.decl.Configs, name) })
	}
	own.shared = p.volumes.declare(p.main.shared, decl.Volumes)
	p.mountFiles(own)
	own.mounts = append(own.mounts, mounts...)
	if decl.Sidecar {
		own.mountWritable(&p.volumes)
	}
	p.environment(own)
	if !decl.Sidecar {
		own.decl.Start = p.decl.Start
		own.mounts = slices.Concat(p.main.mounts, own.mounts)
		own.env = overlaid(p.main.env, own.env)
	}
	return own
}

// overlaid merges two environments; variables of over win. Values of the pod's fields come
// first, because other variables may refer to them.
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
