package openstack

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	corev1 "k8s.io/client-go/applyconfigurations/core/v1"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
)

// startKolla is the start mode of images whose own start script is needed; every
// other pod starts its command directly.
const (
	startKolla  = "kolla"
	startDirect = "direct"
)

// podTemplate collects what one pod is made of.
type podTemplate struct {
	*service
	name    string // of the job or workload: keystone-api
	pod     configs.Pod
	role    string
	taken   []string // names of volumes
	volumes []*corev1.VolumeApplyConfiguration
	mounts  []*corev1.VolumeMountApplyConfiguration
	// shared are the volumes of all containers, and in a step or sidecar its own.
	shared []sharedVolume
	// initMounts are the secrets of steps and sidecars alone, by their names.
	initMounts map[string][]*corev1.VolumeMountApplyConfiguration
	env        []*corev1.EnvVarApplyConfiguration
	// inits are the steps and sidecars.
	inits []*corev1.ContainerApplyConfiguration
	// places are the volumes that several containers may mount, by what is in them.
	places map[string]string
	// notes are pod annotations that change when the pod must start again.
	notes     map[string]string
	dependsOn []addrs.Object
	// deferred is what has to be read before all of it is known.
	deferred []string
}

// newPod renders the pod of a job or workload, and adds the objects that only
// this pod needs.
func (s *service) newPod(name string, pod configs.Pod, role string, claims ...configs.Claim) *podTemplate {
	t := &podTemplate{service: s, name: name, pod: pod, role: cmp.Or(role, s.decl.Role), notes: map[string]string{}, places: map[string]string{}}
	for _, claim := range claims {
		// The volume of a claim has the claim's name; the StatefulSet makes it.
		t.taken = append(t.taken, claim.Name)
		t.mounts = append(t.mounts, corev1.VolumeMount().WithName(claim.Name).WithMountPath(claim.Path))
	}
	t.dependsOn = append(t.dependsOn, s.nodes[t.role]...)
	t.addVolumes(pod.Volumes)
	t.mountFiles()
	t.mountSecrets()
	t.mountWritable()
	t.environment()
	for _, init := range pod.Inits {
		t.inits = append(t.inits, t.init(init))
	}
	slices.Sort(t.deferred)
	t.deferred = slices.Compact(t.deferred)
	return t
}

// mountFiles puts every config file at its path, one by one and read-only. In
// kolla's start mode the files go where the image's start script copies them from.
func (t *podTemplate) mountFiles() {
	var copies []copied
	for _, name := range t.pod.Configs {
		for _, m := range t.configs[name].sources {
			volume := t.volume(m)
			at := m.path
			if t.pod.Start == startKolla {
				at = stagingDir + "/" + volume
				copies = append(copies, copied{from: at, to: m.path, mode: m.mode})
			}
			t.mounts = append(t.mounts, corev1.VolumeMount().WithName(volume).
				WithMountPath(at).WithSubPath(m.key).WithReadOnly(true))
			t.dependsOn = append(t.dependsOn, m.object)
			t.deferred = append(t.deferred, m.deferred...)
		}
	}
	if t.pod.Start == startKolla {
		t.mountStartFile(copies)
	}
}

func (t *podTemplate) volume(m mounted) string {
	place := m.object.String() + " " + m.key
	if name, there := t.places[place]; there {
		return name
	}
	name := label(m.key, false)
	if m.secret {
		name += "-secret"
	}
	name = t.volumeName(name)
	t.places[place] = name
	volume := corev1.Volume().WithName(name)
	if m.secret {
		volume.WithSecret(corev1.SecretVolumeSource().WithSecretName(m.object.Name).WithDefaultMode(int32(cmp.Or(m.mode, 0o440))))
	} else {
		volume.WithConfigMap(corev1.ConfigMapVolumeSource().WithName(m.object.Name))
		if m.mode != 0 {
			volume.ConfigMap.WithDefaultMode(int32(m.mode))
		}
	}
	t.volumes = append(t.volumes, volume)
	return name
}

// volumeName makes a name that no other volume of the pod has, and that fits.
func (t *podTemplate) volumeName(base string) string {
	const longest = 63 - len("-00")
	base = strings.TrimRight(base[:min(len(base), longest)], "-")
	name := base
	for n := 2; slices.Contains(t.taken, name); n++ {
		name = fmt.Sprintf("%s-%d", base, n)
	}
	t.taken = append(t.taken, name)
	return name
}

// mountSecrets puts Secrets into directories. Their names do not change
// with their values, so the pod carries the revision.
func (t *podTemplate) mountSecrets() {
	t.mounts = append(t.mounts, t.secretMounts(t.pod.Mounts)...)
	t.initMounts = map[string][]*corev1.VolumeMountApplyConfiguration{}
	for _, init := range t.pod.Inits {
		t.initMounts[init.Name] = t.secretMounts(init.Mounts)
	}
}

