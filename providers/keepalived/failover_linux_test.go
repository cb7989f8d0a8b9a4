package keepalived_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers/haproxy"
	"kolla.openstack.org/kolla/providers/keepalived"
)

const (
	vip      = "10.92.0.10"
	nodePort = 30080
)

// TestFailover breaks the device that has the VIP, in one way after another, while a client opens new
// connections: two devices, a node and the client have a network namespace each.
func TestFailover(t *testing.T) { failover(t, false) }

// TestFailoverManaged does the same with two nodes of the mode managed. The client reaches a Service at
// the address of a third node.
func TestFailoverManaged(t *testing.T) { failover(t, true) }

func failover(t *testing.T, managed bool) {
	t.Helper()
	for _, name := range []string{"haproxy", "keepalived"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("NOT RUN: there is no %s (apt-get install %[1]s)", name)
		}
	}
	if os.Geteuid() != 0 {
		t.Skip("NOT RUN: network namespaces need root")
	}
	n := newNetwork(t, "node", "client", "a", "b")
	n.serve(t)
	config := cloud(t, managed)
	devices := map[string]*device{"a": n.device(t, config, "a", "b"), "b": n.device(t, config, "b", "a")}
	for _, d := range devices {
		start(t, d)
	}
	n.await(t)
	for _, c := range []struct {
		name string
		do   func(*testing.T, *device)
		mend func(*testing.T, *device)
	}{
		{"keepalived stops", func(t *testing.T, d *device) { d.keepalived.end(t, syscall.SIGTERM) }, start},
		{"HAProxy killed", func(t *testing.T, d *device) { d.haproxy.end(t, syscall.SIGKILL) }, start},
		// Its network namespace, which is that of the node, keeps the VIP.
		{"both killed", func(t *testing.T, d *device) {
			d.keepalived.end(t, syscall.SIGKILL)
			d.haproxy.end(t, syscall.SIGKILL)
		}, start},
		{"link down", func(t *testing.T, d *device) { d.link(t, "down") }, func(t *testing.T, d *device) { d.link(t, "up") }},
		{"device killed", func(t *testing.T, d *device) {
			d.link(t, "down")
			d.keepalived.end(t, syscall.SIGKILL)
			d.haproxy.end(t, syscall.SIGKILL)
		}, func(t *testing.T, d *device) { d.link(t, "up"); start(t, d) }},
	} {
		ok := t.Run(c.name, func(t *testing.T) {
			holder := n.holder(t)
			load := n.load()
			c.do(t, devices[holder])
			n.moves(t, holder)
			if managed && c.name == "HAProxy killed" && devices[holder].ready() {
				t.Errorf("node %s counts as ready without HAProxy", holder)
			}
			time.Sleep(2 * time.Second)
			requests, failed, gap := load.end()
			t.Logf("VIP answered again after %s; %d of %d requests failed", gap.Round(10*time.Millisecond), failed, requests)
			if gap > 10*time.Second { // about two seconds on an idle machine
				t.Errorf("nothing answered for %s", gap)
			}
			load = n.load()
			c.mend(t, devices[holder])
			time.Sleep(5 * time.Second) // the protocol's own times, several times over
			if now := n.holder(t); now == holder {
				t.Errorf("device %s took the VIP back", holder)
			}
			if requests, failed, _ = load.end(); failed > 0 {
				t.Errorf("%d of %d requests failed when the device came back", failed, requests)
			}
			for name, d := range devices {
				if managed && !d.ready() {
					t.Errorf("node %s is not ready", name)
				}
			}
		})
		if !ok {
			t.FailNow()
		}
	}
}

// outage ends a test in which the VIP is lost. It is no measure of speed.
const outage = 30 * time.Second

