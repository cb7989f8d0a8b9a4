package discovery_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kolla.openstack.org/kolla/internal/present/discovery"
)

func service(name, address string, ports ...corev1.ServicePort) *corev1.Service {
	return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.ServiceSpec{ClusterIP: address, Ports: ports}}
}

// TestVariables has the rules of pkg/kubelet/envvars of Kubernetes 1.37.
func TestVariables(t *testing.T) {
	for name, test := range map[string]struct {
		services []*corev1.Service
		want     string
	}{
		"a port with a name": {
			[]*corev1.Service{service("keystone", "10.0.0.1", corev1.ServicePort{Name: "public", Port: 5000, NodePort: 30500, Protocol: corev1.ProtocolTCP})},
			"KEYSTONE_SERVICE_HOST=10.0.0.1 KEYSTONE_SERVICE_PORT=5000 KEYSTONE_SERVICE_PORT_PUBLIC=5000 KEYSTONE_PORT=tcp://10.0.0.1:5000 " +
				"KEYSTONE_PORT_5000_TCP=tcp://10.0.0.1:5000 KEYSTONE_PORT_5000_TCP_PROTO=tcp KEYSTONE_PORT_5000_TCP_PORT=5000 KEYSTONE_PORT_5000_TCP_ADDR=10.0.0.1",
		},
		"a port without a name or protocol, and dashes": {
			[]*corev1.Service{service("nc-http-2", "10.3.0.15", corev1.ServicePort{Port: 80})},
			"NC_HTTP_2_SERVICE_HOST=10.3.0.15 NC_HTTP_2_SERVICE_PORT=80 NC_HTTP_2_PORT=tcp://10.3.0.15:80 " +
				"NC_HTTP_2_PORT_80_TCP=tcp://10.3.0.15:80 NC_HTTP_2_PORT_80_TCP_PROTO=tcp NC_HTTP_2_PORT_80_TCP_PORT=80 NC_HTTP_2_PORT_80_TCP_ADDR=10.3.0.15",
		},
		"several ports, UDP and IPv6: the first port has the short names": {
			[]*corev1.Service{service("dns", "fd00::a", corev1.ServicePort{Name: "dns-udp", Port: 53, Protocol: corev1.ProtocolUDP}, corev1.ServicePort{Name: "dns-tcp", Port: 53, Protocol: corev1.ProtocolTCP})},
			"DNS_SERVICE_HOST=fd00::a DNS_SERVICE_PORT=53 DNS_SERVICE_PORT_DNS_UDP=53 DNS_SERVICE_PORT_DNS_TCP=53 DNS_PORT=udp://[fd00::a]:53 " +
				"DNS_PORT_53_UDP=udp://[fd00::a]:53 DNS_PORT_53_UDP_PROTO=udp DNS_PORT_53_UDP_PORT=53 DNS_PORT_53_UDP_ADDR=fd00::a " +
				"DNS_PORT_53_TCP=tcp://[fd00::a]:53 DNS_PORT_53_TCP_PROTO=tcp DNS_PORT_53_TCP_PORT=53 DNS_PORT_53_TCP_ADDR=fd00::a",
		},
		"no address: headless, an alias": {
			[]*corev1.Service{service("mariadb-server", "None", corev1.ServicePort{Port: 3306}), service("ldap", "")}, "",
		},
		"in the order of names": {
			[]*corev1.Service{service("b", "10.0.0.2", corev1.ServicePort{Port: 2}), service("a", "10.0.0.1", corev1.ServicePort{Port: 1})},
			"A_SERVICE_HOST=10.0.0.1 A_SERVICE_PORT=1 A_PORT=tcp://10.0.0.1:1 A_PORT_1_TCP=tcp://10.0.0.1:1 A_PORT_1_TCP_PROTO=tcp A_PORT_1_TCP_PORT=1 A_PORT_1_TCP_ADDR=10.0.0.1 " +
				"B_SERVICE_HOST=10.0.0.2 B_SERVICE_PORT=2 B_PORT=tcp://10.0.0.2:2 B_PORT_2_TCP=tcp://10.0.0.2:2 B_PORT_2_TCP_PROTO=tcp B_PORT_2_TCP_PORT=2 B_PORT_2_TCP_ADDR=10.0.0.2",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, v := range discovery.Variables(test.services) {
				got = append(got, v.Name+"="+v.Value)
			}
			if diff := cmp.Diff(strings.Fields(test.want), got, cmp.Transformer("list", func(l []string) string { return strings.Join(l, "\n") })); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
