package main

import (
	"slices"

	"kolla.openstack.org/kolla/lang/releases"
	"kolla.openstack.org/kolla/providers/openstack/options"
)

// suite is a suite of Debian with packages.
type suite struct {
	name string
	// release is the release of all packages of the suite. It is empty for a suite on its way from
	// one release to another: there, only the distributions in regular have a known release.
	release  string
	packages []string // the NAMEs of packages python3-NAME
}

// everywhere are the packages that all suites have.
var everywhere = []string{
	"aodh", "barbican", "blazar", "ceilometer", "cinder", "cloudkitty", "cyborg", "designate", "gnocchi",
	"heat", "ironic", "ironic-neutron-agent", "keystone", "magnum", "manila", "masakari", "masakari-monitors",
	"mistral", "networking-generic-switch", "networking-l2gw", "networking-sfc", "neutron",
	"neutron-dynamic-routing", "neutron-taas", "neutron-vpnaas", "nova", "octavia", "ovn-bgp-agent",
	"ovn-octavia-provider", "placement", "trove", "watcher", "zaqar",
	"castellan", "glance-store", "keystoneauth1", "os-brick", "osprofiler", "oslo.limit", "oslo.reports",
	"pykmip", // loading Barbican's KMIP store needs it
}

// suites are the sources of the tables, the oldest release first.
var suites = []suite{
	{"trixie", "2025.1", append(slices.Clone(everywhere), "glance", "ironic-inspector", "networking-bgpvpn", "vitrage")},
	{"forky", "", append(slices.Clone(everywhere), "neutron-fwaas")},
	{"sid", "2026.2", append(slices.Clone(everywhere), "glance", "neutron-fwaas")},
}

// names are the releases that kolla deploys. The first suite belongs to the first one.
var names = releases.Names()

// regular maps the distributions whose major version grows by one with every release of
// OpenStack to the major version in the first release.
var regular = map[string]int{
	"aodh": 20, "barbican": 20, "blazar": 15, "ceilometer": 24, "cinder": 26, "cloudkitty": 22, "designate": 20,
	"glance": 30, "keystone": 27, "magnum": 20, "manila": 20, "masakari": 19, "mistral": 20, "neutron": 26,
	"neutron-dynamic-routing": 26, "neutron-vpnaas": 26, "nova": 31, "octavia": 16, "openstack-cyborg": 14,
	"openstack-heat": 24, "openstack-placement": 13, "ovn-octavia-provider": 8, "trove": 23, "zaqar": 20,
}

// libraries may have options in any service's files, although the service does not declare
// them as dependencies.
var libraries = []string{"castellan", "keystonemiddleware", "oslo-middleware", "oslo-reports", "osprofiler"}

// service returns a service, with the names of its files and the distributions that read
// them, the main one first.
func service(name string, files []string, distributions ...string) declared {
	return declared{options.Service{Name: name, Files: files}, distributions}
}

type declared struct {
	options.Service
	distributions []string
}

// services have tables. The files of a service share a table, because a process reads several
// files, which differ between machines, and people split them in many ways. So kolla does not
// warn about an option in the file of another agent.
var services = []declared{
	service("Aodh", []string{"aodh.conf", "aodh-*.conf"}, "aodh"),
	service("Barbican", []string{"barbican.conf", "barbican-*.conf"}, "barbican"),
	service("Blazar", []string{"blazar.conf", "blazar-*.conf"}, "blazar"),
	service("Ceilometer", []string{"ceilometer.conf", "ceilometer-*.conf"}, "ceilometer"),
	service("Cinder", []string{"cinder.conf", "cinder-*.conf"}, "cinder"),
	service("CloudKitty", []string{"cloudkitty.conf", "cloudkitty-*.conf"}, "cloudkitty"),
	service("Cyborg", []string{"cyborg.conf", "cyborg-*.conf"}, "openstack-cyborg"),
	service("Designate", []string{"designate.conf", "designate-*.conf"}, "designate"),
	service("Glance", []string{"glance.conf", "glance-*.conf"}, "glance", "glance-store"),
	service("Gnocchi", []string{"gnocchi.conf", "gnocchi-*.conf"}, "gnocchi"),
	service("Heat", []string{"heat.conf", "heat-*.conf"}, "openstack-heat"),
	service("Ironic", []string{"ironic.conf", "ironic-api.conf", "ironic-conductor.conf"}, "ironic"),
	service("Ironic Inspector", []string{"ironic-inspector.conf", "inspector.conf"}, "ironic-inspector"),
	service("Keystone", []string{"keystone.conf", "keystone.*.conf", "keystone-*.conf"}, "keystone"),
	service("Magnum", []string{"magnum.conf", "magnum-*.conf"}, "magnum"),
	service("Manila", []string{"manila.conf", "manila-*.conf"}, "manila"),
	service("Masakari", []string{"masakari.conf", "masakari-api.conf", "masakari-engine.conf"}, "masakari"),
	service("Masakari's monitors", []string{"masakarimonitors.conf", "masakari-monitors.conf"}, "masakari-monitors"),
	service("Mistral", []string{"mistral.conf", "mistral-*.conf"}, "mistral"),
	service("Neutron", []string{
		"neutron.conf", "neutron-*.conf", "neutron_*.conf", "neutron_*.ini", "ml2_conf.ini", "ml2_conf_*.ini",
		"openvswitch_agent.ini", "l3_agent.ini", "dhcp_agent.ini", "metadata_agent.ini", "metering_agent.ini",
		"sriov_agent.ini", "macvtap_agent.ini", "ovn_agent.ini", "ovn.ini", "bgp_dragent.ini", "fwaas_driver.ini",
		"vpn_agent.ini", "l3_vpn_agent.ini", "taas_agent.ini", "ironic_neutron_agent.ini", "vpnaas_agent.ini",
	}, "neutron", "neutron-dynamic-routing", "neutron-vpnaas", "neutron-fwaas", "networking-baremetal",
		"networking-bagpipe", "networking-bgpvpn", "networking-l2gw", "networking-sfc", "tap-as-a-service",
		"ovn-octavia-provider"),
	service("Nova", []string{"nova.conf", "nova-*.conf", "nova_*.conf", "cell0.conf"}, "nova", "os-vif", "os-brick"),
	service("Octavia", []string{"octavia.conf", "octavia-*.conf"}, "octavia", "ovn-octavia-provider"),
	service("OVN BGP agent", []string{"ovn-bgp-agent.conf", "bgp-agent.conf"}, "ovn-bgp-agent"),
	service("Placement", []string{"placement.conf", "placement-*.conf"}, "openstack-placement"),
	service("Trove", []string{"trove.conf", "trove-*.conf"}, "trove"),
	service("Vitrage", []string{"vitrage.conf", "vitrage-*.conf"}, "vitrage"),
	service("Watcher", []string{"watcher.conf", "watcher-*.conf"}, "python-watcher"),
	service("Zaqar", []string{"zaqar.conf", "zaqar-*.conf"}, "zaqar"),
}

// unloadable are namespaces that Debian's packages declare without the code for them.
var unloadable = []string{"magnum", "netconf-openconfig-driver-opts"}
