package lang

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/schema"
)

// hostByAddress matches values that name a host by its address, alone or in a URL.
var hostByAddress = regexp.MustCompile(`(?i)(^|[@/, ])(localhost|[0-9]{1,3}(\.[0-9]{1,3}){3}|\[[0-9a-f:.]+\])([:/, ]|$)`)

// hostName matches what stands where a host does: at the start of a value or of an
// element of a list, in a URL, or in quotes; and the port that follows.
var hostName = regexp.MustCompile(`(^|//|[@,;=\s"'\[(|])([a-z0-9](?:[-a-z0-9.]*[a-z0-9])?)(?::([0-9]{1,5}))?(?:$|[:/,;\s"'\])|?])`)

// host is a host that a text names.
type host struct {
	name  string
	port  int  // 0: none is said
	inURL bool // it can be nothing but a host
}

// hostsIn are the hosts in a text, as far as they can be told.
func hostsIn(text string) []host {
	var out []host
	url := strings.Contains(text, "://")
	for text != "" {
		found := hostName.FindStringSubmatchIndex(text)
		if found == nil {
			break
		}
		before := text[found[2]:found[3]]
		h := host{name: text[found[4]:found[5]], inURL: before == "//" || before == "@" && url}
		if found[6] >= 0 {
			h.port, _ = strconv.Atoi(text[found[6]:found[7]]) // digits
		}
		out = append(out, h)
		text = text[found[5]:] // what ends one host may begin the next
	}
	return out
}

// checkHost warns of an address, or of a foreign name, in place of a reference to a
// service of this cloud: addresses change, names do not.
func (e *evaluator) checkHost(o configs.Option, replaced hcl.Traversal) {
	name, _ := nameOf(replaced)
	if _, declared := e.scope.member("service", name); replaced.RootName() == "service" && !declared {
		return
	}
	advice := "Write a reference instead, or leave the value out."
	if o.Origin.Layer == layerDirectory {
		advice = "Leave the value out, or write a reference in the config block of the service."
	}
	meant := e.hostOf(replaced)
	doubt := func(summary, detail string, args ...any) {
		e.reach.graph.doubted[o.Origin.Range] = true
		e.report.Warn(o.Origin.Range, summary, "The definition refers to %s here, %s %s", written(replaced), fmt.Sprintf(detail, args...), advice)
	}
	for _, value := range o.Values {
		if value.Secret() {
			continue
		}
		text := value.Masked()
		if hostByAddress.MatchString(text) {
			doubt("Host by address", "by a name that stays, and addresses change.")
			continue
		}
		hosts := hostsIn(text)
		if i := slices.IndexFunc(hosts, func(h host) bool { return namesake(h.name, meant) }); i >= 0 {
			doubt("Host by another name", "and the service answers as %q, not as %q.", meant, hosts[i].name)
			continue
		}
		if foreign := e.foreign(hosts, meant); foreign != "" {
			advice += " A server that is there already takes the place of the service with external = { host = ... } in its block."
			doubt("Host outside of the cloud", "which is %q, and %q is no service of this cloud.", meant, foreign)
		}
	}
}

// foreign is the first of the hosts, if they have names and none is of this cloud.
func (e *evaluator) foreign(hosts []host, meant string) string {
	first := ""
	for _, h := range hosts {
		cloud := e.reach.graph.config
		switch {
		case meant == "" || h.name == meant || strings.Contains("."+h.name+".", "."+cloud.Cloud.Namespace+"."):
			return ""
		case slices.ContainsFunc(cloud.Exposures, func(x configs.Exposure) bool { return x.Host() == h.name }):
			return ""
		case first == "" && strings.Contains(h.name, "."):
			first = h.name
		}
	}
	return first
}

// hostOf is the name of the host that a reference to a service or database leads to;
// empty where it leads to something else.
func (e *evaluator) hostOf(t hcl.Traversal) string {
	name, _ := nameOf(t)
	v, ok := e.scope.member(t.RootName(), name)
	if !ok {
		return ""
	}
	hostname := textIn(v, "host")
	if len(t) > 2 {
		step, ok := t[2].(hcl.TraverseAttr)
		if !ok {
			return ""
		}
		// The pods of a service have names of their own, in its namespace.
		text, namespace := textIn(v, step.Name), "."+textIn(v, "namespace")
		if !strings.Contains(text, hostname) && (namespace == "." || !strings.Contains(text, namespace)) {
			return ""
		}
	}
	return hostname
}

// textIn is a text in an object; empty where there is none.
func textIn(v cty.Value, name string) string {
	if v, _ = v.Unmark(); !v.IsKnown() || v.IsNull() || !v.Type().IsObjectType() || !v.Type().HasAttribute(name) {
		return ""
	}
	if v, _ = v.GetAttr(name).Unmark(); v.Type() != cty.String || !v.IsKnown() || v.IsNull() {
		return ""
	}
	return v.AsString()
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
	text configs.Text
	at   hcl.Range
	// file: it stands in a file below config_dir, which holds no references.
	file bool
}

