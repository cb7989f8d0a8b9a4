package lang

import (
	"path"
	"slices"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/schema"
)

// volumeWays are the arguments that say what a volume is.
var volumeWays = []string{"host", "claim", "memory", "shared"}

// volumes are those that stand in a block.
func (in *instance) volumes(b *source.Block, e *evaluator) []configs.Volume {
	var out []configs.Volume
	for _, v := range b.All(schema.VolumeType.Name) {
		volume := configs.Volume{
			Name: v.Label, Range: v.Header,
			Host: e.string(v, "host"), Claim: e.string(v, "claim"), Memory: e.string(v, "memory"), Shared: e.string(v, "shared"),
			Path: e.string(v, "path"), ReadOnly: e.bool(v, "read_only"),
		}
		ways := 0
		for _, way := range volumeWays {
			if e.given(v, way) {
				ways++
			}
		}
		switch {
		case ways != 1 && e.settled(v, volumeWays...):
			in.report.Error(v.Header, "Unsuitable volume", "Exactly one of host, claim, memory and shared says what a volume is; here are %d.", ways)
		case ways != 1: // it is not known yet which of them there are
		case e.given(v, "host"):
			in.ofHost(v, e, &volume)
		default:
			in.onlyOfHost(v, e)
		}
		out = append(out, volume)
	}
	return out
}

// ofHost adds what only a path of the node has.
func (in *instance) ofHost(v *source.Block, e *evaluator, volume *configs.Volume) {
	volume.Type, volume.Propagation = e.string(v, "type"), e.string(v, "propagation")
	volume.Create = volume.Type == "directory"
	if e.given(v, "create") {
		volume.Create = e.bool(v, "create")
	}
	if !e.given(v, "path") {
		volume.Path = volume.Host
	}
	if volume.Create && (volume.Type == "socket" || volume.Type == "device") {
		e.unsuitable(v, "create", "Only a directory or a file can be made, and this is a %s.", volume.Type)
	}
}

// onlyOfHost reports arguments that mean nothing without a path of the node, and a path
// that only that would make up for.
func (in *instance) onlyOfHost(v *source.Block, e *evaluator) {
	for _, name := range schema.HostArguments {
		if e.given(v, name) {
			in.report.Error(v.Attributes[name].NameRange, "Unsuitable volume", "The argument %s belongs to host.", name)
		}
	}
	if overridden := v.Base != nil; overridden && !e.given(v, "path") {
		in.report.Error(v.Header, "Unsuitable volume", "Volume %q is no path of the node, so path has to say where it is mounted.", v.Label)
	}
}

// mounted is where something other than a volume is in a container, by path.
type mounted map[string]string

func (m mounted) add(at, what string) {
	if at != "" {
		m[path.Clean(at)] = what
	}
}

// mountedFiles are the places of config files, secrets and directories.
func (in *instance) mountedFiles(configs []string, mounts []configs.SecretMount, writable []string) mounted {
	out := mounted{}
	for _, f := range in.out.Configs {
		if slices.Contains(configs, f.Name) {
			out.add(f.Path, "config "+f.Name)
			out.add(f.SecretPath, "config "+f.Name)
		}
	}
	for _, m := range mounts {
		out.add(m.Path, "secret "+m.Secret)
	}
	for _, at := range writable {
		out.add(at, "a writable directory")
	}
	return out
}

// mountedIn are the places in the main container of a pod.
func (in *instance) mountedIn(p *configs.Pod, claims []configs.Claim) mounted {
	out := in.mountedFiles(p.Configs, p.Mounts, p.Writable)
	for _, claim := range claims {
		out.add(claim.Path, "claim "+claim.Name)
	}
	return out
}

// checkVolumes reports volumes of a main container that would be where something else is.
func (in *instance) checkVolumes(container *source.Block, volumes []configs.Volume, there mounted) {
	for _, v := range volumes {
		in.checkVolume(container, v, there)
		there.add(v.Path, "volume "+v.Name)
	}
}

func (in *instance) checkVolume(container *source.Block, v configs.Volume, there mounted) {
	if other, taken := there[path.Clean(v.Path)]; taken {
		in.report.Error(v.Range, "Two mounts at one path", "%s would have volume %q and %s at %s. Give one of the two another path.", sentenced(container.Described()), v.Name, other, v.Path)
	}
}

// checkPropagation reports volumes in which a container would mount something for its node
// to see, where no container may: Kubernetes wants it to be privileged.
func (in *instance) checkPropagation(b *source.Block, p *configs.Pod) {
	var privileged []string // names of containers; the main one has none
	for name, c := range in.containers(b) {
		if c.Type.Attribute("privileged") != nil && (!in.inner.settled(c, "privileged") || in.inner.bool(c, "privileged")) {
			privileged = append(privileged, name)
		}
	}
	check := func(volumes []configs.Volume, may bool) {
		for _, v := range volumes {
			if v.Propagation == "both" && !may {
				in.report.Error(v.Range, "Only privileged containers mount for their node", "No container with volume %q is privileged, and the node sees the mounts of no other (propagation = \"both\"). Write privileged = true for the one that mounts, or propagation = \"in\".", v.Name)
			}
		}
	}
	check(p.Volumes, len(privileged) > 0)
	for _, init := range p.Inits {
		check(init.Volumes, slices.Contains(privileged, init.Name))
	}
}

// containers are the blocks with the containers of a pod, by name: the main one has none.
func (in *instance) containers(b *source.Block) map[string]*source.Block {
	out := map[string]*source.Block{"": b}
	for _, c := range b.Blocks {
		if c.Type == schema.InitType || c.Type == schema.SidecarType {
			out[c.Label] = c
		}
	}
	return out
}
