package options

import (
	"slices"
	"strings"

	"kolla.openstack.org/kolla/lang/configs"
)

// inventor is an option whose values are names of groups.
type inventor struct {
	service string // empty: any
	group   string // empty: any
	option  string
	takes   []string // the groups whose options such a group takes; none: nobody knows
}

var inventors = []inventor{
	{"", "", "auth_section", nil},
	{"", "DEFAULT", "config_source", nil},
	{"Cinder", "DEFAULT", "enabled_backends", []string{"backend", "backend_defaults"}},
	{"Cinder", "fc-zone-manager", "fc_fabric_names", []string{"brcd_fabric_example", "cisco_fabric_example"}},
	{"Glance", "DEFAULT", "enabled_backends", glanceStores},
	{"Manila", "DEFAULT", "enabled_share_backends", []string{"DEFAULT"}},
	{"Neutron", "networking_baremetal", "enabled_devices", nil},
}

// glanceStores are the groups that glance_store lists for the drivers of several stores.
// All of them are taken together: what a store is of, is in another option's value.
var glanceStores = []string{
	"glance_store", "file", "cinder", "glance.store.http.store", "glance.store.rbd.store", "glance.store.s3.store",
	"glance.store.swift.store", "glance.store.vmware_datastore.store",
}

// reserved are groups that have the options of others, whatever is configured.
var reserved = map[string]map[string][]string{
	"Glance": {"os_glance_staging_store": glanceStores, "os_glance_tasks_store": glanceStores},
}

// backends are the options that a group has when it is a backend, though it may not be
// enabled.
var backends = map[string][]string{
	"Cinder": {"volume_driver", "volume_backend_name"},
	"Manila": {"share_driver", "share_backend_name"},
}

// prefixes are of groups that services make of names which are not in an option.
var prefixes = map[string][]string{
	"Barbican": {"secretstore:"},
	"Neutron":  {"genericswitch:"},
	"Nova":     {"mdev_", "vgpu_"},
}

// extensible services have plugins of others, which bring groups of their own.
var extensible = []string{"Ironic", "Neutron", "Trove"}

// inventions are the groups that exist because an option of the service names them, with
// the groups whose options they take.
func (r *reading) inventions() map[string][]string {
	if r.invented != nil {
		return r.invented
	}
	r.invented = map[string][]string{}
	for name, takes := range reserved[r.table.service] {
		r.invented[name] = takes
	}
	for i := range r.service.Configs {
		r.unclear = r.unclear || r.service.Configs[i].Partial
	}
	for o := range r.options() {
		for _, name := range r.names(o) {
			r.invented[groupName(name.Name)] = name.takes
		}
		if slices.Contains(backends[r.table.service], o.Key) && r.table.groups[groupName(o.Section)] == nil {
			r.invented[groupName(o.Section)] = r.backend()
		}
	}
	return r.invented
}

// unknown reports whether there may be groups that nobody knows of: what names them may
// be in the part of the files that is not known, or is not for people to see.
func (r *reading) unknown() bool {
	r.inventions()
	return r.unclear
}

// hidden reports whether a value is not known, or has no place in a message.
func hidden(text configs.Text) bool {
	return len(text) == 0 || text.Secret() || len(text.Deferred()) > 0
}

// invention is a name that an option gives.
type invention struct {
	Name  string
	takes []string
}

// names are the groups that an option names.
func (r *reading) names(o *configs.Option) []invention {
	var out []invention
	for _, i := range inventors {
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
				name, _, _ = strings.Cut(name, ":") // Glance's are NAME:TYPE
				out = append(out, invention{strings.TrimSpace(name), i.takes})
			}
		}
	}
	return out
}

// backend is what a backend of the service takes.
func (r *reading) backend() []string {
	for _, i := range inventors {
		if i.service == r.table.service && strings.HasPrefix(i.option, "enabled_") {
			return i.takes
		}
	}
	return nil
}

// ofPlugin reports whether an option is one that libraries and plugins read from groups
// that they, or the services, make up.
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

// onlyPrivsep reports whether everything in a group is for a privileged context.
func (r *reading) onlyPrivsep(section string) bool {
	for _, o := range r.file.Options {
		if groupName(o.Section) == section && r.table.groups["privsep"].find(o.Key) == nil {
			return false
		}
	}
	return true
}

// mayBePlugins reports whether a group may be one of a plugin that is not among the
// packages: others of its kind exist, or the service is made for it.
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

// authMethod reports whether an option of Keystone is the driver of a method that its
// files enable.
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
