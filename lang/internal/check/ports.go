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

// PublicPorts reports ports of two services with the same public address and number.
func PublicPorts(whole *Whole) {
	addresses := map[string]netip.Addr{}
	for _, x := range whole.Config.Exposures {
		addresses[x.Name], _ = netip.ParseAddr(x.VIP) // a wrong one was reported
	}
	type place struct {
		netip.AddrPort
		protocol string
	}
	taken := map[place]*Service{}
	for i := range whole.Services {
		service := &whole.Services[i]
		s, vip := service.Config, addresses[service.Config.Exposure]
		for _, p := range s.Ports {
			if !p.Exposed || p.Number == 0 || !vip.IsValid() {
				continue
			}
			public := place{netip.AddrPortFrom(vip, uint16(p.AtExposure())), p.Protocol()}
			other := taken[public]
			if other == nil {
				taken[public] = service
				continue
			}
			at := other.Block.AttributeRange("expose")
			whole.Report.Error(service.Block.AttributeRange("expose"), "Public port taken twice",
				"Clients would reach both service %q (%s) and service %q at %s. Take an exposure with another vip for one of them, or another number: port %q { public = ... }.",
				other.Config.Name, diag.Position(at), s.Name, public.AddrPort, p.Name)
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
