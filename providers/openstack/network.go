package openstack

import (
	"iter"
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

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
)

// networkPolicy adds the NetworkPolicy of the service, and returns its address. It takes
// connections between pods of the service, on the declared ports from those who refer to
// the service or read a password for it, on ports with an endpoint from those who refer to the Keystone that has it,
// on exposed ports from everybody, and what allow blocks say. The node of a pod may always
// connect, so that probes need no rule. What pods connect to is open.
func (s *service) networkPolicy() []addrs.Object {
	if !s.decl.NetworkPolicy || !s.runs() {
		return nil
	}
	rules := []*networkingv1.NetworkPolicyIngressRuleApplyConfiguration{
		networkingv1.NetworkPolicyIngressRule().WithFrom(podsWith(s.ofService(s.decl.Name))),
	}
	var declared, exposed []openPort
	for _, w := range s.decl.Workloads {
		for _, p := range s.ports(w) {
			declared = append(declared, openPortOf(p))
		}
		for _, p := range s.exposed(s.ports(w)) {
			exposed = append(exposed, openPortOf(p))
		}
	}
	peers, deferred := s.referrers(s.decl.Block)
	if len(peers) > 0 && len(declared) > 0 {
		rules = append(rules, ingress(declared).WithFrom(peers...))
	}
	for _, block := range s.decl.Needs {
		ports := s.catalogued(block, exposed)
		if len(ports) == 0 {
			continue
		}
		if found, unknown := s.referrers(block); len(found) > 0 { // a rule from nobody would be one from everybody
			rules = append(rules, ingress(ports).WithFrom(found...))
			deferred = unique(append(deferred, unknown...))
		}
	}
	if len(exposed) > 0 {
		rules = append(rules, ingress(exposed))
	}
	for _, a := range s.decl.Allows {
		var ports []openPort
		for _, n := range a.Ports {
			ports = append(ports, openPort{n, v1.ProtocolTCP})
		}
		for _, n := range a.UDP {
			ports = append(ports, openPort{n, v1.ProtocolUDP})
		}
		if peers := s.allowed(a); len(ports) > 0 && len(peers) > 0 {
			rules = append(rules, ingress(ports).WithFrom(peers...))
		}
	}
	o := s.object(networkingv1.NetworkPolicy(s.decl.Name, "").WithSpec(networkingv1.NetworkPolicySpec().
		WithPodSelector(metav1.LabelSelector().WithMatchLabels(s.ofService(s.decl.Name))).
		WithPolicyTypes(networking.PolicyTypeIngress).
		WithIngress(rules...)))
	o.Deferred = deferred
	s.add(o)
	return []addrs.Object{o.Address}
}

// runs reports whether the service has pods.
func (s *service) runs() bool {
	return len(s.decl.Workloads)+len(s.decl.Jobs)+len(s.providedJobs("before"))+len(s.providedJobs("after")) > 0
}

// ofService are the labels of all pods of a service.
func (r *renderer) ofService(name string) map[string]string {
	return map[string]string{providers.LabelCloud: r.config.Cloud.Name, providers.LabelService: name}
}

// openPort is a port that somebody may connect to.
type openPort struct {
	number   int
	protocol v1.Protocol
}

func openPortOf(p configs.Port) openPort { return openPort{p.Number, v1.Protocol(p.Protocol())} }

// ingress is a rule for ports, from everybody as long as nothing else is said.
func ingress(ports []openPort) *networkingv1.NetworkPolicyIngressRuleApplyConfiguration {
	rule := networkingv1.NetworkPolicyIngressRule()
	for _, port := range unique(ports) {
		rule.WithPorts(networkingv1.NetworkPolicyPort().WithProtocol(port.protocol).WithPort(intstr.FromInt32(int32(port.number))))
	}
	return rule
}

type peer = networkingv1.NetworkPolicyPeerApplyConfiguration

func podsWith(labels map[string]string) *peer {
	return networkingv1.NetworkPolicyPeer().WithPodSelector(metav1.LabelSelector().WithMatchLabels(labels))
}

func addresses(cidr string) *peer {
	return networkingv1.NetworkPolicyPeer().WithIPBlock(networkingv1.IPBlock().WithCIDR(cidr))
}

// inNamespace restricts a peer to a namespace; empty and the cloud's need no words.
func (r *renderer) inNamespace(p *peer, namespace string) *peer {
	if namespace == "" || namespace == r.config.Cloud.Namespace {
		return p
	}
	return p.WithNamespaceSelector(metav1.LabelSelector().WithMatchLabels(map[string]string{v1.LabelMetadataName: namespace}))
}

