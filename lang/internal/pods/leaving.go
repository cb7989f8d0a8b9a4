package pods

import (
	"slices"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/source"
)

// podCommand evaluates the block carries or leave of a workload. It returns nil if the workload
// does not have the block.
func podCommand(s *Service, workload *source.Block, name string, w *configs.Workload) *configs.PodCommand {
	b := workload.One(name, "")
	if b == nil {
		return nil
	}
	e := s.Env
	c := &configs.PodCommand{What: eval.String(e, b, "what"), Container: eval.String(e, b, "container"), Command: eval.List(e, b, "command")}
	if b.Type.Attribute("timeout") != nil {
		c.Timeout = eval.Number(e, b, "timeout")
	}
	if w.Kind == "Deployment" {
		s.Env.Report.Error(b.Header, "Unsuitable kind of workload", "%s needs a DaemonSet or StatefulSet, and workload %q is a Deployment, whose pods come and go.", words.Capital(name), w.Name)
	}
	var known []string
	for _, i := range w.Pod.Inits {
		if i.Sidecar {
			known = append(known, i.Name)
		}
	}
	if c.Container != "" && !slices.Contains(known, c.Container) && eval.AllKnown(e, b, "container") {
		eval.Unsuitable(e, b, "container", "Workload %q has no sidecar %q.%s Without this argument it is the main container.", w.Name, c.Container, words.DidYouMean(c.Container, known))
	}
	if len(c.Command) == 0 && eval.AllKnown(e, b, "command") && eval.IsSet(e, b, "command") {
		eval.Unsuitable(e, b, "command", "It is empty.")
	}
	return c
}
