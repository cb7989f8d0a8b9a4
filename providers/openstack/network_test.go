package openstack_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
)

// end is one end of a connection: a pod, or an address that belongs to no pod.
type end struct {
	name      string
	namespace string
	labels    map[string]string // nil: no pod
	address   string
	// ownNode: this is the node of the pod that it connects to.
	ownNode bool
}

// open reports whether the policies allow a connection to a port of a pod. Everybody may connect to
// a pod that no policy selects. To any other pod, its node may connect, and the peers of an ingress
// rule on the ports of the rule. A rule without peers is for everybody.
// https://kubernetes.io/docs/concepts/services-networking/network-policies/
func open(t *testing.T, policies []networking.NetworkPolicy, from, to end, protocol v1.Protocol, port int) bool {
	if from.ownNode {
		return true
	}
	isolated := false
	for i := range policies {
		p := &policies[i]
		if p.Namespace != to.namespace || !selects(t, &p.Spec.PodSelector, to.labels) || !slices.Contains(p.Spec.PolicyTypes, networking.PolicyTypeIngress) {
			continue
		}
		isolated = true
		for _, rule := range p.Spec.Ingress {
			if onPort(rule.Ports, protocol, port) && isFrom(t, p.Namespace, rule.From, from) {
				return true
			}
		}
	}
	return !isolated
}

func onPort(ports []networking.NetworkPolicyPort, protocol v1.Protocol, port int) bool {
	return len(ports) == 0 || slices.ContainsFunc(ports, func(p networking.NetworkPolicyPort) bool {
		return *p.Protocol == protocol && (p.Port == nil || p.Port.IntValue() == port)
	})
}

func isFrom(t *testing.T, namespace string, peers []networking.NetworkPolicyPeer, from end) bool {
	return len(peers) == 0 || slices.ContainsFunc(peers, func(p networking.NetworkPolicyPeer) bool {
		switch {
		case p.IPBlock != nil:
			return netip.MustParsePrefix(p.IPBlock.CIDR).Contains(netip.MustParseAddr(from.address))
		case from.labels == nil:
			return false
		case p.NamespaceSelector == nil && from.namespace != namespace:
			return false
		case p.NamespaceSelector != nil && !selects(t, p.NamespaceSelector, map[string]string{v1.LabelMetadataName: from.namespace}):
			return false
		}
		return p.PodSelector == nil || selects(t, p.PodSelector, from.labels)
	})
}

// read caches parsed selectors, because each is used for many pods.
var read sync.Map // *metav1.LabelSelector to labels.Selector

func selects(t *testing.T, selector *metav1.LabelSelector, of map[string]string) bool {
	s, known := read.Load(selector)
	if !known {
		parsed, err := metav1.LabelSelectorAsSelector(selector)
		if err != nil {
			t.Fatal(err)
		}
		s, _ = read.LoadOrStore(selector, parsed)
	}
	return s.(labels.Selector).Matches(labels.Set(of))
}

func policiesOf(t *testing.T, objects []providers.Object) []networking.NetworkPolicy {
	t.Helper()
	var out []networking.NetworkPolicy
	for _, o := range objects {
		if o.Manifest.GetKind() == "NetworkPolicy" {
			out = append(out, networking.NetworkPolicy{})
			convert(t, o.Manifest.Object, &out[len(out)-1])
		}
	}
	return out
}

// endsOf returns a pod of every job and workload, by name.
func endsOf(t *testing.T, objects []providers.Object) map[string]end {
	t.Helper()
	out := map[string]end{}
	for _, o := range objects {
		if _, _, ok := podOf(t, o); !ok {
			continue
		}
		found, _, _ := unstructured.NestedStringMap(o.Manifest.Object, "spec", "template", "metadata", "labels")
		name := o.Address.Name
		if o.Family.Name != "" {
			name = o.Family.Name
		}
		out[name] = end{name: name, namespace: o.Manifest.GetNamespace(), labels: found, address: "10.244.0.9"}
	}
	return out
}

// outsiders may only connect to exposed ports.
func outsiders(namespace string) []end {
	return []end{
		{name: "a foreign pod beside them", namespace: namespace, labels: map[string]string{"app": "x"}, address: "10.244.0.66"},
		{name: "a foreign pod that calls itself keystone", namespace: "tenant", labels: map[string]string{providers.LabelService: "keystone", providers.LabelCloud: "multinode"}, address: "10.244.0.67"},
		{name: "a client outside", address: "203.0.113.5"},
		{name: "another node", address: "10.200.0.12"},
	}
}

