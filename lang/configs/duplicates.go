package configs

import (
	"fmt"

	"kolla.openstack.org/kolla/internal/base/words"
)

// DuplicateDaemonSet returns the error about a DaemonSet that would run twice on a node, for two
// services of one definition.
func DuplicateDaemonSet(a, b *Service, workload, at string, nodes []string) string {
	where := "on the same nodes"
	switch maxNodes := 3; {
	case len(nodes) == 1:
		where = "on node " + nodes[0]
	case len(nodes) > maxNodes:
		where = "on nodes " + words.Few(nodes, maxNodes)
	case len(nodes) > 0:
		where = "on nodes " + words.Sorted(nodes)
	}
	return fmt.Sprintf("Workload %q of definition %q would run twice %s: for service %q and for service %q (%s). A DaemonSet has one pod on each node of its role, and two such pods conflict on one node. Give the services roles that have no node in common.",
		workload, b.Definition, where, b.Name, a.Name, at)
}

// DuplicateDaemonSetSummary is the summary of an error of DuplicateDaemonSet.
const DuplicateDaemonSetSummary = "Two pods of one definition on a node"
