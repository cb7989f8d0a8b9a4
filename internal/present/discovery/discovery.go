// Package discovery says where the services of a cloud are: DNS names, addresses, ports, the pods
// that answer, URLs, and the environment variables that Kubernetes makes of Services. [Declared]
// finds the Services of a configuration, and [Of] looks for them in the cluster.
package discovery

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// Directory is the result of one look at the cluster. It has no secret values.
type Directory struct {
	Cloud
	Blocks []Block // sorted by address
	Checks []Check // of the public URLs; nil: they were not opened
	// Inside are the checks of internal and public URLs from a pod. NoPod says why there was none; empty: there
	// was one, or none was wanted.
	Inside []Check
	NoPod  string
	// Keystone are the endpoints in Keystone's catalogue. NoKeystone says why they could not be read; empty:
	// they could, or were not wanted.
	Keystone   []Entry
	NoKeystone string
}

// Cloud names a cloud and its place.
type Cloud struct {
	Name      string
	Namespace string
	Server    string // "https://192.0.2.5:6443"
}

// Live is a Service as the cluster has it.
type Live struct {
	Type       string   // "ClusterIP", "NodePort", "LoadBalancer", "ExternalName"
	ClusterIPs []string // the first one is in environment variables; none: headless, or an alias
	Headless   bool     // its DNS name leads to the pods
	Alias      string   // of a Service of type ExternalName: the DNS name that it stands for
	External   []string // addresses of a load balancer, and external IPs
	Ports      []Port
	Endpoints  []Endpoint // sorted by pod

	object *corev1.Service
}

// Pending reports whether the Service waits for the address of a load balancer.
func (l *Live) Pending() bool {
	return l.Type == string(corev1.ServiceTypeLoadBalancer) && len(l.External) == 0
}

// Port is a port of a Service.
type Port struct {
	Name     string `json:"name,omitempty"`
	Number   int    `json:"port"`
	Protocol string `json:"protocol"`            // "TCP"
	Target   string `json:"target_port"`         // number, or name of the port in the pods
	NodePort int    `json:"node_port,omitempty"` // 0: none
}

// String returns the port as kubectl shows it: "5000:30500/TCP".
func (p Port) String() string {
	if p.NodePort == 0 {
		return fmt.Sprintf("%d/%s", p.Number, p.Protocol)
	}
	return fmt.Sprintf("%d:%d/%s", p.Number, p.NodePort, p.Protocol)
}

// Endpoint is a pod behind a Service, or an address that is no pod's.
type Endpoint struct {
	Pod       string   `json:"pod,omitempty"`  // empty: the address is no pod's
	Node      string   `json:"node,omitempty"` // may be empty
	Addresses []string `json:"addresses"`
	Name      string   `json:"dns,omitempty"` // own DNS name, "mariadb-server-0.mariadb-server.openstack.svc"; may be empty
	Ready     bool     `json:"ready"`         // the pod is ready, and is not stopping
	// Published: clients of the Service are led to it. A Service may publish pods that are not
	// ready, so that members find each other.
	Published bool `json:"published"`
}

// Ready counts the endpoints that are ready, and all endpoints.
func (l *Live) Ready() (ready, total int) {
	for _, e := range l.Endpoints {
		if e.Ready {
			ready++
		}
	}
	return ready, len(l.Endpoints)
}

// Services counts the declared Services, and the missing ones among them.
func (d *Directory) Services() (all, missing int) {
	for _, b := range d.Blocks {
		for _, s := range b.Services {
			all++
			if s.Live == nil {
				missing++
			}
		}
	}
	return all, missing
}

// Summary says in one sentence whether the cluster has all Services.
func (d *Directory) Summary() string {
	all, missing := d.Services()
	switch {
	case all == 0:
		return "No Services."
	case missing == 1:
		return fmt.Sprintf("1 of %s is not in the cluster. kolla apply makes it.", words.Count(all, "Service"))
	case missing > 1:
		return fmt.Sprintf("%d of %s are not in the cluster. kolla apply makes them.", missing, words.Count(all, "Service"))
	}
	return words.Count(all, "Service") + ", all in the cluster."
}

var (
	serviceKind = kinds.Service.WithVersion("v1")
	sliceKind   = kinds.EndpointSlice.WithVersion("v1")
)

// Of looks for the Services of blocks in the cluster. It lists Services and EndpointSlices, once in
// each namespace.
func Of(ctx context.Context, cloud Cloud, blocks []Block, snapshot *providers.Snapshot) (*Directory, error) {
	scopes := []providers.Scope{{GVK: serviceKind, Namespace: cloud.Namespace}}
	for _, b := range blocks {
		for _, s := range b.Services {
			scopes = append(scopes, providers.Scope{GVK: serviceKind, Namespace: s.Namespace}, providers.Scope{GVK: sliceKind, Namespace: s.Namespace})
		}
	}
	if err := snapshot.Load(ctx, scopes...); err != nil {
		return nil, err
	}
	endpoints, err := slicesOf(snapshot)
	if err != nil {
		return nil, err
	}
	out := &Directory{Cloud: cloud}
	for _, b := range blocks {
		b.Services = slices.Clone(b.Services)
		for i := range b.Services {
			s := &b.Services[i]
			ref := providers.Ref{GVK: serviceKind, Namespace: s.Namespace, Name: s.Address.Name}
			if s.Live, err = liveOf(snapshot.Get(ref), endpoints[ref]); err != nil {
				return nil, err
			}
		}
		out.Blocks = append(out.Blocks, b)
	}
	return out, nil
}

// slicesOf returns the EndpointSlices of a snapshot by their Service.
func slicesOf(snapshot *providers.Snapshot) (map[providers.Ref][]discoveryv1.EndpointSlice, error) {
	out := map[providers.Ref][]discoveryv1.EndpointSlice{}
	for _, u := range snapshot.All(sliceKind) {
		var slice discoveryv1.EndpointSlice
		if err := decode(u, &slice); err != nil {
			return nil, err
		}
		ref := providers.Ref{GVK: serviceKind, Namespace: slice.Namespace, Name: slice.Labels[discoveryv1.LabelServiceName]}
		out[ref] = append(out[ref], slice)
	}
	return out, nil
}

func decode(u *unstructured.Unstructured, into any) error {
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, into); err != nil {
		return fmt.Errorf("read %s: %w", providers.RefOf(u), err)
	}
	return nil
}

// liveOf describes a Service of the cluster; nil: there is none.
func liveOf(u *unstructured.Unstructured, endpoints []discoveryv1.EndpointSlice) (*Live, error) {
	if u == nil {
		return nil, nil
	}
	service := &corev1.Service{}
	if err := decode(u, service); err != nil {
		return nil, err
	}
	spec := service.Spec
	out := &Live{
		Type: string(spec.Type), Headless: spec.ClusterIP == corev1.ClusterIPNone, Alias: spec.ExternalName,
		External: slices.Clone(spec.ExternalIPs), object: service,
	}
	if hasAddress(service) {
		out.ClusterIPs = spec.ClusterIPs
	}
	for _, ingress := range service.Status.LoadBalancer.Ingress {
		for _, address := range []string{ingress.Hostname, ingress.IP} {
			if address != "" {
				out.External = append(out.External, address)
			}
		}
	}
	for _, p := range spec.Ports {
		out.Ports = append(out.Ports, Port{
			Name: p.Name, Number: int(p.Port), Protocol: string(p.Protocol), Target: p.TargetPort.String(), NodePort: int(p.NodePort),
		})
	}
	out.Endpoints = endpointsOf(service, endpoints)
	return out, nil
}
