package services

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/blocks"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/graph"
	"kolla.openstack.org/kolla/lang/internal/layers"
	"kolla.openstack.org/kolla/lang/internal/pods"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/mark"
	"kolla.openstack.org/kolla/lang/schema"
)

// registeredTypes are the types of blocks that Keystone has to know.
var registeredTypes = []string{"user", "identity_role", "endpoint"}

// isKeystone reports whether the definition is Keystone, which registers itself.
func isKeystone(definition *source.Block) bool {
	return definition.One("provides", "registration") != nil
}

// blocksToRegister returns the blocks of the definition that Keystone has to know. Keystone
// registers its own endpoint itself.
func blocksToRegister(d *declaration, definition *source.Block) []*source.Block {
	var out []*source.Block
	for _, kind := range registeredTypes {
		for _, b := range definition.All(kind) {
			if !ownEndpoint(d, definition, b) {
				out = append(out, b)
			}
		}
	}
	return out
}

// ownEndpoint reports whether a block is the endpoint of Keystone itself.
func ownEndpoint(d *declaration, definition, b *source.Block) bool {
	server := eval.Literal(d.set.Constant, b, "server")
	return b.Type == schema.EndpointType && (isKeystone(definition) || server == d.node.Block.Label || server == d.written.Label)
}

// serverEdges returns the references to the servers of queues, users and endpoints.
func serverEdges(d *declaration) []graph.Edge {
	var out []graph.Edge
	for _, b := range slices.Concat(d.overlay.whole.All("queue"), blocksToRegister(d, d.overlay.whole)) {
		if layers.GateOf(b) != layers.GateOpen {
			continue
		}
		if id := d.reach().Find("service", eval.Literal(d.set.Constant, b, "server")); id != "" {
			out = append(out, graph.Edge{To: id, At: b.Header})
		}
	}
	return out
}

// evaluateProvided evaluates queues and users, which expressions then can read, and their
// registration.
func evaluateProvided(u *use, e *eval.Env, definition *source.Block, endpoints []configs.Endpoint) ([]configs.Provided, *eval.Env) {
	var out []configs.Provided
	for _, kind := range []string{"queue", "user"} {
		var group eval.Group
		e, group = withMore(e, definition, kind, u.locals)
		for _, b := range definition.All(kind) {
			p, values := provided(u, e, b)
			p, value, lacking := provideOn(u, e, definition, b, p, values, out)
			if len(lacking) > 0 && p.Source == nil {
				u.set.missing = append(u.set.missing, missingUseBy(u, b, p.Server, lacking, p.Password.Secret))
			}
			out = append(out, p)
			group[b.Label] = value
		}
	}
	return register(u, e, definition, endpoints, out), e
}

// provider returns the service that a block is on. It is nil if there is no such service, which is
// reported.
func provider(u *use, e *eval.Env, definition, b *source.Block) *service {
	name := eval.Literal(u.set.Constant, b, "server")
	switch {
	case name == u.name, isKeystone(definition) && b.Type != schema.QueueType:
		e.Report.Error(b.Header, "A service refers to itself", "%s cannot be on the service that it belongs to.", b.Described())
		return nil
	case name == "":
		return nil
	}
	return server(u, e, name, b)
}

// provided evaluates a queue, or a user of Keystone, and returns what expressions can read of it.
func provided(u *use, e *eval.Env, b *source.Block) (configs.Provided, map[string]cty.Value) {
	p := configs.Provided{Type: b.Type.Name, Label: b.Label, Name: b.Label, Range: blocks.RangeOf(b)}
	if eval.IsSet(e, b, "name") {
		p.Name = eval.String(e, b, "name")
	}
	if p.Type == "user" {
		p.Domain = eval.String(e, b, "domain")
	}
	if p.Domain == "" {
		blocks.CheckReserved(e.Report, p.Type, p.Name, b, b.AttributeRange("name"))
	}
	p.Password = configs.SecretRef{Service: u.name, Secret: p.Type + "-" + strings.ReplaceAll(b.Label, "_", "-"), Key: "password"}
	p.Source = sourceOfSecret(u, e, p.Password.Secret, blocks.PasswordKeys())
	name := eval.Read(e, b, cty.StringVal(p.Name), "name")
	values := map[string]cty.Value{"name": name, "password": mark.Generated(p.Password).Token(), "password_file": cty.StringVal(b.Label + "/" + p.Password.Key)}
	if p.Type == "queue" {
		values["user"] = name
		return p, values
	}
	project := cty.NullVal(cty.String)
	if p.Domain == "" {
		p.Domain, project = "Default", cty.StringVal("service")
	}
	values["domain"], values["project"] = eval.Read(e, b, cty.StringVal(p.Domain), "domain"), eval.Read(e, b, project, "domain")
	return p, values
}

// provideOn makes a queue, user or registration on its server. others are those before. It returns
// the value that expressions read, and the secrets that an external server lacks for it.
func provideOn(u *use, e *eval.Env, definition, from *source.Block, p configs.Provided, values map[string]cty.Value, others []configs.Provided) (made configs.Provided, value cty.Value, lacking []string) {
	s := provider(u, e, definition, from)
	if s == nil {
		return p, cty.DynamicVal, nil
	}
	p.Server = s.out.Name
	if s.pods.Definition.One("provides", p.Type) == nil {
		e.Report.Error(u.block.Header, "Nothing provides it",
			"%s of service %q should be on service %q, whose definition has no block `provides %q`.", from.Described(), u.name, p.Server, p.Type)
		return p, cty.DynamicVal, nil
	}
	owner := map[string]cty.Value{"owner": cty.StringVal(u.set.Config.Cloud.Name + "/" + u.name)}
	p.Jobs, value, lacking = provide(s, p.Type, values, owner, func(dir string) []configs.SecretMount {
		var out []configs.SecretMount
		for _, other := range append(slices.Clone(others), p) {
			if other.Label != "" && (other.Label == p.Label && other.Type == p.Type || other.Type == "user" && p.Type == "registration") {
				out = append(out, configs.SecretMount{Service: u.name, Secret: other.Password.Secret, Path: strings.TrimSuffix(dir, "/") + "/" + other.Label})
			}
		}
		return out
	})
	return p, value, lacking
}

