package lang

import (
	"slices"

	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/schema"
)

// What a service has on another one stays there when the service is gone, and its jobs
// with it. So a job of the other one takes that away: it knows what is still declared.

// isCleanup reports whether a job of a provides block takes away what services have left
// behind.
func (in *instance) isCleanup(job *source.Block) bool {
	return in.inner.string(job, "when") == schema.JobGone
}

// cleanups makes these jobs. Until it is known which services there are, there are none.
func (g *graph) cleanups() {
	if len(g.decisions.open) > 0 {
		return
	}
	clients := g.clients()
	for i := range g.config.Services {
		in := g.byAddress[g.config.Services[i].Block]
		for _, b := range in.definition.All("provides") {
			jobs := slices.DeleteFunc(slices.Clone(b.All("job")), func(job *source.Block) bool { return !in.isCleanup(job) })
			if len(jobs) == 0 || len(in.untoldFor(jobs)) > 0 || !in.inner.scope.singles["self"].IsKnown() {
				continue
			}
			if b.Label == "database" {
				in.report.Error(jobs[0].AttributeRange("when"), "Unsuitable value for \"when\"", "Nobody takes databases away: they hold data, which may be needed once more.")
				continue
			}
			e := in.inner.with(b.Label, g.had(in, clients[in.out.Name], b.Label))
			for _, job := range jobs {
				made := in.job(job, e)
				made.Name = b.Label + "-" + made.Name
				g.config.Services[i].Cleanups = append(g.config.Services[i].Cleanups, made)
			}
		}
	}
}

// clients are the services that have something on others, by the names of these, in the
// order of the source.
func (g *graph) clients() map[string][]*instance {
	out := map[string][]*instance{}
	for _, in := range g.inOrder() {
		servers := map[string]bool{}
		for _, p := range in.out.Provided {
			servers[p.Server] = true
		}
		for _, e := range in.out.Endpoints {
			servers[e.Server] = true
		}
		for server := range servers {
			out[server] = append(out[server], in)
		}
	}
	return out
}

// had is what the clients of a service have on it, as its job reads it.
func (g *graph) had(in *instance, clients []*instance, kind string) cty.Value {
	services, names := map[string]bool{}, map[string]bool{}
	var users, endpoints []cty.Value
	add := func(to *[]cty.Value, values map[string]string) {
		object := map[string]cty.Value{}
		for key, value := range values {
			object[key] = cty.StringVal(value)
		}
		*to = append(*to, cty.ObjectVal(object))
	}
	for _, other := range clients {
		for _, p := range other.out.Provided {
			if p.Server != in.out.Name || p.Type != kind && (p.Type != schema.UserType.Name || kind != "registration") {
				continue
			}
			services[other.out.Name] = true
			if p.Type == schema.UserType.Name {
				add(&users, map[string]string{"domain": p.Domain, "name": p.Name})
			} else if p.Label != "" {
				names[p.Name] = true
			}
		}
		for _, e := range other.out.Endpoints {
			if kind == "registration" && e.Server == in.out.Name && other != in {
				add(&endpoints, map[string]string{"type": e.Type, "name": e.Name})
			}
		}
	}
	released := slices.ContainsFunc(g.config.Removals, func(r addrs.Removal) bool {
		return !r.Destroy && r.From.Whole() && addrs.TypeOf(r.From.Block) != "manifest"
	})
	return cty.ObjectVal(map[string]cty.Value{
		"services":  stringList(keysOf(services)),
		"names":     stringList(keysOf(names)),
		"users":     cty.TupleVal(users),
		"endpoints": cty.TupleVal(endpoints),
		"released":  cty.BoolVal(released),
	})
}
