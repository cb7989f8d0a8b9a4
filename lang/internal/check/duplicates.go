package check

import (
	"slices"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/source"
)

// DuplicateDaemonSets reports DaemonSets of one definition that certainly have nodes in common:
// two such pods conflict on one node. Roles that select nodes by different labels are compared
// later, with the nodes of the cluster.
func DuplicateDaemonSets(whole *Whole) {
	before := map[*source.Block][]*Service{} // by definition
	for i := range whole.Services {
		b := &whole.Services[i]
		if b.Config.Undecided || !slices.ContainsFunc(b.Config.Workloads, func(w configs.Workload) bool { return w.Kind == "DaemonSet" }) {
			continue
		}
		for _, a := range before[b.Written] {
			if whole.Report.Full() {
				return // of n services, n² pairs may be duplicates
			}
			checkDuplicate(whole, a, b)
		}
		before[b.Written] = append(before[b.Written], b)
	}
}

func checkDuplicate(whole *Whole, a, b *Service) {
	for _, w := range b.Config.Workloads {
		i := slices.IndexFunc(a.Config.Workloads, func(other configs.Workload) bool { return other.Name == w.Name })
		if i < 0 || w.Kind != "DaemonSet" || a.Config.Workloads[i].Kind != "DaemonSet" {
			continue
		}
		first, known := roleOf(whole, a, a.Config.Workloads[i])
		second, alsoKnown := roleOf(whole, b, w)
		if !known || !alsoKnown || !overlap(first, second) {
			continue
		}
		whole.Report.Error(b.argumentRange(w.Name, "role"), configs.DuplicateDaemonSetSummary, "%s", configs.DuplicateDaemonSet(a.Config, b.Config, w.Name, diag.Position(a.Block.Header), common(first, second)))
		return
	}
}

// common returns the nodes that both roles name; nil: labels select some of their nodes.
func common(a, b *configs.Role) []string {
	if a == nil || b == nil {
		return nil
	}
	return slices.DeleteFunc(a.Named(), func(name string) bool { return !slices.Contains(b.Named(), name) })
}
