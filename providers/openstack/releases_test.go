package openstack_test

import (
	"path/filepath"
	"slices"
	"testing"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/openstack"
)

// release loads testdata/releases.
func release(t *testing.T, name string) *lang.Config {
	t.Helper()
	config, diags := lang.Load("testdata/releases", lang.Options{
		Catalogue: openstack.Catalogue(),
		Vars:      []lang.Var{{Assignment: "release=" + name}},
	})
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	return config
}

// TestReleases compares what becomes of services of the catalogue with golden files, in
// each release.
func TestReleases(t *testing.T) {
	for _, name := range []string{"2025.1", "2025.2", "2026.1"} {
		var of []providers.Object
		for _, o := range render(t, release(t, name), facts()) {
			if slices.Contains([]string{"service.heat", "service.cinder", "service.horizon"}, o.Address.Block) {
				of = append(of, o)
			}
		}
		golden(t, filepath.Join("testdata/releases", name+".golden.yaml"), dump(t, of))
	}
}
