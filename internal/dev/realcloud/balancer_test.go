package realcloud_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"

	"kolla.openstack.org/kolla/internal/dev/metallb"
)

// TestBalancer opens the service of edge through MetalLB, whose speakers announce the address in the network of
// the nodes. Then the node that announces it loses its power.
func TestBalancer(t *testing.T) {
	if os.Getenv("KOLLA_METALLB") == "" {
		t.Skip("NOT RUN: MetalLB takes minutes to build; run make test-others")
	}
	b := newBalancerTest(t, balancedExposure)
	b.whole.Cleanup(func() { t.Log(b.table()) })
	take(t, b.cloud, []step{
		{"apply", b.comesUp},
		{"power cut", b.announcerGoes},
	})
}

// balancerTest is a cloud behind MetalLB.
type balancerTest struct {
	*vipTest
	metallb metallb.MetalLB
	stop    map[string]func() // the speakers, by node
}

// balancedExposure is the body of an exposure of the mode loadbalancer.
const balancedExposure = `
  vip  = "` + vip + `"
  mode = "loadbalancer"

  annotations = { "metallb.io/allow-shared-ip" = "public" }
`

// newBalancerTest returns the cloud edge with an exposure, in a cluster with the controller of MetalLB.
func newBalancerTest(t *testing.T, exposure string) *balancerTest {
	t.Helper()
	c := emptyCloud(t, 3)
	c.write(t, "cloud.hcl", edge(exposure))
	b := &balancerTest{vipTest: &vipTest{cloud: c}, stop: map[string]func(){}}
	b.cluster.Kubectl(t, "create", "namespace", "metallb-system")
	b.metallb = metallb.MetalLB{Namespace: "metallb-system", Kubectl: c.cluster.Kubectl}
	b.metallb.Start(t, c.cluster.Kubeconfig(), vip+"/32")
	return b
}

// speak starts the speaker of a node.
func (b *balancerTest) speak(t *testing.T, node string) {
	t.Helper()
	// A node reaches the API server at another address than the test does.
	config, err := clientcmd.LoadFromFile(b.cluster.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	proxy, err := clientcmd.LoadFromFile(filepath.Join(b.cluster.Dir(), "machines", node, "etc", "kube-proxy.kubeconfig"))
	if err != nil {
		t.Fatal(err)
	}
	config.Clusters[config.Contexts[config.CurrentContext].Cluster].Server = proxy.Clusters[proxy.Contexts[proxy.CurrentContext].Cluster].Server
	kubeconfig := filepath.Join(b.whole.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, kubeconfig); err != nil {
		t.Fatal(err)
	}
	first, err := b.firstOf(node)
	if err != nil {
		t.Fatal(err)
	}
	b.stop[node] = b.metallb.Speak(b.whole, kubeconfig, node, registry+"haproxy:2025.1-debian-trixie", func(argv ...string) *exec.Cmd {
		return exec.Command("nsenter", append([]string{"--net=/proc/" + first + "/ns/net"}, argv...)...)
	})
}

// comesUp checks that the Services get the address, and that clients outside reach it.
func (b *balancerTest) comesUp(t *testing.T, c *cloud) {
	for _, node := range []string{"real-2", "real-3"} {
		b.speak(t, node)
	}
	c.kolla(t, 0, "apply", "-auto-approve", "-timeout=5m")
	if got := c.kubectl(t, "get", "service", "answers-public", "-o", "jsonpath={.status.loadBalancer.ingress[*].ip}"); got != vip {
		t.Errorf("the Service has the address %q, want %s", got, vip)
	}
	c.noChanges(t)
	b.answers(t)
	t.Logf("%s announces the VIP", b.announcer(t))
}

// announcer waits until MetalLB says which node announces the VIP, and returns it.
func (b *balancerTest) announcer(t *testing.T) (node string) {
	t.Helper()
	eventually(t, func() error {
		all := b.cluster.Kubectl(t, "get", "servicel2statuses", "-A", "-o", "jsonpath={.items[*].status.node}")
		nodes := slices.Compact(strings.Fields(all)) // one for each Service
		if len(nodes) != 1 {
			return fmt.Errorf("the VIP is announced by %q", all)
		}
		node = nodes[0]
		return nil
	})
	return node
}

// announcerGoes cuts the power of the node that announces the VIP. The speaker of the other node takes over.
func (b *balancerTest) announcerGoes(t *testing.T, c *cloud) {
	node := b.announcer(t)
	b.measure(t, "MetalLB: power of the announcing node cut", func() {
		b.stop[node]() // it is a process of the test, which no node ends
		c.cluster.CutPower(t, node)
	})
	// MetalLB's record names the node without power until that is back, so only the answers tell who took over.
	b.answers(t)
	c.cluster.Restart(t, node)
	c.noChanges(t)
}
