// Package network has the checks of what leads to services: node ports, exposures, DNS, and the network between
// nodes.
package network

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/run/doctor/cluster"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/providers/openstack"
)

// rangesKind is the kind of the ranges of Service addresses, from Kubernetes 1.33 on.
var rangesKind = schema.GroupVersionKind{Group: "networking.k8s.io", Version: "v1", Kind: "ServiceCIDR"}

// ReadVIPs are the objects that VIPs and Packets read.
func ReadVIPs(f *cluster.Facts) []providers.Scope {
	if len(f.Config.Exposures) == 0 {
		return nil
	}
	return append([]providers.Scope{{GVK: cluster.NodeKind}, {GVK: cluster.ServiceKind}, {GVK: rangesKind}}, routes(f)...)
}

// routes returns the lists of the Ingresses, routes and certificates of the configuration.
func routes(f *cluster.Facts) []providers.Scope {
	var out []providers.Scope
	for i := range f.Objects {
		ref := f.Objects[i].Ref()
		scope := providers.Scope{GVK: ref.GVK, Namespace: ref.Namespace}
		if kind := ref.GVK.GroupKind(); (kind == kinds.Ingress || kind == kinds.HTTPRoute || kind == kinds.Certificate) && !slices.Contains(out, scope) {
			out = append(out, scope)
		}
	}
	return out
}

// VIPs checks the virtual IP addresses of the exposures.
func VIPs(f *cluster.Facts) ([]cluster.Finding, error) {
	if len(f.Config.Exposures) == 0 {
		return nil, nil
	}
	networks, unknown := networks(f)
	nodes, unlisted := f.Nodes()
	var out []cluster.Finding
	for _, x := range f.Config.Exposures {
		vip, err := netip.ParseAddr(x.VIP)
		if err != nil {
			continue // lang has checked it, or it is not known yet
		}
		for _, n := range networks {
			if n.prefix.Contains(vip.Unmap()) {
				out = append(out, cluster.Finding{
					Severity: cluster.Error, Subject: x.Block, Problem: fmt.Sprintf("the VIP %s is inside of %s", x.VIP, n),
					Reason: "The cluster gives the address to something else, or answers for it itself. Clients outside cannot reach it.",
					Next:   "Choose a free address of the network of the clients, outside of the networks of the cluster.",
				})
			}
		}
		if x.Mode != configs.ModeLoadBalancer && x.Domain == "" { // programs of the cluster may use addresses of nodes, as the load balancer of k3s does
			out = append(out, findOnNode(x, vip, nodes)...)
		}
	}
	_, unserved := f.List(cluster.ServiceKind, "")
	for _, scope := range routes(f) {
		_, err := f.List(scope.GVK, scope.Namespace)
		unserved = errors.Join(unserved, err)
	}
	if unserved == nil {
		out = append(out, findPending(f)...)
		out = append(out, findUnreachable(f)...)
		out = append(out, findElsewhere(f)...)
	}
	return out, errors.Join(unknown, unlisted, unserved)
}

