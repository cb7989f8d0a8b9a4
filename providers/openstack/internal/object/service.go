package object

import (
	"iter"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
)

// Service makes the objects of one service.
type Service struct {
	Cloud Cloud
	Decl  *configs.Service
}

// Address returns the address of an object of the service.
func (s Service) Address(kind, name string) addrs.Object {
	return addrs.Object{Block: s.Decl.Block, Kind: kind, Name: name}
}

// Labels returns the labels of all objects of the service.
func (s Service) Labels() map[string]string {
	out := s.Cloud.Labels()
	out["app.kubernetes.io/name"] = s.Decl.Name
	out[providers.LabelService] = s.Decl.Name
	return out
}

// Selector returns the labels that select the pods of a job or workload. They never change.
func (s Service) Selector(name string) map[string]string {
	return map[string]string{
		providers.LabelCloud:          s.Cloud.Decl.Name,
		providers.LabelService:        s.Decl.Name,
		"app.kubernetes.io/component": name,
	}
}

// PodLabels returns all labels of the pods of a job or workload.
func (s Service) PodLabels(name string) map[string]string {
	return Merged(s.Labels(), map[string]string{"app.kubernetes.io/component": name})
}

// Object makes an object of the service, with the labels and annotations of all its objects.
func (s Service) Object(c Configuration, dependsOn ...addrs.Object) providers.Object {
	address := s.Address(*c.GetKind(), *c.GetName())
	whole := !s.Cloud.NamesOnly || s.isPatched(address.Kind) // a patch needs the whole object
	u := nameOnly(c)
	if whole {
		u = Manifest(c)
	}
	u.SetNamespace(s.Cloud.Decl.Namespace)
	if whole {
		Mark(u, "labels", Merged(s.Decl.Labels, s.Labels()))
		Mark(u, "annotations", Merged(s.Decl.Annotations, AddressAnnotation(address)))
	}
	return providers.Object{
		Address:   address,
		Manifest:  u,
		DependsOn: Unique(append([]addrs.Object{s.Cloud.Namespace()}, dependsOn...)),
		Source:    Source(s.Decl.Range),
		Lifecycle: Lifecycle(s.Decl.Lifecycle),
	}
}

// isPatched reports whether the service has a patch for objects of a kind.
func (s Service) isPatched(kind string) bool {
	return slices.ContainsFunc(s.Decl.Patches, func(p configs.Patch) bool { return p.Kind == kind })
}

// Dashed joins the parts of a name. It adds the service's name in front, unless it is there.
func (s Service) Dashed(parts ...string) string {
	name := strings.Join(parts, "-")
	if name == s.Decl.Name || strings.HasPrefix(name, s.Decl.Name+"-") || strings.HasPrefix(name, s.Decl.Name+".") {
		return name
	}
	return s.Decl.Name + "-" + name
}

// Workload returns the name of the object of a workload.
func (s Service) Workload(w configs.Workload) string { return s.Dashed(s.Decl.Name, w.Name) }

// Ports returns the declared ports with some names.
func (s Service) Ports(names []string) []configs.Port {
	var out []configs.Port
	for _, name := range names {
		for _, p := range s.Decl.Ports {
			if p.Name == name {
				out = append(out, p)
			}
		}
	}
	return out
}

// SidecarListens reports whether a sidecar of a workload listens on a port.
func SidecarListens(w configs.Workload, port string) bool {
	return slices.ContainsFunc(w.Pod.Inits, func(i configs.Init) bool { return slices.Contains(i.Ports, port) })
}

// Pods returns the pods of all jobs and workloads of a service.
func Pods(s *configs.Service) iter.Seq[*configs.Pod] {
	return func(yield func(*configs.Pod) bool) {
		for i := range s.Jobs {
			if !yield(&s.Jobs[i].Pod) {
				return
			}
		}
		for i := range s.Workloads {
			if !yield(&s.Workloads[i].Pod) {
				return
			}
		}
	}
}
