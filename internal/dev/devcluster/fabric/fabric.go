// Package fabric makes the networks between real nodes: bridges in a separate network
// namespace. Nodes, and machines outside of the cluster, are plugged in to these bridges. The
// fabric is not on the machine's own network. It forwards each connection to the API server on
// loopback.
package fabric

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strconv"

	"github.com/vishvananda/netlink"
	"golang.org/x/sync/errgroup"
)

// The addresses of the fabric.
var (
	// Network holds the nodes and the machines outside of the cluster.
	Network = netip.MustParsePrefix("10.200.0.0/24")
	// Gateway is the address of the bridge, and of the API server and the image registry.
	Gateway = netip.MustParseAddr("10.200.0.1")
	// TunnelNetwork is for the packets of virtual networks between nodes.
	TunnelNetwork = netip.MustParsePrefix("10.201.0.0/24")
	// ProviderNetwork connects virtual networks with machines outside. Nodes have no address
	// in it.
	ProviderNetwork = netip.MustParsePrefix("10.202.0.0/24")
)

// lan is one of the networks: a bridge, and the name of each interface that is
// plugged into it.
type lan struct {
	plugName, bridge string
	network          netip.Prefix
}

var (
	nodeLAN     = lan{"eth0", "fabric0", Network}
	tunnelLAN   = lan{"eth1", "fabric1", TunnelNetwork}
	providerLAN = lan{"eth2", "fabric2", ProviderNetwork}
)

// RegistryPort is the port of the image registry at the gateway.
const RegistryPort = 5000

// The sockets of the fabric, in the folder that Run is started in: a socket's
// path must be short, and a folder's may be long.
const (
	cableSocket = "fabric.sock"
	// EgressSocket is the socket through which the API server connects to nodes and pods.
	EgressSocket = "egress.sock"
)

// Options are the services that the fabric forwards to.
type Options struct {
	// APIServer is a port of 127.0.0.1; the gateway has it under the same number.
	APIServer int
	// Images is the folder of an OCI image layout that the registry serves.
	Images string
}

// Run makes the fabric in a new namespace and serves it until ctx ends. The kernel removes the
// namespace and its cables with this process.
func Run(ctx context.Context, options Options) error {
	inside, err := newNamespace()
	if err != nil {
		return err
	}
	if err := inside.do(makeBridges); err != nil {
		return fmt.Errorf("make bridges: %w", err)
	}
	images, err := openLayout(options.Images)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	serve := func(open func() (net.Listener, error), handle func(net.Listener) error) {
		group.Go(func() error {
			listener, err := open()
			if err != nil {
				return err
			}
			stop := context.AfterFunc(ctx, func() { listener.Close() })
			defer stop()
			if err := handle(listener); err != nil && ctx.Err() == nil {
				return err
			}
			return nil
		})
	}
	apiServer := net.JoinHostPort("127.0.0.1", strconv.Itoa(options.APIServer))
	serve(inside.listen(options.APIServer), func(l net.Listener) error { return forward(l, apiServer) })
	serve(inside.listen(RegistryPort), func(l net.Listener) error { return serveHTTP(l, images) })
	panel := newPatchPanel(inside)
	serve(listenUnix(EgressSocket), func(l net.Listener) error { return serveHTTP(l, egress{inside, panel}) })
	serve(listenUnix(cableSocket), func(l net.Listener) error { return panel.serve(ctx, l) })
	return group.Wait()
}

func makeBridges() error {
	loopback, err := netlink.LinkByName("lo")
	if err != nil {
		return err
	}
	if err := netlink.LinkSetUp(loopback); err != nil {
		return err
	}
	for _, l := range []lan{nodeLAN, tunnelLAN, providerLAN} {
		bridge := &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: l.bridge}}
		if err := netlink.LinkAdd(bridge); err != nil {
			return err
		}
		if l == nodeLAN {
			if err := addAddress(netlink.AddrAdd, bridge, Gateway); err != nil {
				return err
			}
		}
		if err := netlink.LinkSetUp(bridge); err != nil {
			return err
		}
	}
	return nil
}

func addAddress(add func(netlink.Link, *netlink.Addr) error, link netlink.Link, address netip.Addr) error {
	return add(link, &netlink.Addr{IPNet: &net.IPNet{
		IP:   address.AsSlice(),
		Mask: net.CIDRMask(Network.Bits(), address.BitLen()),
	}})
}

// listen opens a port at the gateway.
func (n namespace) listen(port int) func() (net.Listener, error) {
	return func() (listener net.Listener, err error) {
		err = n.do(func() error {
			listener, err = net.Listen("tcp", net.JoinHostPort(Gateway.String(), strconv.Itoa(port)))
			return err
		})
		return listener, err
	}
}

// listenUnix opens a socket in the working directory, and replaces the socket of a killed
// process.
func listenUnix(name string) func() (net.Listener, error) {
	return func() (net.Listener, error) {
		if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("remove old socket: %w", err)
		}
		return net.Listen("unix", name)
	}
}

func serveHTTP(listener net.Listener, handler http.Handler) error {
	return (&http.Server{Handler: handler}).Serve(listener)
}
