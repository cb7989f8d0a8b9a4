package network

import (
	"fmt"
	"net/netip"
	"strings"

	v1 "k8s.io/api/core/v1"
	corev1 "k8s.io/client-go/applyconfigurations/core/v1"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/openstack/internal/object"
)

// mode says which objects a mode of an exposure adds to a service.
type mode struct {
	// shares reports whether clients outside use the Service for clients inside too. Otherwise the
	// exposed ports of its pods get a Service NAME-public. Nil: they always get one.
	shares func(exposed, all []configs.Port) bool
	// open prepares the Service for clients outside. Nil: only routes lead to it.
	open func(service *corev1.ServiceApplyConfiguration, ports []configs.Port, exposure configs.Exposure)
	// routes returns the objects that lead host names to Services. Nil: clients connect to the
	// Services.
	routes func(s object.Service, exposure configs.Exposure, backends []backend) []object.Configuration
}

// modes are the modes of exposures. While a mode is not known yet, Services stay inside.
var modes = map[string]mode{
	// A Service of type NodePort opens all of its ports.
	configs.ModeNodePort: {shares: ifAllAreExposed, open: onNodes},
	// HAProxy in the cluster connects to the Service: see package managed.
	configs.ModeManaged: {shares: ifAllAreExposed, open: published},
	// A load balancer sees only the Services that are meant for it.
	configs.ModeLoadBalancer: {open: atLoadBalancer},
	configs.ModeIngress:      {shares: always, routes: ingressesOf},
	configs.ModeGateway:      {shares: always, routes: httpRoutesOf},
}

func always(_, _ []configs.Port) bool { return true }

func ifAllAreExposed(exposed, all []configs.Port) bool { return len(exposed) == len(all) }

// onNodes opens ports of the nodes for the ports of a Service.
func onNodes(service *corev1.ServiceApplyConfiguration, ports []configs.Port, exposure configs.Exposure) {
	service.Spec.WithType(v1.ServiceTypeNodePort)
	for i, p := range ports {
		if p.NodePort != 0 {
			service.Spec.Ports[i].WithNodePort(int32(p.NodePort))
		}
	}
	published(service, ports, exposure)
}

// published says where clients outside find the ports of a Service.
func published(service *corev1.ServiceApplyConfiguration, ports []configs.Port, exposure configs.Exposure) {
	var renumbered []string
	for _, p := range ports {
		if p.AtExposure() != p.Number {
			renumbered = append(renumbered, fmt.Sprintf("%s=%d", p.Name, p.AtExposure()))
		}
	}
	service.WithAnnotations(map[string]string{providers.AnnotationPublic: publicAddress(exposure)})
	if len(renumbered) > 0 {
		service.WithAnnotations(map[string]string{providers.AnnotationPublicPorts: strings.Join(renumbered, ",")})
	}
}

// atLoadBalancer asks a load balancer for the address of the exposure. Clients connect to the ports of
// the Service, so these have the public numbers.
func atLoadBalancer(service *corev1.ServiceApplyConfiguration, ports []configs.Port, exposure configs.Exposure) {
	service.Spec.WithType(v1.ServiceTypeLoadBalancer).WithLoadBalancerIP(exposure.VIP)
	if vip, err := netip.ParseAddr(exposure.VIP); err == nil { // the cluster may prefer the other family
		family := v1.IPv6Protocol
		if vip.Is4() {
			family = v1.IPv4Protocol
		}
		service.Spec.WithIPFamilyPolicy(v1.IPFamilyPolicySingleStack).WithIPFamilies(family)
	}
	if exposure.Class != "" {
		service.Spec.WithLoadBalancerClass(exposure.Class)
	}
	for i, p := range ports {
		service.Spec.Ports[i].WithPort(int32(p.AtExposure()))
	}
	service.WithAnnotations(exposure.Annotations).WithAnnotations(map[string]string{providers.AnnotationPublic: publicAddress(exposure)})
}

// publicAddress returns the address of an exposure for the annotation of its Services.
func publicAddress(exposure configs.Exposure) string {
	if address := exposure.Host(); address != exposure.VIP {
		return address + " (" + exposure.VIP + ")"
	}
	return exposure.VIP
}
