package openstack

import (
	"fmt"
	"maps"
	"slices"

	appsapi "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	corev1 "k8s.io/client-go/applyconfigurations/core/v1"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
)

// kubeServices adds the Services through which others reach this service, and
// returns their addresses: they are there before any pod starts, so that pods get
// their environment variables.
//
// The service as a whole answers as SERVICE.NAMESPACE, on the ports of the
// workload that has its first port. Every other workload with ports, and every
// StatefulSet, has a name of its own, SERVICE-WORKLOAD.NAMESPACE. With own addresses,
// each pod of a StatefulSet has one too, SERVICE-WORKLOAD-NUMBER.NAMESPACE.
func (s *service) kubeServices() []addrs.Object {
	var out []addrs.Object
	named := len(s.decl.Ports) == 0
	for _, w := range s.decl.Workloads {
		ports := s.ports(w)
		name := s.workloadName(w)
		main := !named && slices.ContainsFunc(ports, func(p configs.Port) bool { return p.Name == s.decl.Ports[0].Name })
		named = named || main
		var services []*corev1.ServiceApplyConfiguration
		switch {
		case main:
			services = s.reachable(s.decl.Name, s.selector(name), ports)
		case len(ports) > 0 && w.Kind != "StatefulSet":
			services = s.reachable(name, s.selector(name), ports)
		case len(ports) > 0:
			services = s.public(name, s.selector(name), ports)
		}
		if w.Kind == "StatefulSet" {
			services = append(services, s.headless(name, s.selector(name), ports))
			services = append(services, s.own(w, name, ports)...)
		}
		for _, service := range services {
			o := s.object(service)
			s.add(o)
			out = append(out, o.Address)
		}
	}
	if !named && len(s.decl.Workloads) == 0 && !s.decl.Undecided {
		s.error(s.decl.Range, fmt.Sprintf("Nothing to deploy for service %q", s.decl.Name),
			fmt.Sprintf("Definition %q has no workload: it describes what is there already. Say where:\n\n  external = { host = \"...\" }", s.decl.Definition))
	} else if !named && !s.decl.Undecided {
		s.error(s.decl.Range, fmt.Sprintf("Nothing in service %q has its port %q", s.decl.Name, s.decl.Ports[0].Name),
			"The first port of a definition is the one that the service is reached by. List it in `ports` of a workload.")
	}
	return out
}

// headless makes a Service name its pods one by one, ready or not: the members of
// a StatefulSet find each other through it.
func (s *service) headless(name string, selector map[string]string, ports []configs.Port) *corev1.ServiceApplyConfiguration {
	service := s.kubeService(name, selector, ports, false)
	service.Spec.WithClusterIP(v1.ClusterIPNone).WithPublishNotReadyAddresses(true)
	return service
}

// own makes a Service for each pod of a StatefulSet, if they have addresses of their own.
func (s *service) own(w configs.Workload, name string, ports []configs.Port) []*corev1.ServiceApplyConfiguration {
	if !w.OwnAddresses || len(ports) == 0 {
		return nil
	}
	var out []*corev1.ServiceApplyConfiguration
	for i := range w.Replicas {
		pod := fmt.Sprintf("%s-%d", name, i)
		selector := maps.Clone(s.selector(name))
		selector[appsapi.StatefulSetPodNameLabel] = pod
		out = append(out, s.kubeService(pod, selector, ports, false))
	}
	return out
}

// reachable makes the Service of some pods, with node ports where all of its ports
// are open to the outside. A node port cannot be withheld from a port: where only
// some are open, those have a second Service.
func (s *service) reachable(name string, selector map[string]string, ports []configs.Port) []*corev1.ServiceApplyConfiguration {
	if exposed := s.exposed(ports); len(exposed) == len(ports) {
		return []*corev1.ServiceApplyConfiguration{s.kubeService(name, selector, ports, true)}
	}
	return append([]*corev1.ServiceApplyConfiguration{s.kubeService(name, selector, ports, false)}, s.public(name, selector, ports)...)
}

// public makes the Service for those of the ports that are open to the outside.
func (s *service) public(name string, selector map[string]string, ports []configs.Port) []*corev1.ServiceApplyConfiguration {
	exposed := s.exposed(ports)
	if len(exposed) == 0 {
		return nil
	}
	return []*corev1.ServiceApplyConfiguration{s.kubeService(name+"-public", selector, exposed, true)}
}

func (s *service) exposed(ports []configs.Port) []configs.Port {
	var out []configs.Port
	for _, p := range ports {
		if s.decl.Exposure != "" && p.Exposed {
			out = append(out, p)
		}
	}
	return out
}

func (s *service) kubeService(name string, selector map[string]string, ports []configs.Port, nodePort bool) *corev1.ServiceApplyConfiguration {
	spec := corev1.ServiceSpec().WithSelector(selector).WithType(v1.ServiceTypeClusterIP)
	if nodePort {
		spec.WithType(v1.ServiceTypeNodePort)
	}
	for _, p := range ports {
		port := corev1.ServicePort().
			WithName(p.Name).WithPort(int32(p.Number)).WithProtocol(v1.Protocol(p.Protocol())).
			WithTargetPort(s.targetPort(p))
		if nodePort && p.NodePort != 0 {
			port.WithNodePort(int32(p.NodePort))
		}
		spec.WithPorts(port)
	}
	return corev1.Service(name, "").WithSpec(spec)
}
