package network

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/run/doctor/cluster"
)

const (
	// neighbours is the number of other nodes to which a node's pod sends packets.
	neighbours = 16
	// podsPerNode is the number of pods on each neighbour to which a pod sends packets, besides the neighbour itself.
	podsPerNode = 2
)

// PathsFrom returns the addresses to which the pod on a node sends packets.
func PathsFrom(f *cluster.Facts, nodes []corev1.Node, from int) []string {
	var out []string
	for step := 1; step <= neighbours && step < len(nodes); step++ {
		out = append(out, addressesOn(f, &nodes[(from+step)%len(nodes)])...)
	}
	return out
}

// addressesOn returns an address of a node, and of some of its pods.
func addressesOn(f *cluster.Facts, node *corev1.Node) []string {
	var out []string
	for _, a := range node.Status.Addresses {
		if a.Type == corev1.NodeInternalIP && len(out) == 0 {
			out = append(out, a.Address)
		}
	}
	count := 0
	for _, pod := range f.PodsOn(node.Name) {
		if !pod.Spec.HostNetwork && pod.Status.PodIP != "" && count < podsPerNode {
			out = append(out, pod.Status.PodIP)
			count++
		}
	}
	return out
}

// Packets checks the network between nodes, and from nodes to the published addresses.
func Packets(f *cluster.Facts) ([]cluster.Finding, error) {
	reports, err := f.Reports()
	var found cluster.ByNode
	owner := map[string]string{} // node by address
	if f.Probed != nil {         // also nodes without a report get packets
		for _, n := range f.Probed.Nodes {
			for _, address := range addressesOn(f, &n.Node) {
				owner[address] = n.Node.Name
			}
		}
	}
	mtus := map[int][]string{}
	var silent []string
	for _, n := range reports {
		answered := map[string]bool{}
		mtu := 0
		for _, p := range n.Report.Paths {
			to := owner[p.Address]
			if mtu == 0 {
				mtu = p.MTU
			}
			answered[to] = answered[to] || p.Large != nil
			if p.Large != nil && !*p.Large {
				found.Add(tooLarge(p.MTU, to), n.Node.Name)
			}
		}
		for to, ok := range answered {
			if !ok && to != "" {
				silent = append(silent, n.Node.Name+" to "+to)
			}
		}
		if mtu != 0 {
			mtus[mtu] = append(mtus[mtu], n.Node.Name)
		}
		for _, c := range n.Report.Reached {
			if c.Problem != "" {
				found.Add(cluster.Finding{
					Severity: cluster.Warning, Problem: "pods " + strings.Replace(c.Problem, "cannot connect", "cannot connect to "+c.Address, 1),
					Reason: "Clients in the cluster, and on machines beside this node, cannot use the service. OpenStack itself uses the internal addresses.",
					Next:   "Check the route from the node to the VIP, and that the load balancer accepts connections from the network of the nodes.",
				}, n.Node.Name)
			}
		}
	}
	out := found.Findings()
	if finding := differing(mtus); finding != nil {
		out = append(out, *finding)
	}
	if len(silent) > 0 {
		slices.Sort(silent)
		err = errors.Join(err, fmt.Errorf("the size of packets from %s: nothing there answers the packets of the check, as if a firewall dropped them", words.Few(silent, 5)))
	}
	return out, err
}

// tooLarge reports packets that get lost because of their size.
func tooLarge(mtu int, to string) cluster.Finding {
	return cluster.Finding{
		Severity: cluster.Error, Problem: fmt.Sprintf("packets of %d bytes from pods do not reach node %s, and small ones do", mtu, to),
		Reason: "Connections open, and then stand still: uploads of images, replication of databases, answers with much content.",
		Next:   "The network between the nodes carries smaller packets than the MTU of the pods promises. Set the MTU of the pod network below that of the nodes' network by what its tunnels add (VXLAN: 50 bytes), or raise the MTU of the switches.",
	}
}

// differing reports nodes whose pods have different MTUs.
func differing(mtus map[int][]string) *cluster.Finding {
	if len(mtus) < 2 {
		return nil
	}
	var all, lines []string
	for mtu, nodes := range mtus {
		all = append(all, nodes...)
		lines = append(lines, fmt.Sprintf("%d on %s", mtu, words.Few(nodes, 5)))
	}
	slices.Sort(all)
	slices.Sort(lines)
	return &cluster.Finding{
		Severity: cluster.Warning, Subject: cluster.Subject(all), Problem: "pods have different MTUs: " + words.All(lines),
		Reason: "Connections between them depend on messages of routers that firewalls often drop.",
		Next:   "Give all nodes the same MTU in the configuration of the pod network.",
	}
}
