package recipe_test

import (
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/internal/dev/devimages/recipe"
)

func TestChain(t *testing.T) {
	var names []string
	for _, layer := range recipe.Chain("keystone") {
		names = append(names, layer.Name)
	}
	if diff := cmp.Diff([]string{"base", "openstack-base", "keystone"}, names); diff != "" {
		t.Errorf("the layers of keystone, lowest first (-want +got):\n%s", diff)
	}
}

func TestImagesHaveLayersOrOneBinary(t *testing.T) {
	for _, image := range recipe.Images() {
		if (image.Layer == "") == (image.Binary == "") {
			t.Errorf("image %s has to be made of either layers or one binary", image.Name)
		}
		if image.Layer != "" {
			recipe.Chain(image.Layer) // panics if there is no such layer
		}
	}
}

// TestOpenStackImages checks the users, the PATH and the packages of images. Registration jobs run
// in the image of the service itself, so the image needs the openstack command and openstacksdk.
// Kolla's virtual environment comes first in PATH. The users are those of Kolla's images.
func TestOpenStackImages(t *testing.T) {
	users := map[string]string{
		"barbican-api":               "barbican",
		"barbican-keystone-listener": "barbican",
		"barbican-worker":            "barbican",
		"cinder-api":                 "",
		"cinder-backup":              "cinder",
		"cinder-scheduler":           "cinder",
		"cinder-volume":              "cinder",
		"glance-api":                 "glance",
		"heat-api":                   "",
		"heat-api-cfn":               "",
		"heat-engine":                "heat",
		"horizon":                    "",
		"keystone":                   "",
		"neutron-metadata-agent":     "neutron",
		"neutron-server":             "neutron",
		"neutron-sriov-agent":        "neutron",
		"nova-api":                   "",
		"nova-compute":               "nova",
		"nova-conductor":             "nova",
		"nova-novncproxy":            "nova",
		"nova-scheduler":             "nova",
		"nova-ssh":                   "",
		"placement-api":              "",
	}
	for _, image := range recipe.Images() {
		user, ok := users[image.Name]
		if !ok {
			continue
		}
		delete(users, image.Name)
		if image.User != user {
			t.Errorf("image %s starts as %q, want %q", image.Name, image.User, user)
		}
		if !strings.HasPrefix(image.Env[0], "PATH=/var/lib/kolla/venv/bin:") {
			t.Errorf("image %s has %s", image.Name, image.Env[0])
		}
		var packages []string
		for _, layer := range recipe.Chain(image.Layer) {
			packages = append(packages, layer.Packages...)
		}
		for _, wanted := range []string{"python3-openstackclient", "uwsgi-plugin-python3"} {
			if !slices.Contains(packages, wanted) {
				t.Errorf("image %s has no %s", image.Name, wanted)
			}
		}
	}
	if len(users) > 0 {
		t.Errorf("there are no images for %v", users)
	}
}

// TestNoPackageIsInTwoLayers checks that no package is stored twice. That happens if two layers
// list it and neither is below the other.
func TestNoPackageIsInTwoLayers(t *testing.T) {
	small := []string{"haproxy"}
	first := map[string]string{}
	for _, layer := range recipe.Layers() {
		for _, name := range layer.Packages {
			if other, ok := first[name]; ok && !slices.Contains(small, name) {
				t.Errorf("layers %s and %s both have %s: it belongs in a layer below", other, layer.Name, name)
			}
			first[name] = layer.Name
		}
	}
}

func TestEveryDirectoryOfFilesBelongsToALayer(t *testing.T) {
	entries, err := os.ReadDir("files")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		known := slices.ContainsFunc(recipe.Layers(), func(l recipe.Layer) bool { return l.Name == entry.Name() })
		if !known {
			t.Errorf("files/%s belongs to no layer", entry.Name())
		}
	}
}

func TestFiles(t *testing.T) {
	modes := map[string]os.FileMode{}
	for _, file := range recipe.Chain("base")[0].Files() {
		modes[file.Path] = file.Mode
	}
	for name, want := range map[string]os.FileMode{
		"usr/local/bin/kolla_start": 0o755,
		"usr/sbin/policy-rc.d":      0o755,
		"etc/sudoers.d/kolla":       0o644,
	} {
		if got := modes[name]; got != want {
			t.Errorf("mode of %s is %o, want %o", name, got, want)
		}
	}
}

// TestKey checks that a layer gets another key if its recipe, parent or maker changes. Layers with
// the same key count as equal.
func TestKey(t *testing.T) {
	layer := recipe.Layer{Name: "memcached", Parent: "base", Packages: []string{"memcached"}}
	key := layer.Key("parent", "maker")
	if again := layer.Key("parent", "maker"); again != key {
		t.Errorf("the key of the same recipe is %s, then %s", key, again)
	}
	other := layer
	other.Packages = []string{"memcached", "strace"}
	files := layer
	files.Name = "rabbitmq"
	for what, changed := range map[string]string{
		"another package":      other.Key("parent", "maker"),
		"other files":          files.Key("parent", "maker"),
		"another parent":       layer.Key("other", "maker"),
		"another way of doing": layer.Key("parent", "other"),
	} {
		if changed == key {
			t.Errorf("%s makes no other key", what)
		}
	}
}

func TestUsers(t *testing.T) {
	seen := map[string]string{}
	lines := strings.Split(strings.TrimSpace(string(file(t, "base", "usr/local/share/kolla-images/users"))), "\n")
	for _, line := range lines {
		name, id, ok := strings.Cut(line, " ")
		if !ok || len(id) != len("42400") || !strings.HasPrefix(id, "424") {
			t.Errorf("line %q is not a name and one of Kolla's numbers", line)
		}
		if first, ok := seen[id]; ok {
			t.Errorf("%s and %s have the same number %s", first, name, id)
		}
		seen[id] = name
	}
	// The catalogue runs its pods as these users.
	for id, name := range map[string]string{
		"42403": "barbican", "42407": "cinder", "42415": "glance", "42418": "heat", "42420": "horizon",
		"42425": "keystone", "42434": "mysql", "42439": "rabbitmq", "42457": "memcached", "42472": "prometheus",
		"42427": "qemu", "42435": "neutron", "42436": "nova", "42476": "openvswitch", "42482": "placement", "42494": "valkey",
	} {
		if seen[id] != name {
			t.Errorf("user %s is %q, want %s", id, seen[id], name)
		}
	}
}

func TestScriptsParse(t *testing.T) {
	for _, layer := range recipe.Layers() {
		check(t, layer.Name+"/setup.sh", layer.Setup())
		for _, file := range layer.Files() {
			content := string(file.Content)
			if strings.HasPrefix(content, "#!/bin/sh") || path.Base(file.Path) == "kolla_extend_start" {
				check(t, layer.Name+"/"+file.Path, content)
			}
		}
	}
}

func check(t *testing.T, name, script string) {
	t.Helper()
	sh := exec.Command("sh", "-n")
	sh.Stdin = strings.NewReader(script)
	if out, err := sh.CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", name, err, out)
	}
}

// file returns a file of a layer.
func file(t *testing.T, layer, name string) []byte {
	t.Helper()
	chain := recipe.Chain(layer)
	files := chain[len(chain)-1].Files()
	i := slices.IndexFunc(files, func(f recipe.File) bool { return f.Path == name })
	if i < 0 {
		t.Fatalf("layer %s has no file %s", layer, name)
	}
	return files[i].Content
}