// register adds the jobs that register the service with Keystone.
func register(u *use, e *eval.Env, definition *source.Block, endpoints []configs.Endpoint, out []configs.Provided) []configs.Provided {
	all := blocksToRegister(u.decl, definition)
	if len(all) == 0 || isKeystone(definition) {
		return out
	}
	for _, b := range all[1:] {
		if name := eval.Literal(u.set.Constant, b, "server"); name != eval.Literal(u.set.Constant, all[0], "server") {
			e.Report.Error(b.AttributeRange("server"), "Two servers of one registration",
				"Service %q is registered with service %q already, by %s (%s). All of a service is registered with one.", u.name, eval.Literal(u.set.Constant, all[0], "server"), all[0].Described(), diag.Position(all[0].Header))
			return out
		}
	}
	p, _, lacking := provideOn(u, e, definition, all[0], configs.Provided{Type: "registration"}, map[string]cty.Value{
		"users":     cty.TupleVal(wantedUsers(e, definition)),
		"roles":     blocks.StringList(definition.Labels("identity_role")),
		"endpoints": cty.TupleVal(wantedEndpoints(e, all)),
	}, out)
	if p.Server == "" {
		return out
	}
	if len(lacking) > 0 {
		warnUnregistered(u, e, definition, p.Server, endpoints, lacking)
	}
	return append(out, p)
}

// warnUnregistered warns of a registration with an external service that does not have the secrets
// for it.
func warnUnregistered(u *use, e *eval.Env, definition *source.Block, server string, endpoints []configs.Endpoint, lacking []string) {
	var names []string
	for _, e := range endpoints {
		names = append(names, fmt.Sprintf("endpoint %q", e.Type))
	}
	for _, name := range definition.Labels("identity_role") {
		names = append(names, fmt.Sprintf("role %q", name))
	}
	if len(names) > 0 {
		e.Report.Warn(u.block.Header, "Not registered",
			"Service %q is external, and kolla does not know its %s: %s of service %q have to be registered by somebody else.", server, strings.TrimPrefix(secretsNamed(lacking), "the "), words.Sorted(names), u.name)
	}
}

// wantedUsers returns the users for the job of a registration.
func wantedUsers(e *eval.Env, definition *source.Block) []cty.Value {
	var out []cty.Value
	for _, b := range definition.All("user") {
		user := e.Scope.Groups["user"][b.Label]
		if !user.IsKnown() {
			continue // why was reported
		}
		wanted := map[string]cty.Value{"roles": eval.Read(e, b, blocks.StringList(eval.List(e, b, "roles")), "roles")}
		for _, name := range []string{"name", "domain", "project", "password_file"} {
			wanted[name] = user.GetAttr(name)
		}
		out = append(out, cty.ObjectVal(wanted))
	}
	return out
}

// wantedEndpoints returns the endpoints for the job of a registration.
func wantedEndpoints(e *eval.Env, registered []*source.Block) []cty.Value {
	var out []cty.Value
	for _, b := range registered {
		if b.Type == schema.EndpointType {
			out = append(out, e.Scope.Groups["endpoint"][b.Label])
		}
	}
	return out
}

// evaluateEndpoints evaluates the endpoints of the service, which expressions then can read.
func evaluateEndpoints(u *use, e *eval.Env, definition *source.Block, a access) ([]configs.Endpoint, *eval.Env) {
	var out []configs.Endpoint
	e, group := withMore(e, definition, "endpoint", u.locals)
	for _, b := range definition.All("endpoint") {
		x := configs.Endpoint{Type: b.Label, Server: eval.Literal(u.set.Constant, b, "server"), Name: u.decl.written.Label, Port: eval.String(e, b, "port"), Path: eval.String(e, b, "path")}
		if eval.IsSet(e, b, "name") {
			x.Name = eval.String(e, b, "name")
		}
		pods.CheckPort(e, definition, b, "port", x.Port)
		out = append(out, x)
		group[b.Label] = cty.ObjectVal(map[string]cty.Value{
			"type":       cty.StringVal(x.Type),
			"name":       eval.Read(e, b, cty.StringVal(x.Name), "name"),
			"url":        endpointURL(u, e, definition, a, b, x, false),
			"public_url": endpointURL(u, e, definition, a, b, x, true),
		})
	}
	return out, e
}

// endpointURL returns the URL of an endpoint for clients in the cluster or outside.
func endpointURL(u *use, e *eval.Env, definition *source.Block, a access, b *source.Block, x configs.Endpoint, public bool) cty.Value {
	url := ""
	for _, p := range a.ports {
		if p.Name != x.Port {
			continue
		}
		url = "http://" + net.JoinHostPort(u.name+"."+u.set.Config.Cloud.Namespace, strconv.Itoa(p.Number))
		if outside := u.set.Config.Exposure(a.exposure); public && p.Exposed && outside != nil {
			url = outside.Entry(u.name, a.ports, p).URL()
		}
	}
	v := inNamespace(u.set, e, url+x.Path)
	if public {
		v = readPlace(u, e, v, "expose", a.ports)
	}
	if p := definition.One("port", x.Port); p != nil {
		v = eval.Read(e, p, v, "number", "expose", "public", "tls")
	}
	return eval.Read(e, b, v, "port", "path")
}
