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
	"kolla.openstack.org/kolla/lang/internal/layers"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/internal/values"
	"kolla.openstack.org/kolla/lang/schema"
)

// access says where the pods of a service run, and where its clients find it.
type access struct {
	role     string
	exposure string
	ports    []configs.Port
}

// placeOf returns the block that has the role or the exposure of the service: the service block, or
// else the defaults of the cloud. The exposure of the defaults counts only for services with
// exposed ports.
func placeOf(u *use, e *eval.Env, name string, ports []configs.Port) blocks.Layered {
	d := u.set.defaults()
	if d == nil || u.external || u.block.Attributes[name] != nil || name == "expose" && !slices.ContainsFunc(ports, isExposed) {
		return blocks.Layered{Block: u.block, Eval: e.OfService}
	}
	return blocks.Layered{Block: d, Eval: e.OfCloud}
}

// isExposed reports whether a port is meant to be reachable from outside.
func isExposed(p configs.Port) bool { return p.Exposed }

// evaluateRole evaluates the role. The defaults of the cloud can read the names of the service.
func evaluateRole(u *use, e *eval.Env) (string, *eval.Env) {
	e = cloudWithSelf(e, nameAttributes(u, e))
	by := placeOf(u, e, "role", nil)
	return eval.Role(by.Eval, by.Block, "role"), e
}

// evaluateExposure evaluates the exposure, after the ports. The defaults of the cloud can also read
// the role.
func evaluateExposure(u *use, e *eval.Env, role string, ports []configs.Port) (string, *eval.Env) {
	self := roleAttributes(u, e, role)
	delete(self, "replicas")
	e = cloudWithSelf(e, self)
	by := placeOf(u, e, "expose", ports)
	return eval.Exposure(by.Eval, by.Block, "expose"), e
}

// readPlace returns a value that depends on the role or the exposure, as expressions read it.
func readPlace(u *use, e *eval.Env, value cty.Value, name string, ports []configs.Port) cty.Value {
	by := placeOf(u, e, name, ports)
	return eval.Read(by.Eval, by.Block, value, name)
}

// defaultEdges returns the references in the defaults of the cloud that count for the service. The
// service may not use the role or the exposure of the defaults.
func defaultEdges(d *declaration) []graph.Edge {
	defaults := d.set.defaults()
	if defaults == nil {
		return nil
	}
	cloud := d.set.Graph.Reach(d.set.Graph.Root)
	var out []graph.Edge
	for _, attr := range defaults.Ordered() {
		if takesDefault(d, attr.Name) {
			out = append(out, cloud.Edges(attr.Expr)...)
		}
	}
	for _, child := range defaults.Blocks {
		if defaults.HasDynamic {
			out = append(out, cloud.BlockEdges(child)...)
		}
	}
	return out
}

// takesDefault reports whether an argument of the defaults may count for the service. It is
// called before the evaluation.
func takesDefault(d *declaration, name string) bool {
	switch {
	case !slices.ContainsFunc(schema.PlaceAttributes, func(a schema.Attribute) bool { return a.Name == name }):
		return true
	case d.node.Block.Attributes[name] != nil:
		return false
	}
	return name != "expose" || slices.ContainsFunc(d.overlay.whole.All("port"), func(b *source.Block) bool {
		return layers.GateOf(b) != layers.GateClosed && b.Attributes["expose"] != nil
	})
}

// CheckDefaultPlace reports errors in the role and the exposure of the defaults, even if no
// service uses them.
func (c *Set) CheckDefaultPlace() {
	d := c.defaults()
	for _, s := range c.inOrder() {
		if d == nil || s.out.External {
			continue
		}
		cloud := s.pods.Env.OfCloud
		if eval.AllKnown(cloud, d, "role") {
			eval.Role(cloud, d, "role")
		}
		if eval.AllKnown(cloud, d, "expose") {
			eval.Exposure(cloud, d, "expose")
		}
		return
	}
}