// mentions are the texts of a service, but for those of the catalogue, which refers
// to other services and does not spell their names.
func (in *instance) mentions() []mention {
	var out []mention
	from := func(text configs.Text, at hcl.Range, layer string) {
		if at.Filename != "" && !builtinRange(at) {
			out = append(out, mention{text, at, layer == layerDirectory})
		}
	}
	add := func(text configs.Text, at hcl.Range) { from(text, at, "") }
	for _, f := range in.out.Configs {
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
		if builtinRange(b.AttributeRange("command")) {
			command = nil
		}
		if builtinRange(b.AttributeRange("args")) {
			args = nil
		}
		for _, arg := range slices.Concat(command, args) {
			add(configs.Plain(arg), at)
		}
	}
	for _, j := range in.out.Jobs {
		container(j.Pod.Env, j.Pod.Command, j.Pod.Args, in.definition.One("job", j.Name), j.Range)
	}
	for _, w := range in.out.Workloads {
		b := in.definition.One("workload", w.Name)
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

// checkMentions warns of services that are named in a text without being needed, of
// names that are almost those of a service, and of addresses with the port of one.
func (g *graph) checkMentions() {
	answering := g.answering()
	for _, in := range g.inOrder() {
		for _, m := range in.mentions() {
			if g.doubted[m.at] {
				continue
			}
			said := map[*instance]bool{}
			for _, h := range hostsIn(m.text.Masked()) {
				g.checkMention(in, h, m, answering, said)
			}
		}
	}
}

// checkMention checks one host that a text of a service names. A service that the text
// names several times is warned of once.
func (g *graph) checkMention(in *instance, h host, m mention, answering map[string]*instance, said map[*instance]bool) {
	need := func(other *instance) {
		if !said[other] {
			said[other] = true
			g.checkNeed(in, other, h.name, m)
		}
	}
	if address, err := netip.ParseAddr(h.name); err == nil {
		g.checkAddress(in, address, h.port, m)
		return
	}
	labels := strings.Split(h.name, ".")
	namespace := slices.Index(labels, g.config.Cloud.Namespace)
	switch {
	case len(labels) == 1:
		// In its own namespace a service has a short name too; it may be another word.
		if other := answering[h.name]; other != nil && (h.inURL || other.listens(h.port)) {
			need(other)
		}
	case namespace < 1 || namespace < len(labels)-1 && labels[namespace+1] != "svc":
	case answering[labels[namespace-1]] != nil:
		need(answering[labels[namespace-1]])
	default:
		g.checkNearMiss(labels[namespace-1], h.name, keysOf(answering), m.at)
	}
}

// listens reports whether the service has a port of that number.
func (in *instance) listens(port int) bool {
	return port != 0 && slices.ContainsFunc(in.out.Ports, func(p configs.Port) bool { return p.Number == port })
}

// checkAddress warns of an address with the port of another service of this cloud.
func (g *graph) checkAddress(in *instance, address netip.Addr, port int, m mention) {
	vip := slices.ContainsFunc(g.config.Exposures, func(x configs.Exposure) bool { return x.VIP == address.String() })
	if port == 0 || vip || address.IsUnspecified() || in.listens(port) {
		return
	}
	for _, other := range g.inOrder() {
		if other.listens(port) {
			how := fmt.Sprintf("Write %s.address if it is meant.", other.out.Block)
			if m.file {
				how = fmt.Sprintf("If it is meant, leave the value out here, and write %s.address in the config block of the service.", other.out.Block)
			}
			g.report.Warn(m.at, "Host by address", "%s has the port of service %q, which is to be found by a name that stays, and addresses change. %s",
				netip.AddrPortFrom(address, uint16(port)), other.out.Name, how)
			return
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
			for n := range w.Replicas {
				if w.OwnAddresses {
					out[fmt.Sprintf("%s-%s-%d", in.out.Name, w.Name, n)] = in
				}
			}
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
func (g *graph) checkNeed(in, other *instance, host string, m mention) {
	if in == other || g.needs(in, other) || g.needs(other, in) {
		return
	}
	near := in.node.module == g.loader.root && other.node.module == g.loader.root
	how := "Refer to it, or name it in depends_on of the service or of its module."
	switch {
	case near && m.file:
		how = fmt.Sprintf("Write depends_on = [%s] in the service; or leave the value out here, and write one with %s.host in the config block of the service.", other.out.Block, other.out.Block)
	case m.file:
		how = "Name it in depends_on of the service or of its module; or leave the value out here, and refer to it in the config block of the service."
	case near:
		how = fmt.Sprintf("Write %s.host in place of the name, or depends_on = [%s] in the service.", other.out.Block, other.out.Block)
	}
	g.report.Warn(m.at, "Service named without being needed",
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
	near := words.Nearest(name, known)
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
	g.report.Warn(at, fmt.Sprintf("There is no service %q", name), "Did you mean %q? %q would be a service of this cloud, and nothing in it has that name.", near+strings.TrimPrefix(host, name), host)
}
