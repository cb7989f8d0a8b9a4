package openstack_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/openstack"
)

// inRelease loads a cloud in a release.
func inRelease(t *testing.T, dir, release string) *lang.Config {
	t.Helper()
	config, diags := lang.Load(dir, lang.Options{
		Catalogue: openstack.Catalogue(),
		Vars:      []lang.Var{{Assignment: "release=" + release}},
	})
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	return config
}

// TestImages compares what becomes of Placement, Barbican and Glance with golden files, in
// each release.
func TestImages(t *testing.T) {
	backing := []string{"service.mariadb", "service.memcached", "service.rabbitmq", "service.keystone"}
	for _, release := range []string{"2025.1", "2025.2", "2026.1"} {
		objects := slices.DeleteFunc(render(t, inRelease(t, "testdata/images", release), facts()), func(o providers.Object) bool {
			return slices.Contains(backing, o.Address.Block) || !strings.HasPrefix(o.Address.Block, "service.")
		})
		golden(t, filepath.Join("testdata/images", release+".golden.yaml"), dump(t, objects))
	}
}

// TestCopies holds that a definition that kolla prints, with what it shares with others, is
// the same in a configuration.
func TestCopies(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/images")); err != nil {
		t.Fatal(err)
	}
	want := manifests(render(t, inRelease(t, "testdata/images", "2026.1"), facts()))
	definitions, diags := lang.Catalogue(openstack.Catalogue())
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	for _, d := range definitions {
		if err := os.WriteFile(filepath.Join(dir, d.Name+".hcl"), d.Source, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want, manifests(render(t, inRelease(t, dir, "2026.1"), facts()))); diff != "" {
		t.Errorf("of the catalogue, and of copies (-want +got):\n%s", diff)
	}
}

// manifests are those of objects, by address.
func manifests(objects []providers.Object) map[string]any {
	out := map[string]any{}
	for _, o := range objects {
		out[o.Address.String()] = o.Manifest
	}
	return out
}
