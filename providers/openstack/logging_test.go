package openstack_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/providers/openstack"
)

// TestCollectorCannot checks errors and warnings about what a collector of the catalogue cannot do. They
// point at the block logging or at its argument.
func TestCollectorCannot(t *testing.T) {
	for name, c := range map[string]struct {
		arguments, kind string
		severity        hcl.DiagnosticSeverity
		line            int
		want            string
	}{
		"no image":   {`collector = "rsyslog"`, "opensearch", hcl.DiagError, 3, "Kolla has no image of rsyslog in any release"},
		"null":       {"collector = \"rsyslog\"\n    image     = null", "opensearch", hcl.DiagError, 5, "Kolla has no image of rsyslog in any release"},
		"no Loki":    {"collector = \"rsyslog\"\n    image     = \"r.example.org/rsyslog:8\"", "loki", hcl.DiagWarning, 3, "rsyslog cannot send to Loki"},
		"no problem": {"", "loki", hcl.DiagWarning, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			text := "cloud \"c\" {\n  release = \"2025.1\"\n  logging {\n    " + c.arguments + "\n    target \"a\" {\n      type = \"" + c.kind + "\"\n      url  = \"http://a.example.org\"\n    }\n  }\n}\n"
			if err := os.WriteFile(filepath.Join(dir, "cloud.hcl"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, diags := lang.Load(dir, lang.Options{Catalogue: openstack.Catalogue()})
			if c.want == "" {
				if len(diags) > 0 {
					t.Fatal(diags)
				}
				return
			}
			if !slices.ContainsFunc(diags, func(d *hcl.Diagnostic) bool {
				return d.Severity == c.severity && strings.Contains(d.Detail, c.want) && d.Subject.Start.Line == c.line
			}) {
				t.Errorf("want %q at line %d, got %v", c.want, c.line, diags)
			}
		})
	}
}

// TestFluentdParameters checks that the configurations of Fluentd have only sections and parameters that it
// and its plug-ins know, in both modes, with all kinds of targets.
func TestFluentdParameters(t *testing.T) {
	source, err := os.ReadFile("testdata/fluentd.yaml")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string][]string{}
	if err := yaml.UnmarshalStrict(source, &known); err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, mode := range []string{"node", "sidecar"} {
		dir := t.TempDir()
		cloud, err := os.ReadFile("testdata/logging/cloud.hcl")
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Replace(string(cloud), "logging {", "logging {\n    mode = \""+mode+"\"", 1)
		const password = "username = \"kolla\"\n password = \"x\"\n" // a generated one would be in a Secret
		text = strings.Replace(text, "password = secret.archive.value", "password = \"x\"", 1)
		text = strings.Replace(text, "type = \"loki\"", "type = \"loki\"\n"+password, 1)
		if err := os.WriteFile(filepath.Join(dir, "cloud.hcl"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		checked := false
		for _, o := range render(t, load(t, dir), facts()) {
			data, _, _ := unstructured.NestedStringMap(o.Manifest.Object, "data")
			if config := data["kolla-logs.conf"]; config != "" {
				checked = true
				checkFluentd(t, known, used, config)
			}
		}
		if !checked {
			t.Errorf("there is no configuration in the mode %s", mode)
		}
	}
	for name := range known {
		if !used[name] {
			t.Errorf("nothing uses %s: is the fact outdated?", name)
		}
	}
}

// TestBuffersFit checks that the volume of a sidecar is larger than the buffers of all its targets together: the kubelet
// evicts a pod whose volume is larger than its limit.
func TestBuffersFit(t *testing.T) {
	sizes := regexp.MustCompile(`(?:total_limit_size |maxDiskSpace=")(\d+)([mg])`)
	for _, collector := range []string{"fluentd", "rsyslog"} {
		for _, buffer := range []string{"", "buffer = \"2Gi\""} {
			text := "cloud \"c\" {\n  release = \"2025.1\"\n  logging {\n    mode = \"sidecar\"\n    collector = \"" + collector + "\"\n    image = \"r.example.org/c:8\"\n" + buffer + "\n"
			for _, name := range []string{"a", "b", "c"} {
				text += "    target \"" + name + "\" {\n      url = \"http://a.example.org\"\n    }\n"
			}
			text += "  }\n}\nservice \"mariadb\" {}\nservice \"memcached\" {}\nservice \"keystone\" {}\n"
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "cloud.hcl"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			objects := render(t, load(t, dir), openstack.Offline())
			spec, _, ok := podOf(t, find(t, objects, "Deployment/keystone-api"))
			if !ok {
				t.Fatal("there is no pod")
			}
			var limit, sum int64
			for _, v := range spec.Volumes {
				if v.EmptyDir != nil && strings.Contains(v.Name, "buffer") {
					limit = v.EmptyDir.SizeLimit.Value()
				}
			}
			for _, o := range objects {
				data, _, _ := unstructured.NestedStringMap(o.Manifest.Object, "data")
				if config := data["kolla-logs.conf"]; config != "" && strings.Contains(o.Address.String(), "keystone") {
					sum = 0
					for _, m := range sizes.FindAllStringSubmatch(config, -1) {
						size := resource.MustParse(m[1] + map[string]string{"m": "Mi", "g": "Gi"}[m[2]])
						sum += size.Value()
					}
				}
			}
			if sum == 0 || limit < sum+32<<20 {
				t.Errorf("%s %s: the volume takes %d bytes, and the buffers %d", collector, buffer, limit, sum)
			}
		}
	}
}

// checkFluentd checks a configuration of Fluentd, and notes the sections and plug-ins that it has.
func checkFluentd(t *testing.T, known map[string][]string, used map[string]bool, config string) {
	t.Helper()
	type section struct{ name, kind string }
	var open []section
	for line := range strings.Lines(config) {
		line = strings.TrimSpace(line)
		name, value, _ := strings.Cut(line, " ")
		switch {
		case line == "" || line[0] == '#':
		case strings.HasPrefix(line, "</"):
			last := open[len(open)-1]
			if line != "</"+last.name+">" {
				t.Errorf("%s ends the section %s", line, last.name)
			}
			open = open[:len(open)-1]
		case line[0] == '<':
			name = strings.Trim(name, "<>")
			open = append(open, section{name, name})
			used[name] = true
		case name == "@type":
			open[len(open)-1].kind = value
			used[value] = true
			if _, ok := known[value]; !ok {
				t.Errorf("there is no plug-in %s", value)
			}
		case name[0] == '@' || open[len(open)-1].name == "record":
		case !slices.Contains(known[open[len(open)-1].kind], name):
			t.Errorf("%v has no parameter %s", open[len(open)-1], name)
		}
	}
	if len(open) > 0 {
		t.Errorf("the sections %v do not end", open)
	}
}
