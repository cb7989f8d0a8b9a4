package openstack_test

import (
	"path/filepath"
	"slices"
	"testing"

	"kolla.openstack.org/kolla/providers"
)

// TestStacks compares what becomes of Heat, Cinder and Horizon with golden files, in each
// release.
func TestStacks(t *testing.T) {
	for _, release := range []string{"2025.1", "2025.2", "2026.1"} {
		objects := slices.DeleteFunc(render(t, inRelease(t, "testdata/stacks", release), facts()), func(o providers.Object) bool {
			return !slices.Contains([]string{"service.heat", "service.cinder", "service.horizon"}, o.Address.Block)
		})
		golden(t, filepath.Join("testdata/stacks", release+".golden.yaml"), dump(t, objects))
	}
}
