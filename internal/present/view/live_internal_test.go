package view

import (
	"strings"
	"testing"

	"kolla.openstack.org/kolla/internal/present/view/screen"
	"kolla.openstack.org/kolla/lang/addrs"
)

// TestLiveRow checks that a row fits into the width of the terminal, and always shows the service
// and the time.
func TestLiveRow(t *testing.T) {
	const status = "waiting: image quay.io/openstack.kolla/nova-compute:2025.1-rocky-9 cannot be pulled: not found"
	for name, test := range map[string]struct {
		address, status string
		width           int
		want            string
	}{
		"fits": {
			"service.nova/Deployment/nova-api", "creating", 80,
			"  service.nova/Deployment/nova-api: creating (12 s)",
		},
		"a long status": {
			"service.nova-compute/DaemonSet/nova-compute-compute", status, 80,
			"  service.nova-compute/…/nova-compute-compute: waiting: image quay.io/o… (12 s)",
		},
		"a long name": {
			"service.neutron-ovn-metadata/DaemonSet/neutron-ovn-metadata-agent-on-hypervisors", status, 80,
			"  service.neutron-ovn-metadata/…t-on-hypervisors: waiting: image quay.i… (12 s)",
		},
		"a long module": {
			`module.region["north-west-of-the-continent"].module.edge["the-third-one"].service.nova/Deployment/nova-api`, status, 80,
			"  …nt\"].module.edge[\"the-third-one\"].service.nova: waiting: image quay.… (12 s)",
		},
		"a narrow terminal": {
			"service.nova-compute/DaemonSet/nova-compute-compute", status, 40,
			"  service.nova-compute: waiting… (12 s)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			address, err := addrs.ParseObject(test.address)
			if err != nil {
				t.Fatal(err)
			}
			got := strings.TrimSuffix(screen.PlainText([]screen.Line{liveRow(address, test.status, " (12 s)", test.width)}), "\n")
			if got != test.want || screen.Columns(got) >= test.width {
				t.Errorf("got %d columns:\n%q, want:\n%q", screen.Columns(got), got, test.want)
			}
		})
	}
}
