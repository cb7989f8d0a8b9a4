package tables_test

import (
	"strings"
	"testing"

	"kolla.openstack.org/kolla/internal/present/discovery"
	"kolla.openstack.org/kolla/internal/present/view/tables"
	"kolla.openstack.org/kolla/lang/addrs"
)

// TestPendingAddress checks that a Service shows that it waits for the address of a load balancer.
func TestPendingAddress(t *testing.T) {
	for name, test := range map[string]struct {
		live discovery.Live
		wide bool
		want bool
	}{
		"no address":                  {discovery.Live{Type: "LoadBalancer"}, false, true},
		"no address, wide":            {discovery.Live{Type: "LoadBalancer"}, true, true},
		"an address":                  {discovery.Live{Type: "LoadBalancer", External: []string{"192.0.2.9"}}, true, false},
		"another type has no address": {discovery.Live{Type: "NodePort"}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			service := discovery.Service{Address: addrs.Object{Block: "service.db", Kind: "Service", Name: "db"}, Namespace: "os", Live: &test.live}
			var out strings.Builder
			if err := tables.Discovery(&out, &discovery.Directory{Blocks: []discovery.Block{{Address: "service.db", Services: []discovery.Service{service}}}}, test.wide); err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(out.String(), "external address: <pending>"); got != test.want {
				t.Errorf("pending: %t, want %t:\n%s", got, test.want, out.String())
			}
		})
	}
}

// TestChecks checks that a port which is not known to speak HTTP shows that it accepts connections.
func TestChecks(t *testing.T) {
	var out strings.Builder
	d := &discovery.Directory{Checks: []discovery.Check{{Address: "service.db", URL: "192.0.2.9:3306", Connected: 1500000}}}
	if err := tables.Checks(&out, d); err != nil {
		t.Fatal(err)
	}
	if want := "accepts connections after 1.5 ms"; !strings.Contains(out.String(), want) {
		t.Errorf("no %q in:\n%s", want, out.String())
	}
}
