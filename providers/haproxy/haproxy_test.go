package haproxy_test

import (
	"bytes"
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"kolla.openstack.org/kolla/internal/dev/golden"
	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers/haproxy"
	"kolla.openstack.org/kolla/providers/secrets"
)

var hypervisor = map[string]string{"node.kubernetes.io/instance-type": "hypervisor"}

// goldenCases are the exposures whose files are in testdata.
var goldenCases = map[string]struct {
	dir, exposure string
	nodes         []haproxy.Node
}{
	"multinode": {"../../examples/multinode", "public", []haproxy.Node{
		{Name: "ctl-1", Address: "198.51.100.1"},
		{Name: "cmp-2", Address: "198.51.100.12", Labels: hypervisor},
		{Name: "cmp-1", Address: "198.51.100.11", Labels: hypervisor},
		{Name: "cmp-3", Address: "198.51.100.13", Labels: hypervisor, Leaving: true},
	}},
	"mixed": {"testdata/mixed", "outside", []haproxy.Node{
		{Name: "b.example.org", Address: "2001:db8:1::b", Labels: map[string]string{"zone": "edge"}},
		{Name: "a.example.org", Address: "198.51.100.1", Labels: map[string]string{"zone": "edge"}},
		{Name: "c.example.org", Address: "198.51.100.2", Labels: map[string]string{"zone": "core"}},
	}},
	"tls": {"testdata/tls", "outside", []haproxy.Node{{Name: "a", Address: "198.51.100.1"}}},
	// HAProxy in the cluster needs no nodes.
	"managed":     {"testdata/managed", "outside", []haproxy.Node{{}}},
	"managed-tls": {"testdata/managed", "secure", []haproxy.Node{{}}},
	"any-node": {"testdata/mixed", "other", []haproxy.Node{
		{Name: "a", Address: "198.51.100.1"},
		{Name: "b", Address: "198.51.100.2", Labels: map[string]string{"node.kubernetes.io/exclude-from-external-load-balancers": ""}},
	}},
}

func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.golden.cfg")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range goldenCases {
		path := filepath.Join("testdata", name+".golden.cfg")
		files = slices.DeleteFunc(files, func(file string) bool { return file == path })
		t.Run(name, func(t *testing.T) {
			got, diags := render(t, load(t, c.dir), c.exposure, c.nodes)
			if len(diags) > 0 {
				t.Fatal(diags)
			}
			slices.Reverse(c.nodes)
			if again, _ := render(t, load(t, c.dir), c.exposure, c.nodes); !bytes.Equal(got, again) {
				t.Errorf("nodes in another order make another file:\n%s", cmp.Diff(string(got), string(again)))
			}
			golden.Compare(t, path, got)
			if !bytes.HasPrefix(got, []byte(haproxy.Signature)) {
				t.Error("the file does not start with the signature")
			}
		})
	}
	for _, file := range files {
		t.Errorf("%s belongs to no case", file)
	}
}

// TestAccepted checks that HAProxy itself accepts the golden files without a warning.
func TestAccepted(t *testing.T) {
	program := findHAProxy(t)
	files, err := filepath.Glob("testdata/*.golden.cfg")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	dir := t.TempDir()
	certificate := filepath.Join(dir, "outside.pem")
	if err := os.WriteFile(certificate, secrets.ServerPEM(newAuthority(t).certificate(t, "outside")), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		file = filepath.Join(dir, filepath.Base(file))
		if err := os.WriteFile(file, onThisMachine(t, content, certificate), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(program, "-dW", "-c", "-f", file).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", file, err, out)
		}
	}
}