// catalogued are the ports that others find in the catalogue of a Keystone, except those
// that are exposed: everybody may connect to these.
func (s *service) catalogued(keystone string, exposed []openPort) (out []openPort) {
	for _, e := range s.decl.Endpoints {
		if !strings.HasSuffix("."+keystone, ".service."+e.Server) {
			continue
		}
		for _, p := range s.decl.Ports {
			if open := openPortOf(p); p.Name == e.Port && !slices.Contains(exposed, open) {
				out = append(out, open)
			}
		}
	}
	return out
}

// referrers are the pods of the services and manifests that need a block, and of services
// that read a password of a database or queue on it. deferred is what has to be read before
// all of their labels are known.
func (s *service) referrers(block string) (out []*peer, deferred []string) {
	onNodes := false
	for _, other := range s.clients[block] {
		if other.External || other.Name == s.decl.Name {
			continue
		}
		out = append(out, podsWith(s.ofService(other.Name)))
		for pod := range pods(other) {
			onNodes = onNodes || pod.HostNetwork
		}
	}
	for _, m := range s.config.Manifests {
		if !slices.Contains(m.Needs, block) {
			continue
		}
		for _, object := range m.Objects {
			labels, namespace := podsOf(object.Content)
			if len(labels) == 0 {
				continue
			}
			out = append(out, s.inNamespace(podsWith(labels), namespace))
			if slices.ContainsFunc(append(slices.Collect(maps.Values(labels)), namespace), later) {
				deferred = append(deferred, object.Deferred...)
			}
		}
	}
	if onNodes {
		out = append(out, s.nodeAddresses()...)
	}
	return out, unique(deferred)
}

// clientsOf are the services that connect to a block, by its address: those that need it, and
// those that read the password of a database or queue on it. Who was given such a URL by
// another service's output may not refer to the server itself.
func clientsOf(config *configs.Config) map[string][]*configs.Service {
	blocks := make(map[string]string, len(config.Services))
	for _, s := range config.Services {
		blocks[s.Name] = s.Block
	}
	opens := map[configs.SecretRef]string{}
	for _, s := range config.Services {
		for _, d := range s.Databases {
			opens[d.Password] = blocks[d.Server]
		}
		for _, p := range s.Provided {
			if p.Type == "queue" {
				opens[p.Password] = blocks[p.Server]
			}
		}
	}
	out := map[string][]*configs.Service{}
	for i := range config.Services {
		s := &config.Services[i]
		on := slices.Clone(s.Needs)
		for text := range texts(s) {
			for _, ref := range text.Refs() {
				ref.Within = ""
				if block := opens[ref]; block != "" && ref.Service != s.Name && !slices.Contains(on, block) {
					on = append(on, block)
				}
			}
		}
		for _, block := range on {
			out[block] = append(out[block], s)
		}
	}
	return out
}

// texts are what the pods of a service read: its files, and the variables of containers.
func texts(s *configs.Service) iter.Seq[configs.Text] {
	return func(yield func(configs.Text) bool) {
		for _, c := range s.Configs {
			if !yield(c.Content) {
				return
			}
			for _, o := range c.Options {
				for _, v := range o.Values {
					if !yield(v) {
						return
					}
				}
			}
		}
		for pod := range pods(s) {
			env := pod.Env
			for _, init := range pod.Inits {
				env = append(slices.Clip(env), init.Env...)
			}
			for _, e := range env {
				if !yield(e.Value) {
					return
				}
			}
		}
	}
}

func later(text string) bool { return strings.Contains(text, configs.KnownAfterApply) }

// nodeAddresses are those that pods in the network of their node connect from.
func (r *renderer) nodeAddresses() []*peer {
	var out []*peer
	for _, node := range r.facts.Nodes {
		for _, text := range node.Addresses {
			if ip, err := netip.ParseAddr(text); err == nil {
				out = append(out, addresses(netip.PrefixFrom(ip, ip.BitLen()).String()))
			}
		}
	}
	slices.SortFunc(out, func(a, b *peer) int { return strings.Compare(*a.IPBlock.CIDR, *b.IPBlock.CIDR) })
	return slices.CompactFunc(out, func(a, b *peer) bool { return *a.IPBlock.CIDR == *b.IPBlock.CIDR })
}

// podsOf are the labels and the namespace of the pods that an object is or makes.
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

// allowed are those that an allow block names.
func (s *service) allowed(a configs.Allow) []*peer {
	var out []*peer
	switch {
	case len(a.Pods) > 0:
		out = append(out, s.inNamespace(podsWith(a.Pods), a.Namespace))
	case a.Namespace != "":
		out = append(out, networkingv1.NetworkPolicyPeer().WithNamespaceSelector(metav1.LabelSelector().
			WithMatchLabels(map[string]string{v1.LabelMetadataName: a.Namespace})))
	}
	for _, cidr := range a.CIDRs {
		out = append(out, addresses(cidr))
	}
	return out
}
