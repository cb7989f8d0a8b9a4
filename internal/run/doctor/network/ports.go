package network

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/net"

	"kolla.openstack.org/kolla/internal/run/doctor/cluster"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// ReadPorts are the objects that Ports reads.
func ReadPorts(*cluster.Facts) []providers.Scope {
	return []providers.Scope{{GVK: cluster.ServiceKind}, {GVK: cluster.PodKind, Namespace: metav1.NamespaceSystem}}
}

// nodePort is a node port of a Service of the configuration.
type nodePort struct {
	service  *providers.Object
	number   int64
	protocol string
}

// wantedPorts returns the fixed node ports of the configuration.
func wantedPorts(f *cluster.Facts) []nodePort {
	var out []nodePort
	for i := range f.Objects {
		o := &f.Objects[i]
		if o.Ref().GVK.GroupKind() == kinds.Service {
			for number, protocol := range portsOf(o.Manifest) {
				out = append(out, nodePort{o, number, protocol})
			}
		}
	}
	return out
}

// portsOf yields the node ports of a Service with their protocols.
func portsOf(service *unstructured.Unstructured) func(func(int64, string) bool) {
	return func(yield func(int64, string) bool) {
		ports, _, _ := unstructured.NestedSlice(service.Object, "spec", "ports")
		for _, each := range ports {
			port, _ := each.(map[string]any)
			number, _, _ := unstructured.NestedInt64(port, "nodePort")
			protocol, _, _ := unstructured.NestedString(port, "protocol")
			if protocol == "" {
				protocol = "TCP"
			}
			if number != 0 && !yield(number, protocol) {
				return
			}
		}
	}
}

// holder is a live Service with a node port.
type holder struct {
	number   int64
	protocol string
}

// holders maps node ports to the Services that have them.
func holders(f *cluster.Facts) (map[holder]providers.Ref, error) {
	live, err := f.List(cluster.ServiceKind, "")
	if err != nil {
		return nil, err
	}
	out := map[holder]providers.Ref{}
	for _, u := range live {
		for number, protocol := range portsOf(u) {
			out[holder{number, protocol}] = providers.RefOf(u)
		}
	}
	return out, nil
}

// defaultRange is the default of the API server.
var defaultRange = &net.PortRange{Base: 30000, Size: 2768}

// rangeOf returns the range of node ports of the cluster; nil: it is not known. The API has no place for
// it, and a dry run does not check it. So it is known only where API servers run as pods of the cluster,
// from their options.
func rangeOf(f *cluster.Facts) (found *net.PortRange, err error) {
	live, err := f.List(cluster.PodKind, metav1.NamespaceSystem)
	if err != nil {
		return nil, err
	}
	for _, u := range live {
		var pod corev1.Pod
		if u.GetLabels()["component"] != "kube-apiserver" || !cluster.Decode(u, &pod) {
			continue
		}
		for _, c := range pod.Spec.Containers {
			found = defaultRange
			for _, word := range slices.Concat(c.Command, c.Args) {
				if text, is := strings.CutPrefix(word, "--service-node-port-range="); is {
					if found, err = net.ParsePortRange(text); err != nil {
						return nil, fmt.Errorf("read the range of node ports of pod %s/%s: %w", pod.Namespace, pod.Name, err)
					}
				}
			}
		}
	}
	return found, nil
}

// Ports reports node ports of the configuration that another Service has, or that are outside
// of the range of the cluster.
func Ports(f *cluster.Facts) ([]cluster.Finding, error) {
	wanted := wantedPorts(f)
	if len(wanted) == 0 {
		return nil, nil
	}
	taken, err := holders(f)
	if err != nil {
		return nil, err
	}
	allowed, unread := rangeOf(f)
	var out []cluster.Finding
	report := func(p nodePort, problem, next string) {
		out = append(out, cluster.Finding{
			Severity: cluster.Error, Subject: p.service.Address.String(), Problem: fmt.Sprintf("node port %d %s", p.number, problem),
			Reason: "The API server refuses the Service, so the port is not published.", Next: "Choose another `node_port`, " + next,
		})
	}
	for _, p := range wanted {
		by, held := taken[holder{p.number, p.protocol}]
		switch {
		case held && by != p.service.Ref():
			report(p, "is taken by "+by.String(), "or free the port: kubectl -n "+by.Namespace+" get service "+by.Name)
		case !held && allowed != nil && !allowed.Contains(int(p.number)):
			report(p, fmt.Sprintf("is outside of the range of the cluster, %d to %d", allowed.Base, allowed.Base+allowed.Size-1),
				"and set `node_ports` of the exposure to the range of the cluster (--service-node-port-range of the API server).")
		}
	}
	return out, unread
}
