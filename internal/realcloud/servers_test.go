package realcloud_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The network outside, which floating IPs are of.
const (
	externalNetwork = "10.202.0.0/24"
	externalGateway = "10.202.0.200"
	externalPool    = "10.202.0.100-10.202.0.150"
)

// server is a virtual machine of the test.
type server struct {
	ID, Host, Fixed, Floating string
	Active                    float64
}

// servers runs a step of testdata/servers.py, and reads what it prints.
func (c *cloud) servers(t *testing.T, out any, args ...string) {
	t.Helper()
	r := c.outside(t, clientAddress, c.credentials(t), append([]string{"python3", "servers.py"}, args...)...)
	lines := strings.Split(strings.TrimSpace(r.out), "\n")
	if r.code != 0 {
		t.Fatalf("servers.py %s: exit code %d\n%s", strings.Join(args, " "), r.code, r.out)
	}
	if out == nil {
		return
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), out); err != nil {
		t.Fatalf("servers.py %s: %v\n%s", strings.Join(args, " "), err, r.out)
	}
}

// userData is run by the server: it fetches a page of another one, through the tunnel.
const userData = `#!/bin/sh
echo "user data of the test"
`

// console waits for a text on a server's console.
func (c *cloud) console(t *testing.T, name, text string) string {
	t.Helper()
	var out struct{ Output string }
	c.servers(t, &out, "console", name, text)
	return out.Output
}

// guests are the servers of the test, by name.
var guests = map[string]*server{}

// serversBoot on each hypervisor, are told who they are, and answer outside.
func serversBoot(t *testing.T, c *cloud) {
	script, err := os.ReadFile("testdata/servers.py")
	if err != nil {
		t.Fatal(err)
	}
	c.write(t, "servers.py", string(script))
	disk, err := os.ReadFile(filepath.Join(c.root, "bin", "images", "guest.qcow2"))
	if err != nil {
		t.Fatal(err)
	}
	c.write(t, "guest.qcow2", string(disk))
	c.servers(t, nil, "prepare", "guest.qcow2", externalNetwork, externalGateway, externalPool)
	for i, host := range []string{"real-2", "real-3"} {
		name := fmt.Sprintf("guest-%d", i+1)
		guest := &server{}
		began := time.Now()
		c.servers(t, guest, "boot", name, host, userData)
		guests[name] = guest
		if guest.Host != host {
			t.Errorf("%s is on %s, want %s", name, guest.Host, host)
		}
		log := c.console(t, name, "guest: user data ended")
		for _, want := range []string{"guest: metadata", guest.ID, "user data of the test"} {
			if !strings.Contains(log, want) {
				t.Errorf("the console of %s lacks %q:\n%s", name, want, log)
			}
		}
		c.answers(t, name, time.Minute)
		measured(t, name+": ACTIVE, and reached from outside", fmt.Sprintf("%.1f s, %s", guest.Active, time.Since(began).Round(time.Second)))
	}
}

// answers waits until a server answers outside, by ping and HTTP.
func (c *cloud) answers(t *testing.T, name string, limit time.Duration) {
	t.Helper()
	ip := guests[name].Floating
	eventually(t, limit, func() error {
		if r := c.provider(t, "ping", "-c", "1", "-W", "2", ip); r.code != 0 {
			return fmt.Errorf("%s does not answer at %s: %s", name, ip, r.out)
		}
		r := c.provider(t, "curl", "-sf", "-m", "5", "http://"+ip+"/")
		if r.code != 0 || !strings.Contains(r.out, "hello from") {
			return fmt.Errorf("%s serves nothing at %s: exit code %d %s", name, ip, r.code, r.out)
		}
		return nil
	})
}

// serversReachEachOther through the tunnel between their nodes.
func serversReachEachOther(t *testing.T, c *cloud) {
	guest := &server{}
	c.servers(t, guest, "boot", "guest-3", "real-3", fmt.Sprintf("#!/bin/sh\nfor i in 1 2 3 4 5 6 7 8 9; do wget -q -T 5 -O- http://%s/ && break; sleep 2; done\n", guests["guest-1"].Fixed))
	guests["guest-3"] = guest
	if log := c.console(t, "guest-3", "guest: user data ended"); !strings.Contains(log, "hello from guest-1") {
		t.Errorf("guest-3 does not reach guest-1:\n%s", log)
	}
	c.servers(t, nil, "act", "guest-3", "delete")
	delete(guests, "guest-3")
}

// serversSurvive the pods of their nodes.
func serversSurvive(t *testing.T, c *cloud) {
	for _, service := range []string{"nova-compute", "ovn-controller", "neutron-ovn-metadata", "openvswitch"} {
		lost := c.whilePinging(t, "guest-1", func() {
			pod := strings.TrimSpace(c.kubectl(t, "get", "pods", "-l", "app.kubernetes.io/name="+service, "--field-selector=spec.nodeName=real-2", "-o", "jsonpath={.items[*].metadata.name}"))
			c.kubectl(t, "delete", "pod", pod, "--wait=true")
			eventually(t, 3*time.Minute, func() error {
				ready := c.kubectl(t, "get", "pods", "-l", "app.kubernetes.io/name="+service, "--field-selector=spec.nodeName=real-2", "-o", `jsonpath={.items[*].status.conditions[?(@.type=="Ready")].status}`)
				if ready != "True" {
					return errors.New(service + " is not ready: " + ready)
				}
				return nil
			})
			time.Sleep(3 * time.Second)
		})
		measured(t, "pings lost while the pod of "+service+" was replaced, at ten a second", lost)
		c.answers(t, "guest-1", time.Minute)
	}
	// Nova still has it in its hands.
	c.servers(t, nil, "act", "guest-1", "stop")
	c.servers(t, nil, "act", "guest-1", "start")
	c.answers(t, "guest-1", 2*time.Minute)
	c.noChanges(t)
}

// whilePinging counts the pings that are lost while something is done.
func (c *cloud) whilePinging(t *testing.T, name string, do func()) int {
	t.Helper()
	cmd, err := c.providerCommand(t, "ping", "-i", "0.1", guests[name].Floating)
	if err != nil {
		t.Fatal(err)
	}
	out := &lockedBuffer{}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	do()
	_ = cmd.Process.Signal(os.Interrupt)
	_ = cmd.Wait()
	var sent, received int
	for line := range strings.Lines(out.String()) {
		if n, _ := fmt.Sscanf(line, "%d packets transmitted, %d received", &sent, &received); n == 2 {
			return sent - received
		}
	}
	t.Fatalf("ping said:\n%s", out)
	return 0
}
