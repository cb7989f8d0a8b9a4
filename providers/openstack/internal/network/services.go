package network

import (
	"fmt"
	"maps"
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
// annotated with the public address of the service's exposure.
func Services(s object.Service, exposures []configs.Exposure) ([]providers.Object, hcl.Diagnostics) {
	var out []providers.Object
	named := len(s.Decl.Ports) == 0
	for _, w := range s.Decl.Workloads {
		main := !named && slices.Contains(w.Pod.Ports, s.Decl.Ports[0].Name)
		named = named || main
		for _, service := range ofWorkload(s, w, main) {
			annotatePublic(s.Decl, service, exposures)
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

// annotatePublic notes the public address on a Service that has node ports.
func annotatePublic(s *configs.Service, service *corev1.ServiceApplyConfiguration, exposures []configs.Exposure) {
	i := slices.IndexFunc(exposures, func(x configs.Exposure) bool { return x.Name == s.Exposure })
	if i < 0 || *service.Spec.Type != v1.ServiceTypeNodePort {
		return
	}
	address := exposures[i].Host()
	if address != exposures[i].VIP {
		address += " (" + exposures[i].VIP + ")"
	}
	service.WithAnnotations(map[string]string{providers.AnnotationPublic: address})
}

// ofWorkload returns the Services of one workload. main is set if it gets the main Service.
func ofWorkload(s object.Service, w configs.Workload, main bool) []*corev1.ServiceApplyConfiguration {
	name, ports := s.Workload(w), s.Ports(w.Pod.Ports)
	selector := s.Selector(name)
	var out []*corev1.ServiceApplyConfiguration
	switch {
	case main:
		out = reachable(s.Decl, s.Decl.Name, selector, ports)
	case len(ports) > 0 && w.Kind != "StatefulSet":
		out = reachable(s.Decl, name, selector, ports)
	case len(ports) > 0:
		out = public(s.Decl, name, selector, ports)
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
	out := service(s, name, selector, ports, false)
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
		out = append(out, service(s, pod, own, ports, false))
	}
	return out
}

// reachable returns the Services of some pods. A Service of type NodePort opens all of its
// ports. If only some ports are exposed, these get a second Service.
func reachable(s *configs.Service, name string, selector map[string]string, ports []configs.Port) []*corev1.ServiceApplyConfiguration {
	if exposed := exposedOf(s, ports); len(exposed) == len(ports) {
		return []*corev1.ServiceApplyConfiguration{service(s, name, selector, ports, true)}
	}
	return append([]*corev1.ServiceApplyConfiguration{service(s, name, selector, ports, false)}, public(s, name, selector, ports)...)
}

// public returns the Service for the exposed ports, if there are any.
func public(s *configs.Service, name string, selector map[string]string, ports []configs.Port) []*corev1.ServiceApplyConfiguration {
	exposed := exposedOf(s, ports)
	if len(exposed) == 0 {
		return nil
	}
	return []*corev1.ServiceApplyConfiguration{service(s, name+"-public", selector, exposed, true)}
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
func service(s *configs.Service, name string, selector map[string]string, ports []configs.Port, nodePort bool) *corev1.ServiceApplyConfiguration {
	spec := corev1.ServiceSpec().WithSelector(selector).WithType(v1.ServiceTypeClusterIP)
	if nodePort {
		spec.WithType(v1.ServiceTypeNodePort)
	}
	for _, p := range ports {
		port := corev1.ServicePort().
			WithName(p.Name).WithPort(int32(p.Number)).WithProtocol(v1.Protocol(p.Protocol())).
			WithTargetPort(targetPort(s, p))
		if nodePort && p.NodePort != 0 {
			port.WithNodePort(int32(p.NodePort))
		}
		spec.WithPorts(port)
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
