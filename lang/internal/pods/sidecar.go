package pods

import (
	"cmp"
	"maps"
	"slices"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/schema"
)

// inits evaluates the init steps and sidecars of a workload. It adds their ports to the ports of
// the pod.
func inits(s *Service, b *source.Block, w *configs.Workload) {
	e, first := s.Env, map[string]*source.Block{}
	for _, c := range b.Blocks {
		if c.Type != schema.InitType && c.Type != schema.SidecarType {
			continue
		}
		if other := first[c.Label]; other != nil || c.Label == b.Label {
			s.Env.Report.Error(c.Header, "Two containers of one name", "%s %q has a container %q already. Give it another name.", words.Capital(b.Type.Name), b.Label, c.Label)
			continue
		}
		first[c.Label] = c
		init := configs.Init{
			Name: c.Label, Sidecar: c.Type == schema.SidecarType,
			User:    eval.Number(e, c, "user"),
			Command: eval.List(e, c, "command"), Args: eval.List(e, c, "args"), Env: environment(s, c, e, setOf(s, b)),
			Configs: names(s, c, e, "config", "config file"), Mounts: mounts(s, c, e), Volumes: volumes(s, c, e),
			Powers: powers(c, e),
		}
		if !init.Root {
			checkPowers(s, c, init.Powers, cmp.Or(init.User, w.Pod.User))
		}
		if eval.IsSet(e, c, "image") {
			init.Image = s.Image(eval.String(e, c, "image"))
		}
		if init.Sidecar {
			sidecar(s, c, &init, w)
			checkPaths(s, c, init.Configs)
		} else {
			checkPaths(s, c, append(slices.Clone(w.Pod.Configs), init.Configs...))
		}
		checkInitVolumes(s, c, init, w)
		w.Pod.Inits = append(w.Pod.Inits, init)
	}
}

// checkInitVolumes reports volumes at paths that are already in use. An init step also has the
// files and directories of the main container.
func checkInitVolumes(s *Service, c *source.Block, init configs.Init, w *configs.Workload) {
	there := mountedFiles(s, init.Configs, init.Mounts, init.Writable)
	for _, v := range w.Pod.Volumes {
		checkVolume(s, c, v, there)
	}
	for _, v := range w.Pod.Volumes {
		there.add(v.Path, "volume "+v.Name)
	}
	if !init.Sidecar {
		maps.Copy(there, mountedIn(s, &w.Pod, w.Claims))
	}
	for _, v := range init.Volumes {
		if slices.ContainsFunc(w.Pod.Volumes, func(other configs.Volume) bool { return other.Name == v.Name }) {
			s.Env.Report.Error(v.Range, "Two volumes of one name", "%s has volume %q of its pod already. Give it another name.", words.Capital(c.Described()), v.Name)
			continue
		}
		checkVolume(s, c, v, there)
		there.add(v.Path, "volume "+v.Name)
	}
}

// sidecar evaluates the arguments that only sidecars have.
func sidecar(s *Service, c *source.Block, init *configs.Init, w *configs.Workload) {
	e := s.Env
	init.Writable, init.Logs = eval.List(e, c, "writable"), eval.String(e, c, "logs")
	for i, name := range names(s, c, e, "ports", "port") {
		if slices.Contains(w.Pod.Ports, name) {
			eval.Unsuitable(e, c, "ports", "Element %d, %q, is a port of another container of the pod.", i, name)
			continue
		}
		init.Ports = append(init.Ports, name)
	}
	w.Pod.Ports = append(w.Pod.Ports, init.Ports...)
	if r := c.One("resources", ""); r != nil {
		init.Requests, init.Limits = eval.Strings(e, r, "requests"), eval.Strings(e, r, "limits")
	}
	init.Ready, init.Live, init.Startup = probes(s, c, init.Ports)
}
