package options

import (
	"maps"
	"slices"
	"strings"
)

// plugins has the options of keystoneauth's plugins, by the name of the plugin. It maps each
// name of an option, current or former, to the current name.
type plugins map[string]map[string]string

func newPlugins(declared map[string]map[string][]string) plugins {
	out := plugins{}
	for plugin, own := range declared {
		names := map[string]string{"auth_type": "auth_type", "auth_section": "auth_section"}
		for name, former := range own {
			for _, f := range former {
				names[f] = name
			}
		}
		for name := range own {
			names[name] = name
		}
		out[plugin] = names
	}
	return out
}

// usualPlugin is the plugin of groups that name none.
const usualPlugin = "password"

// authPlugin returns the plugin that a group uses. chosen reports whether a file of the service
// names it.
func (r *reading) authPlugin(section string) (name string, chosen bool) {
	if r.auth == nil {
		r.auth = map[string]string{}
		for o := range r.options() {
			if o.Key == "auth_type" && len(o.Values) == 1 {
				r.auth[groupName(o.Section)] = strings.TrimSpace(o.Values[0].Masked())
			}
		}
	}
	name = r.auth[section]
	if r.tables.plugins[name] == nil {
		return usualPlugin, false
	}
	return name, true
}

// ofAuth returns the current name of an option that keystoneauth's plugins read from a group.
// It also accepts options of other plugins. A former name of these counts only if no file
// chooses the plugin of the group.
func (r *reading) ofAuth(section, key string) (now string, ok bool) {
	name, chosen := r.authPlugin(section)
	if now = r.tables.plugins[name][key]; now != "" {
		return now, true
	}
	for _, names := range r.tables.plugins {
		if other := names[key]; other == key || other != "" && !chosen {
			return key, true
		}
	}
	return "", false
}

// authOptions returns the options of the plugin of a group.
func (r *reading) authOptions(section string) []string {
	name, _ := r.authPlugin(section)
	return slices.Collect(maps.Values(r.tables.plugins[name]))
}
