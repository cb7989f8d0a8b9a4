package fabric

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// accepted is the answer to a request that was carried out. Any other answer says why it was
// not. The fabric sends a second line, farewell, before it stops for good.
const (
	accepted = "plugged in"
	farewell = "stopped"
)

// farewellLimit is how long a stopping fabric waits for its cables to be unplugged.
const farewellLimit = 3 * time.Second

// Plugs are the interfaces that a network namespace gets.
type Plugs struct {
	// Node is the address of eth0, which has the default route.
	Node netip.Addr `json:"node"`
	// Tunnel is the address of eth1. Without an address there is no eth1.
	Tunnel netip.Addr `json:"tunnel,omitzero"`
	// Provider adds eth2, and ProviderAddress is its address, if any.
	Provider        bool       `json:"provider,omitempty"`
	ProviderAddress netip.Addr `json:"providerAddress,omitzero"`
}

// plug is one interface, with an address or without.
type plug struct {
	lan     lan
	address netip.Addr
}

func (p Plugs) all() []plug {
	plugs := []plug{{nodeLAN, p.Node}}
	if p.Tunnel.IsValid() {
		plugs = append(plugs, plug{tunnelLAN, p.Tunnel})
	}
	if p.Provider || p.ProviderAddress.IsValid() {
		plugs = append(plugs, plug{providerLAN, p.ProviderAddress})
	}
	return plugs
}

// socketName returns the interface at the bridge's end. Cables are told apart by the
// address of their eth0, since other interfaces may have none.
func (p Plugs) socketName(l lan) string {
	bytes := p.Node.As4()
	return fmt.Sprintf("%s-%d", l.plugName, bytes[3])
}

// hardwareAddr returns the address of an interface on its network, which a machine keeps, also
// when it starts again.
func (p Plugs) hardwareAddr(l lan) net.HardwareAddr {
	bytes := p.Node.As4()
	return net.HardwareAddr{0x02, l.plugName[len(l.plugName)-1], bytes[0], bytes[1], bytes[2], bytes[3]}
}

// Cable connects a network namespace to the fabric, as long as the process that has the Cable
// and the fabric live. Only one goroutine may use it at a time.
type Cable struct {
	folder  string
	plugs   Plugs
	there   *os.File
	conn    *net.UnixConn
	lost    chan struct{}
	stopped bool // once lost is closed
}

// PlugIn gives the network namespace of the calling thread interfaces with addresses of the
// fabric, and a default route to the gateway. folder is the fabric's folder.
func PlugIn(folder string, plugs Plugs) (*Cable, error) {
	here, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		return nil, fmt.Errorf("plug into the fabric: %w", err)
	}
	cable := &Cable{folder: folder, plugs: plugs, there: here}
	if err := cable.connect(); err != nil {
		here.Close()
		return nil, err
	}
	return cable, nil
}

func (c *Cable) connect() error {
	conn, err := dialIn(c.folder, cableSocket)
	if err != nil {
		return fmt.Errorf("plug into the fabric: %w", err)
	}
	answers, err := ask(conn, c.plugs, c.there)
	if err != nil {
		conn.Close()
		return fmt.Errorf("plug %s into the fabric: %w", c.plugs.Node, err)
	}
	lost := make(chan struct{})
	c.conn, c.lost = conn, lost
	go func() {
		defer close(lost)
		line, _ := answers.ReadString('\n')
		c.stopped = strings.TrimSpace(line) == farewell
	}()
	return nil
}

// ask sends a request, with the network namespace for the far end as a file descriptor, and
// waits for the answer. The caller reads later lines from the reader.
func ask(conn *net.UnixConn, plugs Plugs, there *os.File) (*bufio.Reader, error) {
	data, err := json.Marshal(plugs)
	if err != nil {
		return nil, err
	}
	if _, _, err := conn.WriteMsgUnix(append(data, '\n'), unix.UnixRights(int(there.Fd())), nil); err != nil {
		return nil, err
	}
	answers := bufio.NewReader(conn)
	answer, err := answers.ReadString('\n')
	if err != nil {
		return nil, err
	}
	if answer = strings.TrimSpace(answer); answer != accepted {
		return nil, errors.New(answer)
	}
	return answers, nil
}

