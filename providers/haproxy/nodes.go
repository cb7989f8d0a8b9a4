package haproxy

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/configs"
)

// Node is a node of the cluster, as far as a load balancer needs it. It does not say whether
// the node is ready or cordoned. Health checks find a node that is not ready at once, and a
// file would be outdated. A cordoned node still forwards connections to pods on other nodes.
type Node struct {
	Name   string
	Labels map[string]string
	// Address is the first internal IP address of the node, without brackets. Without an
	// internal one it is the first external one. The first address has the family that the
	// cluster prefers and that node ports have. It may be empty.
	Address string
	// Leaving: the node is being deleted.
	Leaving bool
}

// Nodes converts Nodes (v1) from the API server.
func Nodes(live []*unstructured.Unstructured) ([]Node, error) {
	out := make([]Node, 0, len(live))
	for _, u := range live {
		var n corev1.Node
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &n); err != nil {
			return nil, fmt.Errorf("read Node %s: %w", u.GetName(), err)
		}
		out = append(out, Node{
			Name:    n.Name,
			Labels:  n.Labels,
			Address: cmp.Or(addressOf(n, corev1.NodeInternalIP), addressOf(n, corev1.NodeExternalIP)),
			Leaving: n.DeletionTimestamp != nil,
		})
	}
	return out, nil
}

func addressOf(n corev1.Node, kind corev1.NodeAddressType) string {
	for _, a := range n.Status.Addresses {
		if ip, err := netip.ParseAddr(a.Address); a.Type == kind && err == nil {
			return ip.String()
		}
	}
	return ""
}

// backends returns the nodes that get connections, sorted by name.
func (r *renderer) backends(nodes []Node) []Node {
	var out []Node
	var all []string
	role, at := r.role()
	for _, n := range nodes {
		if n.Leaving {
			continue
		}
		all = append(all, n.Name)
		if role == nil && excluded(n) || role != nil && !role.Selects(n.Name, n.Labels) {
			continue
		}
		if n.Address == "" {
			r.error(at, fmt.Sprintf("Node %q has no address", n.Name),
				fmt.Sprintf("Traffic is to go through it, and the cluster knows neither an internal nor an external IP address of it. Its kubelet or the cloud's controller tells: `kubectl describe node %s`.", n.Name))
		}
		out = append(out, n)
	}
	slices.Sort(all)
	slices.SortFunc(out, func(a, b Node) int { return strings.Compare(a.Name, b.Name) })
	if role != nil {
		r.warnOfMissing(role, all)
	}
	if len(out) == 0 {
		r.noNodes(role, at, all)
	}
	return out
}

// role returns the role of the exposure, or nil if it has none. at is the place that selects
// the nodes.
func (r *renderer) role() (role *configs.Role, at hcl.Range) {
	for i := range r.config.Roles {
		if role := &r.config.Roles[i]; role.Name == r.exposure.Role {
			return role, role.Range
		}
	}
	return nil, r.exposure.Range
}

// excluded reports whether load balancers should leave out a node by default. A role overrides
// this.
func excluded(n Node) bool {
	_, out := n.Labels[corev1.LabelNodeExcludeBalancers]
	return out
}

// warnOfMissing warns about nodes that the role names and that get no connections, because the
// cluster does not have them or is deleting them.
func (r *renderer) warnOfMissing(role *configs.Role, all []string) {
	for _, name := range role.Named() {
		if !slices.Contains(all, name) {
			r.add(hcl.DiagWarning, role.Range, fmt.Sprintf("Node %q is left out", name),
				fmt.Sprintf("Role %q names it, and the cluster does not have it, or is about to delete it.%s", role.Name, words.DidYouMean(name, all)))
		}
	}
}

func (r *renderer) noNodes(role *configs.Role, at hcl.Range, all []string) {
	known := "The cluster has no nodes."
	if len(all) > 0 {
		known = fmt.Sprintf("The cluster's nodes are: %s.", strings.Join(all, ", "))
	}
	if role == nil {
		r.error(at, fmt.Sprintf("Exposure %q has no nodes", r.exposure.Name),
			fmt.Sprintf("It names no role, which means all nodes but those with the label %s. %s Name a role: nodes = role.NAME.", corev1.LabelNodeExcludeBalancers, known))
		return
	}
	r.error(at, fmt.Sprintf("Role %q matches no node", role.Name),
		fmt.Sprintf("Exposure %q spreads its traffic over the nodes of this role, and there are none. %s", r.exposure.Name, known))
}
