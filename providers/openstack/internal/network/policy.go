// Package network makes the Services through which the pods of a service are reached, and the
// NetworkPolicy that decides who may.
package network

import (
	"maps"
	"net/netip"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	metav1 "k8s.io/client-go/applyconfigurations/meta/v1"
	networkingv1 "k8s.io/client-go/applyconfigurations/networking/v1"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/openstack/internal/nodes"
	"kolla.openstack.org/kolla/providers/openstack/internal/object"
)

// Input is what the NetworkPolicies of all services depend on.
type Input struct {
	Clients   map[string][]*configs.Service // see Clients
	Manifests []configs.Manifest
	Nodes     []nodes.Node
}

// Policy returns the NetworkPolicy of a service with pods. It allows these incoming connections:
//   - between pods of the service;
//   - on declared ports, from services and manifests that need this service, and from services
//     that read a password for it;
//   - on ports with an endpoint, from the clients of the Keystone with that endpoint;
//   - on exposed ports, from everywhere;
//   - the connections that allow blocks declare;
//   - on ports with metrics, from the clients that the cloud names for these.
//
// The node of a pod can always connect, so probes need no rule. Outgoing connections are not
// restricted.
func Policy(in Input, s object.Service) providers.Object {
	rules := []*networkingv1.NetworkPolicyIngressRuleApplyConfiguration{
		networkingv1.NetworkPolicyIngressRule().WithFrom(podsWith(podsOfService(s.Cloud, s.Decl.Name))),
	}
	var declared, exposed []openPort
	for _, w := range s.Decl.Workloads {
		ports := s.Ports(w.Pod.Ports)
		for _, p := range ports {
			declared = append(declared, openPortOf(p))
		}
		for _, p := range exposedOf(s.Decl, ports) {
			exposed = append(exposed, openPortOf(p))
		}
	}
	peers, deferred := referrers(in, s, s.Decl.Block)
	if len(peers) > 0 && len(declared) > 0 {
		rules = append(rules, ingress(declared).WithFrom(peers...))
	}
	for _, block := range s.Decl.Needs {
		ports := catalogued(s.Decl, block, exposed)
		if len(ports) == 0 {
			continue
		}
		if found, unknown := referrers(in, s, block); len(found) > 0 { // a rule without peers would allow all
			rules = append(rules, ingress(ports).WithFrom(found...))
			deferred = object.Unique(append(deferred, unknown...))
		}
	}
	if len(exposed) > 0 {
		rules = append(rules, ingress(exposed))
	}
	for _, a := range s.Decl.Allows {
		var ports []openPort
		for _, n := range a.Ports {
			ports = append(ports, openPort{n, v1.ProtocolTCP})
		}
		for _, n := range a.UDP {
			ports = append(ports, openPort{n, v1.ProtocolUDP})
		}
		if peers := allowed(s.Cloud, a); len(ports) > 0 && len(peers) > 0 {
			rules = append(rules, ingress(ports).WithFrom(peers...))
		}
	}
	rules = append(rules, scrapers(s)...)
	o := s.Object(networkingv1.NetworkPolicy(s.Decl.Name, "").WithSpec(networkingv1.NetworkPolicySpec().
		WithPodSelector(metav1.LabelSelector().WithMatchLabels(podsOfService(s.Cloud, s.Decl.Name))).
		WithPolicyTypes(networking.PolicyTypeIngress).
		WithIngress(rules...)))
	o.Deferred = deferred
	return o
}

// scrapers returns the rules for the ports with metrics.
func scrapers(s object.Service) (rules []*networkingv1.NetworkPolicyIngressRuleApplyConfiguration) {
	how := s.Cloud.Decl.Metrics
	if how == nil {
		return nil
	}
	var ports []openPort
	for _, w := range s.Decl.Workloads {
		if w.Metrics != nil {
			for _, p := range s.Ports([]string{w.Metrics.Port}) {
				ports = append(ports, openPortOf(p))
			}
		}
	}
	for _, a := range how.Allows {
		if peers := allowed(s.Cloud, a); len(ports) > 0 && len(peers) > 0 {
			rules = append(rules, ingress(ports).WithFrom(peers...))
		}
	}
	return rules
}

// podsOfService returns the labels that all pods of a service have.
func podsOfService(cloud object.Cloud, name string) map[string]string {
	return map[string]string{providers.LabelCloud: cloud.Decl.Name, providers.LabelService: name}
}

// openPort is a port that accepts connections.
type openPort struct {
	number   int
	protocol v1.Protocol
}

// openPortOf returns a declared port.
func openPortOf(p configs.Port) openPort { return openPort{p.Number, v1.Protocol(p.Protocol())} }

// ingress returns a rule for ports. Without peers it allows connections from everywhere.
func ingress(ports []openPort) *networkingv1.NetworkPolicyIngressRuleApplyConfiguration {
	rule := networkingv1.NetworkPolicyIngressRule()
	for _, port := range object.Unique(ports) {
		rule.WithPorts(networkingv1.NetworkPolicyPort().WithProtocol(port.protocol).WithPort(intstr.FromInt32(int32(port.number))))
	}
	return rule
}