// findOnNode reports a VIP that is the address of a node.
func findOnNode(x configs.Exposure, vip netip.Addr, nodes []corev1.Node) []cluster.Finding {
	var out []cluster.Finding
	for i := range nodes {
		for _, a := range nodes[i].Status.Addresses {
			if own, err := netip.ParseAddr(a.Address); err == nil && own.Unmap() == vip.Unmap() {
				out = append(out, cluster.Finding{
					Severity: cluster.Warning, Subject: x.Block, Problem: fmt.Sprintf("the VIP %s is the address of node %s", x.VIP, nodes[i].Name),
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
func networks(f *cluster.Facts) ([]network, error) {
	var out []network
	add := func(text, of string) {
		if prefix, err := netip.ParsePrefix(text); err == nil {
			out = append(out, network{prefix, of})
		}
	}
	ranges, unread := f.List(rangesKind, "")
	for _, u := range ranges {
		var found networkingv1.ServiceCIDR
		if cluster.Decode(u, &found) {
			for _, text := range found.Spec.CIDRs {
				add(text, "the network of Services")
			}
		}
	}
	nodes, err := f.Nodes()
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
	host     string // name or address in URLs
	address  string // "192.0.2.10:5000"
}

// publications returns the published TCP ports of the services that are deployed: the cluster has
// the objects that bring in their clients. Ports of a service with an object that does not work yet are
// left out, because the object is a finding of its own.
func publications(f *cluster.Facts) []publication {
	deployed := map[string]bool{} // blocks
	for _, o := range outside(f) {
		block := o.Address.Block
		before, seen := deployed[block]
		deployed[block] = (before || !seen) && !pending(f.Live.Get(o.Ref()))
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
				if !p.Exposed || p.UDP {
					continue
				}
				entry := x.Entry(s.Name, s.Ports, p)
				p := publication{x, s.Block, entry.Host, ""}
				entry.Host = cmp.Or(x.VIP, entry.Host)
				p.address = entry.Address()
				out = append(out, p)
			}
		}
	}
	return out
}

// Published returns the addresses of the publications.
func Published(f *cluster.Facts) []string {
	var out []string
	for _, p := range publications(f) {
		out = append(out, p.address)
	}
	slices.Sort(out)
	return slices.Compact(out) // an Ingress controller has one address for all services
}

// Named returns the host names of the publications whose address the configuration knows.
func Named(f *cluster.Facts) []string {
	var out []string
	for _, p := range publications(f) {
		if p.exposure.VIP != "" && p.host != p.exposure.VIP {
			out = append(out, p.host)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// outside returns the objects of the configuration that bring in clients from outside of the cluster, as
// far as the cluster has them.
func outside(f *cluster.Facts) []*providers.Object {
	var out []*providers.Object
	for i := range f.Objects {
		o := &f.Objects[i]
		if live := f.Live.Get(o.Ref()); live != nil && (live.GetAnnotations()[providers.AnnotationPublic] != "" || providers.IsWayIn(live)) {
			out = append(out, o)
		}
	}
	return out
}

// pending reports whether a live object waits for a program of the cluster.
func pending(live *unstructured.Unstructured) bool {
	return providers.IsWayIn(live) && providers.WayInProblem(live) != ""
}

// findPending reports objects that wait for a program of the cluster.
func findPending(f *cluster.Facts) []cluster.Finding {
	var out []cluster.Finding
	for _, o := range outside(f) {
		live := f.Live.Get(o.Ref())
		if !pending(live) {
			continue
		}
		kind := strings.ToLower(o.Ref().GVK.Kind)
		out = append(out, cluster.Finding{
			Severity: cluster.Error, Subject: o.Address.String(), Problem: providers.WayInProblem(live),
			Reason: "Clients outside of the cluster cannot use it, and an apply waits for it.",
			Next: fmt.Sprintf("The events of the object may have the reason: kubectl -n %s describe %s %s. Check that %s.",
				o.Ref().Namespace, kind, o.Ref().Name, awaited[o.Ref().GVK.GroupKind()]),
		})
	}
	return out
}

// awaited says which programs of the cluster the objects of a kind wait for.
var awaited = map[schema.GroupKind]string{
	kinds.Service:     "the load balancer of the cluster runs, that it serves the `class` of the exposure, and that the VIP is in its pool and free",
	kinds.Ingress:     "the Ingress controller runs, that it serves the `class` of the exposure, and that it writes its address to Ingresses. If it never does, set wait_for_address = false",
	kinds.Certificate: "cert-manager runs, and that its issuer is ready. The objects CertificateRequest, Order and Challenge of the namespace have more",
	kinds.HTTPRoute:   "the controller of the Gateway runs, and that its listener admits the namespace and the host name of the route",
}

// findUnreachable reports published addresses that do not accept connections.
func findUnreachable(f *cluster.Facts) []cluster.Finding {
	var out []cluster.Finding
	for _, p := range publications(f) {
		problem := f.Reached[p.address]
		if problem == "" {
			continue
		}
		out = append(out, cluster.Finding{
			Severity: cluster.Warning, Subject: p.exposure.Block,
			Problem: fmt.Sprintf("%s of %s: %s", p.address, p.service, problem),
			Reason:  "Clients that see the network as this machine does cannot use the service.",
			Next:    "Check with kolla status that the service is ready, and " + whether[p.exposure.Mode] + ". A firewall between this machine and the VIP has the same effect.",
		})
	}
	return out
}

// findElsewhere reports names of published addresses that lead to other addresses. A name that does not
// lead anywhere is none: this machine may have another DNS server than the clients.
func findElsewhere(f *cluster.Facts) []cluster.Finding {
	var out []cluster.Finding
	seen := map[string]bool{}
	for _, p := range publications(f) {
		found := f.Resolved[p.host]
		if seen[p.host] || len(found) == 0 || slices.ContainsFunc(found, func(address string) bool { return providers.SameAddress(address, p.exposure.VIP) }) {
			continue
		}
		seen[p.host] = true
		out = append(out, cluster.Finding{
			Severity: cluster.Warning, Subject: p.exposure.Block,
			Problem: fmt.Sprintf("%s leads to %s, and the vip is %s", p.host, words.Few(found, 3), p.exposure.VIP),
			Reason:  "Clients that ask the DNS server of this machine connect to another machine.",
			Next:    "Correct the record in the DNS, or the exposure. If a router translates the address to the vip, leave it.",
		})
	}
	return out
}

// whether says for each mode how to check the program that has the address.
var whether = map[string]string{
	configs.ModeNodePort:     "that the load balancer has the VIP and forwards to the node ports",
	configs.ModeManaged:      "with kubectl get pods -o wide that the pods exposure-NAME-keepalived are ready, and that the `interface` of keepalived is in the network of the VIP",
	configs.ModeLoadBalancer: "with kubectl get services that the load balancer of the cluster gave its Service the VIP as EXTERNAL-IP",
	configs.ModeIngress:      "that the Ingress controller listens at the address and at the `port` of the exposure, and that the DNS name leads there",
	configs.ModeGateway:      "that the listener of the Gateway has the address and the `port` of the exposure, and that the DNS name leads there",
}

// ReadServing are the objects that Unserved reads.
func ReadServing(f *cluster.Facts) []providers.Scope { return openstack.ServedBy(f.Config) }

// Unserved reports exposures whose Ingress class, Gateway or issuer the cluster lacks. Errors are findings
// of the check configuration.
func Unserved(f *cluster.Facts) ([]cluster.Finding, error) {
	diags, err := openstack.CheckServed(f.Config, func(scope providers.Scope) ([]*unstructured.Unstructured, error) {
		if err := f.Unread[scope]; err != nil {
			return nil, err
		}
		return f.Live.Listed(scope)
	})
	var out []cluster.Finding
	for _, d := range diags {
		if d.Severity == hcl.DiagError {
			continue
		}
		out = append(out, cluster.Finding{Severity: cluster.Warning, Subject: d.Subject.String(), Problem: d.Summary, Reason: "Clients outside of the cluster cannot use the services of the exposure.", Next: d.Detail})
	}
	return out, err
}
