package options

import (
	"maps"
	"slices"
	"strings"
)

// plugins are keystoneauth's, by name: of each the options, under all their names, with
// the name of now.
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

// usualPlugin is the one that is meant where a group does not say which.
const usualPlugin = "password"

// authPlugin is the plugin that a group uses; chosen: some file of the service says so.
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

// ofAuth gives the name of now of an option that keystoneauth's plugins read from a
// group. What only other plugins than the group's have is let be, but not under a name
// that it once had there.
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

// authOptions are the options that the plugin of a group has.
func (r *reading) authOptions(section string) []string {
	name, _ := r.authPlugin(section)
	return slices.Collect(maps.Values(r.tables.plugins[name]))
}
