package check

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/schema"
)

// mention is a text of a service that may name hosts.
type mention struct {
	text configs.Text
	at   hcl.Range
	// file: the text stands in a file of the config directory, which has no references.
	file bool
}

// mentions returns the texts of a service. Texts of the catalogue are left out: they refer to
// other services and do not spell their names.
func mentions(service *Service) []mention {
	var out []mention
	from := func(text configs.Text, at hcl.Range, layer string) {
		if at.Filename != "" && !configs.InCatalogue(at) {
			out = append(out, mention{text, at, layer == configs.LayerDirectory})
		}
	}
	add := func(text configs.Text, at hcl.Range) { from(text, at, "") }
	for _, f := range service.Config.Configs {
		for _, o := range f.Options {
			for _, value := range o.Values {
				from(value, o.Origin.Range, o.Origin.Layer)
			}
		}
		from(f.Content, f.Range, f.Origin.Layer)
	}
	container := func(env []configs.Env, command, args []string, b *source.Block, at hcl.Range) {
		for _, e := range env {
			add(e.Value, e.Range)
		}
		// A service that overrides something else of the block did not write them.
		if configs.InCatalogue(b.AttributeRange("command")) {
			command = nil
		}
		if configs.InCatalogue(b.AttributeRange("args")) {
			args = nil
		}
		for _, arg := range slices.Concat(command, args) {
			add(configs.Plain(arg), at)
		}
	}
	for _, j := range service.Config.Jobs {
		container(j.Pod.Env, j.Pod.Command, j.Pod.Args, service.Definition.One("job", j.Name), j.Range)
	}
	for _, w := range service.Config.Workloads {
		b := service.Definition.One("workload", w.Name)
		container(w.Pod.Env, w.Pod.Command, w.Pod.Args, b, w.Range)
		for _, init := range w.Pod.Inits {
			kind := schema.InitType.Name
			if init.Sidecar {
				kind = schema.SidecarType.Name
			}
			container(init.Env, init.Command, init.Args, b.One(kind, init.Name), w.Range)
		}
	}
	return out
}

// Mentions warns of services that a text names and the service does not need, of names that
// are almost the name of a service, and of addresses with the port of a service.
func Mentions(whole *Whole) {
	found := answering(whole)
	for i := range whole.Services {
		service := &whole.Services[i]
		for _, m := range mentions(service) {
			if whole.WarnedHosts[m.at] {
				continue
			}
			said := map[*Service]bool{}
			for _, h := range hostsIn(m.text.Masked()) {
				checkMention(whole, service, h, m, found, said)
			}
		}
	}
}

// checkMention checks a host in a text of a service. There is one warning for each service
// that the text names.
func checkMention(whole *Whole, service *Service, h nameInText, m mention, answering map[string]*Service, said map[*Service]bool) {
	need := func(other *Service) {
		if !said[other] {
			said[other] = true
			checkNeed(whole, service, other, h.Name, m)
		}
	}
	if address, err := netip.ParseAddr(h.Name); err == nil {
		checkAddress(whole, service, address, h.Port, m)
		return
	}
	labels := strings.Split(h.Name, ".")
	namespace := slices.Index(labels, whole.Config.Cloud.Namespace)
	switch {
	case len(labels) == 1:
		// In its own namespace a service has a short name too; it may be another word.
		if other := answering[h.Name]; other != nil && (h.InURL || other.listens(h.Port)) {
			need(other)
		}
	case namespace < 1 || namespace < len(labels)-1 && labels[namespace+1] != "svc":
	case answering[labels[namespace-1]] != nil:
		need(answering[labels[namespace-1]])
	default:
		checkNearMiss(whole, labels[namespace-1], h.Name, slices.Sorted(maps.Keys(answering)), m.at)
	}
}

