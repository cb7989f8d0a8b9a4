// Package managed makes the services of exposures of the mode managed: a DaemonSet with HAProxy and
// keepalived on the nodes of a role, and its config files.
//
// A pod has keepalived as its main container, and HAProxy as a sidecar. So HAProxy answers before
// keepalived starts, and at the end of a pod keepalived hands over the VIP before HAProxy stops. Both
// start directly: Kolla's start script would copy files and change owners, for which a process needs
// more rights than it keeps. They are in the network of the node, whose address the VIP becomes.
//
// keepalived needs NET_ADMIN for the address and NET_RAW for VRRP, and SETGID for its checks. HAProxy
// needs NET_RAW to listen at the VIP on nodes that do not have it (`transparent`), as a pod cannot set
// net.ipv4.ip_nonlocal_bind of its node, NET_BIND_SERVICE for ports below 1024, and SETUID and SETGID
// to become the user haproxy. Kubernetes gives these rights to root only.
package managed

import (
	_ "embed"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers/haproxy"
	"kolla.openstack.org/kolla/providers/keepalived"
	"kolla.openstack.org/kolla/providers/openstack/internal/network"
	"kolla.openstack.org/kolla/providers/openstack/internal/nodes"
	"kolla.openstack.org/kolla/providers/openstack/internal/object"
)

//go:embed files/start-haproxy.sh
var startHAProxy string

//go:embed files/start-keepalived.sh
var startKeepalived string

//go:embed files/certificate.py
var certificate string

// The directories of the two programs, which last as long as the pod, and the file that the readiness
// probe looks for. keepalived does not start without a writable /run.
const (
	haproxyDir    = "/run/haproxy"
	keepalivedDir = "/run"
	readyFile     = "/run/keepalived/ready"
)

// Services returns a service for each exposure of the mode managed that services use. Its block is
// that of the exposure. cluster has the nodes of the cluster; nil without a cluster to ask.
func Services(cloud object.Cloud, config *configs.Config, cluster []nodes.Node) (out []configs.Service, diags hcl.Diagnostics) {
	for i := range config.Exposures {
		x := &config.Exposures[i]
		if x.Mode != configs.ModeManaged {
			continue
		}
		if later := x.Keepalived.Deferred; len(later) > 0 && used(config, x) {
			unknown := configs.Text{{Deferred: later}}
			out = append(out, service(x, unknown, unknown))
			continue
		}
		vip, err := netip.ParseAddr(x.VIP)
		if err != nil { // which was reported
			continue
		}
		proxy, wrong := haproxy.RenderManaged(config, *x, func(s *configs.Service, port string) []string {
			return network.Fronts(object.Service{Cloud: cloud, Decl: s}, x, port)
		})
		diags = append(diags, wrong...)
		holders, wrong := holdersOf(config, x, vip, cluster)
		diags = append(diags, wrong...)
		if proxy == nil {
			continue
		}
		mover := keepalived.RenderManaged(config.Cloud.Name, *x, holders, haproxy.MonitorSocket, readyFile)
		made := service(x, configs.Plain(string(proxy)), configs.Plain(string(mover)))
		if config.Cloud.Metrics != nil {
			measure(&made, config.Cloud.Namespace, x)
		}
		out = append(out, made)
	}
	return out, diags
}

// used reports whether a service uses an exposure.
func used(config *configs.Config, x *configs.Exposure) bool {
	return slices.ContainsFunc(config.Services, func(s configs.Service) bool { return s.Exposure == x.Name })
}