// cloud is a configuration with one service.
func cloud(t *testing.T, managed bool) *configs.Config {
	t.Helper()
	const source = `cloud "test" {
  release = "2025.1"
}
role "edge" {
  nodes = ["a", "b"]
}
exposure "public" {
  vip = "%s"
  # mode
}
definition "web" {
  port "http" {
    number    = 80
    expose    = true
    node_port = %d
  }
  workload "w" {
    kind  = "Deployment"
    image = "web"
    ports = ["http"]
    ready {
      http = "/"
      port = "http"
    }
  }
}
service "web" { expose = exposure.public }
`
	dir := t.TempDir()
	text := fmt.Sprintf(source, vip, nodePort)
	if managed {
		text = strings.Replace(text, "# mode", "mode = \"managed\"\n  nodes = role.edge\n  keepalived { interface = \"eth0\" }", 1)
		text = strings.Replace(text, fmt.Sprintf("    node_port = %d\n", nodePort), "", 1)
	}
	if err := os.WriteFile(filepath.Join(dir, "cloud.hcl"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	config, diags := lang.Load(dir, lang.Options{Catalogue: os.DirFS("../openstack/catalogue")})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return config
}

// network is a bridge in a network namespace, with one namespace for each host.
type network struct{ name, dir string }

// addresses are those of the hosts.
var addresses = map[string]string{"node": "10.92.0.4", "client": "10.92.0.5", "a": "10.92.0.2", "b": "10.92.0.3"}

func newNetwork(t *testing.T, hosts ...string) network {
	t.Helper()
	n := network{fmt.Sprintf("kolla-vrrp-%d", os.Getpid()), t.TempDir()}
	add := func(name string) {
		ip(t, "netns", "add", name)
		t.Cleanup(func() { _ = exec.Command("ip", "netns", "delete", name).Run() })
		ip(t, "-n", name, "link", "set", "lo", "up")
	}
	add(n.name)
	ip(t, "-n", n.name, "link", "add", "bridge", "type", "bridge")
	ip(t, "-n", n.name, "link", "set", "bridge", "up")
	for _, host := range hosts {
		add(n.of(host))
		ip(t, "-n", n.name, "link", "add", "name", host, "type", "veth", "peer", "name", "eth0", "netns", n.of(host))
		ip(t, "-n", n.name, "link", "set", "dev", host, "master", "bridge", "up")
		ip(t, "-n", n.of(host), "address", "add", addresses[host]+"/24", "dev", "eth0")
		ip(t, "-n", n.of(host), "link", "set", "eth0", "up")
	}
	return n
}

func (n network) of(host string) string { return n.name + "-" + host }

func ip(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		t.Fatalf("ip %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// program is a program that runs in the namespace of a host.
type program struct {
	cmd   *exec.Cmd
	ended chan struct{}
}

func (n network) run(t *testing.T, host string, args ...string) *program {
	t.Helper()
	log, err := os.OpenFile(filepath.Join(n.dir, host+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	p := &program{exec.Command("ip", append([]string{"netns", "exec", n.of(host)}, args...)...), make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait() // the test ends it
		close(p.ended)
	}()
	return p
}

// end sends a signal to all processes of a program, and waits for its end.
func (p *program) end(t *testing.T, signal syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(-p.cmd.Process.Pid, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
		t.Fatal(err)
	}
	<-p.ended
}

// serve lets the node answer on its port.
func (n network) serve(t *testing.T) {
	t.Helper()
	file := filepath.Join(n.dir, "node.cfg")
	text := fmt.Sprintf("defaults\n  mode http\n  timeout connect 5s\n  timeout client 5s\n  timeout server 5s\nfrontend node\n  bind :%d\n  http-request return status 200\n", nodePort)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		logs, _ := filepath.Glob(filepath.Join(n.dir, "*.log"))
		for _, log := range logs {
			if text, err := os.ReadFile(log); err == nil && t.Failed() {
				t.Logf("%s:\n%s", filepath.Base(log), text)
			}
		}
	})
	p := n.run(t, "node", "haproxy", "-db", "-f", file)
	t.Cleanup(func() { p.end(t, syscall.SIGKILL) })
}

// device has HAProxy and keepalived.
type device struct {
	network
	host                string
	haproxy, keepalived *program
}

// thisMachine matches the settings that only work on the operator's device.
var thisMachine = regexp.MustCompile(`(?m)^    (user|group|chroot) .*\n`)

func (n network) device(t *testing.T, config *configs.Config, host, other string) *device {
	t.Helper()
	d := &device{network: n, host: host}
	var proxy, mover []byte
	if config.Exposures[0].Mode == configs.ModeManaged {
		proxy, mover = d.managed(t, config)
	} else {
		proxy, mover = d.own(t, config, other)
	}
	for name, content := range map[string][]byte{"haproxy.cfg": thisMachine.ReplaceAll(proxy, nil), "keepalived.conf": mover} {
		if err := os.WriteFile(d.file(name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		for _, p := range []*program{d.keepalived, d.haproxy} {
			if p != nil {
				p.end(t, syscall.SIGKILL)
			}
		}
	})
	return d
}

// own returns the files of a device outside of the cluster.
func (d *device) own(t *testing.T, config *configs.Config, other string) (proxy, mover []byte) {
	t.Helper()
	ip(t, "netns", "exec", d.of(d.host), "sysctl", "-q", "-w", "net.ipv4.ip_nonlocal_bind=1")
	proxy, diags := haproxy.Render(config, config.Exposures[0], []haproxy.Node{{Name: "node", Address: addresses["node"]}}, "")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return proxy, keepalived.Render(config.Cloud.Name, config.Exposures[0], keepalived.Device{
		Interface: "eth0", Address: netip.MustParseAddr(addresses[d.host]), Peer: netip.MustParseAddr(addresses[other]),
		RouterID: keepalived.DefaultRouterID, PIDFile: d.file("haproxy.pid"),
	})
}

// managed returns the files of a node. There is no DNS, so that HAProxy gets the address of the Service.
// The node has no ip_nonlocal_bind.
func (d *device) managed(t *testing.T, config *configs.Config) (proxy, mover []byte) {
	t.Helper()
	proxy, diags := haproxy.RenderManaged(config, config.Exposures[0], func(*configs.Service, string) []string { return []string{"web"} })
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	monitor := d.file("monitor.sock")
	text := strings.NewReplacer(
		haproxy.MonitorSocket, monitor,
		"default-server resolvers cluster init-addr none resolve-prefer ipv4", "",
		`"web.openstack.svc.${`+haproxy.DomainVariable+`}:80"`, fmt.Sprintf("%s:%d", addresses["node"], nodePort),
	).Replace(string(proxy))
	nodes := []keepalived.Node{{Name: "a", Address: netip.MustParseAddr(addresses["a"])}, {Name: "b", Address: netip.MustParseAddr(addresses["b"])}}
	return []byte(text), keepalived.RenderManaged(config.Cloud.Name, config.Exposures[0], nodes, monitor, d.file("ready"))
}

// ready reports whether the node could have the VIP, as its readiness probe does.
func (d *device) ready() bool {
	_, err := os.Stat(d.file("ready"))
	return err == nil
}

func (d *device) file(name string) string { return filepath.Join(d.dir, d.host+"-"+name) }

// start starts the programs that do not run.
func start(t *testing.T, d *device) {
	t.Helper()
	if d.haproxy == nil || d.haproxy.over() {
		d.haproxy = d.run(t, d.host, "haproxy", "-W", "-p", d.file("haproxy.pid"), "-f", d.file("haproxy.cfg"))
	}
	if d.keepalived == nil || d.keepalived.over() {
		d.keepalived = d.run(t, d.host, "keepalived", "-n", "-l", "-P", "-i", d.host, "-p", d.file("keepalived.pid"), "-r", d.file("vrrp.pid"), "-b", d.file("bfd.pid"), "-f", d.file("keepalived.conf"))
	}
}

func (p *program) over() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

func (d *device) link(t *testing.T, state string) {
	t.Helper()
	ip(t, "-n", d.name, "link", "set", "dev", d.host, state)
}

// holders returns the devices whose interfaces have the VIP.
func (n network) holders() []string {
	var out []string
	for _, host := range []string{"a", "b"} {
		list, _ := exec.Command("ip", "-n", n.of(host), "-brief", "address", "show", "dev", "eth0").Output()
		if strings.Contains(string(list), vip+"/") {
			out = append(out, host)
		}
	}
	return out
}

// holder returns the only device that has the VIP.
func (n network) holder(t *testing.T) string {
	t.Helper()
	for deadline := time.Now().Add(outage); ; time.Sleep(50 * time.Millisecond) {
		if all := n.holders(); len(all) == 1 {
			return all[0]
		} else if time.Now().After(deadline) {
			t.Fatalf("the VIP is at %q", all)
		}
	}
}

// moves waits until the VIP answers, and another device has it.
func (n network) moves(t *testing.T, from string) {
	t.Helper()
	other := map[string]string{"a": "b", "b": "a"}[from]
	for deadline := time.Now().Add(outage); ; time.Sleep(50 * time.Millisecond) {
		if all := n.holders(); len(all) > 0 && all[len(all)-1] == other || len(all) == 2 {
			break
		} else if time.Now().After(deadline) {
			t.Fatalf("the VIP is at %q", all)
		}
	}
	n.await(t)
}

// await waits until the VIP answers.
func (n network) await(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(outage); ; time.Sleep(50 * time.Millisecond) {
		err := n.ask()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

// ask sends a request on a new connection from the client.
func (n network) ask() error {
	client := http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true, DialContext: n.dial}}
	response, err := client.Get("http://" + vip)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return errors.New(response.Status)
	}
	return nil
}

// dial connects from the client's namespace: a socket stays in the namespace of the thread that made it.
func (n network) dial(ctx context.Context, kind, address string) (net.Conn, error) {
	runtime.LockOSThread()
	own, err1 := os.Open("/proc/thread-self/ns/net")
	there, err2 := os.Open("/run/netns/" + n.of("client"))
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	defer func() { _, _ = own.Close(), there.Close() }()
	if err := unix.Setns(int(there.Fd()), unix.CLONE_NEWNET); err != nil {
		return nil, err
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, kind, address)
	if back := unix.Setns(int(own.Fd()), unix.CLONE_NEWNET); back != nil {
		return nil, back // the thread stays locked, and ends with the goroutine
	}
	runtime.UnlockOSThread()
	return conn, err
}

// load is a client that opens a connection every 50 ms.
type load struct {
	stop             chan struct{}
	done             sync.WaitGroup
	mu               sync.Mutex
	requests, failed int
	gap              time.Duration // longest time between two answers
	last             time.Time
}

func (n network) load() *load {
	l := &load{stop: make(chan struct{}), last: time.Now()}
	l.done.Go(func() {
		ticker := time.NewTicker(50 * time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-l.stop:
				return
			case <-ticker.C:
				l.done.Go(func() { l.took(n.ask()) })
			}
		}
	})
	return l
}

func (l *load) took(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requests++
	if err != nil {
		l.failed++
		return
	}
	l.gap = max(l.gap, time.Since(l.last))
	l.last = time.Now()
}

func (l *load) end() (requests, failed int, gap time.Duration) {
	close(l.stop)
	l.done.Wait()
	return l.requests, l.failed, l.gap
}
