package nodes

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers/openstack/internal/object"
)

// Check reports workloads that do not fit the nodes of the cluster. Without a cluster to ask
// there is nothing to report.
func (n Nodes) Check(services []configs.Service) hcl.Diagnostics {
	if n.cluster == nil {
		return nil
	}
	return append(n.checkDuplicates(services), n.checkSpread(services)...)
}

// checkDuplicates reports DaemonSets of one definition that share nodes in the cluster. Duplicates
// that the configuration alone reveals were reported when it was read.
func (n Nodes) checkDuplicates(services []configs.Service) hcl.Diagnostics {
	var diags hcl.Diagnostics
	before := map[hcl.Range][]*configs.Service{} // by the place of the definition
	for i := range services {
		b := &services[i]
		if !slices.ContainsFunc(b.Workloads, func(w configs.Workload) bool { return w.Kind == "DaemonSet" }) {
			continue
		}
		for _, a := range before[b.DefinedAt] {
			diags = append(diags, n.checkDuplicate(a, b)...)
		}
		before[b.DefinedAt] = append(before[b.DefinedAt], b)
	}
	return diags
}

// checkDuplicate reports the first DaemonSet that two services have on one node.
func (n Nodes) checkDuplicate(a, b *configs.Service) hcl.Diagnostics {
	for _, w := range b.Workloads {
		i := slices.IndexFunc(a.Workloads, func(other configs.Workload) bool { return other.Name == w.Name })
		if i < 0 || w.Kind != "DaemonSet" || a.Workloads[i].Kind != "DaemonSet" {
			continue
		}
		others := n.ofWorkload(a, a.Workloads[i])
		nodes := slices.DeleteFunc(n.ofWorkload(b, w), func(name string) bool { return !slices.Contains(others, name) })
		if len(nodes) > 0 {
			return hcl.Diagnostics{object.Error(b.Range, configs.DuplicateDaemonSetSummary, configs.DuplicateDaemonSet(a, b, w.Name, object.Source(a.Range), nodes))}
		}
	}
	return nil
}

// checkSpread warns about replicas that need different nodes, if the cluster has too few nodes.
// This is no error: a node may be gone for a while, and other changes must still be possible.
func (n Nodes) checkSpread(services []configs.Service) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for i := range services {
		s := &services[i]
		for _, w := range s.Workloads {
			if nodes := n.ofWorkload(s, w); w.SpreadRequired && w.SpreadBy == "" && w.Replicas > len(nodes) {
				diags = append(diags, object.Warning(s.Range, "More pods than nodes", fmt.Sprintf("Workload %q of service %q has %d pods, of which no two may run on one node (spread = \"required\"), and its nodes are: %s. The others wait, and so does an apply. Take fewer replicas, or add nodes to its role.",
					w.Name, s.Name, w.Replicas, upToTen(nodes))))
			}
		}
	}
	return diags
}

// ofWorkload returns the names of the nodes that a workload runs on.
func (n Nodes) ofWorkload(s *configs.Service, w configs.Workload) []string {
	return n.Names(cmp.Or(w.Role, s.Role))
}
