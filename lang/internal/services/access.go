package services

import (
	"fmt"
	"net"
	"slices"
	"strconv"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/blocks"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/graph"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/internal/values"
	"kolla.openstack.org/kolla/lang/schema"
)

// placeOf returns the block that has the role or the exposure of the service: the service block, or
// else the defaults of the cloud. The exposure of the defaults counts only for services with
// exposed ports.
func placeOf(in *instance, name string) blocks.Layered {
	d := in.set.defaults()
	if d == nil || in.out.External || in.block.Attributes[name] != nil || name == "expose" && !slices.ContainsFunc(in.out.Ports, isExposed) {
		return blocks.Layered{Block: in.block, Eval: in.user}
	}
	return blocks.Layered{Block: d, Eval: in.cloud}
}

// isExposed reports whether a port is meant to be reachable from outside.
func isExposed(p configs.Port) bool { return p.Exposed }

// setRole evaluates the role. The defaults of the cloud can read the names of the service.
func setRole(in *instance) {
	in.cloud.Scope.Singles["self"] = cty.ObjectVal(nameAttributes(in))
	by := placeOf(in, "role")
	in.out.Role = eval.Role(by.Eval, by.Block, "role")
}

// setExposure evaluates the exposure, after the ports. The defaults of the cloud can also read
// the role.
func setExposure(in *instance) {
	self := roleAttributes(in)
	delete(self, "replicas")
	in.cloud.Scope.Singles["self"] = cty.ObjectVal(self)
	by := placeOf(in, "expose")
	in.out.Exposure = eval.Exposure(by.Eval, by.Block, "expose")
}

// readPlace returns a value that depends on the role or the exposure, as expressions read it.
func readPlace(in *instance, value cty.Value, name string) cty.Value {
	by := placeOf(in, name)
	return eval.Read(by.Eval, by.Block, value, name)
}

// wantsExposure reports whether the service has an exposure, or has one with an error.
func wantsExposure(in *instance) bool {
	by := placeOf(in, "expose")
	return eval.IsSet(by.Eval, by.Block, "expose")
}

// defaultEdges returns the references in the defaults of the cloud that count for the service. The
// service may not use the role or the exposure of the defaults.
func defaultEdges(in *instance) []graph.Edge {
	d := in.set.defaults()
	if d == nil {
		return nil
	}
	cloud := in.set.Graph.Reach(in.set.Graph.Root)
	var out []graph.Edge
	for _, attr := range d.Ordered() {
		if takesDefault(in, attr.Name) {
			out = append(out, cloud.Edges(attr.Expr)...)
		}
	}
	for _, child := range d.Blocks {
		if d.HasDynamic {
			out = append(out, cloud.BlockEdges(child)...)
		}
	}
	return out
}

// takesDefault reports whether an argument of the defaults may count for the service. It is
// called before the evaluation.
func takesDefault(in *instance, name string) bool {
	switch {
	case !slices.ContainsFunc(schema.PlaceAttributes, func(a schema.Attribute) bool { return a.Name == name }):
		return true
	case in.block.Attributes[name] != nil:
		return false
	}
	return name != "expose" || slices.ContainsFunc(in.definition.All("port"), func(b *source.Block) bool {
		return eval.GateOf(b) != eval.GateClosed && b.Attributes["expose"] != nil
	})
}

// CheckDefaultPlace reports errors in the role and the exposure of the defaults, even if no
// service uses them.
func (c *Set) CheckDefaultPlace() {
	d := c.defaults()
	for _, in := range c.inOrder() {
		if d == nil || in.out.External {
			continue
		}
		if eval.AllKnown(in.cloud, d, "role") {
			eval.Role(in.cloud, d, "role")
		}
		if eval.AllKnown(in.cloud, d, "expose") {
			eval.Exposure(in.cloud, d, "expose")
		}
		return
	}
}

// portObjects returns the value that expressions read as service.NAME.ports.
func portObjects(in *instance) cty.Value {
	values := map[string]cty.Value{}
	for i, p := range in.out.Ports {
		b := in.definition.All("port")[i]
		host := hostOfPort(in, p.Name)
		address := net.JoinHostPort(host, strconv.Itoa(p.Number))
		public, reached := host, address
		if x := exposure(in); x != nil && p.Exposed {
			public, reached = x.Host(), net.JoinHostPort(x.Host(), strconv.Itoa(p.AtExposure()))
		}
		inside := func(text string) cty.Value { return eval.Read(in.inner, b, inNamespace(in, text), "number") }
		outside := func(text string) cty.Value {
			return eval.Read(in.inner, b, readPlace(in, inNamespace(in, text), "expose"), "number", "expose", "public")
		}
		values[p.Name] = cty.ObjectVal(map[string]cty.Value{
			"number":      in.inner.Scope.Groups["port"][p.Name],
			"host":        inNamespace(in, host),
			"address":     inside(address),
			"url":         inside(p.Scheme() + address),
			"public_host": outside(public),
			"public_url":  outside(p.Scheme() + reached),
		})
	}
	return cty.ObjectVal(values)
}

