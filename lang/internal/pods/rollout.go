package pods

import (
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/blocks"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/source"
)

// rollout evaluates the order in which workloads change, and how many of their pods change at a
// time.
func rollout(s *Service, b *source.Block, w *configs.Workload) {
	e := s.Env
	w.After = names(s, b, e, "after", "workload")
	w.RolloutFirst = eval.Bool(e, b, "rollout_first")
	w.MaxUnavailable, w.Surge = eval.String(e, b, "max_unavailable"), eval.String(e, b, "surge")
	w.OneByOne = eval.String(e, b, "order") == "one-by-one"
	onDelete := w.Update == "on-delete"
	stateful := w.Kind == "StatefulSet" || w.Kind == ""
	if eval.IsSet(e, b, "order") && !stateful {
		eval.Unsuitable(e, b, "order", "Only the pods of a StatefulSet have an order.")
	}
	if w.ScaleDown != "" && !stateful {
		eval.Unsuitable(e, b, "scale_down", "Only the pods of a StatefulSet have names, by which somebody could look after those that go.")
	}
	if w.OwnAddresses && !stateful {
		eval.Unsuitable(e, b, "own_addresses", "Only the pods of a StatefulSet have names, by which a Service could find one.")
	}
	if w.RolloutFirst && !onDelete {
		eval.Unsuitable(e, b, "rollout_first", "`kolla rollout` replaces only pods whose workload has update = \"on-delete\".")
	}
	switch {
	case w.MaxUnavailable != "" && w.Kind == "StatefulSet" && !onDelete:
		eval.Unsuitable(e, b, "max_unavailable", "A StatefulSet replaces one pod at a time.")
	case w.Surge != "" && w.Kind == "StatefulSet":
		eval.Unsuitable(e, b, "surge", "The pods of a StatefulSet have names, which no two can have at a time.")
	case w.Surge != "" && onDelete:
		eval.Unsuitable(e, b, "surge", "With update = \"on-delete\" a pod is made when the old one is gone.")
	case none(w.Surge) && none(w.MaxUnavailable):
		eval.Unsuitable(e, b, "max_unavailable", "With neither a pod that may be missing nor one beside the others, none could be replaced.")
	case none(w.MaxUnavailable) && onDelete, none(w.MaxUnavailable) && w.Kind == "DaemonSet" && w.Surge == "":
		eval.Unsuitable(e, b, "max_unavailable", "No pod could be replaced: it has to go before the new one comes.")
	case w.Kind != "DaemonSet" || w.Surge == "" || none(w.Surge):
	case w.MaxUnavailable != "" && !none(w.MaxUnavailable):
		eval.Unsuitable(e, b, "surge", "A DaemonSet has either surge or max_unavailable.")
	case w.Pod.HostNetwork:
		eval.Unsuitable(e, b, "surge", "In the network of the node the new pod would need the ports of the old one.")
	}
}

// dataVersion evaluates the version of the program that has the data of a workload.
func dataVersion(s *Service, b *source.Block, w *configs.Workload) *configs.DataVersion {
	v := b.One("data_version", "")
	if v == nil {
		return nil
	}
	if w.Kind == "Deployment" {
		s.Env.Report.Error(v.Header, "Data of a Deployment", "The pods of a Deployment keep no data. data_version is for a StatefulSet or DaemonSet.")
	}
	e := s.Env.With("image", cty.ObjectVal(map[string]cty.Value{"release": s.ReleaseOf(w.Pod.Image)}))
	out := &configs.DataVersion{Program: eval.String(e, v, "program"), Version: eval.String(e, v, "version"), Detail: eval.String(e, v, "detail")}
	if eval.IsSet(e, v, "from") {
		out.From = append([]string{}, eval.List(e, v, "from")...)
	}
	return out
}

// none reports whether a number or share of pods is given and is zero.
func none(share string) bool { return share == "0" || share == "0%" }

// placement evaluates where the pods of a workload may run.
func placement(s *Service, b *source.Block, w *configs.Workload) {
	e := s.Env
	w.Pod.Priority = eval.String(e, b, "priority")
	w.Pod.Tolerations = blocks.Tolerations(e, b, "tolerations")
	w.SpreadRequired = eval.String(e, b, "spread") == "required"
	w.SpreadBy = eval.String(e, b, "spread_by")
	if w.Kind != "DaemonSet" {
		return
	}
	for _, name := range []string{"spread", "spread_by"} {
		if eval.IsSet(e, b, name) {
			eval.Unsuitable(e, b, name, "A DaemonSet has one pod on each node of its role as it is.")
		}
	}
}

// CheckAfter reports workloads that would wait for each other in a circle.
func CheckAfter(report *diag.Reporter, definition *source.Block, workloads []configs.Workload) {
	after := map[string][]string{}
	for _, w := range workloads {
		after[w.Name] = w.After
	}
	var visit func(path []string, name string) []string
	visit = func(path []string, name string) []string {
		if slices.Contains(path, name) {
			return append(path[slices.Index(path, name):], name)
		}
		for _, next := range after[name] {
			if circle := visit(append(slices.Clip(path), name), next); circle != nil {
				return circle
			}
		}
		return nil
	}
	var reported []string
	for _, b := range definition.All("workload") {
		if circle := visit(nil, b.Label); circle != nil && circle[0] == b.Label && !slices.Contains(reported, b.Label) {
			reported = append(reported, circle...)
			report.Error(b.AttributeRange("after"), "Workloads that wait for each other", "%s: each of them waits for the next one. Take one of them out of after.", strings.Join(circle, " → "))
		}
	}
}
