package realcloud_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// nobodyElseConnects checks the cloud's network policies: its services reach each other, the
// VIP answers, probes and DNS work, and a foreign pod only reaches exposed ports. The pod
// network of the test's nodes has no policy engine. The step replaces it: it translates the
// live policies into iptables rules, once, for the existing pods.
func nobodyElseConnects(t *testing.T, c *cloud) {
	c.cluster.Kubectl(t, "create", "namespace", "tenant")
	image := c.kubectl(t, "get", "deployment", "keystone-api", "-o", "jsonpath={.spec.template.spec.containers[0].image}")
	for _, where := range []string{namespace, "tenant"} {
		c.cluster.Kubectl(t, "-n", where, "run", "foreign", "--image="+image, "--image-pull-policy=IfNotPresent", "--overrides="+strings.Replace(restrictedPod, "IMAGE", image, 1), "--command", "--", "sleep", "3600")
		c.cluster.Kubectl(t, "-n", where, "wait", "--for=condition=Ready", "--timeout="+patience.String(), "pod/foreign")
	}
	targets := c.addressesOfPods(t)
	ports := []int{3306, 4369, 5000, 5672, 11211, 15672, 15692, 25672}
	before := c.connections(t, "tenant", "foreign", targets, ports)
	if !before["rabbitmq:4369"] || !before["rabbitmq:25672"] || !before["memcached:11211"] {
		t.Fatalf("without policies a foreign pod reaches only %v: the test shows nothing", before)
	}
	c.enforce(t)
	for _, where := range []string{namespace, "tenant"} {
		for target, reached := range c.connections(t, where, "foreign", targets, ports) {
			if reached != (target == "keystone:5000") {
				t.Errorf("a foreign pod of %s reaches %s: %t", where, target, reached)
			}
		}
	}
	wanted := map[string]bool{"mariadb:3306": true, "memcached:11211": true, "keystone:5000": true}
	for target, reached := range c.connections(t, namespace, "deployment/keystone-api", targets, ports) {
		if reached != wanted[target] {
			t.Errorf("keystone reaches %s: %t, want %t", target, reached, wanted[target])
		}
	}
	c.eventualToken(t)
	time.Sleep(45 * time.Second) // longer than failing probes need to have consequences
	if out := c.kubectl(t, "get", "pods", "-o", `jsonpath={range .items[?(@.status.phase=="Running")]}{.metadata.name} {.status.containerStatuses[0].ready} {.status.containerStatuses[0].restartCount}{"\n"}{end}`); strings.Contains(out, " false ") {
		t.Errorf("pods are not ready with policies:\n%s", out)
	}
	c.token(t)
	for _, where := range []string{namespace, "tenant"} {
		c.cluster.Kubectl(t, "-n", where, "delete", "pod", "foreign", "--now")
	}
}

const restrictedPod = `{"spec": {"automountServiceAccountToken": false, "securityContext": {"runAsUser": 42425, "runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"}}, "containers": [{"name": "foreign", "image": "IMAGE", "imagePullPolicy": "IfNotPresent", "command": ["sleep", "3600"], "securityContext": {"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}}}]}}`

// addressesOfPods returns the address of one pod of each service, by the name of the service.
func (c *cloud) addressesOfPods(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, pod := range list[v1.PodList](t, c, "pods", "-A").Items {
		if name := pod.Labels["kolla.openstack.org/service"]; name != "" && pod.Status.Phase == v1.PodRunning && pod.DeletionTimestamp == nil && pod.Namespace == namespace {
			out[name] = pod.Status.PodIP
		}
	}
	return out
}

// connections reports for each "service:port" whether a pod reaches it.
func (c *cloud) connections(t *testing.T, where, pod string, targets map[string]string, ports []int) map[string]bool {
	t.Helper()
	input, err := json.Marshal(map[string]any{"targets": targets, "ports": ports})
	if err != nil {
		t.Fatal(err)
	}
	const script = `
import concurrent.futures, json, socket, sys
asked = json.loads(sys.argv[1])
def connect(name, address, port):
    try:
        socket.create_connection((address, port), 1).close()
        return name + ":" + str(port) + " open"
    except OSError:
        return name + ":" + str(port) + " closed"
with concurrent.futures.ThreadPoolExecutor(32) as pool:
    for answer in [pool.submit(connect, *target, port) for target in asked["targets"].items() for port in asked["ports"]]:
        print(answer.result())
`
	out := map[string]bool{}
	for line := range strings.Lines(c.cluster.Kubectl(t, "-n", where, "exec", pod, "--", "python3", "-c", script, string(input))) {
		target, state, _ := strings.Cut(strings.TrimSpace(line), " ")
		out[target] = state == "open"
	}
	return out
}

