package lang

import (
	"fmt"
	"net"
	"slices"
	"strconv"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/internal/values"
	"kolla.openstack.org/kolla/lang/schema"
)

// portObjects are what others read of a service as ports.NAME.
func (in *instance) portObjects() cty.Value {
	values := map[string]cty.Value{}
	for i, p := range in.out.Ports {
		b := in.definition.All("port")[i]
		host := in.hostOfPort(p.Name)
		address := net.JoinHostPort(host, strconv.Itoa(p.Number))
		public, reached := host, address
		if x := in.exposure(); x != nil && p.Exposed {
			public, reached = x.Host(), net.JoinHostPort(x.Host(), strconv.Itoa(p.AtExposure()))
		}
		inside := func(text string) cty.Value { return in.inner.read(b, in.inNamespace(text), "number") }
		outside := func(text string) cty.Value {
			return in.inner.read(b, in.readPlace(in.inNamespace(text), "expose"), "number", "expose", "public")
		}
		values[p.Name] = cty.ObjectVal(map[string]cty.Value{
			"number":      in.inner.scope.groups["port"][p.Name],
			"host":        in.inNamespace(host),
			"address":     inside(address),
			"url":         inside(p.Scheme() + address),
			"public_host": outside(public),
			"public_url":  outside(p.Scheme() + reached),
		})
	}
	return cty.ObjectVal(values)
}

// checkPublic reports a number at an exposure of a port that is not exposed.
func (in *instance) checkPublic(b *source.Block, p configs.Port) {
	if in.inner.given(b, "public") && in.inner.settled(b, "expose") && !p.Exposed {
		in.report.Error(b.AttributeRange("public"), "Unsuitable value for \"public\"", "Port %q is not meant to be reached from outside. Write expose = true as well, or take it out.", p.Name)
	}
}

// hostOfPort is the name under which a port answers: that of the service on the ports of
// the workload that has the first one, and else that of the workload.
func (in *instance) hostOfPort(name string) string {
	host, main := in.out.Name, true
	for _, b := range in.definition.All("workload") {
		ports := in.portsOf(b)
		if main && slices.Contains(ports, in.out.Ports[0].Name) {
			main = false
			if slices.Contains(ports, name) {
				host = in.out.Name
				break
			}
		} else if slices.Contains(ports, name) && host == in.out.Name {
			host = in.out.Name + "-" + b.Label
		}
	}
	return host + "." + in.config.Cloud.Namespace
}

// portsOf are the names of the ports of a workload and of its sidecars, as far as they
// depend on nothing of the service itself.
func (in *instance) portsOf(workload *source.Block) []string {
	out := in.ownPortsOf(workload)
	for _, sidecar := range workload.All(schema.SidecarType.Name) {
		out = append(out, in.ownPortsOf(sidecar)...)
	}
	return out
}

func (in *instance) ownPortsOf(b *source.Block) []string {
	attr := b.Attributes["ports"]
	if attr == nil || slices.ContainsFunc(attr.Expr.Variables(), func(t hcl.Traversal) bool { return t.RootName() == "self" || t.RootName() == "local" }) {
		return nil
	}
	return in.inner.list(b, "ports")
}

// members are the names of the pods of each StatefulSet, one by one.
func (in *instance) members() cty.Value {
	out := map[string]cty.Value{}
	for _, b := range in.definition.All("workload") {
		if in.inner.string(b, "kind") != "StatefulSet" {
			continue
		}
		if n := in.replicasValue(b); !n.IsKnown() {
			out[b.Label] = cty.UnknownVal(cty.List(cty.String)).WithMarks(values.Deferrals(n))
			continue
		}
		set := in.out.Name + "-" + b.Label
		pods := []cty.Value{}
		for n := range in.replicas[b.Label] {
			pods = append(pods, in.inNamespace(fmt.Sprintf("%s-%d.%s.%s", set, n, set, in.config.Cloud.Namespace)))
		}
		out[b.Label] = cty.TupleVal(pods)
	}
	return cty.ObjectVal(out)
}

// externalPorts are what others read as ports.NAME of a service that is there already.
func (in *instance) externalPorts(host cty.Value) cty.Value {
	values := map[string]cty.Value{}
	for _, p := range in.out.Ports {
		number := in.inner.scope.groups["port"][p.Name]
		address := hostAndPort(host, number)
		url := prefixed("http://", address)
		values[p.Name] = cty.ObjectVal(map[string]cty.Value{
			"number": number, "host": host, "address": address, "url": url, "public_host": host, "public_url": url,
		})
	}
	return cty.ObjectVal(values)
}
