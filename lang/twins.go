package lang

import (
	"slices"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/source"
)

// checkTwins reports DaemonSets of one definition that have nodes in common, by the names of
// the nodes or by the same labels: two agents of a kind on one node are in each other's way.
// Other labels are looked up when there is a cluster.
func (g *graph) checkTwins() {
	before := map[*source.Block][]*instance{} // by definition
	for _, b := range g.inOrder() {
		if b.out.Undecided || !slices.ContainsFunc(b.out.Workloads, func(w configs.Workload) bool { return w.Kind == "DaemonSet" }) {
			continue
		}
		for _, a := range before[b.written] {
			g.checkTwin(a, b)
		}
		before[b.written] = append(before[b.written], b)
	}
}

func (g *graph) checkTwin(a, b *instance) {
	for _, w := range b.out.Workloads {
		i := slices.IndexFunc(a.out.Workloads, func(other configs.Workload) bool { return other.Name == w.Name })
		if i < 0 || w.Kind != "DaemonSet" || a.out.Workloads[i].Kind != "DaemonSet" {
			continue
		}
		first, known := g.roleOf(a, a.out.Workloads[i])
		second, alsoKnown := g.roleOf(b, w)
		if !known || !alsoKnown || !overlap(first, second) {
			continue
		}
		g.report.Error(b.argumentRange(w.Name, "role"), configs.TwinsSummary, "%s", configs.Twins(&a.out, &b.out, w.Name, diag.Position(a.block.Header), common(first, second)))
		return
	}
}

// common are the nodes that two roles name both; nil: those that both match.
func common(a, b *configs.Role) []string {
	if a == nil || b == nil {
		return nil
	}
	return slices.DeleteFunc(a.Named(), func(name string) bool { return !slices.Contains(b.Named(), name) })
}