func list[L any](t *testing.T, c *cloud, args ...string) L {
	t.Helper()
	var out L
	if err := json.Unmarshal([]byte(c.cluster.Kubectl(t, append(append([]string{"get"}, args...), "-o", "json")...)), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// enforce makes all nodes enforce the policies until the test ends.
func (c *cloud) enforce(t *testing.T) {
	t.Helper()
	rules := rulesOf(t, list[networking.NetworkPolicyList](t, c, "networkpolicies", "-A").Items, list[v1.PodList](t, c, "pods", "-A").Items)
	for _, node := range []string{"real-1", "real-2", "real-3"} {
		if err := c.inNetworkOf(node, rules, "iptables-restore", "-w", "--noflush"); err != nil {
			t.Fatal(err)
		}
		if err := c.inNetworkOf(node, "", "iptables", "-w", "-I", "FORWARD", "-j", "POLICIES"); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			for _, argv := range [][]string{{"-D", "FORWARD", "-j", "POLICIES"}, {"-F", "POLICIES"}, {"-X", "POLICIES"}} {
				if err := c.inNetworkOf(node, "", append([]string{"iptables", "-w"}, argv...)...); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// inNetworkOf runs a command in the network of a node, with a standard input.
func (c *cloud) inNetworkOf(node, input string, argv ...string) error {
	pid, err := c.processOf(node)
	if err != nil {
		return err
	}
	cmd := exec.Command("nsenter", append([]string{"--net=/proc/" + pid + "/ns/net"}, argv...)...)
	cmd.Stdin = strings.NewReader(input)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s on %s: %w: %s", argv, node, err, out)
	}
	return nil
}

// cutOff takes a node and its pods from the network of the nodes, until heal is called or the test ends.
func (c *cloud) cutOff(t *testing.T, node string) (heal func()) {
	t.Helper()
	rules := [][]string{{"INPUT", "-i", "eth0"}, {"OUTPUT", "-o", "eth0"}, {"FORWARD", "-i", "eth0"}, {"FORWARD", "-o", "eth0"}}
	change := func(how string) {
		for _, rule := range rules {
			if err := c.inNetworkOf(node, "", slices.Concat([]string{"iptables", "-w", how}, rule, []string{"-j", "DROP"})...); err != nil {
				t.Error(err)
			}
		}
	}
	heal = sync.OnceFunc(func() { change("-D") })
	t.Cleanup(heal)
	change("-I")
	return heal
}

// processOf returns a process of a node.
func (c *cloud) processOf(node string) (pid string, err error) {
	folders, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return "", err
	}
	for _, folder := range folders {
		line, _ := os.ReadFile(filepath.Join(folder, "cmdline"))
		if bytes.Contains(line, []byte("--node-ip=")) && bytes.Contains(line, []byte("--hostname-override="+node)) {
			return filepath.Base(folder), nil
		}
	}
	return "", errors.New("no kubelet runs on " + node)
}

// rulesOf returns the policies as input for iptables-restore. A connection to an isolated pod
// that no policy permits is rejected.
func rulesOf(t *testing.T, policies []networking.NetworkPolicy, pods []v1.Pod) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("*filter\n:POLICIES - [0:0]\n-A POLICIES -m conntrack --ctstate ESTABLISHED,RELATED -j RETURN\n")
	isolated := map[string]bool{}
	for _, p := range policies {
		for _, to := range chosen(t, &p.Spec.PodSelector, p.Namespace, pods) {
			isolated[to.Status.PodIP] = true
			for _, rule := range p.Spec.Ingress {
				for _, from := range sources(t, p.Namespace, rule.From, pods) {
					for _, port := range portsOf(rule.Ports) {
						fmt.Fprintf(&b, "-A POLICIES -s %s -d %s%s -j RETURN\n", from, to.Status.PodIP, port)
					}
				}
			}
		}
	}
	for address := range isolated {
		fmt.Fprintf(&b, "-A POLICIES -d %s -j REJECT\n", address)
	}
	b.WriteString("COMMIT\n")
	return b.String()
}

func portsOf(ports []networking.NetworkPolicyPort) []string {
	if len(ports) == 0 {
		return []string{""}
	}
	var out []string
	for _, p := range ports {
		out = append(out, " -p "+strings.ToLower(string(*p.Protocol))+" --dport "+strconv.Itoa(p.Port.IntValue()))
	}
	return out
}

func sources(t *testing.T, namespace string, peers []networking.NetworkPolicyPeer, pods []v1.Pod) []string {
	t.Helper()
	if len(peers) == 0 {
		return []string{"0.0.0.0/0"}
	}
	var out []string
	for _, peer := range peers {
		if peer.IPBlock != nil {
			out = append(out, peer.IPBlock.CIDR)
			continue
		}
		if peer.NamespaceSelector != nil {
			t.Fatal("this test knows no peers of other namespaces")
		}
		for _, pod := range chosen(t, peer.PodSelector, namespace, pods) {
			out = append(out, pod.Status.PodIP)
		}
	}
	return out
}

// chosen returns the pods with an address in a namespace that match a selector.
func chosen(t *testing.T, selector *metav1.LabelSelector, namespace string, pods []v1.Pod) []v1.Pod {
	t.Helper()
	s, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		t.Fatal(err)
	}
	var out []v1.Pod
	for _, pod := range pods {
		if pod.Namespace == namespace && pod.Status.Phase == v1.PodRunning && pod.Status.PodIP != "" && s.Matches(labels.Set(pod.Labels)) {
			out = append(out, pod)
		}
	}
	return out
}
