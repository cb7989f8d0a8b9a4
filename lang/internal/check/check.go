// Package check finds the mistakes that only show in the whole configuration: ports that two
// services take, names that they share, pods without a node, hosts that are named and not
// needed. It compares evaluated services and evaluates nothing.
package check

import (
	"slices"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/source"
)

// Whole is an evaluated configuration with the places where it is written.
type Whole struct {
	Config   *configs.Config
	Services []Service       // of Config, in the same order
	Defaults []*source.Block // config blocks of the cloud's defaults
	Report   *diag.Reporter
	Images   map[string]bool // names of the images that the services run
	// Incomplete: a part of the configuration depends on values that are not known yet.
	Incomplete bool
	// WarnedHosts are the places of config values with a warning about their host.
	WarnedHosts map[hcl.Range]bool

	byAddress map[string]*Service // see service
}

// Service is an evaluated service with its blocks.
type Service struct {
	Config     *configs.Service
	Block      *source.Block // of the user
	Definition *source.Block // the definition with the overrides of the user
	Written    *source.Block // the definition as it is written, the same for all its services
	InRoot     bool          // the service stands in the root module
	// OwnEndpoints are the types of endpoints that the service registers with itself.
	OwnEndpoints []string
	Folders      []string // of the service in the config directory
	// OpenNodePorts are the exposed ports whose node port is not known yet.
	OpenNodePorts []string
}

// listens reports whether the service has a port with the number.
func (s *Service) listens(port int) bool {
	return port != 0 && slices.ContainsFunc(s.Config.Ports, func(p configs.Port) bool { return p.Number == port })
}

// argumentRange returns the first of some arguments of a workload in the block of the service. If
// the definition has them, it is the header of the service.
func (s *Service) argumentRange(workload string, names ...string) hcl.Range {
	if b := s.Block.One("workload", workload); b != nil {
		for _, name := range names {
			if b.Attributes[name] != nil {
				return b.AttributeRange(name)
			}
		}
	}
	return s.Block.Header
}

// hostNetworkRange returns the place that gives a workload the network of its nodes.
func (s *Service) hostNetworkRange(workload string) hcl.Range {
	return s.argumentRange(workload, "host_network")
}

// service finds a service by its address; nil: there is none.
func (w *Whole) service(address string) *Service {
	if w.byAddress == nil {
		w.byAddress = map[string]*Service{}
		for i := range w.Services {
			w.byAddress[w.Services[i].Config.Block] = &w.Services[i]
		}
	}
	return w.byAddress[address]
}
