// Package pods makes the pods of jobs and workloads: containers, volumes, environment, security
// contexts and placement, and the objects that only one pod needs.
package pods

import (
	"cmp"
	"slices"

	"github.com/hashicorp/hcl/v2"
	v1 "k8s.io/api/core/v1"
	corev1 "k8s.io/client-go/applyconfigurations/core/v1"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/openstack/internal/files"
	"kolla.openstack.org/kolla/providers/openstack/internal/nodes"
	"kolla.openstack.org/kolla/providers/openstack/internal/object"
	"kolla.openstack.org/kolla/providers/openstack/internal/secret"
)

// Input is what all pods of a service depend on.
type Input struct {
	Service object.Service
	Roles   []configs.Role
	Nodes   nodes.Nodes
	Secrets *secret.Set
	Files   files.Files
}

// Pod is the pod of a job or workload.
type Pod struct {
	// Objects are the objects that only this pod needs.
	Objects   []providers.Object
	DependsOn []addrs.Object
	// Deferred are the reads that must happen before the whole pod is known.
	Deferred []string
	Diags    hcl.Diagnostics

	in      Input
	name    string // of the job or workload: keystone-api
	role    string
	decl    configs.Pod
	main    container
	volumes volumes
	// inits are the steps and sidecars.
	inits []*corev1.ContainerApplyConfiguration
	// notes are annotations of the pod. If one changes, the pod restarts.
	notes map[string]string
}

// New makes the pod of a job or workload.
func New(in Input, name string, decl configs.Pod, role string, claims ...configs.Claim) *Pod {
	p := &Pod{in: in, name: name, role: cmp.Or(role, in.Service.Decl.Role), decl: decl, notes: map[string]string{}}
	c := &container{name: name, decl: decl}
	for _, claim := range claims {
		// The volume of a claim has the claim's name; the StatefulSet makes it, unless it exists.
		p.volumes.taken = append(p.volumes.taken, claim.Name)
		if claim.Existing != "" {
			p.volumes.list = append(p.volumes.list, corev1.Volume().WithName(claim.Name).
				WithPersistentVolumeClaim(corev1.PersistentVolumeClaimVolumeSource().WithClaimName(claim.Existing)))
		}
		c.mounts = append(c.mounts, corev1.VolumeMount().WithName(claim.Name).WithMountPath(claim.Path))
	}
	p.DependsOn = append(p.DependsOn, in.Nodes.Addresses(p.role)...)
	c.shared = p.volumes.declare(nil, decl.Volumes)
	p.mountFiles(c)
	c.mounts = append(c.mounts, p.mountSecrets(decl.Mounts)...)
	ofInit := map[string][]*corev1.VolumeMountApplyConfiguration{}
	for _, init := range decl.Inits {
		ofInit[init.Name] = p.mountSecrets(init.Mounts)
	}
	c.mountWritable(&p.volumes)
	p.environment(c)
	p.main = *c
	for _, init := range decl.Inits {
		p.inits = append(p.inits, p.init(init, ofInit[init.Name]))
	}
	slices.Sort(p.Deferred)
	p.Deferred = slices.Compact(p.Deferred)
	return p
}

// mountFiles mounts each config file read-only at its path. In the start mode "kolla" it mounts
// the files in the staging directory, and the image's start script copies them from there.
func (p *Pod) mountFiles(c *container) {
	var copies []copied
	for _, name := range c.decl.Configs {
		for _, m := range p.in.Files[name] {
			volume := p.volumes.file(m)
			at := m.Path
			if c.decl.Start == object.StartKolla {
				at = stagingDir + "/" + volume
				copies = append(copies, copied{from: at, to: m.Path, mode: m.Mode})
			}
			c.mounts = append(c.mounts, corev1.VolumeMount().WithName(volume).
				WithMountPath(at).WithSubPath(m.Key).WithReadOnly(true))
			p.DependsOn = append(p.DependsOn, m.Object)
			p.Deferred = append(p.Deferred, m.Deferred...)
		}
	}
	if c.decl.Start == object.StartKolla {
		p.mountStartFile(c, copies)
	}
}

// mountStartFile adds config.json and the environment variables that the start script reads.
func (p *Pod) mountStartFile(c *container, copies []copied) {
	o := files.ConfigMap(p.in.Service, c.name+"-config.json", configs.ConfigFile{Name: "config.json", Range: p.in.Service.Decl.Range}, startFile(c.decl, copies))
	p.Objects = append(p.Objects, o)
	p.DependsOn = append(p.DependsOn, o.Address)
	volume := p.volumes.file(files.Mounted{Object: o.Address, Key: "config.json"})
	c.mounts = append(c.mounts, corev1.VolumeMount().WithName(volume).
		WithMountPath(stagingDir+"/config.json").WithSubPath("config.json").WithReadOnly(true))
	c.env = append(c.env,
		corev1.EnvVar().WithName("KOLLA_CONFIG_STRATEGY").WithValue("COPY_ALWAYS"),
		corev1.EnvVar().WithName("KOLLA_SERVICE_NAME").WithValue(c.name))
}

