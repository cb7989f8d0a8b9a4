package providers_test

import (
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
