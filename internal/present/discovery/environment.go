package discovery

import (
	"cmp"
	"net"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/providers"
)

// APIServer is the Service of the API server. All pods get its variables.
var APIServer = providers.Ref{GVK: serviceKind, Namespace: corev1.NamespaceDefault, Name: "kubernetes"}

// Variable is an environment variable.
type Variable struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Environment returns the variables that a kubelet gives to pods of the cloud's namespace that have
// service links: those of all Services of the namespace, kolla's and others, and of the Service of
// the API server. apiServer is nil if it is not known. The snapshot has the Services of the namespace.
func (d *Directory) Environment(snapshot *providers.Snapshot, apiServer *unstructured.Unstructured) ([]Variable, error) {
	found := slices.DeleteFunc(snapshot.All(serviceKind), func(u *unstructured.Unstructured) bool { return u.GetNamespace() != d.Namespace })
	isOwn := func(u *unstructured.Unstructured) bool { return u.GetName() == APIServer.Name }
	if apiServer != nil && !slices.ContainsFunc(found, isOwn) { // a Service of the same name in the namespace takes its place
		found = append(found, apiServer)
	}
	services := make([]*corev1.Service, len(found))
	for i, u := range found {
		services[i] = &corev1.Service{}
		if err := decode(u, services[i]); err != nil {
			return nil, err
		}
	}
	return Variables(services), nil
}

// OwnEnvironment returns the variables of the directory's Services in the cloud's namespace.
func (d *Directory) OwnEnvironment() []Variable {
	var services []*corev1.Service
	for _, b := range d.Blocks {
		for _, s := range b.Services {
			if s.Live != nil && s.Namespace == d.Namespace {
				services = append(services, s.Live.object)
			}
		}
	}
	return Variables(services)
}

// Variables returns the environment variables of Services, as pkg/kubelet/envvars of Kubernetes makes
// them. They are sorted by the name of the Service. Headless Services and aliases have none. If two
// Services make one name, both are here, and a kubelet takes any of them.
func Variables(services []*corev1.Service) []Variable {
	sorted := slices.SortedFunc(slices.Values(services), func(a, b *corev1.Service) int { return cmp.Compare(a.Name, b.Name) })
	var out []Variable
	for _, s := range sorted {
		if hasAddress(s) && len(s.Spec.Ports) > 0 {
			out = append(out, variablesOf(s)...)
		}
	}
	return out
}

// hasAddress reports whether a Service has an address of the cluster.
func hasAddress(s *corev1.Service) bool {
	return s.Spec.ClusterIP != "" && s.Spec.ClusterIP != corev1.ClusterIPNone
}

func variablesOf(s *corev1.Service) []Variable {
	prefix, address, first := variableName(s.Name), s.Spec.ClusterIP, s.Spec.Ports[0]
	out := []Variable{
		{prefix + "_SERVICE_HOST", address},
		{prefix + "_SERVICE_PORT", number(first)},
	}
	for _, p := range s.Spec.Ports {
		if p.Name != "" {
			out = append(out, Variable{prefix + "_SERVICE_PORT_" + variableName(p.Name), number(p)})
		}
	}
	out = append(out, Variable{prefix + "_PORT", link(address, first)})
	for _, p := range s.Spec.Ports {
		protocol := protocolOf(p)
		name := prefix + "_PORT_" + number(p) + "_" + strings.ToUpper(protocol)
		out = append(out,
			Variable{name, link(address, p)},
			Variable{name + "_PROTO", strings.ToLower(protocol)},
			Variable{name + "_PORT", number(p)},
			Variable{name + "_ADDR", address},
		)
	}
	return out
}

// variableName turns the name of a Service or a port into a part of a variable's name.
func variableName(name string) string { return strings.ToUpper(strings.ReplaceAll(name, "-", "_")) }

func number(p corev1.ServicePort) string { return strconv.Itoa(int(p.Port)) }

func protocolOf(p corev1.ServicePort) string { return string(cmp.Or(p.Protocol, corev1.ProtocolTCP)) }

// link returns a port in the form of Docker's links: "tcp://10.0.0.1:80".
func link(address string, p corev1.ServicePort) string {
	return strings.ToLower(protocolOf(p)) + "://" + net.JoinHostPort(address, number(p))
}
