package openstack_test

import (
	"path/filepath"
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"

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

// TestFoundInTheCatalogue holds that services that find each other in Keystone's catalogue
// may connect, where no reference says so and the ports are not exposed.
func TestFoundInTheCatalogue(t *testing.T) {
	config := inRelease(t, "testdata/stacks", "2026.1")
	for i := range config.Services {
		config.Services[i].Exposure = ""
	}
	objects := render(t, config, facts())
	policies, pods := policiesOf(t, objects), endsOf(t, objects)
	for _, c := range []struct {
		from, to string
		port     int
		want     bool
	}{
		{"horizon-web", "heat-api", 8004, true}, // nothing of Horizon refers to Heat
		{"cinder-volume", "heat-api-cfn", 8000, true},
		{"heat-engine", "cinder-api", 8776, true},
		{"heat-engine", "horizon-web", 8080, false},   // not in the catalogue
		{"memcached-server", "heat-api", 8004, false}, // knows no Keystone
	} {
		if got := open(t, policies, pods[c.from], pods[c.to], v1.ProtocolTCP, c.port); got != c.want {
			t.Errorf("%s connects to %s:%d: %t, want %t", c.from, c.to, c.port, got, c.want)
		}
	}
}
