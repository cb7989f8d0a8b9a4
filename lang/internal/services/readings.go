package services

import (
	"net"
	"slices"
	"strconv"

	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/internal/values"
)

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
	v := readPlace(u, e, inNamespace(u.set, e, "http://"+publicAddress(u.set, a, internal)), "expose", a.ports)
	for _, b := range definition.All("port") {
		v = eval.Read(e, b, v, "number", "expose", "public")
	}
	return v
}

// publicAddress returns the address of the first exposed port for clients outside, or else the
// internal address.
func publicAddress(c *Set, a access, internal string) string {
	i := slices.IndexFunc(a.ports, isExposed)
	if x := exposureNamed(c, a.exposure); x != nil && i >= 0 {
		return net.JoinHostPort(x.Host(), strconv.Itoa(a.ports[i].AtExposure()))
	}
	return internal
}

// exposureNamed returns an exposure, or nil.
func exposureNamed(c *Set, name string) *configs.Exposure {
	for i, x := range c.Config.Exposures {
		if x.Name == name {
			return &c.Config.Exposures[i]
		}
	}
	return nil
}
