package openstack

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	corev1 "k8s.io/client-go/applyconfigurations/core/v1"

	"kolla.openstack.org/kolla/lang"
)

// kubeServices adds the Services through which others reach this service, and
// returns their addresses: they are there before any pod starts, so that pods get
// their environment variables.
//
// The service as a whole answers as SERVICE.NAMESPACE, on the ports of the
// workload that has its first port. Every other workload with ports, and every
// StatefulSet, has a name of its own, SERVICE-WORKLOAD.NAMESPACE.
func (s *service) kubeServices() []lang.Address {
	var out []lang.Address
	add := func(service *corev1.ServiceApplyConfiguration) {
		o := s.object(manifest(service))
		s.add(o)
		out = append(out, o.Address)
	}
	named := false
	for _, w := range s.decl.Workloads {
		ports := s.ports(w)
		name := s.workloadName(w)
		main := !named && len(ports) > 0 && ports[0].Name == s.decl.Ports[0].Name
		named = named || main
		if main {
			for _, service := range s.mainServices(name, ports) {
				add(service)
			}
		}
		switch {
		case w.Kind == "StatefulSet":
			add(headless(kubeService(name, s.selector(name), ports, false)))
		case len(ports) > 0 && !main:
			add(kubeService(name, s.selector(name), ports, false))
		}
	}
	return out
}

// headless makes a Service name its pods one by one, ready or not: the members of
// a StatefulSet find each other through it.
func headless(service *corev1.ServiceApplyConfiguration) *corev1.ServiceApplyConfiguration {
	service.Spec.WithClusterIP(v1.ClusterIPNone).WithPublishNotReadyAddresses(true)
	return service
}

// mainServices is the Service named like the service itself. Where the service is
// exposed it is a node port; where only some ports are, those have a second
// Service, because a node port cannot be withheld from a port.
func (s *service) mainServices(workload string, ports []lang.Port) []*corev1.ServiceApplyConfiguration {
	var exposed []lang.Port
	if s.decl.Exposure != "" {
		for _, p := range ports {
			if p.Exposed {
				exposed = append(exposed, p)
			}
		}
	}
	selector := s.selector(workload)
	main := kubeService(s.decl.Name, selector, ports, len(exposed) == len(ports))
	if len(exposed) == 0 || len(exposed) == len(ports) {
		return []*corev1.ServiceApplyConfiguration{main}
	}
	return []*corev1.ServiceApplyConfiguration{main, kubeService(s.decl.Name+"-public", selector, exposed, true)}
}

func kubeService(name string, selector map[string]string, ports []lang.Port, nodePort bool) *corev1.ServiceApplyConfiguration {
	spec := corev1.ServiceSpec().WithSelector(selector).WithType(v1.ServiceTypeClusterIP)
	if nodePort {
		spec.WithType(v1.ServiceTypeNodePort)
	}
	for _, p := range ports {
		port := corev1.ServicePort().
			WithName(p.Name).WithPort(int32(p.Number)).WithProtocol(v1.ProtocolTCP).
			WithTargetPort(intstr.FromString(p.Name))
		if nodePort && p.NodePort != 0 {
			port.WithNodePort(int32(p.NodePort))
		}
		spec.WithPorts(port)
	}
	return corev1.Service(name, "").WithSpec(spec)
}
