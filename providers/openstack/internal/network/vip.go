package network

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/hashicorp/hcl/v2"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/openstack/internal/object"
)

// checkVIP reports a VIP of the mode managed that the cluster uses itself: keepalived would take the
// address of a Service, of a pod or of a node. The error says what could not be read.
func checkVIP(x *configs.Exposure, list lister) (hcl.Diagnostics, error) {
	vip, err := netip.ParseAddr(x.VIP)
	if err != nil {
		return nil, nil // reported
	}
	refuse := func(place string) hcl.Diagnostics {
		return hcl.Diagnostics{object.Error(x.Range, fmt.Sprintf("The VIP of exposure %q belongs to the cluster", x.Name),
			fmt.Sprintf("%s is %s. keepalived would take the address away from it. Choose a free address of the network that the interface %s of the nodes is in.", x.VIP, place, x.Keepalived.Interface))}
	}
	ranges, unread := list(providers.Scope{GVK: serviceRanges})
	if meta.IsNoMatchError(unread) {
		unread = nil // before Kubernetes 1.33
	}
	for _, u := range ranges {
		if prefix := holding(u, vip, "spec", "cidrs"); prefix != "" {
			return refuse("in the network of Services, " + prefix), unread
		}
	}
	nodes, err := list(providers.Scope{GVK: nodeKind})
	for _, u := range nodes {
		if prefix := holding(u, vip, "spec", "podCIDRs"); prefix != "" {
			return refuse(fmt.Sprintf("in the network of pods of node %s, %s", u.GetName(), prefix)), unread
		}
		addresses, _, _ := unstructured.NestedSlice(u.Object, "status", "addresses")
		for _, each := range addresses {
			fields, _ := each.(map[string]any)
			text, _ := fields["address"].(string)
			if own, err := netip.ParseAddr(text); err == nil && own.Unmap() == vip.Unmap() {
				return refuse("the address of node " + u.GetName()), unread
			}
		}
	}
	return nil, errors.Join(unread, err)
}

// holding returns the range in a list of an object that holds an address; empty: none does.
func holding(u *unstructured.Unstructured, address netip.Addr, path ...string) string {
	ranges, _, _ := unstructured.NestedStringSlice(u.Object, path...)
	for _, text := range ranges {
		if prefix, err := netip.ParsePrefix(text); err == nil && prefix.Contains(address.Unmap()) {
			return text
		}
	}
	return ""
}
