package realcloud_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"text/tabwriter"
	"time"
)

// TestModes opens the service of edge in one mode of exposures after another, each time for the same clients, and
// prints how many requests a second got through. The first row goes to a pod's own address.
func TestModes(t *testing.T) {
	if os.Getenv("KOLLA_METALLB") == "" {
		t.Skip("NOT RUN: MetalLB takes minutes to build; run make test-others")
	}
	const nodePorts = `
  vip = "` + vip + `"
  tls {}
`
	m := &modesTest{balancerTest: newBalancerTest(t, nodePorts)}
	m.whole.Cleanup(func() { t.Log(m.table()) })
	// A readiness probe in HTTP makes HAProxy speak HTTP: both ports have one, so that only TLS differs.
	m.edit(t, "    ports    = [\"web\", \"secure\"]\n", "    ports    = [\"web\"]\n")
	m.edit(t, "  workload \"server\" {\n", `  workload "encrypted" {
    kind     = "Deployment"
    image    = "haproxy"
    user     = 42454
    command  = ["haproxy", "-db", "-f", "/etc/answers/answers.cfg"]
    ports    = ["secure"]
    config   = ["answers.cfg"]
    replicas = 2

    ready {
      http = "/"
      port = "secure"
    }
  }

  workload "server" {
`)
	take(t, m.cloud, []step{
		{"nodeport", func(t *testing.T, c *cloud) {
			const exposed = "  expose = exposure.public\n"
			c.edit(t, exposed, exposed+"  port \"web\" { node_port = 30080 }\n  port \"secure\" { node_port = 30443 }\n")
			c.kolla(t, 0, "apply", "-auto-approve", "-timeout=10m")
			c.encrypted = true // HAProxy needs the certificate
			c.haproxy(t)
			c.encrypted = false
			m.direct(t)
			m.through(t, "nodeport, with HAProxy outside", true)
		}},
		{"managed", m.mode("managed", nodePorts, managedExposure, true)},
		{"loadbalancer", func(t *testing.T, c *cloud) {
			for _, node := range []string{"real-2", "real-3"} {
				m.speak(t, node)
			}
			// The certificate of the exposure goes, and with it its key.
			m.mode("loadbalancer, with MetalLB", managedExposure, balancedExposure, false,
				"-delete-data=exposure.public/Secret/exposure-public", "-delete-data=exposure.public/Secret/exposure-public-ca", "-max-deletes=20")(t, c)
		}},
	})
}

// modesTest is a cloud whose exposure changes its mode.
type modesTest struct {
	*balancerTest
	rows []throughput
}

// throughput is the result of the same clients with one way to the pods.
type throughput struct {
	way       string
	perSecond float64
	median    time.Duration
	late      time.Duration
}

// mode returns a step that changes the exposure, and sends requests through it.
func (m *modesTest) mode(way, before, after string, encrypted bool, options ...string) func(*testing.T, *cloud) {
	return func(t *testing.T, c *cloud) {
		c.edit(t, before, after)
		c.kolla(t, 0, append([]string{"apply", "-auto-approve", "-timeout=10m"}, options...)...)
		c.noChanges(t)
		m.through(t, way, encrypted)
	}
}

// through sends requests to the VIP, with and without TLS.
func (m *modesTest) through(t *testing.T, way string, encrypted bool) {
	t.Helper()
	m.answers(t)
	m.send(t, way, orders{}, behindVIP)
	if !encrypted {
		return
	}
	m.kolla(t, 0, "exposure", "certificate", "-ca", "-out", caFile)
	m.encrypted = true
	m.send(t, way+", TLS", orders{}, m.at("8443")+"/")
	m.encrypted = false
}

// direct sends requests to the address of a pod, through its node.
func (m *modesTest) direct(t *testing.T) {
	t.Helper()
	pod := strings.Fields(m.kubectl(t, "get", "pods", "-l", "kolla.openstack.org/service=answers", "-o", "jsonpath={.items[0].status.podIP} {.items[0].status.hostIP}"))
	if len(pod) != 2 {
		t.Fatalf("a pod has the addresses %q", pod)
	}
	m.send(t, "a pod's own address", orders{Routes: []string{pod[0] + " via " + pod[1]}}, "http://"+pod[0]+":8080/")
}

// send lets clients send requests without a pause for some seconds.
func (m *modesTest) send(t *testing.T, way string, o orders, url string) {
	t.Helper()
	const clients = 16
	o.KeepAlive = true
	for range clients {
		o.Clients = append(o.Clients, client{Requests: []request{{Method: "GET", URL: url, Says: "answered"}}})
	}
	r := m.clientsRun(t, func() { time.Sleep(10 * time.Second) }, o)[""]
	if r == nil || r.Failed > 0 {
		t.Fatalf("through %s, requests failed: %+v", way, r)
	}
	row := throughput{way, float64(r.Requests) / r.Took.Seconds(), r.Median, r.Late}
	m.rows = append(m.rows, row)
	measured(t, way+": requests a second, median and 99th percentile", fmt.Sprintf("%.0f, %s, %s", row.perSecond, row.median, row.late))
}

// table returns the measurements as text.
func (m *modesTest) table() string {
	var out strings.Builder
	fmt.Fprintln(&out, "Requests through exposures, on real nodes:")
	table := tabwriter.NewWriter(&out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(table, "WAY\tREQUESTS A SECOND\tOF A POD'S OWN\tMEDIAN\t99TH PERCENTILE")
	for _, r := range m.rows {
		fmt.Fprintf(table, "%s\t%.0f\t%.2f\t%.1f ms\t%.1f ms\n", r.way, r.perSecond, r.perSecond/m.rows[0].perSecond, r.median.Seconds()*1000, r.late.Seconds()*1000)
	}
	_ = table.Flush()
	return out.String()
}
