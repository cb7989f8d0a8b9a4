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

// plugName is the network interface at the far end of a cable.
const plugName = "eth0"

// accepted is the answer to a request that was carried out. Any other answer
// says why it was not. A second line, farewell, comes when the fabric is stopped
// for good.
const (
	accepted = "plugged in"
	farewell = "stopped"
)

// farewellLimit is how long the fabric, when it is stopped, waits for those who
// are plugged in to let go.
const farewellLimit = 3 * time.Second

// request asks for a cable. The network namespace for its far end comes along
// as a file descriptor.
type request struct {
	Address netip.Addr `json:"address"`
}

// Cable connects a network namespace to the fabric. It holds as long as both the
// process that has it and the fabric live. It is for one goroutine at a time.
type Cable struct {
	folder  string
	address netip.Addr
	plug    *os.File
	conn    *net.UnixConn
	lost    chan struct{}
	stopped bool // once lost is closed
}

// PlugIn gives the network namespace that the calling thread is in an interface
// with an address of the fabric, and a default route to the gateway. folder is
// the one that the fabric runs in.
func PlugIn(folder string, address netip.Addr) (*Cable, error) {
	here, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		return nil, fmt.Errorf("plug into the fabric: %w", err)
	}
	cable := &Cable{folder: folder, address: address, plug: here}
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
	answers, err := ask(conn, request{c.address}, c.plug)
	if err != nil {
		conn.Close()
		return fmt.Errorf("plug %s into the fabric: %w", c.address, err)
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

// ask sends a request and waits for the answer. What comes later can be read from
// the reader.
func ask(conn *net.UnixConn, r request, plug *os.File) (*bufio.Reader, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	if _, _, err := conn.WriteMsgUnix(append(data, '\n'), unix.UnixRights(int(plug.Fd())), nil); err != nil {
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

// Stopped reports about a cable that is lost whether the fabric was stopped, and
// not killed: it is not going to come back, and waits for Unplug.
func (c *Cable) Stopped() bool { return c.stopped }

// PlugInAgain connects the same namespace again, after the cable was lost.
func (c *Cable) PlugInAgain() error {
	c.conn.Close()
	return c.connect()
}

// Unplug removes the interface, and waits until the address is free.
func (c *Cable) Unplug() error {
	defer c.plug.Close()
	defer c.conn.Close()
	if err := c.conn.CloseWrite(); err != nil {
		return nil // the fabric has ended, and the interface with it
	}
	<-c.lost
	return nil
}

// dialIn connects to a socket through a descriptor of its folder, whose own
// path may be longer than a socket's may be.
func dialIn(folder, socket string) (*net.UnixConn, error) {
	dir, err := os.Open(folder)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	path := fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), socket)
	return net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
}

// patchPanel plugs cables into the bridge.
type patchPanel struct {
	inside namespace

	mu    sync.Mutex
	taken map[netip.Addr]bool
}

func newPatchPanel(inside namespace) *patchPanel {
	return &patchPanel{inside: inside, taken: map[netip.Addr]bool{Gateway: true}}
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
	r, plug, err := receive(conn)
	if err == nil {
		defer plug.Close()
		err = p.take(r.Address)
	}
	if err != nil {
		fmt.Fprintln(conn, err)
		return
	}
	defer p.release(r.Address)
	if err := p.plugIn(r.Address, plug); err != nil {
		fmt.Fprintln(conn, err)
		return
	}
	defer p.unplug(r.Address)
	if _, err := fmt.Fprintln(conn, accepted); err != nil {
		return
	}
	_, _ = io.Copy(io.Discard, conn)
}

func receive(conn *net.UnixConn) (request, *os.File, error) {
	var r request
	data, rights := make([]byte, 1024), make([]byte, unix.CmsgSpace(4))
	n, rightsN, _, _, err := conn.ReadMsgUnix(data, rights)
	if err != nil {
		return r, nil, err
	}
	messages, err := unix.ParseSocketControlMessage(rights[:rightsN])
	if err != nil || len(messages) != 1 {
		return r, nil, errors.New("no network namespace came with the request")
	}
	files, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(files) != 1 {
		return r, nil, errors.New("no network namespace came with the request")
	}
	plug := os.NewFile(uintptr(files[0]), "network namespace")
	if err := json.Unmarshal(data[:n], &r); err != nil {
		return r, plug, err
	}
	return r, plug, nil
}

func (p *patchPanel) take(address netip.Addr) error {
	if !Network.Contains(address) {
		return fmt.Errorf("the address is not in %s", Network)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.taken[address] {
		return errors.New("the address is taken")
	}
	p.taken[address] = true
	return nil
}

func (p *patchPanel) release(address netip.Addr) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.taken, address)
}

// socketName is the interface at the bridge's end of a cable.
func socketName(address netip.Addr) string {
	bytes := address.As4()
	return fmt.Sprintf("to-%d", bytes[3])
}

func (p *patchPanel) plugIn(address netip.Addr, plug *os.File) error {
	err := p.inside.do(func() error {
		// The kernel removes a cable some time after the namespace of its far end.
		if old, err := netlink.LinkByName(socketName(address)); err == nil {
			if err := netlink.LinkDel(old); err != nil {
				return err
			}
		}
		bridge, err := netlink.LinkByName(bridgeName)
		if err != nil {
			return err
		}
		cable := &netlink.Veth{
			LinkAttrs:     netlink.LinkAttrs{Name: socketName(address), MasterIndex: bridge.Attrs().Index},
			PeerName:      plugName,
			PeerNamespace: netlink.NsFd(plug.Fd()),
		}
		if err := netlink.LinkAdd(cable); err != nil {
			return err
		}
		return netlink.LinkSetUp(cable)
	})
	if err != nil {
		return fmt.Errorf("lay cable: %w", err)
	}
	if err := configure(netns.NsHandle(plug.Fd()), address); err != nil {
		return fmt.Errorf("configure interface: %w", err)
	}
	return nil
}

// configure brings up the far end of a cable.
func configure(plug netns.NsHandle, address netip.Addr) error {
	handle, err := netlink.NewHandleAt(plug)
	if err != nil {
		return err
	}
	defer handle.Close()
	for _, name := range []string{"lo", plugName} {
		link, err := handle.LinkByName(name)
		if err != nil {
			return err
		}
		if name == plugName {
			if err := addAddress(handle.AddrAdd, link, address); err != nil {
				return err
			}
		}
		if err := handle.LinkSetUp(link); err != nil {
			return err
		}
	}
	return handle.RouteAdd(&netlink.Route{Gw: Gateway.AsSlice()})
}

func (p *patchPanel) unplug(address netip.Addr) {
	_ = p.inside.do(func() error {
		link, err := netlink.LinkByName(socketName(address))
		if err != nil {
			return err
		}
		return netlink.LinkDel(link)
	})
}
