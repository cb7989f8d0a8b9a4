package lang_test

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"kolla.openstack.org/kolla/internal/dev/golden"
	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/lang/configs"
)

// cluster reads from the objects in a file, as a cluster would. It does not have the
// kind Widget, and does not show any Lease.
func cluster(t *testing.T, file string) func(configs.DataQuery) ([]map[string]any, error) {
	t.Helper()
	source, err := os.ReadFile(file)
	if err != nil {
		return nil // there is none
	}
	var objects []map[string]any
	for doc := range strings.SplitSeq(string(source), "\n---\n") {
		var object map[string]any
		if err := yaml.UnmarshalStrict([]byte(doc), &object); err != nil {
			t.Fatal(err)
		}
		objects = append(objects, object)
	}
	return func(q configs.DataQuery) ([]map[string]any, error) {
		switch q.Kind {
		case "Widget":
			return nil, &configs.ReadError{NoKind: true, Detail: "the cluster has no such kind."}
		case "Lease":
			return nil, &configs.ReadError{Detail: "the user may not list leases. Give it a Role."}
		}
		var found []map[string]any
		for _, object := range objects {
			if matches(object, q) {
				found = append(found, object)
			}
		}
		return found, nil
	}
}

func matches(object map[string]any, q configs.DataQuery) bool {
	metadata, _ := object["metadata"].(map[string]any)
	namespace, _ := metadata["namespace"].(string)
	labels, _ := metadata["labels"].(map[string]any)
	for key, value := range q.Labels {
		if labels[key] != value {
			return false
		}
	}
	return object["kind"] == q.Kind && (namespace == "" || namespace == cmp.Or(q.Namespace, q.Home)) && (q.Name == "" || metadata["name"] == q.Name)
}

// TestData compares what becomes of configurations that read from a cluster: what is
// said about them, and what they are. A file cluster.yaml holds the cluster, and
// options.txt may have the word restricted.
func TestData(t *testing.T) {
	const root = "testdata/data"
	for _, name := range cases(t, root) {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(root, name)
			options := lines(t, filepath.Join(dir, "options.txt"))
			config, diags := lang.Load(dir, lang.Options{
				Catalogue:  smallCatalogue(),
				Read:       cluster(t, filepath.Join(dir, "cluster.yaml")),
				Restricted: slices.Contains(options, "restricted"),
				Later:      map[string]bool{"data.overtaken": true},
			})
			checkDiagnostics(t, diags, config.Files)
			got := append(render(diags, dir), dump(t, config)...)
			golden.Compare(t, filepath.Join(dir, "want.txt"), got)
			if bytes.Contains(render(diags, dir), []byte("hunter2")) {
				t.Error("a value of a Secret is shown")
			}
			for _, s := range config.Services {
				for _, c := range s.Configs {
					if text := c.Content.Masked(); strings.Contains(text, "hunter2") {
						t.Errorf("a value of a Secret is shown: %s", text)
					}
				}
			}
		})
	}
}