// mountSecrets returns mounts of Secrets as directories. The names of the Secrets do not change
// with their values, so annotations of the pod carry their revisions. Rotated keys start no pods
// again: kubelet updates the directory, and programs read keys when they use them.
func (p *Pod) mountSecrets(mounts []configs.SecretMount) []*corev1.VolumeMountApplyConfiguration {
	var out []*corev1.VolumeMountApplyConfiguration
	for _, m := range mounts {
		s := p.in.Secrets.Get(m.Service, m.Secret)
		volume := p.volumes.secret(m.Secret+"-keys", s.Address.Name)
		out = append(out, corev1.VolumeMount().WithName(volume).WithMountPath(m.Path).WithReadOnly(true))
		p.notes[providers.AnnotationSecret+m.Secret] = s.Lasting()
		p.DependsOn = append(p.DependsOn, s.Address)
		p.Deferred = append(p.Deferred, s.Deferred...)
	}
	return out
}

// environment sets the environment variables of a container. Secret values come from a Secret.
func (p *Pod) environment(c *container) {
	confidential := map[string]configs.Text{}
	for _, e := range c.decl.Env {
		p.Deferred = append(p.Deferred, e.Value.Deferred()...)
		if e.Value.Secret() {
			confidential[e.Name] = e.Value
		}
	}
	source := ""
	if len(confidential) > 0 {
		made, diags := p.in.Secrets.Derived(p.in.Service, c.name+"-env", confidential, secret.IntoEnv)
		o := made[len(made)-1]
		p.Objects, p.Diags = append(p.Objects, made...), append(p.Diags, diags...)
		p.Deferred = append(p.Deferred, o.Deferred...)
		p.DependsOn = append(p.DependsOn, o.Address)
		source = o.Address.Name
	}
	for _, e := range c.decl.Env {
		variable := corev1.EnvVar().WithName(e.Name)
		switch {
		case e.Value.Secret():
			variable.WithValueFrom(corev1.EnvVarSource().
				WithSecretKeyRef(corev1.SecretKeySelector().WithName(source).WithKey(e.Name)))
		case len(e.Value) == 1 && e.Value[0].Field != "":
			variable.WithValueFrom(fromField(e.Value[0].Field))
		default:
			variable.WithValue(c.withFields(e.Value))
		}
		c.env = append(c.env, variable)
	}
}

// Main returns the main container of the pod. The caller sets probes and ports.
func (p *Pod) Main(name string) *corev1.ContainerApplyConfiguration {
	c := p.main.render(p.in.Service.Cloud, name)
	if p.decl.Start == object.StartKolla {
		// The image's own entry point reads the command from the start file.
		return c
	}
	p.setCommand(c, p.decl.Image, p.decl.Command, p.decl.Args)
	return c
}

// reaper begins the commands of Kolla's images, as it begins those of their own entry points: it
// collects the processes that a probe leaves behind when its time is over, and passes signals on to
// the command.
var reaper = []string{"dumb-init", "--single-child", "--"}

// setCommand sets the command of a container, if there is one. A command may name the reaper itself.
// Where the pod sees the node's processes, the container runtime collects them.
func (p *Pod) setCommand(c *corev1.ContainerApplyConfiguration, image string, command, args []string) {
	if len(command) > 0 {
		if object.OfKolla(image) && !p.decl.HostPID && command[0] != reaper[0] {
			command = slices.Concat(reaper, command)
		}
		c.WithCommand(escapedAll(command)...)
	}
	if len(args) > 0 {
		c.WithArgs(escapedAll(args)...)
	}
}

// Spec returns the specification of the pod. The caller sets the restart policy.
func (p *Pod) Spec(main *corev1.ContainerApplyConfiguration) *corev1.PodSpecApplyConfiguration {
	spec := corev1.PodSpec().
		WithAutomountServiceAccountToken(false).
		WithEnableServiceLinks(p.decl.ServiceLinks).
		WithSecurityContext(securityContextOf(p.decl, p.volumes.list)).
		WithVolumes(p.volumes.list...).
		WithContainers(main)
	spec.WithInitContainers(p.inits...)
	place(spec, p.decl, p.in.Roles, p.role)
	for _, name := range p.in.Service.Cloud.Decl.PullSecrets {
		spec.WithImagePullSecrets(corev1.LocalObjectReference().WithName(name))
	}
	if p.decl.GracePeriod > 0 {
		spec.WithTerminationGracePeriodSeconds(int64(p.decl.GracePeriod))
	}
	if p.decl.HostNetwork {
		spec.WithHostNetwork(true).WithDNSPolicy(v1.DNSClusterFirstWithHostNet)
	}
	if p.decl.HostPID {
		spec.WithHostPID(true)
	}
	if p.decl.HostIPC {
		spec.WithHostIPC(true)
	}
	return spec
}

// Note adds an annotation to the pod. If it changes, the pod restarts.
func (p *Pod) Note(name, value string) { p.notes[name] = value }

// Template returns the pod template, with the labels that select the pod.
func (p *Pod) Template(spec *corev1.PodSpecApplyConfiguration) *corev1.PodTemplateSpecApplyConfiguration {
	template := corev1.PodTemplateSpec().WithLabels(object.Merged(p.decl.Labels, p.in.Service.PodLabels(p.name))).WithSpec(spec)
	if notes := object.Merged(p.decl.Annotations, p.notes); len(notes) > 0 {
		template.WithAnnotations(notes)
	}
	return template
}
