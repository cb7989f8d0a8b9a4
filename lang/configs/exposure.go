package configs

import (
	"cmp"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// Exposure makes chosen services reachable from outside. Only this file knows how the address of a
// port follows from it; see [Exposure.Entry].
type Exposure struct {
	Block string // address
	Name  string // unique in the configuration
	VIP   string // IP address; may be empty if there is a Domain
	FQDN  string // empty: clients use the VIP
	// Domain is the domain of the host names of the ports. It is empty in the modes in which all
	// ports share one host.
	Domain string
	Port   int    // of all entries, if there is a Domain; 0: that of the scheme
	Mode   string // ModeNodePort, ModeManaged, ModeLoadBalancer, ModeIngress or ModeGateway
	// Role is the name of the role whose nodes share the traffic; empty: any node. In ModeManaged,
	// HAProxy and keepalived run on these nodes.
	Role string
	// NodePorts is the inclusive range of node ports in the cluster.
	NodePorts [2]int
	// Class is the class of the load balancer or of the Ingress controller; empty: the cluster's
	// default.
	Class string
	// Annotations are annotations of the Services of type LoadBalancer, of the Ingresses or of the
	// routes.
	Annotations map[string]string
	Gateway     Gateway    // of ModeGateway
	Keepalived  Keepalived // of ModeManaged
	// AwaitsAddress: an apply waits until the controller has given each Ingress an address.
	AwaitsAddress bool
	TLS           *TLS // nil: clients connect without encryption
	Range         hcl.Range
}

// Gateway names the Gateway of the cluster that serves an exposure.
type Gateway struct {
	Name      string
	Namespace string // empty: the cloud's
	Section   string // name of the listener; empty: all listeners
	// HTTPSection is the name of a listener for plain HTTP, whose clients are sent to the public URLs.
	// It is empty if there is none, and without TLS.
	HTTPSection string
	Range       hcl.Range
}

// Keepalived says how one of the nodes of an exposure gets the VIP.
type Keepalived struct {
	Interface string // name of the network interface that gets the VIP, on all nodes
	// VRRPInterface is the network interface with the addresses of the nodes; empty: Interface.
	VRRPInterface string
	RouterID      int // number of the group in VRRP, 1 to 255
	// Deferred are the data blocks that have to be read before the VIP and the rest are known.
	Deferred []string
	Range    hcl.Range
}

// The modes of an exposure. lang/internal/blocks has the arguments of each mode, and
// providers/openstack/internal/network its objects.
const (
	ModeNodePort     = "nodeport"
	ModeManaged      = "managed"
	ModeLoadBalancer = "loadbalancer"
	ModeIngress      = "ingress"
	ModeGateway      = "gateway"
)

// Host returns the name for clients outside, or the address if there is no name. If each port has
// a name, it returns the domain of these.
func (x *Exposure) Host() string { return cmp.Or(x.Domain, x.FQDN, x.VIP) }

// Knows reports whether clients outside use a host name for the exposure.
func (x *Exposure) Knows(host string) bool {
	return host == x.Host() || x.Domain != "" && strings.HasSuffix(host, "."+x.Domain)
}

// Front identifies the program that listens at the VIP for the services of the exposure. Exposures
// with the same Front share the ports of a VIP. It is empty if the VIP has a port for each port of
// a service.
func (x *Exposure) Front() string {
	if x.Domain == "" {
		return ""
	}
	return strings.Join([]string{x.Mode, x.Class, x.Gateway.Namespace, x.Gateway.Name}, "/")
}

// Entry is the place at which clients outside reach a port of a service.
type Entry struct {
	Scheme string // beginning of a URL, "http://"
	Host   string
	Port   int
}

// Entry returns the place at which clients outside reach an exposed port of a service. With a
// domain, the first exposed port has the name SERVICE.DOMAIN, and each further port
// SERVICE-PORT.DOMAIN.
func (x *Exposure) Entry(service string, ports []Port, p Port) Entry {
	out := Entry{Scheme: x.Scheme(p), Host: x.Host(), Port: p.AtExposure()}
	if x.Domain == "" {
		return out
	}
	if first := slices.IndexFunc(ports, func(p Port) bool { return p.Exposed }); first >= 0 && ports[first].Name != p.Name {
		service += "-" + p.Name
	}
	out.Host, out.Port = service+"."+x.Domain, cmp.Or(x.Port, defaultPorts[out.Scheme])
	return out
}

// defaultPorts are the ports of URLs without a port.
var defaultPorts = map[string]int{"http://": 80, "https://": 443}

// Address returns the host and the port: "cloud.example.org:5000".
func (e Entry) Address() string { return net.JoinHostPort(e.Host, strconv.Itoa(e.Port)) }

// URL returns the URL without a path. It leaves out the port if the scheme has it by default.
func (e Entry) URL() string {
	if e.Port != 0 && e.Port == defaultPorts[e.Scheme] {
		return e.Scheme + strings.TrimSuffix(net.JoinHostPort(e.Host, ""), ":")
	}
	return e.Scheme + e.Address()
}
