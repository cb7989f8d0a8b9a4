package lang

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"k8s.io/apimachinery/pkg/util/validation"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/check"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/internal/values"
	"kolla.openstack.org/kolla/lang/mark"
	"kolla.openstack.org/kolla/lang/schema"
)

// cloud evaluates the cloud block, but for its defaults: those belong to the
// services.
func (g *graph) cloud(f *frame, b *source.Block) cty.Value {
	e := g.evaluator(f)
	c := configs.Cloud{
		Name:        b.Label,
		Release:     e.string(b, "release"),
		Distro:      e.string(b, "distro"),
		Registry:    e.string(b, "registry"),
		Prefix:      e.string(b, "prefix"),
		Tag:         e.string(b, "tag"),
		Images:      e.strings(b, "images"),
		PullSecrets: e.list(b, "pull_secrets"),
		Namespace:   e.string(b, "namespace"),
		Region:      e.string(b, "region"),
		PodSecurity: e.string(b, "pod_security"),
		Foreign:     e.string(b, "foreign"),

		NetworkPolicy: e.bool(b, "network_policy"),

		Range: b.Header,
	}
	c.Distro = cmp.Or(c.Distro, schema.DistroOf(c.Release))
	g.config.Cloud = c
	release := cty.UnknownVal(cty.String) // of a release that there is not, definitions say nothing
	if c.Release != "" {
		release = cty.StringVal(c.Release)
	}
	return cty.ObjectVal(map[string]cty.Value{
		"name":      cty.StringVal(c.Name),
		"release":   e.read(b, release, "release"),
		"distro":    e.read(b, cty.StringVal(c.Distro), "distro"),
		"registry":  e.read(b, cty.StringVal(c.Registry), "registry"),
		"namespace": e.read(b, cty.StringVal(c.Namespace), "namespace"),
		"region":    e.read(b, cty.StringVal(c.Region), "region"),
	})
}

func (g *graph) checkLabelKeys(b *source.Block, attribute string, labels map[string]string) {
	if labels != nil && len(labels) == 0 {
		// An empty match would be all nodes, and empty labels nothing to select by.
		g.report.Error(b.AttributeRange(attribute), fmt.Sprintf("Unsuitable value for %q", attribute), "It needs at least one label.")
	}
	for _, key := range keysOf(labels) {
		if len(validation.IsQualifiedName(key)) > 0 {
			g.report.Error(b.AttributeRange(attribute), fmt.Sprintf("Unsuitable value for %q", attribute),
				"%q is not the key of a Kubernetes label: letters, digits, dots, dashes and underscores, with DOMAIN/ before them if wanted.", key)
		}
	}
}

func (g *graph) exposure(n *node, f *frame, b *source.Block, e *evaluator, it item) cty.Value {
	x := configs.Exposure{
		Block: n.address(f, it),
		Name:  it.nameOf(e, b),
		VIP:   e.string(b, "vip"),
		FQDN:  e.string(b, "fqdn"),
		Mode:  e.string(b, "mode"),
		Role:  e.role(b, "nodes"),
		Range: b.Header,
	}
	if x.Mode != "nodeport" && x.Mode != "" {
		e.unsuitable(b, "mode", "Mode %q is not supported yet by this version: use \"nodeport\".", x.Mode)
	}
	x.NodePorts = e.portRange(b, "node_ports")
	if x.Name != "" && g.claim("exposure", x.Name, x.Block, b.Header) {
		g.config.Exposures = append(g.config.Exposures, x)
	}
	return cty.ObjectVal(map[string]cty.Value{
		"name": cty.StringVal(x.Name),
		"vip":  e.read(b, cty.StringVal(x.VIP), "vip"),
		"fqdn": e.read(b, cty.StringVal(x.FQDN), "fqdn"),
		"host": e.read(b, cty.StringVal(x.Host()), "vip", "fqdn"),
		"mode": e.read(b, cty.StringVal(x.Mode), "mode"),
	})
}

func (e *evaluator) portRange(b *source.Block, name string) [2]int {
	text := e.string(b, name)
	if !e.settled(b, name) {
		return [2]int{1, 65535}
	}
	low, high, _ := strings.Cut(text, "-")
	first, err1 := strconv.Atoi(strings.TrimSpace(low))
	last, err2 := strconv.Atoi(strings.TrimSpace(high))
	if err1 != nil || err2 != nil || first < 1 || last > 65535 || first > last {
		e.unsuitable(b, name, "It must be a range of ports, FIRST-LAST, such as \"30000-32767\".")
		return [2]int{1, 65535}
	}
	return [2]int{first, last}
}

// role evaluates an attribute that names a role: role.NAME, and in definitions
// also "NAME".
func (e *evaluator) role(b *source.Block, name string) string {
	if b.Attributes[name] == nil {
		return ""
	}
	v := e.value(b.Attributes[name].Expr)
	bare, _ := v.Unmark()
	if e.inDefinition && bare.IsKnown() && !bare.IsNull() && bare.Type() == cty.String && e.public(v, b.AttributeRange(name), "a role") {
		role, ok := e.lookup("role", bare.AsString(), nil, b.AttributeRange(name))
		if !ok {
			e.missing("role", bare.AsString(), e.scope.names("role"), b.AttributeRange(name))
			return ""
		}
		v = role
	}
	return e.named(b, name, v, values.RoleType, "role")
}

