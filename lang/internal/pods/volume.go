package pods

import (
	"path"
	"slices"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/schema"
)

// volumeWays are the arguments that select the type of a volume.
var volumeWays = []string{"host", "claim", "memory", "shared"}

// volumes evaluates the volume blocks in a block.
func volumes(s *Service, b *source.Block, e *eval.Env) []configs.Volume {
	var out []configs.Volume
	for _, v := range b.All(schema.VolumeType.Name) {
		volume := configs.Volume{
			Name: v.Label, Range: v.Header,
			Host: eval.String(e, v, "host"), Claim: eval.String(e, v, "claim"), Memory: eval.String(e, v, "memory"), Shared: eval.String(e, v, "shared"),
			Path: eval.String(e, v, "path"), ReadOnly: eval.Bool(e, v, "read_only"),
		}
		ways := 0
		for _, way := range volumeWays {
			if eval.IsSet(e, v, way) {
				ways++
			}
		}
		switch {
		case ways != 1 && eval.AllKnown(e, v, volumeWays...):
			s.Env.Report.Error(v.Header, "Unsuitable volume", "Exactly one of host, claim, memory and shared says what a volume is; here are %d.", ways)
		case ways != 1: // it is not known yet which of them there are
		case eval.IsSet(e, v, "host"):
			ofHost(v, e, &volume)
		default:
			onlyOfHost(s, v, e)
		}
		out = append(out, volume)
	}
	return out
}

// ofHost evaluates the arguments that only volumes with a path of the node have.
func ofHost(v *source.Block, e *eval.Env, volume *configs.Volume) {
	volume.Type, volume.Propagation = eval.String(e, v, "type"), eval.String(e, v, "propagation")
	volume.Create = volume.Type == "directory"
	if eval.IsSet(e, v, "create") {
		volume.Create = eval.Bool(e, v, "create")
	}
	if !eval.IsSet(e, v, "path") {
		volume.Path = volume.Host
	}
	if volume.Create && (volume.Type == "socket" || volume.Type == "device") {
		eval.Unsuitable(e, v, "create", "Only a directory or a file can be made, and this is a %s.", volume.Type)
	}
}

// onlyOfHost reports arguments that need a path of the node. It also reports a missing mount
// path, which such a volume would take from the node.
func onlyOfHost(s *Service, v *source.Block, e *eval.Env) {
	for _, name := range schema.HostArguments {
		if eval.IsSet(e, v, name) {
			s.Env.Report.Error(v.Attributes[name].NameRange, "Unsuitable volume", "The argument %s belongs to host.", name)
		}
	}
	if overridden := v.Base != nil; overridden && !eval.IsSet(e, v, "path") {
		s.Env.Report.Error(v.Header, "Unsuitable volume", "Volume %q is no path of the node, so path has to say where it is mounted.", v.Label)
	}
}

// mounted maps each path in a container to a description of the thing that is there.
type mounted map[string]string

// add notes that something is at a path.
func (m mounted) add(at, what string) {
	if at != "" {
		m[path.Clean(at)] = what
	}
}

// mountedFiles returns the paths of config files, secrets and writable directories.
func mountedFiles(s *Service, configs []string, mounts []configs.SecretMount, writable []string) mounted {
	out := mounted{}
	for _, f := range s.Configs {
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

// mountedIn returns the paths in the main container of a pod.
func mountedIn(s *Service, p *configs.Pod, claims []configs.Claim) mounted {
	out := mountedFiles(s, p.Configs, p.Mounts, p.Writable)
	for _, claim := range claims {
		out.add(claim.Path, "claim "+claim.Name)
	}
	return out
}

// checkVolumes reports volumes of a main container at paths that are already in use.
func checkVolumes(s *Service, container *source.Block, volumes []configs.Volume, there mounted) {
	for _, v := range volumes {
		checkVolume(s, container, v, there)
		there.add(v.Path, "volume "+v.Name)
	}
}

// checkVolume reports a volume at a path that is already in use.
func checkVolume(s *Service, container *source.Block, v configs.Volume, there mounted) {
	if other, taken := there[path.Clean(v.Path)]; taken {
		s.Env.Report.Error(v.Range, "Two mounts at one path", "%s would have volume %q and %s at %s. Give one of the two another path.", words.Capital(container.Described()), v.Name, other, v.Path)
	}
}

// checkPropagation reports volumes with propagation "both" in containers that are not privileged.
// Kubernetes refuses them.
func checkPropagation(s *Service, b *source.Block, p *configs.Pod) {
	var privileged []string // names of containers; the main one has none
	for name, c := range containers(b) {
		if c.Type.Attribute("privileged") != nil && (!eval.AllKnown(s.Env, c, "privileged") || eval.Bool(s.Env, c, "privileged")) {
			privileged = append(privileged, name)
		}
	}
	check := func(volumes []configs.Volume, may bool) {
		for _, v := range volumes {
			if v.Propagation == "both" && !may {
				s.Env.Report.Error(v.Range, "Only privileged containers mount for their node", "No container with volume %q is privileged, and the node sees the mounts of no other (propagation = \"both\"). Write privileged = true for the one that mounts, or propagation = \"in\".", v.Name)
			}
		}
	}
	check(p.Volumes, len(privileged) > 0)
	for _, init := range p.Inits {
		check(init.Volumes, slices.Contains(privileged, init.Name))
	}
}

// containers returns the blocks with the containers of a pod, by name. The main container has an
// empty name.
func containers(b *source.Block) map[string]*source.Block {
	out := map[string]*source.Block{"": b}
	for _, c := range b.Blocks {
		if c.Type == schema.InitType || c.Type == schema.SidecarType {
			out[c.Label] = c
		}
	}
	return out
}

// checkPaths reports two config files of one pod with the same path.
func checkPaths(s *Service, pod *source.Block, names []string) {
	taken := map[string]*source.Block{}
	for _, f := range s.Configs {
		if !slices.Contains(names, f.Name) {
			continue
		}
		b := s.Definition.One("config", f.Name)
		for _, at := range []string{f.Path, f.SecretPath} {
			if other := taken[at]; other != nil && at != "" {
				s.Env.Report.Error(pod.AttributeRange("config"), "Two files at one path", "%s would have config %q (%s) and config %q (%s) at %s. Take one of the two out of the list, or give it another path.",
					words.Capital(pod.Described()), other.Label, diag.Position(other.Header), f.Name, diag.Position(b.Header), at)
				break
			}
			taken[at] = b
		}
	}
}
