package lang

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/internal/spelling"
)

// hostByAddress matches values that name a host by its address, alone or in a URL.
var hostByAddress = regexp.MustCompile(`(?i)(^|[@/, ])(localhost|[0-9]{1,3}(\.[0-9]{1,3}){3}|\[[0-9a-f:.]+\])([:/, ]|$)`)

// hostName matches what stands where a host does: at the start of a value or of an
// element of a list, in a URL, or in quotes.
var hostName = regexp.MustCompile(`(?:^|//|[@,;=\s"'\[(|])([a-z0-9](?:[-a-z0-9.]*[a-z0-9])?)(?:$|[:/,;\s"'\])|?])`)

// hostsIn are the names of hosts in a text, as far as they can be told.
func hostsIn(text string) []string {
	var out []string
	for text != "" {
		found := hostName.FindStringSubmatchIndex(text)
		if found == nil {
			break
		}
		out = append(out, text[found[2]:found[3]])
		text = text[found[3]:] // what ends one host may begin the next
	}
	return out
}

// checkHost warns of an address, or of a foreign name, in place of a reference to a
// service of this cloud: addresses change, names do not.
func (e *evaluator) checkHost(o Option, replaced hcl.Traversal) {
	name, _ := nameOf(replaced)
	if _, declared := e.scope.member("service", name); replaced.RootName() == "service" && !declared {
		return
	}
	advice := "Write a reference instead, or leave the value out."
	if o.Origin.Layer == layerDirectory {
		advice = "Leave the value out, or write a reference in the config block of the service."
	}
	host := e.hostOf(replaced)
	for _, value := range o.Values {
		if value.Secret() {
			continue
		}
		text := value.Masked()
		if hostByAddress.MatchString(text) {
			e.warn(o.Origin.Range, "Host by address", "The definition refers to %s here, by a name that stays, and addresses change. %s", written(replaced), advice)
			continue
		}
		for _, given := range hostsIn(text) {
			if namesake(given, host) {
				e.warn(o.Origin.Range, "Host by another name", "The definition refers to %s here, and the service answers as %q, not as %q. %s", written(replaced), host, given, advice)
				break
			}
		}
	}
}

// hostOf is the name of the host that a reference to a service or database leads to;
// empty where it leads to something else.
func (e *evaluator) hostOf(t hcl.Traversal) string {
	name, _ := nameOf(t)
	if len(t) > 2 {
		if step, ok := t[2].(hcl.TraverseAttr); ok && !slices.Contains([]string{"host", "address", "url", "public_url"}, step.Name) {
			return ""
		}
	}
	v, ok := e.scope.member(t.RootName(), name)
	if v, _ = v.Unmark(); !ok || !v.IsKnown() || v.IsNull() || !v.Type().IsObjectType() || !v.Type().HasAttribute("host") {
		return ""
	}
	host, _ := v.GetAttr("host").Unmark()
	if host.Type() != cty.String || !host.IsKnown() || host.IsNull() {
		return ""
	}
	return host.AsString()
}

// namesake reports whether a name is a service's in another namespace or domain, or in
// none: keystone.example.org, where the service is keystone.openstack.
func namesake(given, host string) bool {
	service, namespace, _ := strings.Cut(host, ".")
	first, rest, _ := strings.Cut(given, ".")
	return host != "" && first == service && rest != namespace && !strings.HasPrefix(rest, namespace+".svc")
}

// mention is a text of a service in which hosts may be named.
type mention struct {
	text Text
	at   hcl.Range
}