// exposure evaluates an attribute that names an exposure.
func (e *evaluator) exposure(b *source.Block, name string) string {
	if b.Attributes[name] == nil {
		return ""
	}
	return e.named(b, name, e.value(b.Attributes[name].Expr), values.ExposureType, "exposure")
}

// named takes the name out of the value of role.NAME or exposure.NAME.
func (e *evaluator) named(b *source.Block, name string, v cty.Value, want cty.Type, kind string) string {
	if !v.IsKnown() {
		e.undecided(v, b.AttributeRange(name), fmt.Sprintf("%q", name))
	}
	v, _ = v.UnmarkDeep()
	switch {
	case !v.IsKnown() || v.IsNull():
		return ""
	case v.Type().Equals(want):
		return v.GetAttr("name").AsString()
	case v.Type() == cty.String:
		named := "NAME"
		if _, ok := e.scope.member(kind, v.AsString()); ok {
			named = v.AsString()
		}
		e.unsuitable(b, name, "It must be a reference without quotes: %s.%s.", kind, named)
	default:
		e.unsuitable(b, name, "It must be %s.NAME, and this is %s.", kind, values.KindOf(v))
	}
	return ""
}

// read is what expressions read of an attribute, or of what is made of several: unknown
// as long as one of them is.
func (e *evaluator) read(b *source.Block, value cty.Value, names ...string) cty.Value {
	for _, name := range names {
		attr := b.Attributes[name]
		if attr == nil {
			continue
		}
		for _, d := range mark.Deferrals(e.value(attr.Expr)) {
			bare, marks := value.Unmark()
			value = cty.UnknownVal(bare.Type()).WithMarks(marks).Mark(d)
		}
	}
	return value
}

func stringMap(m map[string]string) cty.Value {
	if len(m) == 0 {
		return cty.MapValEmpty(cty.String)
	}
	out := map[string]cty.Value{}
	for k, v := range m {
		out[k] = cty.StringVal(v)
	}
	return cty.MapVal(out)
}

func stringList(list []string) cty.Value {
	if len(list) == 0 {
		return cty.ListValEmpty(cty.String)
	}
	var out []cty.Value
	for _, s := range list {
		out = append(out, cty.StringVal(s))
	}
	return cty.ListVal(out)
}

// finish puts what was evaluated into the order of the source, and checks what
// only shows when all of it is there.
func (g *graph) finish() {
	c := g.config
	c.Services = make([]configs.Service, 0, len(g.services))
	for _, in := range g.inOrder() { // sorts pointers: a Service is large
		c.Services = append(c.Services, in.out)
	}
	slices.Sort(c.Unset)
	inSourceOrder(c.Outputs, func(o configs.Output) hcl.Range { return o.Range })
	inSourceOrder(c.Roles, func(r configs.Role) hcl.Range { return r.Range })
	inSourceOrder(c.Exposures, func(x configs.Exposure) hcl.Range { return x.Range })
	inSourceOrder(c.Secrets, func(s configs.SharedSecret) hcl.Range { return s.Range })
	inSourceOrder(c.Data, func(d configs.Data) hcl.Range { return d.Range })
	inSourceOrder(c.Manifests, func(m configs.Manifest) hcl.Range { return m.Range })
	whole := g.whole()
	check.NodePorts(whole)
	check.PublicPorts(whole)
	check.Clashes(whole)
	g.checkUntolds()
	check.Patterns(whole)
	g.checkImages()
	g.unusedOverrides()
	check.Mentions(whole)
	check.HostPorts(whole)
	check.Twins(whole)
	g.checkDefaultPlace()
	g.moves()
	g.cleanups()
}

// whole is the configuration as the checks see it. The services are in order.
func (g *graph) whole() *check.Whole {
	out := &check.Whole{
		Config: g.config, Defaults: g.defaults(), Report: g.report,
		Incomplete: len(g.decisions.open) > 0, WarnedHosts: g.warnedHosts,
	}
	for i, in := range g.inOrder() {
		s := check.Service{
			Config: &g.config.Services[i], Block: in.block, Definition: in.definition, Written: in.written,
			InRoot: in.node.module == g.loader.root,
		}
		for _, e := range in.out.Endpoints {
			if b := in.definition.One("endpoint", e.Type); b != nil && in.ownEndpoint(b) {
				s.OwnEndpoints = append(s.OwnEndpoints, e.Type)
			}
		}
		for _, p := range in.out.Ports {
			if !p.Exposed || in.out.Exposure == "" || p.NodePort != 0 {
				continue
			}
			if b := in.definition.One("port", p.Name); b != nil && !in.inner.settled(b, "node_port") {
				s.OpenNodePorts = append(s.OpenNodePorts, p.Name)
			}
		}
		out.Services = append(out.Services, s)
	}
	return out
}
