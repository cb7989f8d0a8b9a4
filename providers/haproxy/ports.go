package haproxy

import (
	"cmp"
	"fmt"
	"slices"

	"kolla.openstack.org/kolla/lang"
)

// port is a port of a service that the exposure opens.
type port struct {
	service *lang.Service
	decl    lang.Port
	// ready is the path that a pod answers well when it is ready; empty: readiness
	// is not asked for by HTTP on this port, and nothing is known of what it speaks.
	ready string
}

// ports lists what the exposure opens, by service and number.
func (r *renderer) ports() []port {
	var out []port
	for i := range r.config.Services {
		s := &r.config.Services[i]
		if s.Exposure != r.exposure.Name {
			continue
		}
		for _, p := range s.Ports {
			if p.Exposed && r.reachable(s, p) {
				out = append(out, port{s, p, readyPath(s, p.Name)})
			}
		}
	}
	if len(out) == 0 && !r.diags.HasErrors() {
		r.error(r.exposure.Range, "Nothing is exposed",
			fmt.Sprintf("No service with a port for the outside says expose = exposure.%s, so that there would be nothing to listen for.", r.exposure.Name))
	}
	slices.SortFunc(out, func(a, b port) int {
		return cmp.Or(cmp.Compare(a.service.Name, b.service.Name), cmp.Compare(a.decl.Number, b.decl.Number))
	})
	return out
}

// reachable reports ports for which there is no way that is known in advance.
func (r *renderer) reachable(s *lang.Service, p lang.Port) bool {
	at := p.Range
	if at.Filename == "" { // the catalogue's: the service is where it can be overridden
		at = s.Range
	}
	switch {
	case len(listeners(s, p.Name)) == 0:
		r.error(at, fmt.Sprintf("Nothing listens on port %q of service %q", p.Name, s.Name),
			"List it in `ports` of the workload that does, or do not expose it.")
	case p.NodePort == 0:
		r.error(at, fmt.Sprintf("The node port of port %q of service %q is not fixed", p.Name, s.Name),
			fmt.Sprintf("The cluster would choose one, and a load balancer could not know it. Choose one from %d-%d, in the service: port %q { node_port = ... }.",
				r.exposure.NodePorts[0], r.exposure.NodePorts[1], p.Name))
	default:
		return true
	}
	return false
}

// listeners are the workloads behind a port.
func listeners(s *lang.Service, name string) []lang.Workload {
	var out []lang.Workload
	for _, w := range s.Workloads {
		if slices.Contains(w.Pod.Ports, name) {
			out = append(out, w)
		}
	}
	return out
}

// readyPath is where the workload behind a port is asked over HTTP, on that very
// port, whether it is ready.
func readyPath(s *lang.Service, name string) string {
	for _, w := range listeners(s, name) {
		if w.Ready != nil && w.Ready.HTTP != "" && w.Ready.Port == name {
			return w.Ready.HTTP
		}
	}
	return ""
}