// TestNobodyElse checks all pairs of pods of the examples, and outsiders: a service can be reached
// only by services that refer to it, and only on its ports.
func TestNobodyElse(t *testing.T) {
	// These connections are allowed in addition to connections within a service and connections
	// through an exposure. reached has their ports.
	reached := map[string][]int{"mariadb": {3306}, "memcached": {11211}, "rabbitmq": {5672, 15672, 15692}, "nova": {8775}}
	whole := []string{
		"barbican → mariadb", "barbican → memcached", "barbican → rabbitmq",
		"cinder → mariadb", "cinder → memcached", "cinder → rabbitmq",
		"glance → mariadb", "glance → memcached",
		"heat → mariadb", "heat → memcached", "heat → rabbitmq",
		"horizon → memcached",
		"keystone → mariadb", "keystone → memcached",
		"placement → mariadb", "placement → memcached",
	}
	servers := []string{
		"neutron → mariadb", "neutron → memcached", "neutron → rabbitmq",
		"nova → mariadb", "nova → memcached", "nova → rabbitmq",
		"neutron-ovn-metadata → nova", "nova-compute → nova",
		"nova-compute → mariadb", "nova-compute → memcached", "nova-compute → rabbitmq",
	}
	all := slices.Concat(servers, whole)
	wanted := map[string][]string{
		"all-in-one":    all,
		"multinode":     all,
		"real-keystone": {"keystone → mariadb", "keystone → memcached"},
	}
	outside := []string{
		"barbican:9311", "cinder:8776", "glance:9292", "heat:8000", "heat:8004", "horizon:8080", "keystone:5000", "placement:8780",
		"neutron:9696", "nova:6080", "nova:8774",
	}
	ports := []int{22, 3306, 4369, 5000, 5672, 6080, 8000, 8004, 8080, 8774, 8775, 8776, 8780, 9292, 9311, 9696, 11211, 15672, 15692, 25672}
	for _, example := range []string{"all-in-one", "multinode", "real-keystone"} {
		f := facts()
		f.Nodes = nil
		objects := render(t, load(t, "../../examples/"+example), f)
		policies, pods := policiesOf(t, objects), endsOf(t, objects)
		got := map[string]bool{}
		for _, to := range pods {
			for _, port := range ports {
				for _, from := range pods {
					a, b := from.labels[providers.LabelService], to.labels[providers.LabelService]
					if open(t, policies, from, to, v1.ProtocolTCP, port) {
						got[fmt.Sprintf("%s → %s:%d", a, b, port)] = a != b
					} else if a == b {
						t.Errorf("%s: %s cannot connect to %s:%d, of the same service", example, from.name, to.name, port)
					}
					if a != b && open(t, policies, from, to, v1.ProtocolUDP, port) {
						t.Errorf("%s: %s connects to %s:%d over UDP", example, from.name, to.name, port)
					}
				}
				for _, from := range outsiders(namespaceOf(objects)) {
					exposed := slices.Contains(outside, fmt.Sprintf("%s:%d", to.labels[providers.LabelService], port))
					if is := open(t, policies, from, to, v1.ProtocolTCP, port); is != exposed {
						t.Errorf("%s: %s connects to %s:%d: %t, want %t", example, from.name, to.name, port, is, exposed)
					}
				}
				if !open(t, policies, end{name: "its node", address: "10.200.0.11", ownNode: true}, to, v1.ProtocolTCP, port) {
					t.Errorf("%s: the kubelet cannot probe %s:%d", example, to.name, port)
				}
			}
		}
		var others []string
		for pair, other := range got {
			if other && !slices.ContainsFunc(outside, func(to string) bool { return strings.HasSuffix(pair, "→ "+to) }) {
				others = append(others, pair)
			}
		}
		var want []string
		for _, pair := range wanted[example] {
			_, to, _ := strings.Cut(pair, " → ")
			for _, port := range reached[to] {
				want = append(want, fmt.Sprintf("%s:%d", pair, port))
			}
		}
		slices.Sort(want)
		slices.Sort(others)
		if diff := cmp.Diff(want, others); diff != "" {
			t.Errorf("%s: connections between services (-want +got):\n%s", example, diff)
		}
	}
}

