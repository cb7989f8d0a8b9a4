package discovery

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/utils/ptr"
)

// endpointsOf returns the endpoints of a Service. A pod with addresses of two families is in two
// slices, and a pod may be in two slices for a moment: it is one endpoint.
func endpointsOf(service *corev1.Service, endpoints []discoveryv1.EndpointSlice) []Endpoint {
	slices.SortFunc(endpoints, func(a, b discoveryv1.EndpointSlice) int { return cmp.Compare(a.Name, b.Name) })
	byPod := map[string]int{} // index in out
	var out []Endpoint
	for _, slice := range endpoints {
		for _, e := range slice.Endpoints {
			one := endpoint(service, e)
			i, known := byPod[one.Pod]
			if one.Pod == "" || !known {
				byPod[one.Pod] = len(out)
				out = append(out, one)
				continue
			}
			for _, address := range one.Addresses {
				if !slices.Contains(out[i].Addresses, address) {
					out[i].Addresses = append(out[i].Addresses, address)
				}
			}
			out[i].Ready, out[i].Published = out[i].Ready || one.Ready, out[i].Published || one.Published
		}
	}
	slices.SortStableFunc(out, func(a, b Endpoint) int { return cmp.Compare(a.Pod, b.Pod) })
	return out
}

// endpoint describes one endpoint of a slice. Condition ready is true for all pods of a Service that
// publishes pods which are not ready, so that condition serving decides.
func endpoint(service *corev1.Service, e discoveryv1.Endpoint) Endpoint {
	published := ptr.Deref(e.Conditions.Ready, true)
	out := Endpoint{
		Node: ptr.Deref(e.NodeName, ""), Addresses: slices.Clone(e.Addresses), Published: published,
		Ready: ptr.Deref(e.Conditions.Serving, published) && !ptr.Deref(e.Conditions.Terminating, false),
	}
	if e.TargetRef != nil && e.TargetRef.Kind == "Pod" {
		out.Pod = e.TargetRef.Name
	}
	if host := ptr.Deref(e.Hostname, ""); host != "" && service.Spec.ClusterIP == corev1.ClusterIPNone {
		out.Name = host + "." + service.Name + "." + service.Namespace + ".svc"
	}
	return out
}
