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

// Services returns the Services of a service, and the objects that bring in clients from outside.
//
// The Services exist before any pod starts, so that pods get their environment variables. The main
// Service has the name SERVICE.NAMESPACE. It has the ports of the workload that listens on the first
// port of the service. Every other workload with ports, and every StatefulSet, has a Service
// SERVICE-WORKLOAD.NAMESPACE. With OwnAddresses, each pod of a StatefulSet also has a Service
// SERVICE-WORKLOAD-NUMBER.NAMESPACE.
//
// The mode of the exposure decides which objects clients outside need; see modes. No pod waits for
// the objects in outside: they wait for other programs.
func Services(s object.Service, exposure *configs.Exposure) (inside, outside []providers.Object, diags hcl.Diagnostics) {
	services, backends, named := ofWorkloads(s, exposure)
	for _, service := range services {
		if o := s.Object(service); *service.Spec.Type == v1.ServiceTypeLoadBalancer {
			outside = append(outside, o)
		} else {
			inside = append(inside, o)
		}
	}
	outside = append(outside, routesOf(s, exposure, backends)...)
	switch {
	case named || s.Decl.Undecided:
		return inside, outside, nil
	case len(s.Decl.Workloads) == 0:
		return inside, outside, hcl.Diagnostics{object.Error(s.Decl.Range, fmt.Sprintf("Nothing to deploy for service %q", s.Decl.Name),
			fmt.Sprintf("Definition %q has no workload: it describes what is there already. Say where:\n\n  external = { host = \"...\" }", s.Decl.Definition))}
	}
	return inside, outside, hcl.Diagnostics{object.Error(s.Decl.Range, fmt.Sprintf("Nothing in service %q has its port %q", s.Decl.Name, s.Decl.Ports[0].Name),
		"The first port of a definition is the one that the service is reached by. List it in `ports` of a workload.")}
}

// Fronts returns the names of the Services that lead clients outside to a port of a service.
func Fronts(s object.Service, exposure *configs.Exposure, port string) []string {
	var out []string
	_, backends, _ := ofWorkloads(s, exposure)
	for _, b := range backends {
		if b.port.Name == port {
			out = append(out, b.service)
		}
	}
	return out
}

// ofWorkloads returns the Services of all workloads, and the exposed ports with the Services that
// lead to them. named: there is a main Service, or the service needs none.
func ofWorkloads(s object.Service, exposure *configs.Exposure) (services []*corev1.ServiceApplyConfiguration, backends []backend, named bool) {
	named = len(s.Decl.Ports) == 0
	for _, w := range s.Decl.Workloads {
		main := !named && slices.Contains(w.Pod.Ports, s.Decl.Ports[0].Name)
		named = named || main
		own, front := ofWorkload(s, w, main, exposure)
		services = append(services, own...)
		for _, p := range exposedOf(s.Decl, s.Ports(w.Pod.Ports)) {
			backends = append(backends, backend{p, front})
		}
	}
	return services, backends, named
}

// ofWorkload returns the Services of one workload, and the name of the Service for clients outside,
// if there is one. main is set if the workload gets the main Service.
func ofWorkload(s object.Service, w configs.Workload, main bool, exposure *configs.Exposure) (out []*corev1.ServiceApplyConfiguration, front string) {
	name, ports := s.Workload(w), s.Ports(w.Pod.Ports)
	selector := s.Selector(name)
	switch {
	case main:
		out, front = reachable(s.Decl, s.Decl.Name, selector, ports, exposure)
	case len(ports) > 0 && w.Kind != "StatefulSet":
		out, front = reachable(s.Decl, name, selector, ports, exposure)
	case len(ports) > 0:
		out, front = public(s.Decl, name, selector, ports, exposure)
	}
	if w.Kind == "StatefulSet" {
		out = append(out, headless(s.Decl, name, selector, ports))
		out = append(out, ofReplicas(s.Decl, w, name, selector, ports)...)
	}
	return out, front
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

// reachable returns the Services of some pods, and the name of the Service for clients outside.
func reachable(s *configs.Service, name string, selector map[string]string, ports []configs.Port, exposure *configs.Exposure) ([]*corev1.ServiceApplyConfiguration, string) {
	inside := service(s, name, selector, ports)
	out := []*corev1.ServiceApplyConfiguration{inside}
	exposed := exposedOf(s, ports)
	if exposure == nil || len(exposed) == 0 {
		return out, ""
	}
	if m := modes[exposure.Mode]; m.shares != nil && m.shares(exposed, ports) {
		if m.open != nil {
			m.open(inside, ports, *exposure)
		}
		return out, name
	}
	more, front := public(s, name, selector, ports, exposure)
	return append(out, more...), front
}

// public returns the Service for the exposed ports, and its name, if there are any.
func public(s *configs.Service, name string, selector map[string]string, ports []configs.Port, exposure *configs.Exposure) ([]*corev1.ServiceApplyConfiguration, string) {
	exposed := exposedOf(s, ports)
	if len(exposed) == 0 || exposure == nil {
		return nil, ""
	}
	name += "-public"
	out := service(s, name, selector, exposed)
	if m := modes[exposure.Mode]; m.open != nil {
		m.open(out, exposed, *exposure)
	}
	return []*corev1.ServiceApplyConfiguration{out}, name
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
