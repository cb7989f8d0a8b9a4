package options

import (
	"maps"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/lang/configs"
)

// groupNamingOption is an option whose values are names of groups, such as enabled_backends.
type groupNamingOption struct {
	service string // empty: any
	group   string // empty: any
	option  string
	takes   []string // groups whose options such a group accepts; none: unknown
}

var groupNamingOptions = []groupNamingOption{
	{"", "", "auth_section", nil},
	{"", "DEFAULT", "config_source", nil},
	{"Cinder", "DEFAULT", "enabled_backends", []string{"backend", "backend_defaults"}},
	{"Cinder", "fc-zone-manager", "fc_fabric_names", []string{"brcd_fabric_example", "cisco_fabric_example"}},
	{"Glance", "DEFAULT", "enabled_backends", glanceStores},
	{"Manila", "DEFAULT", "enabled_share_backends", []string{"DEFAULT"}},
	{"Neutron", "networking_baremetal", "enabled_devices", nil},
}

// glanceStores are the groups that glance_store lists for the drivers of several stores. A
// store accepts the options of all of them, because the value of another option has its type.
var glanceStores = []string{
	"glance_store", "file", "cinder", "glance.store.http.store", "glance.store.rbd.store", "glance.store.s3.store",
	"glance.store.swift.store", "glance.store.vmware_datastore.store",
}

// reserved are groups that always accept the options of other groups.
var reserved = map[string]map[string][]string{
	"Glance": {"os_glance_staging_store": glanceStores, "os_glance_tasks_store": glanceStores},
}

// backends are the options that identify a group as a backend, although the backend may not be
// enabled.
var backends = map[string][]string{
	"Cinder": {"volume_driver", "volume_backend_name"},
	"Manila": {"share_driver", "share_backend_name"},
}

// prefixes are the prefixes of groups whose names services compose from names that are in no
// option.
var prefixes = map[string][]string{
	"Barbican": {"secretstore:"},
	"Neutron":  {"genericswitch:"},
	"Nova":     {"mdev_", "vgpu_"},
}

// extensible services have plugins from elsewhere, which add groups.
var extensible = []string{"Ironic", "Neutron", "Trove"}

// dynamicGroups returns the groups that exist because an option of the service names them. It maps
// them to the groups whose options they accept.
func (r *reading) dynamicGroups() map[string][]string {
	if r.dynamic != nil {
		return r.dynamic
	}
	r.dynamic = map[string][]string{}
	maps.Copy(r.dynamic, reserved[r.table.service])
	for i := range r.service.Configs {
		r.unclear = r.unclear || r.service.Configs[i].Partial
	}
	for o := range r.options() {
		for _, name := range r.namedGroups(o) {
			r.dynamic[groupName(name.Name)] = name.takes
		}
		if slices.Contains(backends[r.table.service], o.Key) && r.table.groups[groupName(o.Section)] == nil {
			r.dynamic[groupName(o.Section)] = r.backend()
		}
	}
	return r.dynamic
}

// unknown reports whether unknown groups may exist. Their names may be in values that are not
// known, or that are secret.
func (r *reading) unknown() bool {
	r.dynamicGroups()
	return r.unclear
}

// hidden reports whether a value is not known, or must not appear in a message.
func hidden(text configs.Text) bool {
	return len(text) == 0 || text.Secret() || len(text.Deferred()) > 0
}

// namedGroup is the name of a group in an option.
type namedGroup struct {
	Name  string
	takes []string
}

// namedGroups returns the groups that an option names.
func (r *reading) namedGroups(o *configs.Option) []namedGroup {
	var out []namedGroup
	for _, i := range groupNamingOptions {
		if i.option != o.Key || i.service != "" && i.service != r.table.service ||
			i.group != "" && i.group != groupName(o.Section) {
			continue
		}
		for _, value := range o.Values {
			if hidden(value) {
				r.unclear = true
				continue
			}
			for name := range strings.SplitSeq(value.Masked(), ",") {
				name, _, _ = strings.Cut(name, ":") // Glance's values are NAME:TYPE
				out = append(out, namedGroup{strings.TrimSpace(name), i.takes})
			}
		}
	}
	return out
}

// backend returns the groups whose options a backend of the service accepts.
func (r *reading) backend() []string {
	for _, i := range groupNamingOptions {
		if i.service == r.table.service && strings.HasPrefix(i.option, "enabled_") {
			return i.takes
		}
	}
	return nil
}

// ofPlugin reports whether libraries and plugins read the option from groups with names that
// they, or the services, choose.
func (r *reading) ofPlugin(o *configs.Option, section string) bool {
	for _, prefix := range prefixes[r.table.service] {
		if strings.HasPrefix(section, prefix) {
			return true
		}
	}
	switch {
	case r.table.service == "Keystone" && o.Key == "remote_id_attribute": // in a group for each protocol
		return true
	case r.table.groups["privsep"] != nil: // in a group for each privileged context
		return r.onlyPrivsep(section)
	}
	return false
}

// onlyPrivsep reports whether all options of a group are for a privileged context.
func (r *reading) onlyPrivsep(section string) bool {
	for _, o := range r.file.Options {
		if groupName(o.Section) == section && r.table.groups["privsep"].find(o.Key) == nil {
			return false
		}
	}
	return true
}

// mayBePlugins reports whether a group may belong to a plugin that is not among the packages:
// the service has similar groups, or is extensible.
func (r *reading) mayBePlugins(section string) bool {
	if slices.Contains(extensible, r.table.service) {
		return true
	}
	at := strings.IndexAny(section, ":.")
	if at < 0 {
		return false
	}
	for name := range r.table.groups {
		if strings.HasPrefix(name, section[:at+1]) {
			return true
		}
	}
	return false
}

// authMethod reports whether an option of Keystone names the driver of a method that its files
// enable.
func (r *reading) authMethod(section, key string) bool {
	if r.table.service != "Keystone" || section != "auth" {
		return false
	}
	for _, o := range r.file.Options {
		if groupName(o.Section) != "auth" || o.Key != "methods" {
			continue
		}
		for _, value := range o.Values {
			for name := range strings.SplitSeq(value.Masked(), ",") {
				if strings.TrimSpace(name) == key || hidden(value) {
					return true
				}
			}
		}
	}
	return false
}
