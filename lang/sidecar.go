package lang

import (
	"cmp"
	"maps"
	"slices"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/schema"
)

// inits makes the steps and sidecars of a workload. Its ports become those of the pod.
func (in *instance) inits(b *source.Block, w *configs.Workload) {
	e, first := in.inner, map[string]*source.Block{}
	for _, c := range b.Blocks {
		if c.Type != schema.InitType && c.Type != schema.SidecarType {
			continue
		}
		if other := first[c.Label]; other != nil || c.Label == b.Label {
			in.report.Error(c.Header, "Two containers of one name", "%s %q has a container %q already. Give it another name.", sentenced(b.Type.Name), b.Label, c.Label)
			continue
		}
		first[c.Label] = c
		init := configs.Init{
			Name: c.Label, Sidecar: c.Type == schema.SidecarType,
			User:    e.number(c, "user"),
			Command: e.list(c, "command"), Args: e.list(c, "args"), Env: in.environment(c, e, in.setOf(b)),
			Configs: in.names(c, e, "config", "config file"), Mounts: in.mounts(c, e), Volumes: in.volumes(c, e),
			Powers: in.powers(c, e),
		}
		if !init.Root {
			in.checkPowers(c, init.Powers, cmp.Or(init.User, w.Pod.User))
		}
		if e.given(c, "image") {
			init.Image = in.image(c, e)
		}
		if init.Sidecar {
			in.sidecar(c, &init, w)
			in.checkPaths(c, init.Configs)
		} else {
			in.checkPaths(c, append(slices.Clone(w.Pod.Configs), init.Configs...))
		}
		in.checkInitVolumes(c, init, w)
		w.Pod.Inits = append(w.Pod.Inits, init)
	}
}

// checkInitVolumes reports volumes that would be where something else is. A step has the
// files and directories of the main container, too.
func (in *instance) checkInitVolumes(c *source.Block, init configs.Init, w *configs.Workload) {
	there := in.mountedFiles(init.Configs, init.Mounts, init.Writable)
	for _, v := range w.Pod.Volumes {
		in.checkVolume(c, v, there)
	}
	for _, v := range w.Pod.Volumes {
		there.add(v.Path, "volume "+v.Name)
	}
	if !init.Sidecar {
		maps.Copy(there, in.mountedIn(&w.Pod, w.Claims))
	}
	for _, v := range init.Volumes {
		if slices.ContainsFunc(w.Pod.Volumes, func(other configs.Volume) bool { return other.Name == v.Name }) {
			in.report.Error(v.Range, "Two volumes of one name", "%s has volume %q of its pod already. Give it another name.", sentenced(c.Described()), v.Name)
			continue
		}
		in.checkVolume(c, v, there)
		there.add(v.Path, "volume "+v.Name)
	}
}

// sidecar adds what only a sidecar has.
func (in *instance) sidecar(c *source.Block, init *configs.Init, w *configs.Workload) {
	e := in.inner
	init.Writable = e.list(c, "writable")
	for i, name := range in.names(c, e, "ports", "port") {
		if slices.Contains(w.Pod.Ports, name) {
			e.unsuitable(c, "ports", "Element %d, %q, is a port of another container of the pod.", i, name)
			continue
		}
		init.Ports = append(init.Ports, name)
	}
	w.Pod.Ports = append(w.Pod.Ports, init.Ports...)
	if r := c.One("resources", ""); r != nil {
		init.Requests, init.Limits = e.strings(r, "requests"), e.strings(r, "limits")
	}
	init.Ready, init.Live, init.Startup = in.probe(c, "ready", init.Ports), in.probe(c, "live", init.Ports), in.probe(c, "startup", init.Ports)
}
