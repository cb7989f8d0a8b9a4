package openstack_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers/openstack"
)

// TestShortExamples checks that the examples of a whole cloud stay short, and have every
// service of the catalogue but Ceph, which kolla does not deploy, and those that none of them needs.
func TestShortExamples(t *testing.T) {
	files, err := fs.Glob(openstack.Catalogue(), "*.hcl")
	if err != nil {
		t.Fatal(err)
	}
	others := []string{
		"bases", "ceph", "common", "neutron-sriov", "nova-cell", "valkey",
		"alertmanager", "blackbox-exporter", "grafana", "openstack-exporter", "prometheus", // docs/metrics.md has them
		"fluentd", "opensearch", "opensearch-dashboards", "rsyslog", // docs/logging.md
	}
	var want []string
	for _, name := range files {
		if name = strings.TrimSuffix(name, ".hcl"); !slices.Contains(others, name) {
			want = append(want, name)
		}
	}
	slices.Sort(want)
	for name, maxLines := range map[string]int{"all-in-one": 60, "compute-kit": 80} {
		if n := bytes.Count([]byte(exampleText(t, name)), []byte("\n")); n > maxLines {
			t.Errorf("%s has %d lines, want at most %d", name, n, maxLines)
		}
		var got []string
		for _, s := range load(t, "../../examples/"+name).Services {
			got = append(got, s.Definition)
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: services (-catalogue +example):\n%s", name, diff)
		}
	}
}

// oneService matches the first line of a service block, or a whole block on one line.
var oneService = regexp.MustCompile(`(?m)^service "(.+)" \{ ?(.*?) ?(\}?)$`)

// TestExampleWithoutDefaults checks that a role and an exposure in the defaults give the same
// objects as a role and an exposure in each service.
func TestExampleWithoutDefaults(t *testing.T) {
	exposed := []string{"keystone", "placement", "glance", "barbican", "heat", "cinder", "horizon", "nova", "neutron"}
	for name, role := range map[string]string{"all-in-one": "role.all", "compute-kit": "role.control"} {
		short := exampleText(t, name)
		defaults := fmt.Sprintf("  defaults {\n    role   = %s\n    expose = exposure.public\n  }\n", role)
		if !strings.Contains(short, defaults) {
			t.Fatalf("%s does not have the defaults:\n%s", name, defaults)
		}
		long := oneService.ReplaceAllStringFunc(strings.Replace(short, defaults, "", 1), func(line string) string {
			parts := oneService.FindStringSubmatch(line)
			out := fmt.Sprintf("service %q {\n", parts[1])
			if !strings.Contains(parts[2], "role.compute") && !strings.Contains(short, line+"\n  role ") {
				out += "  role = " + role + "\n"
			}
			if slices.Contains(exposed, parts[1]) {
				out += "  expose = exposure.public\n"
			}
			return strings.TrimSuffix(out+parts[2]+"\n"+parts[3], "\n")
		})
		if want, got := strings.Count(short, "\nservice "), strings.Count(long, "role = "+role); got < want-len([]string{"openvswitch", "ovn-controller", "neutron-ovn-metadata", "nova-compute"}) {
			t.Fatalf("%s: %d of %d services have the role:\n%s", name, got, want, long)
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "cloud.hcl"), []byte(long), 0o600); err != nil {
			t.Fatal(err)
		}
		want, got := placeless(t, load(t, dir)), placeless(t, load(t, "../../examples/"+name))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-each service +defaults):\n%s", name, diff)
		}
	}
}

func exampleText(t *testing.T, name string) string {
	t.Helper()
	source, err := os.ReadFile("../../examples/" + name + "/cloud.hcl")
	if err != nil {
		t.Fatal(err)
	}
	return string(source)
}

// placeless dumps the objects of a cloud without their places in its files.
func placeless(t *testing.T, config *configs.Config) string {
	t.Helper()
	f := facts()
	f.Nodes = append(f.Nodes, openstack.Node{Name: "node-2"}, openstack.Node{Name: "node-3"})
	objects := render(t, config, f)
	for i := range objects {
		objects[i].Source, objects[i].Within, objects[i].Places = "", "", nil
	}
	return string(dump(t, objects))
}