// onThisMachine replaces the paths of certificates in a file, and the server of DNS.
func onThisMachine(t *testing.T, content []byte, certificate string) []byte {
	t.Helper()
	pair, err := os.ReadFile(certificate)
	if err != nil {
		t.Fatal(err)
	}
	for path, ending := range map[string]string{filepath.Join(filepath.Dir(certificate), "tls.crt"): "CERTIFICATE", filepath.Join(filepath.Dir(certificate), "tls.key"): "PRIVATE KEY"} {
		var part []byte
		for block, rest := pem.Decode(pair); block != nil; block, rest = pem.Decode(rest) {
			if strings.HasSuffix(block.Type, ending) {
				part = append(part, pem.EncodeToMemory(block)...)
			}
		}
		if err := os.WriteFile(path, part, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	content = bytes.ReplaceAll(content, []byte("parse-resolv-conf"), []byte("nameserver test 127.0.0.1:53"))
	content = bytes.ReplaceAll(content, []byte("/etc/haproxy/outside.pem"), []byte(certificate))
	return bytes.ReplaceAll(content, []byte(haproxy.CertificateDir), []byte(filepath.Dir(certificate)))
}

// TestMistakes checks the diagnostics for configurations and nodes that no file can be made from.
func TestMistakes(t *testing.T) {
	good := []haproxy.Node{{Name: "n1", Address: "198.51.100.1"}, {Name: "n2", Address: "198.51.100.2"}}
	cases := map[string]struct {
		nodes []haproxy.Node
		edit  func(*configs.Config)
		want  string
		at    int // line
		warns bool
	}{
		"another mode": {nodes: good, edit: func(c *configs.Config) { c.Exposures[0].Mode = configs.ModeLoadBalancer }, want: "Nothing to configure", at: 10},
		"not exposed":  {nodes: good, edit: func(c *configs.Config) { c.Services[0].Exposure = "" }, want: "Nothing is exposed", at: 10},
		"no port for the outside": {
			nodes: good, edit: func(c *configs.Config) { c.Services[0].Ports[0].Exposed = false },
			want: "Nothing is exposed", at: 10,
		},
		"no node port": {
			nodes: good, edit: func(c *configs.Config) { c.Services[0].Ports[0].NodePort = 0 },
			want: `The node port of port "web" of service "web" is not fixed`, at: 19,
		},
		"UDP": {
			nodes: good, edit: func(c *configs.Config) { c.Services[0].Ports[0].UDP = true },
			want: "Nothing is exposed", at: 10,
		},
		"no node port in the catalogue": {
			nodes: good, edit: func(c *configs.Config) {
				c.Services[0].Ports[0].NodePort, c.Services[0].Ports[0].Range = 0, hcl.Range{}
			},
			want: `The node port of port "web" of service "web" is not fixed`, at: 14,
		},
		"nothing listens": {
			nodes: good, edit: func(c *configs.Config) { c.Services[0].Workloads[0].Pod.Ports = nil },
			want: `Nothing listens on port "web" of service "web"`, at: 19,
		},
		"no cluster": {nodes: nil, want: `Role "edge" matches no node`, at: 6},
		"no such nodes": {
			nodes: []haproxy.Node{{Name: "other", Address: "198.51.100.1"}},
			want:  `Role "edge" matches no node`, at: 6,
		},
		"only excluded ones": {
			nodes: []haproxy.Node{{Name: "n1", Address: "198.51.100.1", Labels: map[string]string{"node.kubernetes.io/exclude-from-external-load-balancers": ""}}},
			edit:  func(c *configs.Config) { c.Exposures[0].Role = "" },
			want:  `Exposure "public" has no nodes`, at: 10,
		},
		"no address": {
			nodes: []haproxy.Node{good[0], {Name: "n2"}},
			want:  `Node "n2" has no address`, at: 6,
		},
		"it encrypts itself": {
			nodes: good, edit: func(c *configs.Config) {
				c.Exposures[0].TLS = &configs.TLS{}
				c.Services[0].Workloads[0].Ready = &configs.Probe{HTTP: "/", Port: "web", TLS: true}
			},
			want: `Port "web" of service "web" encrypts itself`, at: 19,
		},
		"one is gone":    {nodes: good[:1], want: `Node "n2" is left out`, at: 6, warns: true},
		"one is leaving": {nodes: []haproxy.Node{good[0], {Name: "n2", Address: "198.51.100.2", Leaving: true}}, want: `Node "n2" is left out`, at: 6, warns: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			config := load(t, "testdata/mistakes")
			if c.edit != nil {
				c.edit(config)
			}
			file, diags := render(t, config, "public", c.nodes)
			i := slices.IndexFunc(diags, func(d *hcl.Diagnostic) bool { return d.Summary == c.want })
			if i < 0 {
				t.Fatalf("got %v, want %q", diags, c.want)
			}
			if line := diags[i].Subject.Start.Line; line != c.at {
				t.Errorf("at line %d, want %d", line, c.at)
			}
			if (file != nil) != c.warns || diags.HasErrors() == c.warns {
				t.Errorf("a file: %t, diagnostics: %v", file != nil, diags)
			}
			if c.warns && strings.Contains(string(file), "198.51.100.2") {
				t.Error("the node is in the file")
			}
		})
	}
}

// TestNodes checks the conversion of Nodes, and the choice of their addresses.
func TestNodes(t *testing.T) {
	const source = `
- metadata: { name: both, labels: { zone: edge } }
  status:
    addresses:
    - { type: Hostname, address: both }
    - { type: ExternalIP, address: 203.0.113.1 }
    - { type: InternalIP, address: 2001:DB8::1 }
    - { type: InternalIP, address: 198.51.100.1 }
- metadata: { name: outside, deletionTimestamp: "2026-01-01T00:00:00Z" }
  status:
    addresses:
    - { type: InternalDNS, address: 198.51.100.9 }
    - { type: ExternalIP, address: 203.0.113.2 }
- metadata: { name: unknown }
  spec: { unschedulable: true }
  status:
    conditions:
    - { type: Ready, status: Unknown }
    addresses:
    - { type: InternalIP, address: nonsense }
`
	var contents []map[string]any
	if err := yaml.Unmarshal([]byte(source), &contents); err != nil {
		t.Fatal(err)
	}
	var live []*unstructured.Unstructured
	for _, content := range contents {
		live = append(live, &unstructured.Unstructured{Object: content})
	}
	got, err := haproxy.Nodes(live)
	if err != nil {
		t.Fatal(err)
	}
	want := []haproxy.Node{
		{Name: "both", Labels: map[string]string{"zone": "edge"}, Address: "2001:db8::1"},
		{Name: "outside", Address: "203.0.113.2", Leaving: true},
		{Name: "unknown"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("nodes (-want +got):\n%s", diff)
	}
	if _, err := haproxy.Nodes([]*unstructured.Unstructured{{Object: map[string]any{"status": "odd"}}}); err == nil {
		t.Error("what is no Node is read as one")
	}
}

// findHAProxy returns the path of HAProxy. Without HAProxy, it skips the test.
func findHAProxy(t *testing.T) string {
	t.Helper()
	program, err := exec.LookPath("haproxy")
	if err != nil {
		t.Skip("NOT RUN: there is no haproxy (apt-get install haproxy)")
	}
	return program
}

func load(t *testing.T, dir string) *configs.Config {
	t.Helper()
	config, diags := lang.Load(dir, lang.Options{Catalogue: os.DirFS("../openstack/catalogue")})
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	return config
}

func render(t *testing.T, config *configs.Config, name string, nodes []haproxy.Node) ([]byte, hcl.Diagnostics) {
	t.Helper()
	for _, x := range config.Exposures {
		if x.Name == name && x.Mode == configs.ModeManaged {
			return haproxy.RenderManaged(config, x, func(s *configs.Service, port string) []string { return []string{s.Name + "-public"} })
		}
		if x.Name == name {
			return haproxy.Render(config, x, nodes, "")
		}
	}
	t.Fatalf("no exposure %q", name)
	return nil, nil
}
