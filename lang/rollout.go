package lang

import (
	"slices"
	"strings"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/source"
)

// In which order workloads change, and how many of their pods at a time.

// rollout reads how the pods of a workload are replaced.
func (in *instance) rollout(b *source.Block, w *configs.Workload) {
	e := in.inner
	w.After = in.names(b, e, "after", "workload")
	w.MaxUnavailable, w.Surge = e.string(b, "max_unavailable"), e.string(b, "surge")
	w.OneByOne = e.string(b, "order") == "one-by-one"
	onDelete := w.Update == "on-delete"
	stateful := w.Kind == "StatefulSet" || w.Kind == ""
	if e.given(b, "order") && !stateful {
		e.unsuitable(b, "order", "Only the pods of a StatefulSet have an order.")
	}
	if w.ScaleDown != "" && !stateful {
		e.unsuitable(b, "scale_down", "Only the pods of a StatefulSet have names, by which somebody could look after those that go.")
	}
	if w.OwnAddresses && !stateful {
		e.unsuitable(b, "own_addresses", "Only the pods of a StatefulSet have names, by which a Service could find one.")
	}
	switch {
	case w.MaxUnavailable != "" && w.Kind == "StatefulSet" && !onDelete:
		e.unsuitable(b, "max_unavailable", "A StatefulSet replaces one pod at a time.")
	case w.Surge != "" && w.Kind == "StatefulSet":
		e.unsuitable(b, "surge", "The pods of a StatefulSet have names, which no two can have at a time.")
	case w.Surge != "" && onDelete:
		e.unsuitable(b, "surge", "With update = \"on-delete\" a pod is made when the old one is gone.")
	case none(w.Surge) && none(w.MaxUnavailable):
		e.unsuitable(b, "max_unavailable", "With neither a pod that may be missing nor one beside the others, none could be replaced.")
	case none(w.MaxUnavailable) && onDelete, none(w.MaxUnavailable) && w.Kind == "DaemonSet" && w.Surge == "":
		e.unsuitable(b, "max_unavailable", "No pod could be replaced: it has to go before the new one comes.")
	case w.Kind != "DaemonSet" || w.Surge == "" || none(w.Surge):
	case w.MaxUnavailable != "" && !none(w.MaxUnavailable):
		e.unsuitable(b, "surge", "A DaemonSet has either surge or max_unavailable.")
	case w.Pod.HostNetwork:
		e.unsuitable(b, "surge", "In the network of the node the new pod would need the ports of the old one.")
	}
}

// none reports whether a number or share of pods is said, and is nothing.
func none(share string) bool { return share == "0" || share == "0%" }

// checkAfter reports workloads that would wait for themselves.
func (in *instance) checkAfter() {
	after := map[string][]string{}
	for _, w := range in.out.Workloads {
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
	for _, b := range in.definition.All("workload") {
		if circle := visit(nil, b.Label); circle != nil && circle[0] == b.Label && !slices.Contains(reported, b.Label) {
			reported = append(reported, circle...)
			in.report.Error(b.AttributeRange("after"), "Workloads that wait for each other", "%s: each of them waits for the next one. Take one of them out of after.", strings.Join(circle, " → "))
		}
	}
}