// portObjects returns the value that expressions read as service.NAME.ports.
func portObjects(u *use, e *eval.Env, definition *source.Block, a access) cty.Value {
	values := map[string]cty.Value{}
	x := u.set.Config.Exposure(a.exposure)
	for i, p := range a.ports {
		b := definition.All("port")[i]
		host := hostOfPort(u, e, definition, a.ports, p.Name)
		address := net.JoinHostPort(host, strconv.Itoa(p.Number))
		public, reached := host, p.Scheme()+address
		if x != nil && p.Exposed {
			entry := x.Entry(u.name, a.ports, p)
			public, reached = entry.Host, entry.URL()
		}
		inside := func(text string) cty.Value { return eval.Read(e, b, inNamespace(u.set, e, text), "number") }
		outside := func(text string) cty.Value {
			return eval.Read(e, b, readPlace(u, e, inNamespace(u.set, e, text), "expose", a.ports), "number", "expose", "public", "tls")
		}
		values[p.Name] = cty.ObjectVal(map[string]cty.Value{
			"number":      e.Scope.Groups["port"][p.Name],
			"host":        inNamespace(u.set, e, host),
			"address":     inside(address),
			"url":         inside(p.Scheme() + address),
			"public_host": outside(public),
			"public_url":  outside(reached),
		})
	}
	return cty.ObjectVal(values)
}

// checkPublic reports a public port number on a port that is not exposed.
func checkPublic(e *eval.Env, b *source.Block, p configs.Port) {
	if eval.IsSet(e, b, "public") && eval.AllKnown(e, b, "expose") && !p.Exposed {
		e.Report.Error(b.AttributeRange("public"), "Unsuitable value for \"public\"", "Port %q is not meant to be reached from outside. Write expose = true as well, or take it out.", p.Name)
	}
}

// hostOfPort returns the host name of a port. The workload with the first port answers under the
// name of the service, other workloads under their own names.
func hostOfPort(u *use, e *eval.Env, definition *source.Block, all []configs.Port, name string) string {
	host, main := u.name, true
	for _, b := range definition.All("workload") {
		ports := portsOf(e, b)
		if main && slices.Contains(ports, all[0].Name) {
			main = false
			if slices.Contains(ports, name) {
				host = u.name
				break
			}
		} else if slices.Contains(ports, name) && host == u.name {
			host = u.name + "-" + b.Label
		}
	}
	return host + "." + u.set.Config.Cloud.Namespace
}

// portsOf returns the names of the ports of a workload and of its sidecars. Ports that depend on
// the service itself are left out.
func portsOf(e *eval.Env, workload *source.Block) []string {
	out := ownPortsOf(e, workload)
	for _, sidecar := range workload.All(schema.SidecarType.Name) {
		out = append(out, ownPortsOf(e, sidecar)...)
	}
	return out
}

// ownPortsOf returns the names of the ports of one container.
func ownPortsOf(e *eval.Env, b *source.Block) []string {
	attr := b.Attributes["ports"]
	if attr == nil || slices.ContainsFunc(attr.Expr.Variables(), func(t hcl.Traversal) bool { return t.RootName() == "self" || t.RootName() == "local" }) {
		return nil
	}
	return eval.List(e, b, "ports")
}

// hostNamed returns the DNS name of a host in the namespace of the cloud.
func hostNamed(c *Set, e *eval.Env, name string) cty.Value {
	return inNamespace(c, e, name+"."+c.Config.Cloud.Namespace)
}

// members returns the value that expressions read as service.NAME.members: the host names of the
// pods of each StatefulSet.
func members(u *use, e *eval.Env, definition *source.Block, n replicas) cty.Value {
	out := map[string]cty.Value{}
	for _, b := range definition.All("workload") {
		if eval.String(e, b, "kind") != "StatefulSet" {
			continue
		}
		if n := replicasValue(u, e, b, n); !n.IsKnown() {
			out[b.Label] = cty.UnknownVal(cty.List(cty.String)).WithMarks(values.Deferrals(n))
			continue
		}
		set := u.name + "-" + b.Label
		hosts := []cty.Value{}
		for n := range n.of[b.Label] {
			hosts = append(hosts, hostNamed(u.set, e, fmt.Sprintf("%s-%d.%s", set, n, set)))
		}
		out[b.Label] = cty.TupleVal(hosts)
	}
	return cty.ObjectVal(out)
}