// mentions are the texts of a service, but for those of the catalogue, which refers
// to other services and does not spell their names.
func (in *instance) mentions() []mention {
	var out []mention
	add := func(text Text, at hcl.Range) {
		if at.Filename != "" && !builtinRange(at) {
			out = append(out, mention{text, at})
		}
	}
	for _, f := range in.out.Configs {
		for _, o := range f.Options {
			for _, value := range o.Values {
				add(value, o.Origin.Range)
			}
		}
		add(f.Content, f.Range)
	}
	pod := func(p Pod, at hcl.Range) {
		for _, env := range p.Env {
			add(env.Value, at)
		}
		for _, arg := range slices.Concat(p.Command, p.Args) {
			add(Plain(arg), at)
		}
		for _, init := range p.Inits {
			for _, arg := range init.Command {
				add(Plain(arg), at)
			}
		}
	}
	for _, j := range in.out.Jobs {
		pod(j.Pod, j.Range)
	}
	for _, w := range in.out.Workloads {
		pod(w.Pod, w.Range)
	}
	return out
}

// checkMentions warns of services that are named in a text without being needed, and
// of names that are almost those of a service.
func (g *graph) checkMentions() {
	namespace := g.config.Cloud.Namespace
	answering := g.answering()
	for _, in := range g.inOrder() {
		for _, m := range in.mentions() {
			for _, host := range hostsIn(m.text.Masked()) {
				labels := strings.Split(host, ".")
				i := slices.Index(labels, namespace)
				if i < 1 || i < len(labels)-1 && labels[i+1] != "svc" {
					continue
				}
				if other := answering[labels[i-1]]; other != nil {
					g.checkNeed(in, other, host, m.at)
				} else {
					g.checkNearMiss(labels[i-1], host, keysOf(answering), m.at)
				}
			}
		}
	}
}

// answering are the services by the names that they and their workloads have in the
// cluster.
func (g *graph) answering() map[string]*instance {
	out := map[string]*instance{}
	for _, in := range g.services {
		for _, w := range in.out.Workloads {
			out[in.out.Name+"-"+w.Name] = in
			out[in.out.Name+"-"+w.Name+"-public"] = in
		}
		out[in.out.Name+"-public"] = in
	}
	for _, in := range g.services {
		if !in.out.External {
			out[in.out.Name] = in
		}
	}
	return out
}

// checkNeed warns of a service that is named and not waited for. Where the other one
// needs this one, it cannot be.
func (g *graph) checkNeed(in, other *instance, host string, at hcl.Range) {
	if in == other || g.needs(in, other) || g.needs(other, in) {
		return
	}
	how := "Refer to it, or name it in depends_on of the service or of its module."
	if in.node.module == g.loader.root && other.node.module == g.loader.root {
		how = fmt.Sprintf("Write %s.host in place of the name, or depends_on = [%s] in the service.", other.out.Block, other.out.Block)
	}
	g.warn(at, "Service named without being needed",
		"%q is service %q of this cloud, and nothing says that service %q needs it: it may start first, and a plan of it alone leaves the other out. %s", host, other.out.Name, in.out.Name, how)
}

// needs reports whether one service needs another one, directly or not.
func (g *graph) needs(in, other *instance) bool {
	seen := map[string]bool{}
	var visit func(in *instance) bool
	visit = func(in *instance) bool {
		return slices.ContainsFunc(in.out.Needs, func(address string) bool {
			next := g.byAddress[address]
			if next == nil || seen[address] {
				return false
			}
			seen[address] = true
			return next == other || visit(next)
		})
	}
	return visit(in)
}

// checkNearMiss warns of a name that is almost a service's. What manifests bring may
// have names of its own, and make things with such names.
func (g *graph) checkNearMiss(name, host string, known []string, at hcl.Range) {
	near := spelling.Nearest(name, known)
	if near == "" {
		return
	}
	for _, m := range g.config.Manifests {
		for _, o := range m.Objects {
			metadata, _ := o.Content["metadata"].(map[string]any)
			if brought, _ := metadata["name"].(string); brought != "" && strings.HasPrefix(name, brought) {
				return
			}
		}
	}
	g.warn(at, fmt.Sprintf("There is no service %q", name), "Did you mean %q? %q would be a service of this cloud, and nothing in it has that name.", near+strings.TrimPrefix(host, name), host)
}
