package tempest_test

import (
	"strings"
	"testing"

	"kolla.openstack.org/kolla/internal/dev/golden"
	"kolla.openstack.org/kolla/internal/run/tempest"
)

// full is a cloud with all that the catalogue has.
var full = tempest.Cloud{
	AuthURL: "http://192.0.2.10:5000/v3", Region: "RegionOne",
	Services: []string{"block-storage", "compute", "identity", "image", "key-manager", "network", "orchestration", "placement"},
	Image:    "image-1", OtherImage: "image-2", Flavor: "flavor-1", LargerFlavor: "flavor-2", ImageURL: "http://192.0.2.20/guest.qcow2",
	ExternalNetwork: "outer", Network: "inner", Subnet: "inner-subnet", Hypervisors: 2,
	Extensions: []string{"router", "port-security", "external-net"}, Backends: []string{"rbd"}, Backups: true, StorageProtocol: "ceph", Vendor: "Open Source", Consoles: true,
	MultiattachType: "multiattach", ImportMethods: []string{"glance-direct"},
	PasswordRules: map[string]string{"lockout_duration": "5", "unique_last_password_count": "3"},
}

func TestConfig(t *testing.T) {
	golden.Compare(t, "testdata/full.conf", []byte(full.Config()))
}

// TestConfigFollowsTheCloud checks options that depend on what a cloud has.
func TestConfigFollowsTheCloud(t *testing.T) {
	small := tempest.Cloud{Services: []string{"identity", "compute", "network", "image"}, Hypervisors: 1, Extensions: []string{"external-net"}}
	several := full
	several.Backends = []string{"nas", "rbd"}
	other := full
	other.StorageProtocol, other.Vendor, other.SharedDisks, other.Consoles, other.LargerFlavor = "iSCSI", "Acme", true, false, full.Flavor
	small.LargerFlavor = "flavor-2"
	for name, c := range map[string]struct {
		cloud tempest.Cloud
		want  []string
	}{
		"little": {small, []string{
			"cinder = false", "heat = false", "barbican = false", "nova = true", "min_compute_nodes = 1", "cold_migration = false",
			"live_migration = false", "attach_encrypted_volume = false", "volume_multiattach = false", "floating_ips = false",
			"port_security = false", "backup = false", "import_image = false", "security_compliance = false", "multi_backend = false",
		}},
		"several backends": {several, []string{"multi_backend = true", "backend_names = nas,rbd"}},
		"another backend": {other, []string{
			"storage_protocol = iSCSI", "vendor_name = Acme", "attach_encrypted_volume = false", "block_migration_for_live_migration = false",
			"live_migration = true", "resize = false", "vnc_console = false",
		}},
		"all": {full, []string{"user_unique_last_password_count = 3", "security_compliance = true", "multi_backend = false", "attach_encrypted_volume = true", "block_migration_for_live_migration = true", "resize = true"}},
	} {
		got := "\n" + c.cloud.Config()
		for _, want := range c.want {
			if !strings.Contains(got, "\n"+want+"\n") {
				t.Errorf("%s: the configuration lacks %q:\n%s", name, want, got)
			}
		}
	}
}

// TestNoProtocol checks that nothing is said about a storage that is not known.
func TestNoProtocol(t *testing.T) {
	if got := (tempest.Cloud{}).Config(); strings.Contains(got, "storage_protocol") || strings.Contains(got, "vendor_name") || strings.Contains(got, "debug") {
		t.Errorf("the configuration is:\n%s", got)
	}
}

func TestPasswords(t *testing.T) {
	got := tempest.Passwords("secret")
	if !strings.Contains(strings.Join(got, " "), "OS_AUTH__ADMIN_PASSWORD=secret") || strings.Contains(full.Config(), "password =") {
		t.Errorf("the password is in %v, and in the configuration:\n%s", got, full.Config())
	}
}

func TestPasswordRules(t *testing.T) {
	const conf = "[DEFAULT]\nlockout_duration = 1\n[security_compliance]\nlockout_duration = 5\n# a comment\nlockout_failure_attempts=2\n\n[token]\nexpiration = 3600\n"
	got := tempest.PasswordRules(conf)
	if len(got) != 2 || got["lockout_duration"] != "5" || got["lockout_failure_attempts"] != "2" {
		t.Errorf("the rules are %v", got)
	}
}