// TestAllowed checks everything that opens a port: allow blocks, manifests, pods in the network of
// their node, and depends_on. It also checks the setting that switches policies off.
func TestAllowed(t *testing.T) {
	const source = `
service "mariadb" {}
service "rabbitmq" {
  allow "prometheus" {
    ports     = ["metrics"]
    namespace = "monitoring"
    pods      = { app = "prometheus" }
  }
  allow "operators" {
    ports = ["15672"]
    cidrs = ["192.0.2.0/24"]
  }
  allow "neighbours" {
    namespace = "tenants"
  }
}
service "memcached" {}
service "open" {
  definition     = "memcached"
  network_policy = false
}
definition "agent" {
  workload "agent" {
    kind         = "DaemonSet"
    image        = "registry.example.org/agent:1"
    host_network = true
    env          = { QUEUE = service.rabbitmq.address }
  }
  allow "all" {
    ports = ["9100"]
    cidrs = ["0.0.0.0/0"]
  }
}
service "agent" { depends_on = [service.memcached] }
manifest "tool" {
  object = {
    apiVersion = "batch/v1"
    kind       = "CronJob"
    metadata   = { name = "tool", namespace = "tools" }
    spec = { jobTemplate = { spec = { template = {
      metadata = { labels = { app = "tool" } }
      spec     = { containers = [{ name = "a", image = "a", env = [{ name = "DB", value = service.mariadb.address }] }] }
    } } } }
  }
}
`
	f := facts()
	f.Nodes[0].Addresses = []string{"10.200.0.11", "fd00::11"}
	objects := render(t, written(t, source), f)
	policies, pods := policiesOf(t, objects), endsOf(t, objects)
	prometheus := end{namespace: "monitoring", labels: map[string]string{"app": "prometheus"}, address: "10.244.1.1"}
	cases := []struct {
		from end
		to   string
		port int
		want bool
	}{
		{prometheus, "rabbitmq-server", 15692, true},
		{prometheus, "rabbitmq-server", 5672, false},
		{prometheus, "mariadb-server", 3306, false},
		{end{namespace: "monitoring", labels: map[string]string{"app": "grafana"}, address: "10.244.1.2"}, "rabbitmq-server", 15692, false},
		{end{namespace: "elsewhere", labels: map[string]string{"app": "prometheus"}, address: "10.244.1.3"}, "rabbitmq-server", 15692, false},
		{end{address: "192.0.2.7"}, "rabbitmq-server", 15672, true},
		{end{address: "192.0.2.7"}, "rabbitmq-server", 25672, false},
		{end{address: "192.0.3.7"}, "rabbitmq-server", 15672, false},
		{end{namespace: "tenants", labels: map[string]string{"any": "pod"}, address: "10.244.1.4"}, "rabbitmq-server", 5672, true},
		{end{namespace: "tenants", labels: map[string]string{"any": "pod"}, address: "10.244.1.4"}, "rabbitmq-server", 4369, false},
		{end{address: "10.200.0.11"}, "rabbitmq-server", 5672, true}, // the agent
		{end{address: "fd00::11"}, "rabbitmq-server", 5672, true},
		{end{address: "10.200.0.12"}, "rabbitmq-server", 5672, false},
		{end{address: "10.200.0.11"}, "memcached-server", 11211, true}, // by depends_on
		{end{namespace: "tools", labels: map[string]string{"app": "tool"}, address: "10.244.1.5"}, "mariadb-server", 3306, true},
		{end{namespace: "openstack", labels: map[string]string{"app": "tool"}, address: "10.244.1.5"}, "mariadb-server", 3306, false},
		{prometheus, "open-server", 11211, true},
	}
	for _, c := range cases {
		to, ok := pods[c.to]
		if !ok {
			t.Fatalf("there is no %s", c.to)
		}
		if got := open(t, policies, c.from, to, v1.ProtocolTCP, c.port); got != c.want {
			t.Errorf("%+v connects to %s:%d: %t, want %t", c.from, c.to, c.port, got, c.want)
		}
	}
	config := written(t, "service \"memcached\" {}\nservice \"mariadb\" {\n  network_policy = true\n}\n", "network_policy = false")
	off := render(t, config, facts())
	if got := policiesOf(t, off); len(got) != 1 || got[0].Name != "mariadb" {
		t.Errorf("where the cloud says no, there are %d policies", len(got))
	}
	for _, o := range objects {
		if spec, _, ok := podOf(t, o); ok && (spec.EnableServiceLinks == nil || *spec.EnableServiceLinks) {
			t.Errorf("%s has service links, which nobody asked for", o.Address)
		}
	}
}