// evaluatePorts evaluates the ports, which expressions then can read.
func evaluatePorts(u *use, e *eval.Env, definition *source.Block) ([]configs.Port, *eval.Env) {
	type taken struct {
		number int
		udp    bool
	}
	var out []configs.Port
	numbers := map[taken]string{}
	e, group := withMore(e, definition, "port", u.locals)
	for _, b := range definition.All("port") {
		p := configs.Port{
			Name:     b.Label,
			Number:   eval.Number(e, b, "number"),
			Exposed:  eval.Bool(e, b, "expose"),
			NodePort: eval.Number(e, b, "node_port"),
			UDP:      eval.String(e, b, "protocol") == "udp",
			Public:   eval.Number(e, b, "public"),
			TLS:      eval.Bool(e, b, "tls"),
			Range:    blocks.RangeOf(b),
		}
		at := taken{p.Number, p.UDP}
		if other, twice := numbers[at]; twice && p.Number != 0 {
			e.Report.Error(b.AttributeRange("number"), "Two ports with one number", "Port %q has the number %d already.", other, p.Number)
		}
		numbers[at] = p.Name
		checkPublic(e, b, p)
		out = append(out, p)
		group[p.Name] = eval.Read(e, b, known(p.Number), "number")
	}
	return out, e
}

// known returns a number as a value. Zero stands for a number that could not be evaluated.
func known(n int) cty.Value {
	if n == 0 {
		return cty.UnknownVal(cty.Number)
	}
	return cty.NumberIntVal(int64(n))
}

// selfValue returns the value of the service without its outputs.
func selfValue(u *use, e *eval.Env, definition *source.Block, a access, n replicas) cty.Value {
	values := roleAttributes(u, e, a.role)
	if workloads := definition.All("workload"); len(workloads) > 0 {
		values["replicas"] = replicasValue(u, e, workloads[0], n)
	}
	addPortAttributes(values, u, e, definition, a, n)
	return cty.ObjectVal(values)
}

// roleAttributes returns the attributes that are known before the ports.
func roleAttributes(u *use, e *eval.Env, role string) map[string]cty.Value {
	out := nameAttributes(u, e)
	out["role"] = readPlace(u, e, cty.StringVal(role), "role", nil)
	out["replicas"] = cty.NumberIntVal(0)
	return out
}

// nameAttributes returns the attributes that are known before the role.
func nameAttributes(u *use, e *eval.Env) map[string]cty.Value {
	return map[string]cty.Value{
		"name":      cty.StringVal(u.name),
		"namespace": inNamespace(u.set, e, u.set.Config.Cloud.Namespace),
		"host":      hostNamed(u.set, e, u.name),
		"external":  cty.False,
	}
}

// addPortAttributes adds the attributes about ports.
func addPortAttributes(out map[string]cty.Value, u *use, e *eval.Env, definition *source.Block, a access, n replicas) {
	if len(a.ports) > 0 {
		address := net.JoinHostPort(u.name+"."+u.set.Config.Cloud.Namespace, strconv.Itoa(a.ports[0].Number))
		first := definition.All("port")[0]
		out["port"] = e.Scope.Groups["port"][a.ports[0].Name]
		out["address"] = eval.Read(e, first, inNamespace(u.set, e, address), "number")
		out["url"] = eval.Read(e, first, inNamespace(u.set, e, a.ports[0].Scheme()+address), "number")
		out["public_url"] = publicURL(u, e, definition, a, address)
	}
	out["ports"], out["members"] = portObjects(u, e, definition, a), members(u, e, definition, n)
	if !definition.Complete() {
		for _, name := range []string{"port", "address", "url", "public_url", "ports", "members"} {
			out[name] = cty.DynamicVal.WithMarks(values.Deferrals(definition.Incomplete))
		}
	}
}

// inNamespace returns a text that contains the namespace of the cloud, as a value.
func inNamespace(c *Set, e *eval.Env, text string) cty.Value {
	v := cty.StringVal(text)
	for _, b := range c.Root.All("cloud") {
		v = eval.Read(e.OfCloud, b, v, "namespace")
	}
	return v
}

// publicURL returns the URL for clients outside. Without an exposed port it has the internal
// address.
func publicURL(u *use, e *eval.Env, definition *source.Block, a access, internal string) cty.Value {
	v := readPlace(u, e, inNamespace(u.set, e, publicAddress(u, a, internal)), "expose", a.ports)
	for _, b := range definition.All("port") {
		v = eval.Read(e, b, v, "number", "expose", "public", "tls")
	}
	return v
}

// publicAddress returns the URL of the first exposed port for clients outside, or else that of the
// internal address.
func publicAddress(u *use, a access, internal string) string {
	i := slices.IndexFunc(a.ports, isExposed)
	if x := u.set.Config.Exposure(a.exposure); x != nil && i >= 0 {
		return x.Entry(u.name, a.ports, a.ports[i]).URL()
	}
	return "http://" + internal
}
