// Package tempest runs Tempest, OpenStack's own tests, against a cloud: it makes the configuration, knows
// which tests the interop guideline requires and which are known to fail, and reads and judges the
// results. `kolla check -deep` runs Tempest in a pod of the cluster ([Pod]), and TestTempest in
// internal/dev/realcloud on a machine outside of real nodes (`make test-tempest`).
package tempest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Cloud describes a cloud to Tempest: answers of its APIs, and resources for the tests.
type Cloud struct {
	// AuthURL is Keystone's public URL, with the version.
	AuthURL string
	Region  string
	// Services are the types of the services in Keystone's catalog, such as "compute".
	Services []string
	// Image and OtherImage are the IDs of two images of one small system, and Flavor and LargerFlavor
	// those of two flavors for it. ImageURL is the address of such an image for Glance.
	Image, OtherImage, Flavor, LargerFlavor, ImageURL string
	// ExternalNetwork is the ID of the network of floating IPs. Network and Subnet are the IDs of a network
	// of the administrator's project.
	ExternalNetwork, Network, Subnet string
	// Hypervisors is the number of hypervisors that are up.
	Hypervisors int
	// Extensions are the aliases of Neutron's extensions.
	Extensions []string
	// Backends are the names of Cinder's backends, and Backups says whether its backup service is up.
	Backends []string
	Backups  bool
	// StorageProtocol and Vendor are those of a backend, as Cinder's scheduler knows them. They are empty if it knows
	// none.
	StorageProtocol, Vendor string
	// SharedDisks: the disks of servers are in a store that all hypervisors reach.
	SharedDisks bool
	// Consoles: the consoles of servers are reachable from outside.
	Consoles bool
	// MultiattachType is a type of volumes that several servers may use at once.
	MultiattachType string
	// ImportMethods are the ways in which Glance imports images.
	ImportMethods []string
	// PasswordRules are the options of Keystone's rules for passwords. It is empty if there are none.
	PasswordRules map[string]string
}

// patience is how many seconds Tempest waits for a server, a volume or an image. Processors without
// hardware support for virtual machines need most of it.
const patience = "900"

type options map[string]string