// TestKeystoneReadsNoEncodedPassword checks that kolla refuses passwords with which db_sync would
// fail and show the password.
func TestKeystoneReadsNoEncodedPassword(t *testing.T) {
	const source = `
service "mariadb" {}
service "memcached" {}
service "keystone" {
  secret "db-keystone" { from_env = "P" }
}
`
	for value, want := range map[string]bool{"Plain-1_2.3": true, "p@ss": false, "50%": false, "it's": false} {
		f := facts()
		f.Given = func(*configs.SecretSource) (string, error) { return value, nil }
		_, diags := rendered(written(t, source), f)
		if diags.HasErrors() == want || !want && !strings.Contains(diags.Error(), "percent-encoded") {
			t.Errorf("%q: %v", value, diags)
		}
	}
}

// TestForeignValues checks that a value from elsewhere is refused if the file would read it as
// syntax. The error is at the block that declares the source, and does not show the value.
func TestForeignValues(t *testing.T) {
	const definition = `
definition "app" {
  secret "p" {}
  config "app.conf" {
    path   = "/etc/app.conf"
    values = { DEFAULT = { %s } }
  }
  config "app.sql" {
    format  = "raw"
    path    = "/etc/app.sql"
    content = "SET PASSWORD '${secret.p.value}';"
  }
  config "app.json" {
    format  = "raw"
    path    = "/etc/app.json"
    content = jsonencode({ p = secret.p.value })
  }
  config "app.sh" {
    format  = "raw"
    path    = "/etc/app.sh"
    content = "login \"${secret.p.value}\"\n"
  }
  workload "w" {
    kind   = "Deployment"
    image  = "registry.example.org/app:1"
    config = [%s]
    env    = { P = secret.p.value }
  }
}
service "app" {
  secret "p" { from_env = "P" }
}
`
	const plainOption, urlOption = `p = secret.p.value`, `p = "db://u:${secret.p.value}@h/d"`
	cases := []struct {
		name, option, file, value string
		want                      string // part of the detail; empty: no error
	}{
		{"a quote in SQL", plainOption, "app.sql", "it's-secret", ""},
		{"a backslash in SQL", plainOption, "app.sql", `secret\`, "app.sql of service \"app\": it has a backslash"},
		{"quotes in JSON", plainOption, "app.json", `se"cret\'`, ""},
		{"a quote in a script", plainOption, "app.sh", "secret'; reboot", "app.sh of service \"app\": it has a quote"},
		{"a name in a config file", plainOption, "app.conf", "my$secret", "app.conf of service \"app\": it has a dollar sign"},
		{"a name in a URL of a config file", urlOption, "app.conf", "my$secret@/", ""},
		{"a blank in a config file", plainOption, "app.conf", "hunter2 ", "it begins or ends with a blank"},
		{"two lines", plainOption, "app.conf", "secret\n[x]", "A secret of several lines"},
		{"NUL", plainOption, "app.json", "secret\x00", "A secret of several lines"},
	}
	for _, c := range cases {
		f := facts()
		f.Given = func(*configs.SecretSource) (string, error) { return c.value, nil }
		source := fmt.Sprintf(definition, c.option, `"`+c.file+`"`)
		before, _, _ := strings.Cut(source, `secret "p" { from_env`)
		line := 2 + strings.Count(before, "\n") // after the cloud block
		config := written(t, source)
		_, diags := rendered(config, f)
		switch {
		case c.want == "" && diags.HasErrors():
			t.Errorf("%s: %v", c.name, diags)
		case c.want != "" && !strings.Contains(diags.Error(), c.want):
			t.Errorf("%s: %v", c.name, diags)
		case strings.Contains(diags.Error(), c.value), strings.Contains(diags.Error(), "my$"):
			t.Errorf("%s: the value is shown: %v", c.name, diags)
		case c.want != "" && diags[0].Subject.Start.Line != line:
			t.Errorf("%s: it points at %s, want line %d", c.name, diags[0].Subject, line)
		}
	}
}
