package lang

import (
	"cmp"
	"maps"
	"slices"
)

// sidecarExample shows the containers of a pod beside its main one.
const sidecarExample = `definition "status" {
  port "http" {
    number = 8080
  }

  port "metrics" {
    number = 9100
  }

  secret "session" {}

  config "exporter.yaml" {
    format = "yaml"
    path   = "/etc/exporter.yaml"
    values = { port = port.metrics }
  }

  workload "web" {
    kind     = "Deployment"
    image    = "registry.example.org/status:1"
    user     = 42999
    ports    = ["http"]
    writable = ["/run/status"]

    # Begins when this step has ended, and is told to stop after the main container.
    init "prepare" {
      image   = "registry.example.org/tools:1"
      user    = 42998
      command = ["prepare"]
      args    = ["--all"]
      env     = { REGION = cloud.region }
      config  = ["exporter.yaml"]

      mount "session" {
        path = "/etc/status/keys"
      }
    }

    sidecar "exporter" {
      image    = "registry.example.org/exporter:1"
      user     = 42997
      command  = ["exporter"]
      args     = ["--config=/etc/exporter.yaml"]
      env      = { LOG = "info" }
      ports    = ["metrics"]
      config   = ["exporter.yaml"]
      writable = ["/run/status"] # the same directory

      ready {
        http = "/metrics"
        port = "metrics"
      }
    }
  }
}
`

// ownAttributes are what an init step and a sidecar have of their own.
var ownAttributes = []Attribute{
	{Name: "user", Type: TypeNumber, Max: 4294967294, Doc: "User and group that it runs as, 0 for root; by default the workload's."},
	{Name: "args", Type: TypeList, Doc: "Arguments of the command."},
	{Name: "env", Type: TypeTexts, Doc: envDoc},
	{Name: "config", Type: TypeList, Names: "config", Doc: "Names of the config files to mount."},
}

var initType = &BlockType{
	Name: "init", Label: "init step", LabelForm: formName,
	Doc:     "A step in each pod before its main container starts, with the same files and environment, and others beside. Steps and sidecars start one after the other, in the order in which they are written. A secret that is mounted in the step is seen by the step alone.",
	Example: sidecarExample,
	Attributes: conditional(slices.Concat([]Attribute{
		{Name: "image", Type: TypeString, Form: formPlain, Doc: "Name of a Kolla image, or a full reference if it holds a slash; by default the workload's."},
		{Name: "command", Type: TypeList, Required: true, Doc: "Command to run."},
	}, ownAttributes, powerAttributes, []Attribute{reasonAttribute})),
	Blocks: []*BlockType{mountType, volumeType},
}

var sidecarType = &BlockType{
	Name: "sidecar", Label: "sidecar", LabelForm: formName,
	Doc:     "A container in each pod that starts before the main one, and lives as long. What is written after it waits until it has started, which its `startup` probe says. It has no files, environment or directories of the main container, but for its volumes, and directories that both list in `writable`. Needs Kubernetes 1.29.",
	Example: sidecarExample,
	Attributes: conditional(slices.Concat([]Attribute{
		{Name: "image", Type: TypeString, Required: true, Form: formPlain, Doc: "Name of a Kolla image, or a full reference if it holds a slash."},
		{Name: "command", Type: TypeList, Doc: "Command, in place of the image's."},
		{Name: "ports", Type: TypeList, Names: "port", Doc: "Names of the ports that it listens on."},
		{Name: "writable", Type: TypeList, Form: formPath, Doc: "Directories that can be written to, empty at every start of the pod."},
	}, ownAttributes, powerAttributes, []Attribute{reasonAttribute})),
	Blocks: []*BlockType{mountType, volumeType, resourcesType, startupProbeType, readyProbeType, liveProbeType},
}

// The probes of a workload and of a sidecar.
var (
	startupProbeType = probeType("startup", "Until it is good, the other probes wait. When it fails, the container starts again.")
	readyProbeType   = probeType("ready", "While it is good, the pod gets traffic.")
	liveProbeType    = probeType("live", "When it fails, the container starts again.")
)

// Init is a step that runs in the pod before its main container, or a sidecar, which
// starts there and lives as long as the pod. A step has the files, directories and
// environment of the main container, too.
type Init struct {
	Name     string
	Sidecar  bool
	Image    string // empty: the main container's
	User     int    // 0: the main container's, unless Root
	Command  []string
	Args     []string
	Env      []Env // sorted by name
	Configs  []string
	Mounts   []SecretMount
	Volumes  []Volume // besides those of the pod
	Ports    []string // and the following are a sidecar's
	Writable []string
	Requests map[string]string
	Limits   map[string]string
	Ready    *Probe
	Live     *Probe
	Startup  *Probe
	Powers
}

// inits makes the steps and sidecars of a workload. Its ports become those of the pod.
func (in *instance) inits(b *block, w *Workload) {
	e, first := in.inner, map[string]*block{}
	for _, c := range b.blocks {
		if c.typ != initType && c.typ != sidecarType {
			continue
		}
		if other := first[c.label]; other != nil || c.label == b.label {
			in.error(c.header, "Two containers of one name", "%s %q has a container %q already. Give it another name.", sentenced(b.typ.Name), b.label, c.label)
			continue
		}
		first[c.label] = c
		init := Init{
			Name: c.label, Sidecar: c.typ == sidecarType,
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
func (in *instance) checkInitVolumes(c *block, init Init, w *Workload) {
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
		if slices.ContainsFunc(w.Pod.Volumes, func(other Volume) bool { return other.Name == v.Name }) {
			in.error(v.at, "Two volumes of one name", "%s has volume %q of its pod already. Give it another name.", sentenced(describe(c)), v.Name)
			continue
		}
		in.checkVolume(c, v, there)
		there.add(v.Path, "volume "+v.Name)
	}
}

// sidecar adds what only a sidecar has.
func (in *instance) sidecar(c *block, init *Init, w *Workload) {
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
	if r := c.one("resources", ""); r != nil {
		init.Requests, init.Limits = e.strings(r, "requests"), e.strings(r, "limits")
	}
	init.Ready, init.Live, init.Startup = in.probe(c, "ready", init.Ports), in.probe(c, "live", init.Ports), in.probe(c, "startup", init.Ports)
}