// holdersOf returns the nodes that may have the VIP, with their addresses of its family.
func holdersOf(config *configs.Config, x *configs.Exposure, vip netip.Addr, cluster []nodes.Node) (out []keepalived.Node, diags hcl.Diagnostics) {
	i := slices.IndexFunc(config.Roles, func(r configs.Role) bool { return r.Name == x.Role })
	if i < 0 {
		return nil, nil // reported
	}
	for _, n := range cluster {
		if !config.Roles[i].Selects(n.Name, n.Labels) {
			continue
		}
		address := addressOf(n, vip)
		if !address.IsValid() {
			diags = append(diags, object.Error(x.Range, fmt.Sprintf("Node %q has no address for VRRP", n.Name),
				fmt.Sprintf("The nodes of exposure %q find each other by addresses of the family of its VIP, %s. The cluster knows the addresses of the node as: %s. Take a VIP of another family, or other nodes.", x.Name, x.VIP, known(n.Addresses))))
			continue
		}
		out = append(out, keepalived.Node{Name: n.Name, Address: address})
	}
	slices.SortFunc(out, func(a, b keepalived.Node) int { return strings.Compare(a.Name, b.Name) })
	return out, diags
}

// addressOf returns the first address of a node that has the family of the VIP.
func addressOf(n nodes.Node, vip netip.Addr) netip.Addr {
	for _, text := range n.Addresses {
		if ip, err := netip.ParseAddr(text); err == nil && ip.Is4() == vip.Is4() {
			return ip
		}
	}
	return netip.Addr{}
}

// known lists addresses.
func known(addresses []string) string {
	if len(addresses) == 0 {
		return "none"
	}
	return strings.Join(addresses, ", ")
}

// service returns the service of an exposure.
func service(x *configs.Exposure, proxy, mover configs.Text) configs.Service {
	file := func(name, path string, content configs.Text) configs.ConfigFile {
		return configs.ConfigFile{Name: name, Format: "raw", Path: path, Content: content, Range: x.Range}
	}
	s := configs.Service{
		Block: x.Block, Name: "exposure-" + x.Name, DefinedAt: x.Range, Role: x.Role, Range: x.Range, ImagesRange: x.Range,
		Configs: []configs.ConfigFile{
			file("haproxy.cfg", "/etc/haproxy/haproxy.cfg", proxy),
			file("start-haproxy.sh", "/etc/haproxy/start.sh", configs.Plain(startHAProxy)),
			file("keepalived.conf", "/etc/keepalived/keepalived.conf", mover),
			file("start-keepalived.sh", "/etc/keepalived/start.sh", configs.Plain(startKeepalived)),
		},
	}
	w := workload(x)
	w.Pod.Inits = append(w.Pod.Inits, proxyOf(x))
	if x.TLS != nil {
		s.Configs = append(s.Configs, file("certificate.py", "/etc/haproxy/certificate.py", configs.Plain(certificate)))
		w.Pod.Inits = append(w.Pod.Inits, renewal(x))
	}
	s.Workloads = []configs.Workload{w}
	return s
}

// measure adds a workload that serves the metrics of HAProxy in the network of pods, where NetworkPolicies decide
// who gets them. It reads them from a socket on the node.
func measure(s *configs.Service, namespace string, x *configs.Exposure) {
	sockets := configs.Volume{
		Name: "metrics", Path: haproxy.MetricsDir, Host: "/run/kolla/" + namespace + "/" + s.Name, Type: "directory", Create: true, Range: x.Range,
	}
	proxy := &s.Workloads[0].Pod.Inits[0]
	proxy.Volumes = append(proxy.Volumes, sockets)
	sockets.ReadOnly = true
	s.Ports = []configs.Port{{Name: "metrics", Number: haproxy.MetricsPort, Range: x.Range}}
	s.Configs = append(s.Configs, configs.ConfigFile{
		Name: "exporter.cfg", Format: "raw", Path: "/etc/haproxy/exporter.cfg", Content: configs.Plain(haproxy.Exporter()), Range: x.Range,
	})
	s.Workloads = append(s.Workloads, configs.Workload{
		Name: configs.ExposureMetrics, Kind: "DaemonSet", Range: x.Range,
		Metrics: &configs.Metrics{Port: "metrics", Path: "/metrics"},
		Pod: configs.Pod{
			Image: "haproxy", Start: "direct", User: haproxyUser, Command: []string{"haproxy", "-db", "-f", "/etc/haproxy/exporter.cfg"},
			Env:     []configs.Env{{Name: haproxy.AddressVariable, Value: configs.Text{{Field: "pod.ip"}}}},
			Ports:   []string{"metrics"},
			Configs: []string{"exporter.cfg"}, Volumes: []configs.Volume{sockets},
			Requests: map[string]string{"cpu": "10m", "memory": "32Mi"},
			Powers:   configs.Powers{Reason: "It reads the metrics of HAProxy from a socket on the node."},
		},
		Ready: &configs.Probe{TCP: true, Port: "metrics"},
	})
}

