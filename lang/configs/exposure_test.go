package configs_test

import (
	"testing"

	"kolla.openstack.org/kolla/lang/configs"
)

func TestEntry(t *testing.T) {
	ports := []configs.Port{{Name: "inside", Number: 81}, {Name: "api", Number: 80, Exposed: true}, {Name: "vnc", Number: 6080, Public: 6081, Exposed: true}, {Name: "dns", Number: 80, UDP: true, Exposed: true}}
	for name, test := range map[string]struct {
		exposure     configs.Exposure
		port         int // index
		address, url string
	}{
		"the VIP":                   {configs.Exposure{VIP: "192.0.2.1"}, 2, "192.0.2.1:6081", "http://192.0.2.1:6081"},
		"a name":                    {configs.Exposure{VIP: "192.0.2.1", FQDN: "a.example.org"}, 2, "a.example.org:6081", "http://a.example.org:6081"},
		"the port of HTTP":          {configs.Exposure{VIP: "2001:db8::1"}, 1, "[2001:db8::1]:80", "http://[2001:db8::1]"},
		"UDP":                       {configs.Exposure{VIP: "192.0.2.1"}, 3, "192.0.2.1:80", "udp://192.0.2.1:80"},
		"a host name":               {configs.Exposure{VIP: "192.0.2.1", Domain: "example.org"}, 1, "web.example.org:80", "http://web.example.org"},
		"of a further port":         {configs.Exposure{Domain: "example.org"}, 2, "web-vnc.example.org:80", "http://web-vnc.example.org"},
		"at another port of a host": {configs.Exposure{Domain: "example.org", Port: 8080}, 2, "web-vnc.example.org:8080", "http://web-vnc.example.org:8080"},
	} {
		t.Run(name, func(t *testing.T) {
			entry := test.exposure.Entry("web", ports, ports[test.port])
			if entry.Address() != test.address || entry.URL() != test.url {
				t.Errorf("got %s and %s, want %s and %s", entry.Address(), entry.URL(), test.address, test.url)
			}
		})
	}
}

func TestCovers(t *testing.T) {
	names := []string{"a.example.org", "*.b.example.org"}
	for host, want := range map[string]bool{"a.example.org": true, "x.a.example.org": false, "x.b.example.org": true, "b.example.org": false, "x.y.b.example.org": false, "*.b.example.org": true, "192.0.2.1": false} {
		if got := configs.Covers(names, host); got != want {
			t.Errorf("%s: %t, want %t", host, got, want)
		}
	}
}

func TestKnows(t *testing.T) {
	hosts := configs.Exposure{Domain: "example.org"}
	vip := configs.Exposure{VIP: "192.0.2.1", FQDN: "cloud.example.org"}
	for host, want := range map[string][2]bool{
		"web.example.org":     {true, false},
		"example.org":         {true, false},
		"webexample.org":      {false, false},
		"cloud.example.org":   {true, true},
		"a.cloud.example.org": {true, false},
	} {
		if got := [2]bool{hosts.Knows(host), vip.Knows(host)}; got != want {
			t.Errorf("%s: %v, want %v", host, got, want)
		}
	}
}
