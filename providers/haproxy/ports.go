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
	// ready is the HTTP readiness probe on this port. Nil: there is none, and the protocol of
	// the port is unknown.
	ready *configs.Probe
}

// ports returns the ports that the exposure opens, sorted by service and number.
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
				rest := ""
				if r.exposure.Mode == configs.ModeNodePort {
					rest = " Its node port is open all the same."
				}
				r.add(hcl.DiagWarning, cmp.Or(p.Range, s.Range), "No way in for UDP",
					fmt.Sprintf("HAProxy does not carry UDP, so that port %q of service %q is left out.%s", p.Name, s.Name, rest))
			case r.reachable(s, p):
				out = append(out, port{s, p, s.HTTPReadiness(p.Name)})
			}
		}
	}
	if len(out) == 0 && !r.diags.HasErrors() && r.exposure.Mode == configs.ModeNodePort {
		r.error(r.exposure.Range, "Nothing is exposed",
			fmt.Sprintf("No service with a port for the outside says expose = exposure.%s, so that there would be nothing to listen for.", r.exposure.Name))
	}
	slices.SortFunc(out, func(a, b port) int {
		return cmp.Or(cmp.Compare(a.service.Name, b.service.Name), cmp.Compare(a.decl.Number, b.decl.Number))
	})
	return out
}

// reachable reports whether a port has a workload, and a fixed node port if the exposure needs it. If
// not, it adds an error.
func (r *renderer) reachable(s *configs.Service, p configs.Port) bool {
	at := p.Range
	if at.Filename == "" { // a port of the catalogue is overridden in the service
		at = s.Range
	}
	switch {
	case len(s.Listeners(p.Name)) == 0 && s.Undecided:
		return false // the next round of the apply knows it
	case len(s.Listeners(p.Name)) == 0:
		r.error(at, fmt.Sprintf("Nothing listens on port %q of service %q", p.Name, s.Name),
			"List it in `ports` of the workload that does, or do not expose it.")
	case r.exposure.Encrypts(p) && encryptsItself(s, p):
		r.error(at, fmt.Sprintf("Port %q of service %q encrypts itself", p.Name, s.Name),
			fmt.Sprintf("Its readiness probe uses HTTPS, and exposure %q would encrypt the port once more. Pass its connections on as they are, in the service: port %q { tls = false }.", r.exposure.Name, p.Name))
	case p.NodePort == 0 && r.exposure.Mode == configs.ModeNodePort:
		r.error(at, fmt.Sprintf("The node port of port %q of service %q is not fixed", p.Name, s.Name),
			fmt.Sprintf("The cluster would choose one, and a load balancer could not know it. Choose one from %d-%d, in the service: port %q { node_port = ... }.",
				r.exposure.NodePorts[0], r.exposure.NodePorts[1], p.Name))
	default:
		return true
	}
	return false
}

// encryptsItself reports whether pods speak HTTPS on a port, by their readiness probes.
func encryptsItself(s *configs.Service, p configs.Port) bool {
	return slices.ContainsFunc(s.Listeners(p.Name), func(w configs.Workload) bool {
		return w.Ready != nil && w.Ready.TLS && w.Ready.HTTP != "" && w.Ready.Port == p.Name
	})
}