// checkPublic reports a public port number on a port that is not exposed.
func checkPublic(in *instance, b *source.Block, p configs.Port) {
	if eval.IsSet(in.inner, b, "public") && eval.AllKnown(in.inner, b, "expose") && !p.Exposed {
		in.report.Error(b.AttributeRange("public"), "Unsuitable value for \"public\"", "Port %q is not meant to be reached from outside. Write expose = true as well, or take it out.", p.Name)
	}
}

// hostOfPort returns the host name of a port. The workload with the first port answers under the
// name of the service, other workloads under their own names.
func hostOfPort(in *instance, name string) string {
	host, main := in.out.Name, true
	for _, b := range in.definition.All("workload") {
		ports := portsOf(in, b)
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
	return host + "." + in.set.Config.Cloud.Namespace
}

// portsOf returns the names of the ports of a workload and of its sidecars. Ports that depend on
// the service itself are left out.
func portsOf(in *instance, workload *source.Block) []string {
	out := ownPortsOf(in, workload)
	for _, sidecar := range workload.All(schema.SidecarType.Name) {
		out = append(out, ownPortsOf(in, sidecar)...)
	}
	return out
}

// ownPortsOf returns the names of the ports of one container.
func ownPortsOf(in *instance, b *source.Block) []string {
	attr := b.Attributes["ports"]
	if attr == nil || slices.ContainsFunc(attr.Expr.Variables(), func(t hcl.Traversal) bool { return t.RootName() == "self" || t.RootName() == "local" }) {
		return nil
	}
	return eval.List(in.inner, b, "ports")
}

// hostNamed returns the DNS name of a host in the namespace of the cloud.
func hostNamed(in *instance, name string) cty.Value {
	return inNamespace(in, name+"."+in.set.Config.Cloud.Namespace)
}

// members returns the value that expressions read as service.NAME.members: the host names of the
// pods of each StatefulSet.
func members(in *instance) cty.Value {
	out := map[string]cty.Value{}
	for _, b := range in.definition.All("workload") {
		if eval.String(in.inner, b, "kind") != "StatefulSet" {
			continue
		}
		if n := replicasValue(in, b); !n.IsKnown() {
			out[b.Label] = cty.UnknownVal(cty.List(cty.String)).WithMarks(values.Deferrals(n))
			continue
		}
		set := in.out.Name + "-" + b.Label
		hosts := []cty.Value{}
		for n := range in.replicas[b.Label] {
			hosts = append(hosts, hostNamed(in, fmt.Sprintf("%s-%d.%s", set, n, set)))
		}
		out[b.Label] = cty.TupleVal(hosts)
	}
	return cty.ObjectVal(out)
}

// externalPorts returns the value of service.NAME.ports for an external service.
func externalPorts(in *instance, host cty.Value) cty.Value {
	values := map[string]cty.Value{}
	for _, p := range in.out.Ports {
		number := in.inner.Scope.Groups["port"][p.Name]
		address := blocks.HostAndPort(host, number)
		url := blocks.Prefixed("http://", address)
		values[p.Name] = cty.ObjectVal(map[string]cty.Value{
			"number": number, "host": host, "address": address, "url": url, "public_host": host, "public_url": url,
		})
	}
	return cty.ObjectVal(values)
}

// evaluatePorts evaluates the ports.
func evaluatePorts(in *instance) {
	type taken struct {
		number int
		udp    bool
	}
	numbers := map[taken]string{}
	for _, b := range in.definition.All("port") {
		p := configs.Port{
			Name:     b.Label,
			Number:   eval.Number(in.inner, b, "number"),
			Exposed:  eval.Bool(in.inner, b, "expose"),
			NodePort: eval.Number(in.inner, b, "node_port"),
			UDP:      eval.String(in.inner, b, "protocol") == "udp",
			Public:   eval.Number(in.inner, b, "public"),
			Range:    blocks.RangeOf(b),
		}
		at := taken{p.Number, p.UDP}
		if other, twice := numbers[at]; twice && p.Number != 0 {
			in.report.Error(b.AttributeRange("number"), "Two ports with one number", "Port %q has the number %d already.", other, p.Number)
		}
		numbers[at] = p.Name
		checkPublic(in, b, p)
		in.out.Ports = append(in.out.Ports, p)
		in.inner.Scope.Groups["port"][p.Name] = eval.Read(in.inner, b, known(p.Number), "number")
	}
}

// known returns a number as a value. Zero stands for a number that could not be evaluated.
func known(n int) cty.Value {
	if n == 0 {
		return cty.UnknownVal(cty.Number)
	}
	return cty.NumberIntVal(int64(n))
}