// Lost is closed when the fabric has ended, or is about to.
func (c *Cable) Lost() <-chan struct{} { return c.lost }

// Stopped reports whether a lost cable belongs to a fabric that was stopped, not killed. A
// stopped fabric does not come back, and waits for Unplug.
func (c *Cable) Stopped() bool { return c.stopped }

// PlugInAgain connects the same namespace again, after the cable was lost.
func (c *Cable) PlugInAgain() error {
	c.conn.Close()
	return c.connect()
}

// Unplug removes the interfaces, and waits until their addresses are free.
func (c *Cable) Unplug() error {
	defer c.there.Close()
	defer c.conn.Close()
	if err := c.conn.CloseWrite(); err != nil {
		return nil // the fabric has ended, and the interfaces with it
	}
	<-c.lost
	return nil
}

// dialIn connects to a socket through a descriptor of its folder, because the path of the
// folder may be too long for a socket.
func dialIn(folder, socket string) (*net.UnixConn, error) {
	dir, err := os.Open(folder)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	path := fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), socket)
	return net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
}

// patchPanel plugs cables into the bridges.
type patchPanel struct {
	inside namespace

	mu    sync.Mutex
	taken map[netip.Addr]bool
	nodes map[netip.Addr]*os.File // the network namespaces of nodes
}

func newPatchPanel(inside namespace) *patchPanel {
	return &patchPanel{inside: inside, taken: map[netip.Addr]bool{Gateway: true}, nodes: map[netip.Addr]*os.File{}}
}

// onNode runs work in the network namespace of a node: of all that are plugged in, the one with the
// lowest address.
func (p *patchPanel) onNode(work func() error) error {
	p.mu.Lock()
	var first netip.Addr
	for address := range p.nodes {
		if !first.IsValid() || address.Less(first) {
			first = address
		}
	}
	if !first.IsValid() {
		p.mu.Unlock()
		return errors.New("no node is plugged in")
	}
	handle, err := unix.Dup(int(p.nodes[first].Fd())) // the node may be unplugged meanwhile
	p.mu.Unlock()
	if err != nil {
		return fmt.Errorf("enter network namespace of %s: %w", first, err)
	}
	defer unix.Close(handle)
	return namespace{netns.NsHandle(handle)}.do(work)
}

// serve handles cables until ctx ends, and then until all are unplugged.
func (p *patchPanel) serve(ctx context.Context, listener net.Listener) error {
	var cables sync.WaitGroup
	defer cables.Wait()
	for {
		conn, err := listener.Accept()
		if err != nil {
			return err
		}
		cables.Go(func() { p.handle(ctx, conn.(*net.UnixConn)) })
	}
}

// handle serves one cable: it is there for as long as its connection is.
func (p *patchPanel) handle(ctx context.Context, conn *net.UnixConn) {
	defer conn.Close()
	sayGoodbye := context.AfterFunc(ctx, func() {
		_ = conn.SetDeadline(time.Now().Add(farewellLimit))
		_, _ = fmt.Fprintln(conn, farewell)
	})
	defer sayGoodbye()
	plugs, there, err := receive(conn)
	if err == nil {
		defer there.Close()
		err = p.take(plugs)
	}
	if err != nil {
		fmt.Fprintln(conn, err)
		return
	}
	defer p.release(plugs)
	defer p.unplug(plugs)
	if err := p.plugIn(plugs, there); err != nil {
		fmt.Fprintln(conn, err)
		return
	}
	if plugs.Tunnel.IsValid() { // machines outside of the cluster have none
		p.mu.Lock()
		p.nodes[plugs.Node] = there
		p.mu.Unlock()
	}
	if _, err := fmt.Fprintln(conn, accepted); err != nil {
		return
	}
	_, _ = io.Copy(io.Discard, conn)
}

