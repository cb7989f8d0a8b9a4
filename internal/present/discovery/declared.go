package discovery

import (
	"maps"
	"net"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// Block is a service of the configuration, or another block that declares Services or workloads.
type Block struct {
	Address  string // "service.keystone"
	Name     string // of the service in the cluster; empty for other blocks
	External bool   // the service exists outside of the cloud, and has no objects
	Services []Service
	// Alone are the workloads of the block that no Service leads to.
	Alone []addrs.Object
	URLs  []URL // of the ports, in the order of their declaration
}

// Objects returns the Services and the workloads of the block.
func (b Block) Objects() []addrs.Object {
	var out []addrs.Object
	for _, s := range b.Services {
		out = append(append(out, s.Address), s.Workloads...)
	}
	return append(out, b.Alone...)
}

// Only returns the block with those of its Services that fit, or whose workloads fit, and with the
// workloads without a Service that fit. It keeps the URLs of ports of these Services. It calls fits for
// all objects.
func (b Block) Only(fits func(addrs.Object) bool) Block {
	out := Block{Address: b.Address, Name: b.Name}
	for _, s := range b.Services {
		chosen := fits(s.Address)
		for _, w := range s.Workloads {
			chosen = fits(w) || chosen
		}
		if chosen {
			out.Services = append(out.Services, s)
		}
	}
	for _, w := range b.Alone {
		if fits(w) {
			out.Alone = append(out.Alone, w)
		}
	}
	for _, u := range b.URLs {
		if slices.ContainsFunc(out.Services, func(s Service) bool { return slices.Contains(s.Ports, u.Port) }) {
			out.URLs = append(out.URLs, u)
		}
	}
	return out
}

// Service is a Service of Kubernetes.
type Service struct {
	Address   addrs.Object
	Namespace string
	Workloads []addrs.Object // that its selector selects
	Ports     []string       // names
	Live      *Live          // nil: it is not in the cluster, or nobody has looked
}

// Short returns the DNS name for pods in the namespace of the Service.
func (s Service) Short() string { return s.Address.Name }

// Namespaced returns the DNS name for all pods.
func (s Service) Namespaced() string { return s.Address.Name + "." + s.Namespace }

// Full returns the DNS name without the domain of the cluster, which Kubernetes does not tell.
// Resolvers in pods add the domain.
func (s Service) Full() string { return s.Namespaced() + ".svc" }

// URL is how clients reach a port of a service: a URL, or host:port for a TCP port that is
// not known to speak HTTP. The URL of a UDP port begins with "udp://".
type URL struct {
	Port     string `json:"port"`               // name
	Endpoint string `json:"endpoint,omitempty"` // type in Keystone's catalogue, "identity"; empty: the port has no endpoint
	Internal string `json:"internal"`           // "http://keystone.openstack:5000/v3", "mariadb.openstack:3306"
	Public   string `json:"public,omitempty"`   // empty: clients outside of the cluster cannot reach the port
}

// Declared returns the blocks of a configuration that declare Services or workloads, with the
// external services, sorted by address. objects are the rendered objects of the configuration.
func Declared(config *configs.Config, objects []providers.Object) []Block {
	blocks := map[string]*Block{}
	block := func(address string) *Block {
		if blocks[address] == nil {
			blocks[address] = &Block{Address: address}
		}
		return blocks[address]
	}
	workloads := workloadsIn(objects)
	reached := map[addrs.Object]bool{}
	for _, o := range objects {
		if o.Manifest.GroupVersionKind().GroupKind() != kinds.Service {
			continue
		}
		s := Service{Address: o.Address, Namespace: o.Manifest.GetNamespace(), Workloads: selected(o.Manifest, workloads), Ports: portsOf(o.Manifest)}
		for _, w := range s.Workloads {
			reached[w] = true
		}
		b := block(o.Address.Block)
		b.Services = append(b.Services, s)
	}
	for _, w := range workloads {
		if !reached[w.address] {
			b := block(w.address.Block)
			b.Alone = append(b.Alone, w.address)
		}
	}
	for i := range config.Services {
		s := &config.Services[i]
		if blocks[s.Block] == nil && !s.External {
			continue
		}
		b := block(s.Block)
		b.Name, b.External, b.URLs = s.Name, s.External, urls(config, s, b.Services)
	}
	out := make([]Block, 0, len(blocks))
	for _, address := range slices.Sorted(maps.Keys(blocks)) {
		out = append(out, *blocks[address])
	}
	return out
}

// workload is a declared workload.
type workload struct {
	address   addrs.Object
	namespace string
	labels    map[string]string // of its pods
}

// workloadsIn returns the Deployments, StatefulSets and DaemonSets among objects.
func workloadsIn(objects []providers.Object) []workload {
	var out []workload
	for _, o := range objects {
		kind := o.Manifest.GroupVersionKind().GroupKind()
		if !slices.Contains([]schema.GroupKind{kinds.Deployment, kinds.StatefulSet, kinds.DaemonSet}, kind) {
			continue
		}
		pods, _, _ := unstructured.NestedStringMap(o.Manifest.Object, "spec", "template", "metadata", "labels")
		out = append(out, workload{o.Address, o.Manifest.GetNamespace(), pods})
	}
	return out
}

// selected returns the workloads whose pods a Service selects.
func selected(service *unstructured.Unstructured, workloads []workload) []addrs.Object {
	selector, _, _ := unstructured.NestedStringMap(service.Object, "spec", "selector")
	if len(selector) == 0 {
		return nil
	}
	delete(selector, appsv1.StatefulSetPodNameLabel) // the controller adds it to pods
	var out []addrs.Object
	for _, w := range workloads {
		if w.namespace == service.GetNamespace() && labels.SelectorFromSet(selector).Matches(labels.Set(w.labels)) {
			out = append(out, w.address)
		}
	}
	return out
}

// portsOf returns the names of the ports of a Service.
func portsOf(service *unstructured.Unstructured) []string {
	var out []string
	ports, _, _ := unstructured.NestedSlice(service.Object, "spec", "ports")
	for _, port := range ports {
		fields, _ := port.(map[string]any)
		name, _ := fields["name"].(string)
		out = append(out, name)
	}
	return out
}

// urls returns the URLs of the ports of a service. A port with several endpoints has several.
func urls(config *configs.Config, s *configs.Service, services []Service) []URL {
	var out []URL
	for _, p := range s.Ports {
		host := hostOf(p.Name, services)
		if host == "" {
			continue
		}
		var entry *configs.Entry // nil: clients outside cannot reach the port
		if x := config.Exposure(s.Exposure); p.Exposed && x != nil {
			found := x.Entry(s.Name, s.Ports, p)
			entry = &found
		}
		internal := net.JoinHostPort(host, strconv.Itoa(p.Number))
		endpoints := slices.DeleteFunc(slices.Clone(s.Endpoints), func(e configs.Endpoint) bool { return e.Port != p.Name })
		scheme := ""
		if p.UDP || s.SpeaksHTTP(p) {
			scheme = p.Scheme()
		}
		if len(endpoints) == 0 {
			endpoints = []configs.Endpoint{{}}
		}
		for _, e := range endpoints {
			u := URL{Port: p.Name, Endpoint: e.Type, Internal: scheme + internal + e.Path}
			switch {
			case entry != nil && scheme != "":
				u.Public = entry.URL() + e.Path
			case entry != nil:
				u.Public = entry.Address()
			}
			out = append(out, u)
		}
	}
	return out
}

// hostOf returns the name of the Service by which other services reach a port; empty: there is none.
// It is the shortest name. The Services for single pods, for members and for clients outside have
// the same name with a suffix.
func hostOf(port string, services []Service) string {
	host := ""
	for _, s := range services {
		if name := s.Namespaced(); slices.Contains(s.Ports, port) && (host == "" || len(name) < len(host)) {
			host = name
		}
	}
	return host
}