func (t *podTemplate) secretMounts(mounts []configs.SecretMount) []*corev1.VolumeMountApplyConfiguration {
	var out []*corev1.VolumeMountApplyConfiguration
	for _, m := range mounts {
		secret := t.secret(m.Service, m.Secret)
		name := secret.address.Name
		volume := t.volumeName(m.Secret + "-keys")
		t.volumes = append(t.volumes, corev1.Volume().WithName(volume).
			WithSecret(corev1.SecretVolumeSource().WithSecretName(name).WithDefaultMode(0o440)))
		out = append(out, corev1.VolumeMount().WithName(volume).WithMountPath(m.Path).WithReadOnly(true))
		t.notes["kolla.openstack.org/secret-"+m.Secret] = secret.revision
		t.dependsOn = append(t.dependsOn, secret.address)
		t.deferred = append(t.deferred, secret.deferred...)
	}
	return out
}

// mountWritable gives the paths that are written to, and /tmp, a directory that
// lives as long as the pod: the root file system is read-only.
func (t *podTemplate) mountWritable() {
	if t.pod.Start == startKolla {
		return
	}
	for _, path := range append([]string{"/tmp"}, t.pod.Writable...) {
		if path == "/tmp" && t.mountsAt(path) {
			continue
		}
		name := t.directory(path)
		t.mounts = append(t.mounts, corev1.VolumeMount().WithName(name).WithMountPath(path))
	}
}

// writableSize keeps a pod from filling the disk of its node. Images of servers, which some
// services convert there, fit.
const writableSize = "50Gi"

// directory is the volume for a path that is written to. Containers share those that they
// list, and not /tmp.
func (t *podTemplate) directory(path string) string {
	if name, there := t.places[path]; there {
		return name
	}
	name := t.volumeName("writable-" + label(path, false))
	t.volumes = append(t.volumes, corev1.Volume().WithName(name).WithEmptyDir(sized(cmp.Or(t.pod.WritableSize, writableSize))))
	if path != "/tmp" {
		t.places[path] = name
	}
	return name
}

// environment sets the variables; those with a secret value come from a Secret.
func (t *podTemplate) environment() {
	secret := map[string]configs.Text{}
	for _, e := range t.pod.Env {
		t.deferred = append(t.deferred, e.Value.Deferred()...)
		if e.Value.Secret() {
			secret[e.Name] = e.Value
		}
	}
	source := ""
	if len(secret) > 0 {
		o := t.derived(t.name+"-env", secret, intoEnv)
		t.deferred = append(t.deferred, o.Deferred...)
		t.add(o)
		t.dependsOn = append(t.dependsOn, o.Address)
		source = o.Address.Name
	}
	for _, e := range t.pod.Env {
		variable := corev1.EnvVar().WithName(e.Name)
		switch {
		case e.Value.Secret():
			variable.WithValueFrom(corev1.EnvVarSource().
				WithSecretKeyRef(corev1.SecretKeySelector().WithName(source).WithKey(e.Name)))
		case len(e.Value) == 1 && e.Value[0].Field != "":
			variable.WithValueFrom(fromField(e.Value[0].Field))
		default:
			variable.WithValue(t.withFields(e.Value))
		}
		t.env = append(t.env, variable)
	}
}

// spec is the pod's specification; probes and restart policy are the caller's.
func (t *podTemplate) spec(main *corev1.ContainerApplyConfiguration) *corev1.PodSpecApplyConfiguration {
	spec := corev1.PodSpec().
		WithAutomountServiceAccountToken(false).
		WithEnableServiceLinks(t.pod.ServiceLinks).
		WithSecurityContext(t.podSecurityContext()).
		WithVolumes(t.volumes...).
		WithContainers(main)
	spec.WithInitContainers(t.inits...)
	t.place(spec)
	for _, name := range t.config.Cloud.PullSecrets {
		spec.WithImagePullSecrets(corev1.LocalObjectReference().WithName(name))
	}
	if t.pod.GracePeriod > 0 {
		spec.WithTerminationGracePeriodSeconds(int64(t.pod.GracePeriod))
	}
	if t.pod.HostNetwork {
		spec.WithHostNetwork(true).WithDNSPolicy(v1.DNSClusterFirstWithHostNet)
	}
	if t.pod.HostPID {
		spec.WithHostPID(true)
	}
	if t.pod.HostIPC {
		spec.WithHostIPC(true)
	}
	return spec
}

// main is the container that does the work.
func (t *podTemplate) main(name string) *corev1.ContainerApplyConfiguration {
	c := t.container(name)
	if t.pod.Start == startKolla {
		// The image's own entry point reads the command from the start file.
		return c
	}
	if len(t.pod.Command) > 0 {
		c.WithCommand(escapedAll(t.pod.Command)...)
	}
	if len(t.pod.Args) > 0 {
		c.WithArgs(escapedAll(t.pod.Args)...)
	}
	return c
}

