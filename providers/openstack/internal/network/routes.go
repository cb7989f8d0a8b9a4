package network

import (
	"cmp"
	"strings"

	networking "k8s.io/api/networking/v1"
	networkingv1 "k8s.io/client-go/applyconfigurations/networking/v1"
	gateway "sigs.k8s.io/gateway-api/apis/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/applyconfiguration/apis/v1"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/providers/openstack/internal/object"
)

// backend is an exposed port with the Service that leads to it.
type backend struct {
	port    configs.Port
	service string
}

// routesOf returns the objects that lead host names to the Services of a service.
func routesOf(s object.Service, exposure *configs.Exposure, backends []backend) []providers.Object {
	if exposure == nil || len(backends) == 0 || modes[exposure.Mode].routes == nil {
		return nil
	}
	var services []addrs.Object
	for _, b := range backends {
		services = append(services, s.Address(kinds.Service.Kind, b.service))
	}
	var out []providers.Object
	for _, route := range modes[exposure.Mode].routes(s, *exposure, backends) {
		out = append(out, s.Object(route, services...))
	}
	return out
}

// publicURLs returns the URLs of backends for the annotation of their Ingress or route.
func publicURLs(s object.Service, exposure configs.Exposure, backends ...backend) map[string]string {
	var urls []string
	for _, b := range backends {
		urls = append(urls, exposure.Entry(s.Decl.Name, s.Decl.Ports, b.port).URL())
	}
	return map[string]string{providers.AnnotationPublic: strings.Join(urls, ", ")}
}

// ingressesOf returns the Ingress of a service, with a rule for each host name.
func ingressesOf(s object.Service, exposure configs.Exposure, backends []backend) []object.Configuration {
	spec := networkingv1.IngressSpec()
	if exposure.Class != "" {
		spec.WithIngressClassName(exposure.Class)
	}
	for _, b := range backends {
		to := networkingv1.IngressServiceBackend().WithName(b.service).WithPort(networkingv1.ServiceBackendPort().WithName(b.port.Name))
		path := networkingv1.HTTPIngressPath().WithPath("/").WithPathType(networking.PathTypePrefix).WithBackend(networkingv1.IngressBackend().WithService(to))
		spec.WithRules(networkingv1.IngressRule().
			WithHost(exposure.Entry(s.Decl.Name, s.Decl.Ports, b.port).Host).
			WithHTTP(networkingv1.HTTPIngressRuleValue().WithPaths(path)))
	}
	out := networkingv1.Ingress(s.Decl.Name, "").WithSpec(spec).
		WithAnnotations(exposure.Annotations).WithAnnotations(publicURLs(s, exposure, backends...))
	if exposure.AwaitsAddress {
		out.WithAnnotations(map[string]string{providers.AnnotationAwaitsAddress: "true"})
	}
	return []object.Configuration{out}
}

// httpRoutesOf returns an HTTPRoute for each backend, because all rules of a route have the same host
// names. The name of a route is the first part of its host name.
func httpRoutesOf(s object.Service, exposure configs.Exposure, backends []backend) []object.Configuration {
	parent := gatewayv1.ParentReference().WithName(gateway.ObjectName(exposure.Gateway.Name)).
		WithNamespace(gateway.Namespace(cmp.Or(exposure.Gateway.Namespace, s.Cloud.Decl.Namespace)))
	if exposure.Gateway.Section != "" {
		parent.WithSectionName(gateway.SectionName(exposure.Gateway.Section))
	}
	var out []object.Configuration
	for _, b := range backends {
		host := exposure.Entry(s.Decl.Name, s.Decl.Ports, b.port).Host
		to := gatewayv1.HTTPBackendRef().WithName(gateway.ObjectName(b.service)).WithPort(int32(b.port.Number))
		out = append(out, gatewayv1.HTTPRoute(strings.TrimSuffix(host, "."+exposure.Domain), "").
			WithAnnotations(exposure.Annotations).WithAnnotations(publicURLs(s, exposure, b)).
			WithSpec(gatewayv1.HTTPRouteSpec().
				WithParentRefs(parent).
				WithHostnames(gateway.Hostname(host)).
				WithRules(gatewayv1.HTTPRouteRule().WithBackendRefs(to))))
	}
	return out
}