func receive(conn *net.UnixConn) (Plugs, *os.File, error) {
	var plugs Plugs
	data, rights := make([]byte, 1024), make([]byte, unix.CmsgSpace(4))
	n, rightsN, _, _, err := conn.ReadMsgUnix(data, rights)
	if err != nil {
		return plugs, nil, err
	}
	messages, err := unix.ParseSocketControlMessage(rights[:rightsN])
	if err != nil || len(messages) != 1 {
		return plugs, nil, errors.New("no network namespace came with the request")
	}
	files, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(files) != 1 {
		return plugs, nil, errors.New("no network namespace came with the request")
	}
	there := os.NewFile(uintptr(files[0]), "network namespace")
	if err := json.Unmarshal(data[:n], &plugs); err != nil {
		there.Close()
		return plugs, nil, err
	}
	return plugs, there, nil
}

// take reserves all addresses, or none.
func (p *patchPanel) take(plugs Plugs) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, plug := range plugs.all() {
		if plug.address.IsValid() && !plug.lan.network.Contains(plug.address) {
			return fmt.Errorf("%s: the address is not in %s", plug.address, plug.lan.network)
		}
		if p.taken[plug.address] {
			return fmt.Errorf("%s: the address is taken", plug.address)
		}
	}
	for _, plug := range plugs.all() {
		if plug.address.IsValid() {
			p.taken[plug.address] = true
		}
	}
	return nil
}

func (p *patchPanel) release(plugs Plugs) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.nodes, plugs.Node)
	for _, plug := range plugs.all() {
		delete(p.taken, plug.address)
	}
}

func (p *patchPanel) plugIn(plugs Plugs, there *os.File) error {
	for _, plug := range plugs.all() {
		if err := p.layCable(plugs, plug.lan, there); err != nil {
			return fmt.Errorf("lay cable: %w", err)
		}
	}
	if err := configure(netns.NsHandle(there.Fd()), plugs); err != nil {
		return fmt.Errorf("configure interface: %w", err)
	}
	return nil
}

func (p *patchPanel) layCable(plugs Plugs, l lan, there *os.File) error {
	socket := plugs.socketName(l)
	return p.inside.do(func() error {
		// The kernel removes a cable some time after the namespace of its far end.
		if old, err := netlink.LinkByName(socket); err == nil {
			if err := netlink.LinkDel(old); err != nil {
				return err
			}
		}
		bridge, err := netlink.LinkByName(l.bridge)
		if err != nil {
			return err
		}
		cable := &netlink.Veth{
			LinkAttrs:        netlink.LinkAttrs{Name: socket, MasterIndex: bridge.Attrs().Index},
			PeerName:         l.plugName,
			PeerHardwareAddr: plugs.hardwareAddr(l),
			PeerNamespace:    netlink.NsFd(there.Fd()),
		}
		if err := netlink.LinkAdd(cable); err != nil {
			return err
		}
		return netlink.LinkSetUp(cable)
	})
}

// configure brings up the far ends of cables.
func configure(there netns.NsHandle, plugs Plugs) error {
	handle, err := netlink.NewHandleAt(there)
	if err != nil {
		return err
	}
	defer handle.Close()
	loopback, err := handle.LinkByName("lo")
	if err != nil {
		return err
	}
	if err := handle.LinkSetUp(loopback); err != nil {
		return err
	}
	for _, plug := range plugs.all() {
		link, err := handle.LinkByName(plug.lan.plugName)
		if err != nil {
			return err
		}
		if plug.address.IsValid() {
			if err := addAddress(handle.AddrAdd, link, plug.address); err != nil {
				return err
			}
		}
		if err := handle.LinkSetUp(link); err != nil {
			return err
		}
	}
	return handle.RouteAdd(&netlink.Route{Gw: Gateway.AsSlice()})
}

// unplug removes the interfaces of a cable, also if only some of them exist.
func (p *patchPanel) unplug(plugs Plugs) {
	_ = p.inside.do(func() error {
		for _, plug := range plugs.all() {
			if link, err := netlink.LinkByName(plugs.socketName(plug.lan)); err == nil {
				_ = netlink.LinkDel(link)
			}
		}
		return nil
	})
}
