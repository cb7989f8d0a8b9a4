package services

import (
	"net"
	"strconv"

	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/values"
)

// selfValue returns the value of the service without its outputs.
func selfValue(in *instance) cty.Value {
	values := roleAttributes(in)
	if workloads := in.definition.All("workload"); len(workloads) > 0 {
		values["replicas"] = replicasValue(in, workloads[0])
	}
	addPortAttributes(in, values)
	return cty.ObjectVal(values)
}

// roleAttributes returns the attributes that are known before the ports.
func roleAttributes(in *instance) map[string]cty.Value {
	out := nameAttributes(in)
	out["role"] = readPlace(in, cty.StringVal(in.out.Role), "role")
	out["replicas"] = cty.NumberIntVal(0)
	return out
}

// nameAttributes returns the attributes that are known before the role.
func nameAttributes(in *instance) map[string]cty.Value {
	return map[string]cty.Value{
		"name":      cty.StringVal(in.out.Name),
		"namespace": inNamespace(in, in.set.Config.Cloud.Namespace),
		"host":      inNamespace(in, in.out.Name+"."+in.set.Config.Cloud.Namespace),
		"external":  cty.False,
	}
}

// addPortAttributes adds the attributes about ports.
func addPortAttributes(in *instance, out map[string]cty.Value) {
	s := in.out
	host := s.Name + "." + in.set.Config.Cloud.Namespace
	if len(s.Ports) > 0 {
		port := s.Ports[0].Number
		address := net.JoinHostPort(host, strconv.Itoa(port))
		out["port"] = in.inner.Scope.Groups["port"][s.Ports[0].Name]
		first := in.definition.All("port")[0]
		out["address"] = eval.Read(in.inner, first, inNamespace(in, address), "number")
		out["url"] = eval.Read(in.inner, first, inNamespace(in, s.Ports[0].Scheme()+address), "number")
		out["public_url"] = publicURL(in, address)
	}
	out["ports"], out["members"] = portObjects(in), members(in)
	if !in.definition.Complete() {
		for _, name := range []string{"port", "address", "url", "public_url", "ports", "members"} {
			out[name] = cty.DynamicVal.WithMarks(values.Deferrals(in.definition.Incomplete))
		}
	}
}

// inNamespace returns a text that contains the namespace of the cloud, as a value.
func inNamespace(in *instance, text string) cty.Value {
	v := cty.StringVal(text)
	for _, b := range in.set.Root.All("cloud") {
		v = eval.Read(in.cloud, b, v, "namespace")
	}
	return v
}

// publicURL returns the URL for clients outside. Without an exposed port it has the internal
// address.
func publicURL(in *instance, internal string) cty.Value {
	v := readPlace(in, inNamespace(in, "http://"+publicAddress(in, internal)), "expose")
	for _, b := range in.definition.All("port") {
		v = eval.Read(in.inner, b, v, "number", "expose", "public")
	}
	return v
}

// publicAddress returns the address of the first exposed port for clients outside, or else the
// internal address.
func publicAddress(in *instance, internal string) string {
	for _, p := range in.out.Ports {
		if !p.Exposed {
			continue
		}
		if x := exposure(in); x != nil {
			return net.JoinHostPort(x.Host(), strconv.Itoa(p.AtExposure()))
		}
	}
	return internal
}

// exposure returns the exposure of the service, or nil.
func exposure(in *instance) *configs.Exposure {
	for i, x := range in.set.Config.Exposures {
		if x.Name == in.out.Exposure {
			return &in.set.Config.Exposures[i]
		}
	}
	return nil
}
