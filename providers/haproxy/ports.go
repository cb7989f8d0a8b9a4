package haproxy

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/lang/configs"
)

// port is a port of a service that the exposure opens.
type port struct {
	service *configs.Service
	decl    configs.Port
	// ready is how a pod is asked whether it is ready; nil: not by HTTP on this port, and
	// nothing is known of what it speaks.
	ready *configs.Probe
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
			switch {
			case !p.Exposed:
			case p.UDP:
				r.add(hcl.DiagWarning, cmp.Or(p.Range, s.Range), "No way in for UDP",
					fmt.Sprintf("HAProxy does not carry UDP, so that port %q of service %q is left out. Its node port is open all the same.", p.Name, s.Name))
			case r.reachable(s, p):
				out = append(out, port{s, p, readiness(s, p.Name)})
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
func (r *renderer) reachable(s *configs.Service, p configs.Port) bool {
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
func listeners(s *configs.Service, name string) []configs.Workload {
	var out []configs.Workload
	for _, w := range s.Workloads {
		if slices.Contains(w.Pod.Ports, name) {
			out = append(out, w)
		}
	}
	return out
}

// readiness is how the workload behind a port, or a sidecar of it, is asked in plain HTTP,
// on that very port, whether it is ready.
func readiness(s *configs.Service, name string) *configs.Probe {
	for _, w := range listeners(s, name) {
		probes := []*configs.Probe{w.Ready}
		for _, init := range w.Pod.Inits {
			probes = append(probes, init.Ready)
		}
		for _, p := range probes {
			if p != nil && p.HTTP != "" && !p.TLS && p.Port == name {
				return p
			}
		}
	}
	return nil
}
