package openstack_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers/openstack"
)

// TestGlanceInputs checks the errors for invalid stores, and that the settings of a store may
// contain a secret.
func TestGlanceInputs(t *testing.T) {
	for said, want := range map[string]string{
		`stores = {}`: "at least one store",
		`stores = { paste_deploy = { type = "http" } }`:                                                                       "no other section has it",
		`stores = { "A B" = { type = "http" } }`:                                                                              "no other section has it",
		`stores = { nas = { type = "flie" } }`:                                                                                "Did you mean \"file\"?",
		"stores = { web = { type = \"http\" } }\n  default_store = \"file\"":                                                  "none of the stores: web",
		`stores = { s3 = { type = "s3", settings = { s3_store_secret_key = secret.s3.value, s3_store_bucket = "images" } } }`: "",
	} {
		dir := t.TempDir()
		text := "cloud \"c\" {\n  release = \"2026.1\"\n}\n\nsecret \"s3\" {\n  from_env = \"S3\"\n}\n\nservice \"glance\" {\n  " + said + "\n}\n"
		for _, name := range []string{"mariadb", "memcached", "keystone"} {
			text += fmt.Sprintf("\nservice %q {}\n", name)
		}
		if err := os.WriteFile(filepath.Join(dir, "cloud.hcl"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		config, diags := lang.Load(dir, lang.Options{Catalogue: openstack.Catalogue()})
		if want != "" {
			if len(diags) != 1 || !strings.Contains(diags[0].Detail, want) || diags[0].Subject.Filename != filepath.Join(dir, "cloud.hcl") {
				t.Errorf("%s: %v, want %q", said, diags, want)
			}
			continue
		}
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		for _, o := range render(t, config, facts()) {
			if strings.HasPrefix(logical(o), "service.glance/Secret/glance-api.conf-secrets") {
				parts := fmt.Sprint(o.Data["secrets.conf"].Parts)
				if !strings.Contains(parts, "s3_store_secret_key") || strings.Contains(parts, "s3_store_bucket") {
					t.Errorf("the secret part has: %s", parts)
				}
			}
		}
	}
}

// TestOVNInputs checks the errors for invalid networks and interfaces, and for two members, which
// are worse than one.
func TestOVNInputs(t *testing.T) {
	for text, want := range map[string]string{
		`service "ovn" { replicas = 2 }`:                                                                                     "worse than one",
		`service "ovn" { replicas = 1 }`:                                                                                     "",
		`service "ovn" { replicas = 3 }`:                                                                                     "",
		`service "ovn-controller" { tunnel_interface = "eth1" }`:                                                             "",
		`service "ovn-controller" { tunnel_interface = "a name with spaces" }`:                                               "at most 15 letters",
		"service \"ovn-controller\" {\n  tunnel_interface = \"eth1\"\n  tunnel_network = \"198.51.100.0/24\"\n}":             "tunnel_network says it already",
		`service "ovn-controller" { bridges = { a = { bridge = "br-a", network = "203.0.113.0/24" } } }`:                     "",
		`service "ovn-controller" { bridges = { a = { bridge = "br-a", network = "eth2" } } }`:                               "has an interface, or a network",
		`service "ovn-controller" { bridges = { a = { bridge = "br-a", interface = "eth2", network = "203.0.113.0/24" } } }`: "has an interface, or a network",
	} {
		for _, name := range []string{"ovn", "openvswitch", "ovn-controller"} {
			if !strings.Contains(text, fmt.Sprintf("service %q", name)) {
				text += fmt.Sprintf("\nservice %q {}", name)
			}
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "cloud.hcl"), []byte("cloud \"c\" {\n  release = \"2026.1\"\n}\n"+text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, diags := lang.Load(dir, lang.Options{Catalogue: openstack.Catalogue()})
		if want == "" && diags.HasErrors() || want != "" && (len(diags) != 1 || !strings.Contains(diags[0].Detail, want)) {
			t.Errorf("%s: %v, want %q", text, diags, want)
		}
	}
}

// neutronIn loads a cloud with Neutron and other text.
func neutronIn(t *testing.T, text string) (*configs.Config, hcl.Diagnostics) {
	t.Helper()
	dir := t.TempDir()
	all := "cloud \"c\" {\n  release = \"2025.1\"\n}\n\n" + text
	for _, name := range []string{"mariadb", "memcached", "rabbitmq", "keystone", "ovn", "openvswitch"} {
		all += fmt.Sprintf("\n\nservice %q {}\n", name)
	}
	if err := os.WriteFile(filepath.Join(dir, "cloud.hcl"), []byte(all), 0o600); err != nil {
		t.Fatal(err)
	}
	return lang.Load(dir, lang.Options{Catalogue: openstack.Catalogue()})
}

// TestNeutronInputs checks the errors for invalid inputs of Neutron.
func TestNeutronInputs(t *testing.T) {
	for said, want := range map[string]string{
		`physical_networks = { a = { vlans = ["199:100"] } }`:              "FIRST:LAST, from 1 to 4094",
		`physical_networks = { a = { vlans = ["1:9", "0:9"] } }`:           "FIRST:LAST, from 1 to 4094",
		`physical_networks = { a = { vlans = ["1:4095"] } }`:               "FIRST:LAST, from 1 to 4094",
		`physical_networks = { a = { vlans = ["100"] } }`:                  "FIRST:LAST, from 1 to 4094",
		`physical_networks = { a = { vlans = ["a:100:199"] } }`:            "FIRST:LAST, from 1 to 4094",
		`physical_networks = { "a:b" = {} }`:                               "Physical networks have names of",
		`physical_networks = { a = { vlans = ["100:100", "1:4094"] } }`:    "",
		`dns_servers = ["dns.example.org"]`:                                "DNS servers are IP addresses",
		`dns_servers = ["192.0.2.0/24"]`:                                   "DNS servers are IP addresses",
		`dns_servers = ["0.0.0.0"]`:                                        "DNS servers are IP addresses",
		`dns_servers = ["192.0.2.53", "2001:db8::53"]`:                     "",
		`dns_domain = "openstacklocal"`:                                    "resolves no names in \"openstacklocal\"",
		`dns_domain = "cloud example"`:                                     "a domain such as",
		`plugins = ["ovn-router", "qoss"]`:                                 "Did you mean \"qos\"?",
		`plugins = ["router"]`:                                             "the plug-in for routers is \"ovn-router\"",
		`plugins = ["ovn-router", "networking_example.plugin.TheirClass"]`: "",
	} {
		_, diags := neutronIn(t, "service \"neutron\" {\n  "+said+"\n}\n")
		var got []string
		for _, d := range diags {
			if d.Severity == hcl.DiagError {
				got = append(got, d.Detail)
				if d.Subject.Start.Line != 6 {
					t.Errorf("%s: the error is at %s", said, d.Subject)
				}
			}
		}
		if want == "" && len(got) > 0 || want != "" && (len(got) != 1 || !strings.Contains(got[0], want)) {
			t.Errorf("%s: %q, want %q", said, got, want)
		}
	}
}

// TestNeutronPlugins checks that ML2 has the extension drivers that the plug-ins need, and that the
// resolvers of the cluster are never handed out: Neutron takes those of its pod for a family of
// addresses without a server.
func TestNeutronPlugins(t *testing.T) {
	const always = "[\"ovn-router\"]"
	for said, want := range map[string]map[string]string{
		"":                                {"service_plugins": "ovn-router", "extension_drivers": "port_security", "dns_servers": "0.0.0.0,::", "dns_domain": ""},
		`plugins = ["ovn-router", "qos"]`: {"service_plugins": "ovn-router,qos", "extension_drivers": "qos,port_security"},
		"plugins = " + always + "\n qos = true\n trunk = true\n port_forwarding = true\n segments = true\n packet_logging = true": {
			"service_plugins": "ovn-router,qos,segments,trunk,port_forwarding,log", "extension_drivers": "qos,port_security",
		},
		"plugins = [\"ovn-router\", \"qos\"]\n qos = true": {"service_plugins": "ovn-router,qos", "extension_drivers": "qos,port_security"},
		`dns_servers = []`:                             {"dns_servers": "0.0.0.0,::"},
		`dns_servers = ["192.0.2.53", "192.0.2.54"]`:   {"dns_servers": "::,192.0.2.53,192.0.2.54"},
		`dns_servers = ["2001:db8::53"]`:               {"dns_servers": "0.0.0.0,2001:db8::53"},
		`dns_servers = ["2001:db8::53", "192.0.2.53"]`: {"dns_servers": "2001:db8::53,192.0.2.53"},
		`dns_domain = "cloud.example.org."`:            {"dns_domain": "cloud.example.org", "extension_drivers": "port_security,subnet_dns_publish_fixed_ip"},
	} {
		config, diags := neutronIn(t, "service \"neutron\" {\n  "+said+"\n}\n")
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		got := map[string]string{}
		for _, o := range render(t, config, facts()) {
			if address := logical(o); address == "service.neutron/ConfigMap/neutron-server.conf" || address == "service.neutron/ConfigMap/neutron-ml2-conf.ini" {
				files, _, _ := unstructured.NestedStringMap(o.Manifest.Object, "data")
				for _, text := range files {
					for line := range strings.Lines(text) {
						if key, value, ok := strings.Cut(strings.TrimSpace(line), " = "); ok {
							got[key] = value
						}
					}
				}
			}
		}
		for key, value := range want {
			if got[key] != value {
				t.Errorf("%s: %s = %q, want %q", said, key, got[key], value)
			}
		}
	}
}

// TestNeutronWarnings checks the warnings about missing DNS servers, and about physical networks that
// only Neutron or only the nodes have.
func TestNeutronWarnings(t *testing.T) {
	const (
		noServers = "6: Servers of the cloud get no DNS server"
		bridges   = "\nservice \"ovn-controller\" {\n  bridges = { physnet1 = { bridge = \"br-ex\" } }\n}\n"
		cards     = "\nservice \"neutron-sriov\" {\n  devices = { physnet2 = [\"ens2f0\"] }\n}\n"
	)
	for text, want := range map[string][]string{
		"dns_servers = null\n}\n": {noServers},
		"dns_servers = []\n}\n":   nil,
		"dns_servers = []\n physical_networks = { physnet2 = {} }\n}\n" + bridges:                                                                      {"7: No node has a bridge or a card for physnet2,", "11: Nobody can create a network on the bridge, because Neutron does not have physnet1:"},
		"dns_servers = []\n physical_networks = { physnet2 = {} }\n}\n" + cards:                                                                        nil,
		"dns_servers = []\n}\n" + bridges + cards:                                                                                                      {"14: Nobody can create a network on the cards, because Neutron does not have physnet2:"},
		"dns_servers = []\n physical_networks = { physnet1 = {}, physnet2 = {} }\n}\n" + bridges + cards:                                               nil,
		"dns_servers = []\n physical_networks = { physnet1 = {}, physnet2 = {} }\n}\n" + bridges + strings.ReplaceAll(bridges, "physnet1", "physnet2"): nil,
	} {
		if strings.Count(text, `service "ovn-controller"`) == 2 { // of two groups of nodes
			text = strings.Replace(text, "service \"ovn-controller\" {", "role \"a\" {\n  nodes = [\"a\"]\n}\nrole \"b\" {\n  nodes = [\"b\"]\n}\nservice \"other\" {\n  definition = \"ovn-controller\"\n  role = role.a", 1)
			text = strings.Replace(text, "service \"ovn-controller\" {", "service \"ovn-controller\" {\n  role = role.b", 1)
		}
		_, diags := neutronIn(t, "service \"neutron\" {\n  "+text)
		var got []string
		for _, d := range diags {
			got = append(got, fmt.Sprintf("%d: %s", d.Subject.Start.Line, d.Detail))
		}
		if len(got) != len(want) {
			t.Errorf("%s: %q, want %q", text, got, want)
			continue
		}
		for i := range want {
			if !strings.HasPrefix(got[i], want[i]) {
				t.Errorf("%s: %q, want %q", text, got[i], want[i])
			}
		}
	}
}