// checkAddress warns of an address with the port of another service of this cloud.
func checkAddress(whole *Whole, service *Service, address netip.Addr, port int, m mention) {
	vip := slices.ContainsFunc(whole.Config.Exposures, func(x configs.Exposure) bool { return x.VIP == address.String() })
	if port == 0 || vip || address.IsUnspecified() || service.listens(port) {
		return
	}
	for i := range whole.Services {
		other := &whole.Services[i]
		if other.listens(port) {
			how := fmt.Sprintf("Write %s.address if it is meant.", other.Config.Block)
			if m.file {
				how = fmt.Sprintf("If it is meant, leave the value out here, and write %s.address in the config block of the service.", other.Config.Block)
			}
			whole.Report.Warn(m.at, "Host by address", "%s has the port of service %q, which is to be found by a name that stays, and addresses change. %s",
				netip.AddrPortFrom(address, uint16(port)), other.Config.Name, how)
			return
		}
	}
}

// answering returns the services by the names of their Services in the cluster.
func answering(whole *Whole) map[string]*Service {
	out := map[string]*Service{}
	for i := range whole.Services {
		service := &whole.Services[i]
		for _, w := range service.Config.Workloads {
			out[service.Config.Name+"-"+w.Name] = service
			out[service.Config.Name+"-"+w.Name+"-public"] = service
			for n := range w.Replicas {
				if w.OwnAddresses {
					out[fmt.Sprintf("%s-%s-%d", service.Config.Name, w.Name, n)] = service
				}
			}
		}
		out[service.Config.Name+"-public"] = service
	}
	for i := range whole.Services {
		service := &whole.Services[i]
		if !service.Config.External {
			out[service.Config.Name] = service
		}
	}
	return out
}

// checkNeed warns of a service that is named and not needed. If the other service needs this
// one, nothing can be said.
func checkNeed(whole *Whole, service, other *Service, host string, m mention) {
	if service == other || needs(whole, service, other) || needs(whole, other, service) {
		return
	}
	near := service.InRoot && other.InRoot
	how := "Refer to it, or name it in depends_on of the service or of its module."
	switch {
	case near && m.file:
		how = fmt.Sprintf("Write depends_on = [%s] in the service; or leave the value out here, and write one with %s.host in the config block of the service.", other.Config.Block, other.Config.Block)
	case m.file:
		how = "Name it in depends_on of the service or of its module; or leave the value out here, and refer to it in the config block of the service."
	case near:
		how = fmt.Sprintf("Write %s.host in place of the name, or depends_on = [%s] in the service.", other.Config.Block, other.Config.Block)
	}
	whole.Report.Warn(m.at, "Service named without being needed",
		"%q is service %q of this cloud, and nothing says that service %q needs it: it may start first, and a plan of it alone leaves the other out. %s", host, other.Config.Name, service.Config.Name, how)
}

// needs reports whether a service needs another service, directly or through others.
func needs(whole *Whole, service, other *Service) bool {
	seen := map[string]bool{}
	var visit func(service *Service) bool
	visit = func(service *Service) bool {
		return slices.ContainsFunc(service.Config.Needs, func(address string) bool {
			next := whole.service(address)
			if next == nil || seen[address] {
				return false
			}
			seen[address] = true
			return next == other || visit(next)
		})
	}
	return visit(service)
}

// checkNearMiss warns of a name that is almost the name of a service. Names that begin with the
// name of an object of a manifest are left out: the object may be a Service, or make one.
func checkNearMiss(whole *Whole, name, host string, known []string, at hcl.Range) {
	near := words.Nearest(name, known)
	if near == "" {
		return
	}
	for _, m := range whole.Config.Manifests {
		for _, o := range m.Objects {
			metadata, _ := o.Content["metadata"].(map[string]any)
			if brought, _ := metadata["name"].(string); brought != "" && strings.HasPrefix(name, brought) {
				return
			}
		}
	}
	whole.Report.Warn(at, fmt.Sprintf("There is no service %q", name), "Did you mean %q? %q would be a service of this cloud, and nothing in it has that name.", near+strings.TrimPrefix(host, name), host)
}