// Config returns the content of tempest.conf, sorted by section and option. It contains no password: Tempest
// reads the administrator's from the variables of Passwords.
func (c Cloud) Config() string {
	several := flag(c.Hypervisors > 1)
	sections := map[string]options{
		"DEFAULT": {"log_file": "tempest.log"},
		"auth":    {"admin_username": "admin", "admin_project_name": "admin", "admin_domain_name": "Default"},
		"compute": {
			"image_ref": c.Image, "image_ref_alt": c.OtherImage, "flavor_ref": c.Flavor, "flavor_ref_alt": c.LargerFlavor,
			"min_compute_nodes": strconv.Itoa(c.Hypervisors), "max_microversion": "latest",
			"build_timeout": patience, "build_interval": "2",
		},
		"compute-feature-enabled": {
			"resize": flag(c.LargerFlavor != c.Flavor), "cold_migration": several, "live_migration": several, "live_migrate_back_and_forth": several,
			"block_migration_for_live_migration": flag(c.Hypervisors > 1 && !c.SharedDisks), "volume_backed_live_migration": several,
			// QEMU encrypts volumes that it reads itself. Others need tools of the hypervisor.
			"attach_encrypted_volume": flag(c.has("key-manager") && slices.Contains([]string{"ceph", "nfs"}, strings.ToLower(c.StorageProtocol))),
			"volume_multiattach":      flag(c.MultiattachType != ""),
			"stable_rescue":           "true", // Nova's driver for libvirt can do it
			"vnc_console":             flag(c.Consoles),
		},
		"enforce_scope":                c.scopes(),
		"heat_plugin":                  c.heat(),
		"identity":                     c.identity(),
		"identity-feature-enabled":     {"security_compliance": flag(len(c.PasswordRules) > 0)},
		"image":                        {"http_image": c.ImageURL, "http_qcow2_image": c.ImageURL, "build_timeout": patience},
		"image-feature-enabled":        {"import_image": flag(len(c.ImportMethods) > 0 && c.ImageURL != "")},
		"image_signature_verification": {"enforced": "false", "certificate_validation": "false"}, // Nova's defaults
		"key_manager":                  {"region": c.Region, "max_microversion": "latest"},
		"network":                      {"public_network_id": c.ExternalNetwork, "build_timeout": patience},
		"network-feature-enabled": {
			"api_extensions":         strings.Join(slices.Sorted(slices.Values(c.Extensions)), ","),
			"floating_ips":           flag(slices.Contains(c.Extensions, "router")),
			"port_security":          flag(slices.Contains(c.Extensions, "port-security")),
			"ipv6_subnet_attributes": "true",
		},
		"placement":              {"max_microversion": "latest"},
		"service-clients":        {"http_timeout": "300"},
		"service_available":      c.available(),
		"validation":             {"run_validation": "false"}, // nobody says how to log in to the image
		"volume":                 c.volume(),
		"volume-feature-enabled": {"multi_backend": flag(len(c.Backends) > 1), "backup": flag(c.Backups), "extend_attached_volume": "true"},
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(sections)) {
		fmt.Fprintf(&b, "[%s]\n", name)
		for _, option := range slices.Sorted(maps.Keys(sections[name])) {
			fmt.Fprintf(&b, "%s = %s\n", option, sections[name][option])
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Passwords returns variables of the environment from which Tempest reads the administrator's password.
func Passwords(password string) []string {
	var variables []string
	for _, name := range passwordVariables {
		variables = append(variables, name+"="+password)
	}
	return variables
}

var passwordVariables = []string{"OS_AUTH__ADMIN_PASSWORD", "OS_HEAT_PLUGIN__PASSWORD", "OS_HEAT_PLUGIN__ADMIN_PASSWORD"}

func flag(on bool) string { return strconv.FormatBool(on) }

// projects maps the types of services to the names that Tempest has for them.
var projects = map[string]string{
	"block-storage": "cinder", "compute": "nova", "image": "glance", "key-manager": "barbican",
	"network": "neutron", "object-store": "swift", "orchestration": "heat",
}

func (c Cloud) has(service string) bool { return slices.Contains(c.Services, service) }

func (c Cloud) available() options {
	out := options{"horizon": "false"}
	for service, project := range projects {
		out[project] = flag(c.has(service))
	}
	return out
}

// scopes says which services refuse tokens whose scope their policies do not want: all of them.
func (c Cloud) scopes() options {
	out := options{"keystone": "true", "placement": flag(c.has("placement"))}
	for _, service := range []string{"block-storage", "compute", "image", "key-manager", "network"} {
		out[projects[service]] = flag(c.has(service))
	}
	return out
}

func (c Cloud) identity() options {
	out := options{"uri_v3": c.AuthURL, "region": c.Region}
	for rule, option := range map[string]string{
		"lockout_failure_attempts":   "user_lockout_failure_attempts",
		"lockout_duration":           "user_lockout_duration",
		"unique_last_password_count": "user_unique_last_password_count",
		"minimum_password_age":       "user_minimum_password_age",
	} {
		if value := c.PasswordRules[rule]; value != "" {
			out[option] = value
		}
	}
	return out
}

func (c Cloud) volume() options {
	out := options{
		"volume_type_multiattach": c.MultiattachType, "max_microversion": "latest",
		"build_timeout": patience, "build_interval": "2",
	}
	if c.StorageProtocol != "" {
		out["storage_protocol"], out["vendor_name"] = c.StorageProtocol, c.Vendor
	}
	if len(c.Backends) > 1 {
		out["backend_names"] = strings.Join(c.Backends, ",")
	}
	return out
}

// heat returns the options of Heat's tests, which use the administrator's project.
func (c Cloud) heat() options {
	return options{
		"auth_url": c.AuthURL, "region": c.Region, "username": "admin", "admin_username": "admin", "project_name": "admin",
		"admin_project_name": "admin", "user_domain_name": "Default", "project_domain_name": "Default",
		"image_ref": c.Image, "minimal_image_ref": c.Image, "instance_type": c.LargerFlavor, "minimal_instance_type": c.Flavor,
		"fixed_network_name": c.Network, "fixed_subnet_name": c.Subnet, "floating_network_name": c.ExternalNetwork,
		"skip_scenario_tests": "true", // their servers need Heat's agents
	}
}

// PasswordRules returns the options of the rules for passwords in keystone.conf.
func PasswordRules(keystoneConf string) map[string]string {
	return Section(keystoneConf, "security_compliance")
}

// Section returns the options of a section of a config file.
func Section(conf, name string) map[string]string {
	rules := map[string]string{}
	inside := false
	for line := range strings.Lines(conf) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			inside = line == "["+name+"]"
		} else if option, value, found := strings.Cut(line, "="); found && inside {
			rules[strings.TrimSpace(option)] = strings.TrimSpace(value)
		}
	}
	return rules
}
