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
	checkContainer(s, b, w, c.Container)
	checkCommand(s, b, "command", c.Command)
	return c
}

// backup evaluates the block backup of a workload. It returns nil if the workload does not have the
// block.
func backup(s *Service, workload *source.Block, w *configs.Workload) *configs.Backup {
	b := workload.One("backup", "")
	if b == nil {
		return nil
	}
	e := s.Env
	out := &configs.Backup{
		What: eval.String(e, b, "what"), Container: eval.String(e, b, "container"),
		Save: eval.List(e, b, "save"), Stage: eval.List(e, b, "stage"), Restore: eval.List(e, b, "restore"),
		Offline: eval.Bool(e, b, "offline"), Mismatch: eval.String(e, b, "mismatch"),
	}
	if w.Kind != "" && w.Kind != "StatefulSet" {
		s.Env.Report.Error(b.Header, "Unsuitable kind of workload", "Backup needs a StatefulSet, whose pods keep data, and workload %q is a %s.", w.Name, w.Kind)
	}
	checkContainer(s, b, w, out.Container)
	checkCommand(s, b, "save", out.Save)
	checkCommand(s, b, "stage", out.Stage)
	checkCommand(s, b, "restore", out.Restore)
	return out
}

// checkContainer reports a container that is no sidecar of the workload.
func checkContainer(s *Service, b *source.Block, w *configs.Workload, container string) {
	var known []string
	for _, i := range w.Pod.Inits {
		if i.Sidecar {
			known = append(known, i.Name)
		}
	}
	if container != "" && !slices.Contains(known, container) && eval.AllKnown(s.Env, b, "container") {
		eval.Unsuitable(s.Env, b, "container", "Workload %q has no sidecar %q.%s Without this argument it is the main container.", w.Name, container, words.DidYouMean(container, known))
	}
}

// checkCommand reports an empty command.
func checkCommand(s *Service, b *source.Block, name string, command []string) {
	if len(command) == 0 && eval.AllKnown(s.Env, b, name) && eval.IsSet(s.Env, b, name) {
		eval.Unsuitable(s.Env, b, name, "It is empty.")
	}
}
