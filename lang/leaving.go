package lang

import (
	"slices"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/source"
)

// podCommand reads one of the two blocks; nil: there is none.
func (in *instance) podCommand(workload *source.Block, name string, w *configs.Workload) *configs.PodCommand {
	b := workload.One(name, "")
	if b == nil {
		return nil
	}
	e := in.inner
	c := &configs.PodCommand{What: e.string(b, "what"), Container: e.string(b, "container"), Command: e.list(b, "command")}
	if b.Type.Attribute("timeout") != nil {
		c.Timeout = e.number(b, "timeout")
	}
	if w.Kind == "Deployment" {
		in.report.Error(b.Header, "Unsuitable kind of workload", "%s needs a DaemonSet or StatefulSet, and workload %q is a Deployment, whose pods come and go.", sentenced(name), w.Name)
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