// container is what all containers of the pod have in common.
func (t *podTemplate) container(name string) *corev1.ContainerApplyConfiguration {
	return corev1.Container().
		WithName(name).
		WithImage(t.image(t.pod.Image)).
		WithImagePullPolicy(v1.PullIfNotPresent).
		// What a container said at its end is then part of its pod's status, where
		// kolla finds it while it waits.
		WithTerminationMessagePolicy(v1.TerminationMessageFallbackToLogsOnError).
		WithEnv(t.env...).
		WithVolumeMounts(append(t.volumeMounts(), t.mounts...)...).
		WithSecurityContext(t.containerSecurityContext()).
		WithResources(resources(t.pod))
}

// image is the full reference of a Kolla image.
func (r *renderer) image(name string) string {
	if strings.Contains(name, "/") {
		return name
	}
	c := r.config.Cloud
	return c.Registry + "/" + c.Prefix + name + ":" + cmp.Or(c.Tag, c.Release+"-"+c.Distro)
}

// podSecurityContext runs the pod as the image's fixed user, and lets that user
// write to its volumes.
func (t *podTemplate) podSecurityContext() *corev1.PodSecurityContextApplyConfiguration {
	c := corev1.PodSecurityContext().
		WithSeccompProfile(corev1.SeccompProfile().WithType(v1.SeccompProfileTypeRuntimeDefault))
	if t.pod.User != 0 {
		id := int64(t.pod.User)
		c.WithFSGroup(id).WithFSGroupChangePolicy(v1.FSGroupChangeOnRootMismatch)
		if t.pod.Start != startKolla {
			c.WithRunAsUser(id).WithRunAsGroup(id).WithRunAsNonRoot(true)
		}
	}
	if t.pod.Root {
		c.WithRunAsUser(0).WithRunAsGroup(0)
		if other := otherUser(t.pod.Inits); other != 0 { // root reads the files of any group
			c.WithFSGroup(other).WithFSGroupChangePolicy(v1.FSGroupChangeOnRootMismatch)
		}
	}
	return c
}

// otherUser is the first user of steps and sidecars who is not root, or 0.
func otherUser(inits []configs.Init) int64 {
	for _, init := range inits {
		if init.User != 0 {
			return int64(init.User)
		}
	}
	return 0
}

// containerSecurityContext passes the Pod Security Standard "restricted" in the
// direct start mode, but for declared powers. The image's own start needs sudo, and a
// writable root.
func (t *podTemplate) containerSecurityContext() *corev1.SecurityContextApplyConfiguration {
	p := t.pod.Powers
	c := corev1.SecurityContext()
	kept := corev1.Capabilities().WithAdd(capabilities(p)...)
	if t.pod.Start == startKolla {
		c.WithAllowPrivilegeEscalation(true)
		if len(p.Capabilities) > 0 {
			c.WithCapabilities(kept)
		}
	} else {
		// Kubernetes refuses a privileged container that may not gain privileges, and what
		// such a container drops the container runtimes do not agree on.
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

// defaultRequests are for pods whose definition says nothing, so that the
// scheduler always knows what to expect.
var defaultRequests = map[string]string{"cpu": "50m", "memory": "256Mi"}

func resources(pod configs.Pod) *corev1.ResourceRequirementsApplyConfiguration {
	r := corev1.ResourceRequirements().WithRequests(quantities(merged(defaultRequests, pod.Requests)))
	if len(pod.Limits) > 0 {
		r.WithLimits(quantities(pod.Limits))
	}
	return r
}

// quantities are those that are known.
func quantities(texts map[string]string) v1.ResourceList {
	out := v1.ResourceList{}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if texts[name] != "" {
			out[v1.ResourceName(name)] = resource.MustParse(texts[name]) // lang checked that they parse
		}
	}
	return out
}

// probe converts a probe; nil stays nil.
func (t *podTemplate) probe(p *configs.Probe) *corev1.ProbeApplyConfiguration {
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

// template wraps a specification with the labels that select the pod.
func (t *podTemplate) template(spec *corev1.PodSpecApplyConfiguration) *corev1.PodTemplateSpecApplyConfiguration {
	template := corev1.PodTemplateSpec().WithLabels(merged(t.pod.Labels, t.podLabels())).WithSpec(spec)
	if notes := merged(t.pod.Annotations, t.notes); len(notes) > 0 {
		template.WithAnnotations(notes)
	}
	return template
}

func (t *podTemplate) podLabels() map[string]string {
	return merged(t.labels(t.decl.Name), map[string]string{"app.kubernetes.io/component": t.name})
}

// selector finds the pods, and never changes.
func (s *service) selector(name string) map[string]string {
	return map[string]string{
		providers.LabelCloud:          s.config.Cloud.Name,
		providers.LabelService:        s.decl.Name,
		"app.kubernetes.io/component": name,
	}
}