// haproxyUser is the user haproxy in Kolla's images.
const haproxyUser = 42454

// reason is the purpose of the rights of the pods.
const reason = "The virtual IP address of an exposure is an address of the node."

// workload returns the DaemonSet with keepalived. A rollout goes from node to node: it waits until
// keepalived could take the VIP again, and HAProxy answers.
func workload(x *configs.Exposure) configs.Workload {
	return configs.Workload{
		Name: "keepalived", Kind: "DaemonSet", MaxUnavailable: "1", Range: x.Range,
		Pod: configs.Pod{
			Image: "keepalived", Start: "direct", Command: []string{"sh", "/etc/keepalived/start.sh"},
			Env:      []configs.Env{{Name: "KOLLA_NODE_NAME", Value: configs.Text{{Field: "node.name"}}}},
			Configs:  []string{"keepalived.conf", "start-keepalived.sh"},
			Writable: []string{haproxyDir, keepalivedDir}, WritableSize: "64Mi",
			HostNetwork: true,
			Requests:    map[string]string{"cpu": "20m", "memory": "32Mi"},
			Powers:      configs.Powers{Root: true, Capabilities: []string{"NET_ADMIN", "NET_RAW", "SETGID"}, Reason: reason},
		},
		Ready: &configs.Probe{Exec: []string{"sh", "-c", "test -e " + readyFile}, Period: 2},
	}
}

// proxyOf returns the sidecar with HAProxy.
func proxyOf(x *configs.Exposure) configs.Init {
	probe := func(period, retries int) *configs.Probe {
		return &configs.Probe{
			Exec:   []string{"curl", "-sf", "-o", "/dev/null", "--max-time", "3", "--unix-socket", haproxy.MonitorSocket, "http://haproxy/"},
			Period: period, Retries: retries,
		}
	}
	return configs.Init{
		Name: "haproxy", Sidecar: true, Image: "haproxy", Command: []string{"sh", "/etc/haproxy/start.sh"},
		Configs:  []string{"haproxy.cfg", "start-haproxy.sh"},
		Volumes:  certificates(x),
		Writable: []string{haproxyDir},
		Requests: map[string]string{"cpu": "100m", "memory": "128Mi"},
		Startup:  probe(1, 60), Ready: probe(5, 2), Live: probe(10, 6),
		Powers: configs.Powers{Root: true, Capabilities: []string{"NET_BIND_SERVICE", "NET_RAW", "SETGID", "SETUID"}, Reason: reason},
	}
}

// certificates returns the volume with the certificate, if there is one.
func certificates(x *configs.Exposure) []configs.Volume {
	if x.TLS == nil {
		return nil
	}
	return []configs.Volume{{Name: "certificate", Path: haproxy.CertificateDir, Secret: x.TLS.Secret, ReadOnly: true, Range: x.TLS.Range}}
}

// renewal returns the sidecar that brings a renewed certificate to HAProxy.
func renewal(x *configs.Exposure) configs.Init {
	return configs.Init{
		Name: "certificate", Sidecar: true, Image: "haproxy",
		Command:  []string{"python3", "/etc/haproxy/certificate.py", haproxy.CertificateDir, haproxy.AdminSocket, "10"},
		Configs:  []string{"certificate.py"},
		Volumes:  certificates(x),
		Writable: []string{haproxyDir},
		Requests: map[string]string{"cpu": "10m", "memory": "32Mi"},
		Powers:   configs.Powers{Root: true, Reason: reason},
	}
}
