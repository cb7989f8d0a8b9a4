package lang

import (
	"slices"

	"kolla.openstack.org/kolla/internal/words"
)

// PodCommand is a command that kolla runs in the pods of a workload.
type PodCommand struct {
	What      string   // what it names, or takes away, in a few words: "running servers"
	Container string   // where it runs; empty: the main container
	Command   []string // it and its arguments; there is no shell
	Timeout   int      // seconds that it may take in a pod
}

const leavingExample = `definition "probe" {
  workload "agent" {
    kind         = "DaemonSet"
    image        = "registry.example.org/probe:1"
    user         = 42999
    host_network = true
    loss         = "nobody measures the guests of the node"
    reason       = "It measures the network of the node."

    # One item a line.
    carries {
      what    = "running guests"
      command = ["probe", "guests", "--names"]
    }

    leave {
      what      = "taps of guests"
      container = "taps"
      command   = ["taps", "delete", "--all"]
      timeout   = 120
    }

    sidecar "taps" {
      image   = "registry.example.org/taps:1"
      user    = 42998
      command = ["taps", "serve"]
    }
  }
}
`

var (
	whatAttribute      = Attribute{Name: "what", Type: TypeString, Required: true}
	containerAttribute = Attribute{Name: "container", Type: TypeString, Doc: "The sidecar that it runs in; by default the main container."}
	commandAttribute   = Attribute{Name: "command", Type: TypeList, Required: true}
)

// carriesType and leaveType are blocks of a workload.
var (
	carriesType = &BlockType{
		Name: "carries", Single: true,
		Doc:     "Names what users lose when the pods go. A plan that takes the workload away, or refuses to, asks each running pod with this command, and names the answers node by node. For a DaemonSet or StatefulSet.",
		Example: leavingExample,
		Attributes: conditional([]Attribute{
			with(whatAttribute, "What the items are, in a few words: \"running servers\"."),
			containerAttribute,
			with(commandAttribute, "Command that prints one item a line, and changes nothing. It has ten seconds."),
		}),
	}
	leaveType = &BlockType{
		Name: "leave", Single: true,
		Doc:     "How a pod leaves its node for good. The command runs in each running pod right before kolla deletes the workload: by a destroy, or because its service or its block is gone. It does not run where pods are only replaced, nor where a node leaves the role. A pod that cannot run it is told of at the end, and stops nothing. It may run several times. For a DaemonSet or StatefulSet.",
		Example: leavingExample,
		Attributes: conditional([]Attribute{
			with(whatAttribute, "What it takes away, in a few words: \"bridges and ports\". It is named for each node that could not be cleaned."),
			containerAttribute,
			with(commandAttribute, "Command that takes away what outlives the pod, and ends with 0 also where nothing is left to do."),
			{Name: "timeout", Type: TypeNumber, Default: 60, Min: 1, Max: maxTimeout, Doc: "Seconds that it may take in each pod."},
		}),
	}
)

// with is an attribute with a description.
func with(a Attribute, doc string) Attribute {
	a.Doc = doc
	return a
}

// podCommand reads one of the two blocks; nil: there is none.
func (in *instance) podCommand(workload *block, name string, w *Workload) *PodCommand {
	b := workload.one(name, "")
	if b == nil {
		return nil
	}
	e := in.inner
	c := &PodCommand{What: e.string(b, "what"), Container: e.string(b, "container"), Command: e.list(b, "command")}
	if b.typ.attribute("timeout") != nil {
		c.Timeout = e.number(b, "timeout")
	}
	if w.Kind == "Deployment" {
		in.error(b.header, "Unsuitable kind of workload", "%s needs a DaemonSet or StatefulSet, and workload %q is a Deployment, whose pods come and go.", sentenced(name), w.Name)
	}
	var known []string
	for _, i := range w.Pod.Inits {
		if i.Sidecar {
			known = append(known, i.Name)
		}
	}
	if c.Container != "" && !slices.Contains(known, c.Container) && e.settled(b, "container") {
		e.unsuitable(b, "container", "Workload %q has no sidecar %q.%s Without this argument it is the main container.", w.Name, c.Container, words.DidYouMean(c.Container, known))
	}
	if len(c.Command) == 0 && e.settled(b, "command") && e.given(b, "command") {
		e.unsuitable(b, "command", "It is empty.")
	}
	return c
}
