package check

import (
	"fmt"
	"net/netip"
	"path"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/schema/forms"
)

// NodePorts reports node ports out of range and node ports of two services. It warns of exposed
// ports without a node port. It looks only at exposures whose mode has node ports.
func NodePorts(whole *Whole) {
	type owner struct {
		what, service, protocol string
	}
	taken := map[int]owner{}
	for i := range whole.Services {
		service := &whole.Services[i]
		s := service.Config
		if x := whole.Config.Exposure(s.Exposure); x == nil || x.Mode != configs.ModeNodePort {
			continue
		}
		for _, p := range s.Ports {
			if !p.Exposed {
				continue
			}
			if p.NodePort == 0 {
				warnWithoutNodePort(whole, service, p)
				continue
			}
			at := service.Block.Header
			if override := service.Block.One("port", p.Name); override != nil {
				at = override.AttributeRange("node_port")
			}
			here := owner{fmt.Sprintf("port %q of service %q", p.Name, s.Name), s.Name, p.Protocol()}
			other, ok := taken[p.NodePort]
			if ok && (other.service != here.service || other.protocol == here.protocol) {
				whole.Report.Error(at, "Node port taken twice", "Node port %d is wanted for %s and for %s. Give one of them another, in the service: port %q { node_port = ... }.", p.NodePort, other.what, here.what, p.Name)
			}
			taken[p.NodePort] = here
			checkNodePortRange(whole, s, p, at)
		}
	}
}

func warnWithoutNodePort(whole *Whole, service *Service, p configs.Port) {
	if service.Definition.One("port", p.Name) == nil || slices.Contains(service.OpenNodePorts, p.Name) {
		return
	}
	whole.Report.Warn(service.Block.AttributeRange("expose"), fmt.Sprintf("Port %q of service %q has no node port", p.Name, service.Config.Name),
		"The cluster will choose one, which you can only read from the cluster. A load balancer in front of exposure %q has to know it. Choose one, in the service: port %q { node_port = ... }.", service.Config.Exposure, p.Name)
}

// place is a place at which clients outside connect.
type place struct {
	address  string // "192.0.2.10:5000", "keystone.cloud.example.org:80"
	protocol string
	front    string // see configs.Exposure.Front
	advice   string // how to avoid a second service at the place
}

// placesOf returns the places at which clients find an exposed port.
func placesOf(x *configs.Exposure, s *configs.Service, p configs.Port) []place {
	entry := x.Entry(s.Name, s.Ports, p)
	var out []place
	if x.Domain != "" {
		out = append(out, place{entry.Address(), p.Protocol(), "", "Take an exposure with another domain for one of them."})
	}
	if vip, err := netip.ParseAddr(x.VIP); err == nil { // a wrong one was reported
		advice := fmt.Sprintf("Take an exposure with another vip for one of them, or another number: port %q { public = ... }.", p.Name)
		if x.Domain != "" {
			advice = "Two programs cannot listen there. Take an exposure with another vip or port for one of them."
		}
		out = append(out, place{netip.AddrPortFrom(vip, uint16(entry.Port)).String(), p.Protocol(), x.Front(), advice})
	}
	return out
}

// PublicPorts reports ports of two services with the same public address and number.
func PublicPorts(whole *Whole) {
	type key struct{ address, protocol string }
	type owner struct {
		service *Service
		front   string
	}
	taken := map[key]owner{}
	for i := range whole.Services {
		service := &whole.Services[i]
		s := service.Config
		x := whole.Config.Exposure(s.Exposure)
		for _, p := range s.Ports {
			if x == nil || !p.Exposed || p.Number == 0 {
				continue
			}
			for _, at := range placesOf(x, s, p) {
				other, ok := taken[key{at.address, at.protocol}]
				if !ok {
					taken[key{at.address, at.protocol}] = owner{service, at.front}
					continue
				}
				if at.front != "" && at.front == other.front {
					continue
				}
				first := other.service.Block.AttributeRange("expose")
				whole.Report.Error(service.Block.AttributeRange("expose"), "Public port taken twice", "Clients would reach both service %q (%s) and service %q at %s. %s",
					other.service.Config.Name, diag.Position(first), s.Name, at.address, at.advice)
			}
		}
	}
}

// HTTPPorts reports exposed ports that are not known to speak HTTP, at an exposure that carries
// nothing else.
func HTTPPorts(whole *Whole) {
	for i := range whole.Services {
		service := &whole.Services[i]
		s := service.Config
		x := whole.Config.Exposure(s.Exposure)
		if x == nil || x.Domain == "" || s.Undecided || whole.Incomplete {
			continue
		}
		for _, p := range s.Ports {
			at := p.Range
			if at.Filename == "" { // a port of the catalogue
				at = service.Block.AttributeRange("expose")
			}
			if p.Exposed && x.TLS != nil && !p.TLS && !p.UDP {
				whole.Report.Error(at, "Port without TLS", "Exposure %q has the mode %q and TLS, so all of its host names have TLS, and port %q of service %q says tls = false. Remove that, or expose the service another way.", x.Name, x.Mode, p.Name, s.Name)
			}
			if !p.Exposed || s.SpeaksHTTP(p) {
				continue
			}
			why := fmt.Sprintf("kolla cannot tell that port %q of service %q speaks plain HTTP: no endpoint has it, and no readiness probe asks it in HTTP. If it does, give its workload a block `ready` with http = \"/\" and port = %q. Otherwise expose the service another way.", p.Name, s.Name, p.Name)
			if p.UDP {
				why = fmt.Sprintf("Port %q of service %q is a UDP port. Expose the service another way, or set expose = false in the port.", p.Name, s.Name)
			}
			whole.Report.Error(at, fmt.Sprintf("Exposure %q carries only HTTP", x.Name), "It has the mode %q. %s", x.Mode, why)
		}
	}
}

func checkNodePortRange(whole *Whole, s *configs.Service, p configs.Port, at hcl.Range) {
	if x := whole.Config.Exposure(s.Exposure); p.NodePort < x.NodePorts[0] || p.NodePort > x.NodePorts[1] {
		whole.Report.Error(at, "Node port out of range", "Port %q of service %q wants node port %d, and exposure %q has %d-%d.",
			p.Name, s.Name, p.NodePort, x.Name, x.NodePorts[0], x.NodePorts[1])
	}
}

// Patterns warns of defaults that apply to no file.
func Patterns(whole *Whole) {
	for _, b := range whole.Defaults {
		used := slices.ContainsFunc(whole.Config.Services, func(s configs.Service) bool {
			return slices.ContainsFunc(s.Configs, func(f configs.ConfigFile) bool {
				matched, _ := path.Match(b.Label, f.Name)
				return matched && f.Format != "raw"
			})
		})
		if !used && len(whole.Config.Services) > 0 && !whole.Incomplete && forms.Glob.Valid(b.Label) {
			whole.Report.Warn(b.LabelRange, "Default without effect", "No service of this cloud has an ini or properties file whose name matches %q.", b.Label)
		}
	}
}
