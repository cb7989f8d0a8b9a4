package doctor

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// rangesKind is the kind of the ranges of Service addresses, from Kubernetes 1.33 on.
var rangesKind = schema.GroupVersionKind{Group: "networking.k8s.io", Version: "v1", Kind: "ServiceCIDR"}

func readNetworks(f *Facts) []providers.Scope {
	if len(f.Config.Exposures) == 0 {
		return nil
	}
	return []providers.Scope{{GVK: nodeKind}, {GVK: serviceKind}, {GVK: rangesKind}}
}

// findVIPs checks the virtual IP addresses of the exposures.
func findVIPs(f *Facts) ([]Finding, error) {
	if len(f.Config.Exposures) == 0 {
		return nil, nil
	}
	networks, unknown := f.networks()
	nodes, unlisted := f.nodes()
	var out []Finding
	for _, x := range f.Config.Exposures {
		vip, err := netip.ParseAddr(x.VIP)
		if err != nil {
			continue // lang has checked it, or it is not known yet
		}
		for _, n := range networks {
			if n.prefix.Contains(vip.Unmap()) {
				out = append(out, Finding{
					Severity: Error, Subject: x.Block, Problem: fmt.Sprintf("the VIP %s is inside of %s", x.VIP, n),
					Reason: "The cluster gives the address to something else, or answers for it itself. Clients outside cannot reach it.",
					Next:   "Choose a free address of the network of the clients, outside of the networks of the cluster.",
				})
			}
		}
		if x.Mode != configs.ModeLoadBalancer { // a load balancer of the cluster may give out addresses of nodes, as that of k3s does
			out = append(out, findOnNode(x, vip, nodes)...)
		}
	}
	_, unserved := f.list(serviceKind, "")
	if unserved == nil {
		out = append(out, f.findPending()...)
		out = append(out, f.findUnreachable()...)
	}
	return out, errors.Join(unknown, unlisted, unserved)
}

// findOnNode reports a VIP that is the address of a node.
func findOnNode(x configs.Exposure, vip netip.Addr, nodes []corev1.Node) []Finding {
	var out []Finding
	for i := range nodes {
		for _, a := range nodes[i].Status.Addresses {
			if own, err := netip.ParseAddr(a.Address); err == nil && own.Unmap() == vip.Unmap() {
				out = append(out, Finding{
					Severity: Warning, Subject: x.Block, Problem: fmt.Sprintf("the VIP %s is the address of node %s", x.VIP, nodes[i].Name),
					Reason: "Clients reach the cloud only while this node runs.",
					Next:   "Use an address that a load balancer holds: kolla exposure haproxy prints its configuration. For a cloud on one node, leave it, and run kolla doctor -skip=vip.",
				})
			}
		}
	}
	return out
}

// network is a network of the cluster.
type network struct {
	prefix netip.Prefix
	of     string // "the network of Services"
}

func (n network) String() string { return n.of + ", " + n.prefix.String() }

// networks returns the networks of Services and pods, as far as the cluster tells them. The error says
// which of them could not be read.
func (f *Facts) networks() ([]network, error) {
	var out []network
	add := func(text, of string) {
		if prefix, err := netip.ParsePrefix(text); err == nil {
			out = append(out, network{prefix, of})
		}
	}
	ranges, unread := f.list(rangesKind, "")
	for _, u := range ranges {
		var found networkingv1.ServiceCIDR
		if decode(u, &found) {
			for _, text := range found.Spec.CIDRs {
				add(text, "the network of Services")
			}
		}
	}
	nodes, err := f.nodes()
	for i := range nodes {
		for _, text := range nodes[i].Spec.PodCIDRs {
			add(text, "the network of pods on node "+nodes[i].Name)
		}
	}
	return out, errors.Join(unread, err)
}

// publication is a published port of a service.
type publication struct {
	exposure *configs.Exposure
	service  string // address
	address  string // "192.0.2.10:5000"
}

// publications returns the published TCP ports of the services that are deployed: the cluster has
// their Service of type NodePort or LoadBalancer. A Service of type LoadBalancer without an address is
// a finding of its own, and its ports are left out.
func (f *Facts) publications() []publication {
	deployed := map[string]bool{} // blocks
	for _, o := range f.outside() {
		deployed[o.Address.Block] = deployed[o.Address.Block] || !pending(f.Live.Get(o.Ref()))
	}
	var out []publication
	for i := range f.Config.Exposures {
		x := &f.Config.Exposures[i]
		for j := range f.Config.Services {
			s := &f.Config.Services[j]
			if s.Exposure != x.Name || !deployed[s.Block] {
				continue
			}
			for _, p := range s.Ports {
				if p.Exposed && !p.UDP {
					out = append(out, publication{x, s.Block, net.JoinHostPort(x.VIP, strconv.Itoa(p.AtExposure()))})
				}
			}
		}
	}
	return out
}

// published returns the addresses of the publications.
func (f *Facts) published() []string {
	var out []string
	for _, p := range f.publications() {
		out = append(out, p.address)
	}
	return out
}

// outside returns the Services of the configuration for clients outside of the cluster, as far as the
// cluster has them.
func (f *Facts) outside() []*providers.Object {
	var out []*providers.Object
	for i := range f.Objects {
		o := &f.Objects[i]
		if o.Ref().GVK.GroupKind() != kinds.Service {
			continue
		}
		if live := f.Live.Get(o.Ref()); live != nil && live.GetAnnotations()[providers.AnnotationPublic] != "" {
			out = append(out, o)
		}
	}
	return out
}

// pending reports whether a live Service waits for an address of a load balancer.
func pending(service *unstructured.Unstructured) bool {
	ingress, _, _ := unstructured.NestedSlice(service.Object, "status", "loadBalancer", "ingress")
	return kinds.IsLoadBalancer(service) && len(ingress) == 0
}

// findPending reports Services that have no address of a load balancer.
func (f *Facts) findPending() []Finding {
	var out []Finding
	for _, o := range f.outside() {
		if !pending(f.Live.Get(o.Ref())) {
			continue
		}
		out = append(out, Finding{
			Severity: Error, Subject: o.Address.String(),
			Problem: "no load balancer gave the Service an address",
			Reason:  "Clients outside of the cluster cannot use it, and an apply waits for the address.",
			Next: fmt.Sprintf("The events of the Service may have the reason: kubectl -n %s describe service %s. Check that the load balancer of the cluster runs, that it serves the `class` of the exposure, and that the VIP is in its pool and free.",
				o.Ref().Namespace, o.Ref().Name),
		})
	}
	return out
}

// findUnreachable reports published addresses that do not accept connections.
func (f *Facts) findUnreachable() []Finding {
	var out []Finding
	for _, p := range f.publications() {
		problem := f.Reached[p.address]
		if problem == "" {
			continue
		}
		next := "Check with kolla status that the service is ready, and that the load balancer has the VIP and forwards to the node ports."
		if p.exposure.Mode == configs.ModeLoadBalancer {
			next = "Check with kolla status that the service is ready, and with kubectl get services that the load balancer of the cluster gave its Service the VIP as EXTERNAL-IP."
		}
		out = append(out, Finding{
			Severity: Warning, Subject: p.exposure.Block,
			Problem: fmt.Sprintf("%s of %s: %s", p.address, p.service, problem),
			Reason:  "Clients that see the network as this machine does cannot use the service.",
			Next:    next + " A firewall between this machine and the VIP has the same effect.",
		})
	}
	return out
}
