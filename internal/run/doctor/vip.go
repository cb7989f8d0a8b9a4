package doctor

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

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
	networks, err := f.networks()
	if err != nil {
		return nil, err
	}
	nodes, err := f.nodes()
	if err != nil {
		return nil, err
	}
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
	}
	if _, err := f.list(serviceKind, ""); err != nil {
		return out, err
	}
	return append(out, f.findSilent()...), nil
}

// network is a network of the cluster.
type network struct {
	prefix netip.Prefix
	of     string // "the network of Services"
}

func (n network) String() string { return n.of + ", " + n.prefix.String() }

// networks returns the networks of Services and pods, as far as the cluster tells them.
func (f *Facts) networks() ([]network, error) {
	ranges, err := f.list(rangesKind, "")
	if err != nil {
		return nil, err
	}
	nodes, err := f.nodes()
	if err != nil {
		return nil, err
	}
	var out []network
	add := func(text, of string) {
		if prefix, err := netip.ParsePrefix(text); err == nil {
			out = append(out, network{prefix, of})
		}
	}
	for _, u := range ranges {
		var found networkingv1.ServiceCIDR
		if decode(u, &found) {
			for _, text := range found.Spec.CIDRs {
				add(text, "the network of Services")
			}
		}
	}
	for i := range nodes {
		for _, text := range nodes[i].Spec.PodCIDRs {
			add(text, "the network of pods on node "+nodes[i].Name)
		}
	}
	return out, nil
}

// publication is a published port of a service.
type publication struct {
	exposure, service string // addresses
	address           string // "192.0.2.10:5000"
}

// publications returns the published TCP ports of services that are deployed: they have a node port
// in the cluster.
func (f *Facts) publications() []publication {
	deployed := map[string]bool{} // blocks
	for i := range f.Objects {
		o := &f.Objects[i]
		if o.Ref().GVK.GroupKind() != kinds.Service {
			continue
		}
		if live := f.Live.Get(o.Ref()); live != nil && live.GetAnnotations()[providers.AnnotationPublic] != "" {
			deployed[o.Address.Block] = true
		}
	}
	var out []publication
	for _, x := range f.Config.Exposures {
		for i := range f.Config.Services {
			s := &f.Config.Services[i]
			if s.Exposure != x.Name || !deployed[s.Block] {
				continue
			}
			for _, p := range s.Ports {
				if p.Exposed && !p.UDP {
					out = append(out, publication{x.Block, s.Block, net.JoinHostPort(x.VIP, strconv.Itoa(p.AtExposure()))})
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

// findSilent reports published addresses that do not answer.
func (f *Facts) findSilent() []Finding {
	var out []Finding
	for _, p := range f.publications() {
		err, asked := f.Reached[p.address]
		if !asked || err == nil {
			continue
		}
		out = append(out, Finding{
			Severity: Warning, Subject: p.exposure,
			Problem: fmt.Sprintf("%s of %s does not accept connections from here: %s", p.address, p.service, err),
			Reason:  "Clients that see the network as this machine does cannot use the service.",
			Next:    "Check with kolla status that the service is ready, and that the load balancer has the VIP and forwards to the node ports. A firewall between this machine and the VIP has the same effect.",
		})
	}
	return out
}
