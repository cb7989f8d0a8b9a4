package check

import (
	"fmt"
	"slices"
	"testing"
)

// TestHostsIn checks which words of a config value may be hosts.
func TestHostsIn(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"":                      nil,
		"keystone.openstack":    {"keystone.openstack"},
		"http://keystone:5000/": {"http", "keystone:5000 in a URL"},
		"mysql+pymysql://nova:secret@mariadb/nova": {"nova in a URL", "mariadb in a URL"},
		"a:1,b:2":             {"a:1", "b:2"},
		"%(tenant_id)s":       nil,
		"Some Words, Here":    nil,
		"memcached:11211;x=1": {"memcached:11211", "1"},
	} {
		var got []string
		for _, h := range hostsIn(text) {
			word := h.Name
			if h.Port != 0 {
				word += fmt.Sprint(":", h.Port)
			}
			if h.InURL {
				word += " in a URL"
			}
			got = append(got, word)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestNamesake checks that a service in another namespace, or without one, has the name of ours.
func TestNamesake(t *testing.T) {
	t.Parallel()
	const host = "keystone.openstack"
	for given, want := range map[string]bool{
		"keystone": true, "keystone.example.org": true, "keystone.other.svc": true,
		"keystone.openstack": false, "keystone.openstack.svc.cluster.local": false, "glance.openstack": false,
	} {
		if got := namesake(given, host); got != want {
			t.Errorf("%s: %v", given, got)
		}
	}
}