// peer is a part of a cluster or network that may connect.
type peer = networkingv1.NetworkPolicyPeerApplyConfiguration

// podsWith returns a peer for the pods with some labels.
func podsWith(labels map[string]string) *peer {
	return networkingv1.NetworkPolicyPeer().WithPodSelector(metav1.LabelSelector().WithMatchLabels(labels))
}

// addresses returns a peer for a range of addresses.
func addresses(cidr string) *peer {
	return networkingv1.NetworkPolicyPeer().WithIPBlock(networkingv1.IPBlock().WithCIDR(cidr))
}

// inNamespace restricts a peer to a namespace. An empty namespace, and the cloud's namespace,
// need no restriction.
func inNamespace(cloud object.Cloud, p *peer, namespace string) *peer {
	if namespace == "" || namespace == cloud.Decl.Namespace {
		return p
	}
	return p.WithNamespaceSelector(metav1.LabelSelector().WithMatchLabels(map[string]string{v1.LabelMetadataName: namespace}))
}

// catalogued returns the ports with an endpoint in the catalogue of a Keystone. It leaves out
// exposed ports, because everything may connect to these.
func catalogued(s *configs.Service, keystone string, exposed []openPort) (out []openPort) {
	for _, e := range s.Endpoints {
		if !strings.HasSuffix("."+keystone, ".service."+e.Server) {
			continue
		}
		for _, p := range s.Ports {
			if open := openPortOf(p); p.Name == e.Port && !slices.Contains(exposed, open) {
				out = append(out, open)
			}
		}
	}
	return out
}

// referrers returns peers for the clients of a block: the pods of services and manifests that
// need it, and of services that read a password of a database or queue on it. deferred lists
// the reads that must happen before all labels of these pods are known.
func referrers(in Input, s object.Service, block string) (out []*peer, deferred []string) {
	onNodes := false
	for _, other := range in.Clients[block] {
		if other.External || other.Name == s.Decl.Name {
			continue
		}
		out = append(out, podsWith(podsOfService(s.Cloud, other.Name)))
		for pod := range object.Pods(other) {
			onNodes = onNodes || pod.HostNetwork
		}
	}
	for _, m := range in.Manifests {
		if !slices.Contains(m.Needs, block) {
			continue
		}
		for _, o := range m.Objects {
			labels, namespace := podsOf(o.Content)
			if len(labels) == 0 {
				continue
			}
			out = append(out, inNamespace(s.Cloud, podsWith(labels), namespace))
			if slices.ContainsFunc(append(slices.Collect(maps.Values(labels)), namespace), later) {
				deferred = append(deferred, o.Deferred...)
			}
		}
	}
	if onNodes {
		out = append(out, nodeAddresses(in.Nodes)...)
	}
	return out, object.Unique(deferred)
}

// nodeAddresses returns peers for the addresses of all nodes. Pods in the network of their node
// connect from these addresses.
func nodeAddresses(nodes []nodes.Node) []*peer {
	var out []*peer
	for _, node := range nodes {
		for _, text := range node.Addresses {
			if ip, err := netip.ParseAddr(text); err == nil {
				out = append(out, addresses(netip.PrefixFrom(ip, ip.BitLen()).String()))
			}
		}
	}
	slices.SortFunc(out, func(a, b *peer) int { return strings.Compare(*a.IPBlock.CIDR, *b.IPBlock.CIDR) })
	return slices.CompactFunc(out, func(a, b *peer) bool { return *a.IPBlock.CIDR == *b.IPBlock.CIDR })
}

// podsOf returns the labels and the namespace of the pods of an object. The object may be a
// pod.
func podsOf(content map[string]any) (labels map[string]string, namespace string) {
	namespace, _, _ = unstructured.NestedString(content, "metadata", "namespace")
	template := []string{"spec", "template"}
	switch content["kind"] {
	case "Pod":
		template = nil
	case "CronJob":
		template = []string{"spec", "jobTemplate", "spec", "template"}
	}
	labels, _, _ = unstructured.NestedStringMap(content, append(template, "metadata", "labels")...)
	return labels, namespace
}

// allowed returns the peers that an allow block names.
func allowed(cloud object.Cloud, a configs.Allow) []*peer {
	var out []*peer
	switch {
	case len(a.Pods) > 0:
		out = append(out, inNamespace(cloud, podsWith(a.Pods), a.Namespace))
	case a.Namespace != "":
		out = append(out, networkingv1.NetworkPolicyPeer().WithNamespaceSelector(metav1.LabelSelector().
			WithMatchLabels(map[string]string{v1.LabelMetadataName: a.Namespace})))
	}
	for _, cidr := range a.CIDRs {
		out = append(out, addresses(cidr))
	}
	return out
}
