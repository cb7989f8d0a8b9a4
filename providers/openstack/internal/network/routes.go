package network

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
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
	return map[string]string{providers.AnnotationPublic: urlsOf(s, exposure, backends)}
}

// urlsOf lists the URLs of backends.
func urlsOf(s object.Service, exposure configs.Exposure, backends []backend) string {
	var urls []string
	for _, b := range backends {
		urls = append(urls, exposure.Entry(s.Decl.Name, s.Decl.Ports, b.port).URL())
	}
	return strings.Join(urls, ", ")
}

// hostsOf returns the host names of backends, each once.
func hostsOf(s object.Service, exposure configs.Exposure, backends []backend) []string {
	var out []string
	for _, b := range backends {
		if host := exposure.Entry(s.Decl.Name, s.Decl.Ports, b.port).Host; !slices.Contains(out, host) {
			out = append(out, host)
		}
	}
	return out
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
	if exposure.TLS != nil {
		tls := networkingv1.IngressTLS().WithSecretName(exposure.TLS.Secret)
		spec.WithTLS(tls.WithHosts(hostsOf(s, exposure, backends)...))
	}
	out := networkingv1.Ingress(s.Decl.Name, "").WithSpec(spec).
		WithAnnotations(exposure.Annotations).WithAnnotations(publicURLs(s, exposure, backends...))
	if exposure.AwaitsAddress {
		out.WithAnnotations(map[string]string{providers.AnnotationAwaitsAddress: "true"})
	}
	return []object.Configuration{out}
}

// httpRoutesOf returns an HTTPRoute for each backend, because all rules of a route have the same host
// names. The name of a route is the first part of its host name. With TLS, another route leads from plain
// HTTP to the URLs of all backends, if the Gateway has a listener for that.
func httpRoutesOf(s object.Service, exposure configs.Exposure, backends []backend) []object.Configuration {
	var out []object.Configuration
	for _, b := range backends {
		host := exposure.Entry(s.Decl.Name, s.Decl.Ports, b.port).Host
		to := gatewayv1.HTTPBackendRef().WithName(gateway.ObjectName(b.service)).WithPort(int32(b.port.Number))
		rule := gatewayv1.HTTPRouteRule().WithBackendRefs(to)
		if exposure.TLS != nil && exposure.TLS.HSTS > 0 {
			hsts := gatewayv1.HTTPHeader().WithName("Strict-Transport-Security").WithValue(fmt.Sprintf("max-age=%d", exposure.TLS.HSTS))
			rule.WithFilters(gatewayv1.HTTPRouteFilter().WithType(gateway.HTTPRouteFilterResponseHeaderModifier).
				WithResponseHeaderModifier(gatewayv1.HTTPHeaderFilter().WithSet(hsts)))
		}
		out = append(out, gatewayv1.HTTPRoute(strings.TrimSuffix(host, "."+exposure.Domain), "").
			WithAnnotations(exposure.Annotations).WithAnnotations(publicURLs(s, exposure, b)).
			WithSpec(gatewayv1.HTTPRouteSpec().
				WithParentRefs(listener(s, exposure, exposure.Gateway.Section)).
				WithHostnames(gateway.Hostname(host)).
				WithRules(rule)))
	}
	if exposure.TLS != nil && exposure.Gateway.HTTPSection != "" {
		out = append(out, redirectOf(s, exposure, backends))
	}
	return out
}

// listener returns the reference to a listener of the Gateway of an exposure; section is empty for all.
func listener(s object.Service, exposure configs.Exposure, section string) *gatewayv1.ParentReferenceApplyConfiguration {
	out := gatewayv1.ParentReference().WithName(gateway.ObjectName(exposure.Gateway.Name)).
		WithNamespace(gateway.Namespace(cmp.Or(exposure.Gateway.Namespace, s.Cloud.Decl.Namespace)))
	if section != "" {
		out.WithSectionName(gateway.SectionName(section))
	}
	return out
}

// redirectOf returns the route that sends clients from plain HTTP to the URLs of backends.
func redirectOf(s object.Service, exposure configs.Exposure, backends []backend) object.Configuration {
	redirect := gatewayv1.HTTPRequestRedirectFilter().WithScheme("https").WithStatusCode(http.StatusMovedPermanently)
	if exposure.Port != 0 { // without it, the port is that of the scheme
		redirect.WithPort(gateway.PortNumber(exposure.Port))
	}
	spec := gatewayv1.HTTPRouteSpec().WithParentRefs(listener(s, exposure, exposure.Gateway.HTTPSection)).
		WithRules(gatewayv1.HTTPRouteRule().WithFilters(gatewayv1.HTTPRouteFilter().
			WithType(gateway.HTTPRouteFilterRequestRedirect).WithRequestRedirect(redirect)))
	for _, host := range hostsOf(s, exposure, backends) {
		spec.WithHostnames(gateway.Hostname(host))
	}
	return gatewayv1.HTTPRoute(s.Decl.Name+"-to-https", "").WithSpec(spec).WithAnnotations(exposure.Annotations).
		WithAnnotations(map[string]string{providers.AnnotationRedirects: urlsOf(s, exposure, backends)})
}
