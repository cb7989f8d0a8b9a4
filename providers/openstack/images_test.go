package openstack_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/openstack"
)

// inRelease loads a cloud of testdata in a release.
func inRelease(t *testing.T, dir, release string) *lang.Config {
	t.Helper()
	config, diags := lang.Load(filepath.Join("testdata", dir), lang.Options{
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
		objects := slices.DeleteFunc(render(t, inRelease(t, "images", release), facts()), func(o providers.Object) bool {
			return slices.Contains(backing, o.Address.Block) || !strings.HasPrefix(o.Address.Block, "service.")
		})
		golden(t, filepath.Join("testdata/images", release+".golden.yaml"), dump(t, objects))
	}
}
