package providers_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"kolla.openstack.org/kolla/providers"
)

func TestParseInternalURL(t *testing.T) {
	inside := providers.InternalURL{Scheme: "http", Namespace: "openstack", Service: "keystone", Port: "5000", Path: "/v3"}
	tests := map[string]struct {
		want providers.InternalURL
		ok   bool
	}{
		"http://keystone.openstack:5000/v3":                   {inside, true},
		"http://keystone.openstack:5000/v3/":                  {inside, true},
		"http://keystone.openstack.svc.cluster.local:5000/v3": {inside, true},
		"https://keystone.openstack/v3":                       {providers.InternalURL{Scheme: "https", Namespace: "openstack", Service: "keystone", Port: "443", Path: "/v3"}, true},
		"http://keystone.openstack":                           {providers.InternalURL{Scheme: "http", Namespace: "openstack", Service: "keystone", Port: "80"}, true},
		"https://identity.example.org:5000/v3":                {},
		"http://10.0.0.1:5000/v3":                             {},
		"http://keystone:5000/v3":                             {},
		"ldap://keystone.openstack":                           {},
		"http://keystone.openstack:port":                      {},
		"":                                                    {},
	}
	for text, test := range tests {
		if got, ok := providers.ParseInternalURL(text); ok != test.ok || got != test.want {
			t.Errorf("%q: %+v, %t", text, got, ok)
		}
	}
	if name := inside.ProxyName(); name != "http:keystone:5000" {
		t.Errorf("the name for the proxy is %s", name)
	}
}

func TestParsePodPort(t *testing.T) {
	inside := providers.PodPort{Namespace: "openstack", Pod: "mariadb-server-0", Port: 3306}
	tests := map[string]struct {
		want providers.PodPort
		ok   bool
	}{
		"mariadb-server-0.mariadb-server.openstack:3306":                   {inside, true},
		"mariadb-server-0.mariadb-server.openstack.svc.cluster.local:3306": {inside, true},
		"mariadb.openstack:3306":                                           {},
		"mariadb-server-0.mariadb-server.openstack":                        {},
		"mariadb-server-0.mariadb-server.openstack:0":                      {},
		"mariadb-server-0.mariadb-server.openstack:65536":                  {},
		"mariadb-server-0.mariadb-server.openstack:mysql":                  {},
		"mariadb-server-0..openstack:3306":                                 {},
		"database.example.org.uk:3306":                                     {},
		"":                                                                 {},
	}
	for text, test := range tests {
		if got, ok := providers.ParsePodPort(text); ok != test.ok || got != test.want {
			t.Errorf("%q: %+v, %t", text, got, ok)
		}
	}
}

// answering always finds the same.
type answering struct {
	found []providers.Difference
	err   error
}

func (a answering) Compare(context.Context, *providers.Registration) ([]providers.Difference, error) {
	return a.found, a.err
}

// TestRegistrars checks that the differences of all servers count, and every error.
func TestRegistrars(t *testing.T) {
	one, two := providers.Difference{Server: "Keystone", Path: "a"}, providers.Difference{Server: "MariaDB", Path: "b"}
	all := providers.Registrars{answering{found: []providers.Difference{one}}, answering{}, answering{found: []providers.Difference{two}}}
	found, err := all.Compare(t.Context(), &providers.Registration{})
	if err != nil || !slices.Equal(found, []providers.Difference{one, two}) {
		t.Errorf("%+v, %v", found, err)
	}
	silent := &providers.UncomparedError{Why: "silence"}
	if found, err := append(all, answering{err: silent}).Compare(t.Context(), &providers.Registration{}); found != nil || !errors.Is(err, silent) {
		t.Errorf("%+v, %v", found, err)
	}
}
