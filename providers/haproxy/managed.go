package haproxy

import (
	"fmt"
	"net"
	"strconv"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/lang/configs"
)

// The paths in the container of HAProxy in the cluster, and the environment variable with the
// domain of the cluster, such as cluster.local.
const (
	// MonitorSocket answers requests in HTTP as long as HAProxy runs and listens.
	MonitorSocket = "/run/haproxy/monitor.sock"
	// AdminSocket takes new certificates. It exists only for an exposure with TLS.
	AdminSocket = "/run/haproxy/admin.sock"
	// CertificateDir has the keys of the Secret with the certificate.
	CertificateDir = "/etc/haproxy/certificates"
	DomainVariable = "KOLLA_CLUSTER_DOMAIN"
)

// HAProxy serves metrics at a socket in a directory of its node, if the cloud has metrics. A second HAProxy, in the
// network of pods, passes them on, because no NetworkPolicy protects a port of the node.
const (
	MetricsDir    = "/run/metrics"
	MetricsSocket = MetricsDir + "/haproxy.sock"
	MetricsPort   = 9101
	// AddressVariable is the environment variable with the address of the pod of the second HAProxy.
	AddressVariable = "KOLLA_POD_IP"
)

// Exporter returns the haproxy.cfg of the HAProxy that passes metrics on.
func Exporter() string {
	return fmt.Sprintf(`%swhat is changed here is lost when it is made anew.
#
# Metrics of the HAProxy in the network of this node.
global
    log stdout format raw local0
    maxconn 100

defaults
    mode http
    timeout connect 3s
    timeout client 10s
    timeout server 10s

frontend metrics
    bind "${%s}:%d"
    default_backend node

backend node
    server node unix@%s
`, Signature, AddressVariable, MetricsPort, MetricsSocket)
}

// RenderManaged returns the haproxy.cfg for an exposure of the mode managed. services names the
// Services that lead to a port of a service. Without a port there is no file. Mistakes are
// diagnostics; if one is an error, there is no file either.
//
// Services have one address as long as they exist, and the cluster chooses a pod that is ready for each
// connection. So HAProxy checks nothing itself: when a connection fails, it tries again, and gets
// another pod.
func RenderManaged(config *configs.Config, exposure configs.Exposure, services func(service *configs.Service, port string) []string) ([]byte, hcl.Diagnostics) {
	r := &renderer{config: config, exposure: exposure}
	ports := r.ports()
	if r.diags.HasErrors() || len(ports) == 0 {
		return nil, r.diags
	}
	data := cloud{Signature: Signature, Name: config.Cloud.Name, Exposure: exposure, Managed: true, Monitor: MonitorSocket}
	if config.Cloud.Metrics != nil {
		data.Metrics = MetricsSocket
	}
	if exposure.TLS != nil {
		data.Certificate = CertificateDir + "/" + configs.KeyCertificate
		data.Admin = AdminSocket
		data.Redirect = redirectOf(exposure, ports)
	}
	return r.page(data, ports, func(p port) (out []server) {
		for _, name := range services(p.service, p.decl.Name) {
			host := fmt.Sprintf("%s.%s.svc.${%s}", name, config.Cloud.Namespace, DomainVariable)
			out = append(out, server{name, strconv.Quote(net.JoinHostPort(host, strconv.Itoa(p.decl.Number)))})
		}
		return out
	}), r.diags
}
