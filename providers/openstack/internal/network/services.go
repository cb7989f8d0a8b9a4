package network

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"github.com/hashicorp/hcl/v2"
	appsapi "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	corev1 "k8s.io/client-go/applyconfigurations/core/v1"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/openstack/internal/object"
)

// Services returns the Services of a service. They exist before any pod starts, so that pods get
// their environment variables.
//
// The main Service has the name SERVICE.NAMESPACE. It has the ports of the workload that
// listens on the first port of the service. Every other workload with ports, and every
// StatefulSet, has a Service SERVICE-WORKLOAD.NAMESPACE. With OwnAddresses, each pod of a
// StatefulSet also has a Service SERVICE-WORKLOAD-NUMBER.NAMESPACE. Services for clients outside are
// annotated with the public address of the service's exposure. With the mode loadbalancer they are
// Services SERVICE-public, so that the load balancer sees nothing but them.
func Services(s object.Service, exposure *configs.Exposure) ([]providers.Object, hcl.Diagnostics) {
	var out []providers.Object
	named := len(s.Decl.Ports) == 0
	for _, w := range s.Decl.Workloads {
		main := !named && slices.Contains(w.Pod.Ports, s.Decl.Ports[0].Name)
		named = named || main
		for _, service := range ofWorkload(s, w, main, exposure) {
			out = append(out, s.Object(service))
		}
	}
	switch {
	case named || s.Decl.Undecided:
		return out, nil
	case len(s.Decl.Workloads) == 0:
		return out, hcl.Diagnostics{object.Error(s.Decl.Range, fmt.Sprintf("Nothing to deploy for service %q", s.Decl.Name),
			fmt.Sprintf("Definition %q has no workload: it describes what is there already. Say where:\n\n  external = { host = \"...\" }", s.Decl.Definition))}
	}
	return out, hcl.Diagnostics{object.Error(s.Decl.Range, fmt.Sprintf("Nothing in service %q has its port %q", s.Decl.Name, s.Decl.Ports[0].Name),
		"The first port of a definition is the one that the service is reached by. List it in `ports` of a workload.")}
}

// ofWorkload returns the Services of one workload. main is set if it gets the main Service.
func ofWorkload(s object.Service, w configs.Workload, main bool, exposure *configs.Exposure) []*corev1.ServiceApplyConfiguration {
	name, ports := s.Workload(w), s.Ports(w.Pod.Ports)
	selector := s.Selector(name)
	var out []*corev1.ServiceApplyConfiguration
	switch {
	case main:
		out = reachable(s.Decl, s.Decl.Name, selector, ports, exposure)
	case len(ports) > 0 && w.Kind != "StatefulSet":
		out = reachable(s.Decl, name, selector, ports, exposure)
	case len(ports) > 0:
		out = public(s.Decl, name, selector, ports, exposure)
	}
	if w.Kind == "StatefulSet" {
		out = append(out, headless(s.Decl, name, selector, ports))
		out = append(out, ofReplicas(s.Decl, w, name, selector, ports)...)
	}
	return out
}

// headless returns a Service that gives each pod a DNS name, whether or not the pod is ready.
// The members of a StatefulSet use it to find each other.
func headless(s *configs.Service, name string, selector map[string]string, ports []configs.Port) *corev1.ServiceApplyConfiguration {
	out := service(s, name, selector, ports)
	out.Spec.WithClusterIP(v1.ClusterIPNone).WithPublishNotReadyAddresses(true)
	return out
}

// ofReplicas returns a Service for each pod of a StatefulSet with OwnAddresses.
func ofReplicas(s *configs.Service, w configs.Workload, name string, selector map[string]string, ports []configs.Port) []*corev1.ServiceApplyConfiguration {
	if !w.OwnAddresses || len(ports) == 0 {
		return nil
	}
	var out []*corev1.ServiceApplyConfiguration
	for i := range w.Replicas {
		pod := fmt.Sprintf("%s-%d", name, i)
		own := maps.Clone(selector)
		own[appsapi.StatefulSetPodNameLabel] = pod
		out = append(out, service(s, pod, own, ports))
	}
	return out
}

// reachable returns the Services of some pods. A Service of type NodePort opens all of its ports. If
// only some ports are exposed, these get a second Service.
func reachable(s *configs.Service, name string, selector map[string]string, ports []configs.Port, exposure *configs.Exposure) []*corev1.ServiceApplyConfiguration {
	inside := service(s, name, selector, ports)
	if exposure != nil && exposure.Mode == configs.ModeNodePort && len(exposedOf(s, ports)) == len(ports) {
		onNodes(inside, ports, *exposure)
		return []*corev1.ServiceApplyConfiguration{inside}
	}
	return append([]*corev1.ServiceApplyConfiguration{inside}, public(s, name, selector, ports, exposure)...)
}

// public returns the Service for the exposed ports, if there are any.
func public(s *configs.Service, name string, selector map[string]string, ports []configs.Port, exposure *configs.Exposure) []*corev1.ServiceApplyConfiguration {
	exposed := exposedOf(s, ports)
	if len(exposed) == 0 || exposure == nil {
		return nil
	}
	out := service(s, name+"-public", selector, exposed)
	switch exposure.Mode {
	case configs.ModeNodePort:
		onNodes(out, exposed, *exposure)
	case configs.ModeLoadBalancer:
		atLoadBalancer(out, exposed, *exposure)
	}
	return []*corev1.ServiceApplyConfiguration{out}
}

// onNodes opens ports of the nodes for the ports of a Service.
func onNodes(service *corev1.ServiceApplyConfiguration, ports []configs.Port, exposure configs.Exposure) {
	service.Spec.WithType(v1.ServiceTypeNodePort)
	for i, p := range ports {
		if p.NodePort != 0 {
			service.Spec.Ports[i].WithNodePort(int32(p.NodePort))
		}
	}
	service.WithAnnotations(map[string]string{providers.AnnotationPublic: publicAddress(exposure)})
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

// exposedOf returns the ports that clients outside of the cluster use.
func exposedOf(s *configs.Service, ports []configs.Port) []configs.Port {
	var out []configs.Port
	for _, p := range ports {
		if s.Exposure != "" && p.Exposed {
			out = append(out, p)
		}
	}
	return out
}

// service returns a Service for the pods with some labels.
func service(s *configs.Service, name string, selector map[string]string, ports []configs.Port) *corev1.ServiceApplyConfiguration {
	spec := corev1.ServiceSpec().WithSelector(selector).WithType(v1.ServiceTypeClusterIP)
	for _, p := range ports {
		spec.WithPorts(corev1.ServicePort().
			WithName(p.Name).WithPort(int32(p.Number)).WithProtocol(v1.Protocol(p.Protocol())).
			WithTargetPort(targetPort(s, p)))
	}
	return corev1.Service(name, "").WithSpec(spec)
}

// targetPort returns the target of a Service's port: its name, or its number if a sidecar
// listens on it. Some versions of Kubernetes do not look for port names in sidecars.
func targetPort(s *configs.Service, p configs.Port) intstr.IntOrString {
	if slices.ContainsFunc(s.Workloads, func(w configs.Workload) bool { return object.SidecarListens(w, p.Name) }) {
		return intstr.FromInt32(int32(p.Number))
	}
	return intstr.FromString(p.Name)
}
