package providers

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/providers/kinds"
)

// IsWayIn reports whether an object waits for a program of the cluster that brings clients from
// outside to it: a Service of type LoadBalancer, the Ingresses and HTTPRoutes of exposures, and a
// Certificate of cert-manager. An Ingress is none if its exposure does not wait for an address.
func IsWayIn(u *unstructured.Unstructured) bool {
	switch u.GroupVersionKind().GroupKind() {
	case kinds.Service:
		return kinds.IsLoadBalancer(u)
	case kinds.Ingress:
		return u.GetAnnotations()[AnnotationAwaitsAddress] != ""
	case kinds.HTTPRoute:
		return u.GetAnnotations()[AnnotationPublic] != "" || u.GetAnnotations()[AnnotationRedirects] != ""
	case kinds.Certificate:
		return true
	}
	return false
}

// WayInProblem says why a way in does not work yet; empty: its controller serves it.
func WayInProblem(u *unstructured.Unstructured) string {
	switch u.GroupVersionKind().GroupKind() {
	case kinds.Service:
		return balancerProblem(u)
	case kinds.Ingress:
		if len(addressesOf(u)) == 0 {
			return "no Ingress controller has given it an address yet"
		}
	case kinds.HTTPRoute:
		return routeProblem(u)
	case kinds.Certificate:
		conditions, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
		if problem := conditionProblem(conditions, "Ready", "certificate", u.GetGeneration()); problem != "" {
			return "cert-manager: " + problem + failedAttempt(conditions, u.GetGeneration())
		}
	}
	return ""
}

// failedAttempt says why cert-manager got no certificate for a generation of the request, such as the answer of an
// ACME server; empty: it has not failed.
func failedAttempt(conditions []any, generation int64) string {
	for _, each := range conditions {
		condition, _ := each.(map[string]any)
		seen, _ := condition["observedGeneration"].(int64)
		message, _ := condition["message"].(string)
		if condition["type"] == "Issuing" && condition["reason"] == "Failed" && seen >= generation && message != "" {
			return ". The last attempt failed: " + message
		}
	}
	return ""
}

// balancerProblem is for Services of type LoadBalancer. The load balancer must give the Service the
// address that it asks for, or else any address.
func balancerProblem(service *unstructured.Unstructured) string {
	wanted, _, _ := unstructured.NestedString(service.Object, "spec", "loadBalancerIP")
	given := addressesOf(service)
	switch {
	case len(given) == 0:
		return "no load balancer has given it an address yet"
	case wanted != "" && !slices.ContainsFunc(given, func(address string) bool { return SameAddress(address, wanted) }):
		return fmt.Sprintf("the load balancer gave it the address %s, and it asks for %s: configure the load balancer, or set vip of the exposure", strings.Join(given, ", "), wanted)
	}
	return ""
}

// addressesOf returns the addresses and host names in the status of a Service or an Ingress.
func addressesOf(u *unstructured.Unstructured) []string {
	list, _, _ := unstructured.NestedSlice(u.Object, "status", "loadBalancer", "ingress")
	var out []string
	for _, at := range list {
		fields, _ := at.(map[string]any)
		for _, name := range []string{"ip", "hostname"} {
			if address, _ := fields[name].(string); address != "" {
				out = append(out, address)
			}
		}
	}
	return out
}

// SameAddress compares two addresses. An IPv6 address has several spellings.
func SameAddress(a, b string) bool {
	first, err1 := netip.ParseAddr(a)
	second, err2 := netip.ParseAddr(b)
	return a == b || err1 == nil && err2 == nil && first == second
}

// routeProblem is for HTTPRoutes. Every Gateway that the route names must accept the present
// specification, and find its Services.
func routeProblem(route *unstructured.Unstructured) string {
	wanted, _, _ := unstructured.NestedSlice(route.Object, "spec", "parentRefs")
	answers, _, _ := unstructured.NestedSlice(route.Object, "status", "parents")
	for _, each := range wanted {
		parent, _ := each.(map[string]any)
		name, _ := parent["name"].(string)
		i := slices.IndexFunc(answers, func(answer any) bool {
			fields, _ := answer.(map[string]any)
			of, _ := fields["parentRef"].(map[string]any)
			return sameParent(of, parent, route.GetNamespace())
		})
		if i < 0 {
			return fmt.Sprintf("no controller has answered for Gateway %s yet", name)
		}
		answer, _ := answers[i].(map[string]any)
		conditions, _, _ := unstructured.NestedSlice(answer, "conditions")
		for _, want := range []string{"Accepted", "ResolvedRefs"} {
			if problem := conditionProblem(conditions, want, "route", route.GetGeneration()); problem != "" {
				return fmt.Sprintf("Gateway %s: %s", name, problem)
			}
		}
	}
	return ""
}

// sameParent reports whether two references of a route in a namespace name the same Gateway and
// listener.
func sameParent(a, b map[string]any, namespace string) bool {
	field := func(of map[string]any, name, otherwise string) string {
		if text, _ := of[name].(string); text != "" {
			return text
		}
		return otherwise
	}
	return field(a, "name", "") == field(b, "name", "") && field(a, "sectionName", "") == field(b, "sectionName", "") &&
		field(a, "namespace", namespace) == field(b, "namespace", namespace)
}

// conditionProblem says why a condition is not true for a generation of its object, which noun names;
// empty: it is.
func conditionProblem(conditions []any, kind, noun string, generation int64) string {
	for _, each := range conditions {
		condition, _ := each.(map[string]any)
		if condition["type"] != kind {
			continue
		}
		seen, _ := condition["observedGeneration"].(int64)
		switch {
		case seen < generation:
			return "its controller has not seen the change yet"
		case condition["status"] == "True":
			return ""
		}
		reason, _ := condition["reason"].(string)
		message, _ := condition["message"].(string)
		return fmt.Sprintf("the %s is not %s (%s): %s", noun, kind, reason, message)
	}
	return fmt.Sprintf("its controller has not said yet whether the %s is %s", noun, kind)
}
