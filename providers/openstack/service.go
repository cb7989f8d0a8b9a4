package openstack

import (
	"slices"
	"strings"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
)

// service renders a service as objects.
type service struct {
	*renderer
	decl    *configs.Service
	configs map[string]file // by name of the config block
	names   []string        // KIND/NAME of each rendered object, without hashes
	// base has the dependencies of all workloads and jobs of the service.
	base []addrs.Object
}

func newService(r *renderer, decl *configs.Service) *service {
	return &service{renderer: r, decl: decl, configs: map[string]file{}}
}

func (s *service) block() string { return s.decl.Block }

func (s *service) address(kind, name string) addrs.Object {
	return addrs.Object{Block: s.block(), Kind: kind, Name: name}
}

// object makes an object of this service, with the labels and annotations of all objects.
func (s *service) object(c applyConfiguration, dependsOn ...addrs.Object) providers.Object {
	address := s.address(*c.GetKind(), *c.GetName())
	whole := !s.namesOnly || s.isPatched(address.Kind) // a patch is checked against all of it
	u := nameOnly(c)
	if whole {
		u = manifest(c)
	}
	u.SetNamespace(s.config.Cloud.Namespace)
	if whole {
		mark(u, "labels", merged(s.decl.Labels, s.labels(s.decl.Name)))
		mark(u, "annotations", merged(s.decl.Annotations, addressAnnotation(address)))
	}
	return providers.Object{
		Address:   address,
		Manifest:  u,
		DependsOn: unique(append([]addrs.Object{s.namespaceAddress()}, dependsOn...)),
		Source:    source(s.decl.Range),
		Lifecycle: lifecycleOf(s.decl.Lifecycle),
	}
}

// render adds the objects of the service. Jobs and workloads form a chain: the jobs that
// count as run; the jobs that create its databases, queues and users; its own jobs before;
// its workloads; the job that registers its endpoints; its jobs after. The service is ready
// when the workloads and the jobs after are. At the end, cleanup jobs delete the
// registrations of removed services.
func (s *service) render() {
	s.addSecrets()
	s.files()
	s.base = slices.Concat(s.needed(s.decl.Needs), s.kubeServices(), s.networkPolicy())
	skipped := s.skipped()
	before := s.jobs(slices.Concat(skipped, s.providedJobs("before")), s.base)
	before = s.jobs(unless(s.ownJobs("before"), skipped), before)
	workloads := s.workloads(before)
	after := s.jobs(slices.Concat(s.providedJobs("after"), unless(s.ownJobs("after"), skipped)), workloads)
	s.finals[s.block()] = unique(append(workloads, after...))
	s.jobs(s.cleanups(), slices.Concat(s.base, s.finals[s.block()])) // nothing waits for them
	s.checkPatches()
}

// add adds an object of the service, with its patches.
func (s *service) add(o providers.Object) {
	s.names = append(s.names, o.Address.Kind+"/"+unversioned(o))
	s.patch(&o)
	s.renderer.add(o)
}

// unique removes repetitions and keeps the order.
func unique[T comparable](list []T) []T {
	seen := make(map[T]bool, len(list))
	out := list[:0:0]
	for _, a := range list {
		if !seen[a] {
			seen[a] = true
			out = append(out, a)
		}
	}
	return out
}

// dashed joins the parts of a name, without saying the service's name twice.
func (s *service) dashed(parts ...string) string {
	name := strings.Join(parts, "-")
	if name == s.decl.Name || strings.HasPrefix(name, s.decl.Name+"-") || strings.HasPrefix(name, s.decl.Name+".") {
		return name
	}
	return s.decl.Name + "-" + name
}

// label makes a string fit for names of volumes and objects: lower-case letters,
// digits and dashes, and dots where dots is set.
func label(text string, dots bool) string {
	return strings.Trim(strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '.' && dots:
			return c
		case c >= 'A' && c <= 'Z':
			return c - 'A' + 'a'
		}
		return '-'
	}, text), "-.")
}
