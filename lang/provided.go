package lang

import (
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/mark"
	"kolla.openstack.org/kolla/lang/schema"
)

// keptPrefixes are what the names of passwords begin with, of databases, queues and users.
var keptPrefixes = []string{passwordPrefix, "queue-", "user-"}

// isKept reports whether the name of a secret is kept for a password.
func isKept(name string) bool {
	return slices.ContainsFunc(keptPrefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// registered are the blocks that a registration is for.
var registered = []string{"user", "identity_role", "endpoint"}

// registers reports whether the definition is that of a Keystone, which registers itself.
func (in *instance) registers() bool { return in.definition.One("provides", "registration") != nil }

// toRegister are the blocks of the definition that Keystone has to know of. Its own
// endpoint is none of them.
func (in *instance) toRegister() []*source.Block {
	var out []*source.Block
	for _, kind := range registered {
		for _, b := range in.definition.All(kind) {
			if !in.ownEndpoint(b) {
				out = append(out, b)
			}
		}
	}
	return out
}

// ownEndpoint reports whether a block is the endpoint of a Keystone, which is no other
// service's business.
func (in *instance) ownEndpoint(b *source.Block) bool {
	server := in.literal(b, "server")
	return b.Type == schema.EndpointType && (in.registers() || server == in.block.Label || server == in.written.Label)
}

// serverEdges are the services that provide for this one.
func (in *instance) serverEdges() []edge {
	var out []edge
	for _, b := range slices.Concat(in.definition.All("queue"), in.toRegister()) {
		if gateOf(b) != open {
			continue
		}
		if id := in.inner.reach.find("service", in.literal(b, "server"), nil); id != nil {
			out = append(out, edge{to: id[0], at: b.Header})
		}
	}
	return out
}

// provided makes the queues, endpoints and users, and their registration.
func (in *instance) provided() {
	in.endpoints()
	for _, b := range in.definition.All("queue") {
		in.queue(b)
	}
	for _, b := range in.definition.All("user") {
		in.identityUser(b)
	}
	in.registration()
}

// provider is the service that a block is on; nil if there is none, which was reported.
func (in *instance) provider(b *source.Block) *instance {
	name := in.literal(b, "server")
	switch {
	case name == in.out.Name, in.registers() && b.Type != schema.QueueType:
		in.report.Error(b.Header, "A service refers to itself", "%s cannot be on the service that it belongs to.", b.Described())
		return nil
	case name == "":
		return nil
	}
	return in.server(name, b)
}

// password is the secret with the password of something that another service provides.
func (in *instance) password(b *source.Block) (configs.SecretRef, *configs.SecretSource) {
	ref := configs.SecretRef{Service: in.out.Name, Secret: b.Type.Name + "-" + strings.ReplaceAll(b.Label, "_", "-"), Key: "password"}
	return ref, in.sourceOfSecret(ref.Secret, secretKinds["password"].keys)
}

// nameOn is the name that something has on its server.
func (in *instance) nameOn(b *source.Block) string {
	if in.inner.given(b, "name") {
		return in.inner.string(b, "name")
	}
	return b.Label
}

// queue makes a queue.
func (in *instance) queue(b *source.Block) {
	p := configs.Provided{Type: "queue", Label: b.Label, Name: in.nameOn(b), Range: rangeOf(b)}
	in.refuseReserved("queue", p.Name, b, b.AttributeRange("name"))
	p.Password, p.Source = in.password(b)
	value := cty.DynamicVal
	if server := in.provider(b); server != nil {
		p.Server = server.out.Name
		value = server.provide(in, b, &p, map[string]cty.Value{
			"name":          in.inner.read(b, cty.StringVal(p.Name), "name"),
			"user":          in.inner.read(b, cty.StringVal(p.Name), "name"),
			"password":      mark.Generated(p.Password).Token(),
			"password_file": cty.StringVal(b.Label + "/" + p.Password.Key),
		})
	}
	in.out.Provided = append(in.out.Provided, p)
	in.inner.scope.groups["queue"][p.Label] = value
}

// identityUser makes a user in Keystone. The registration creates it.
func (in *instance) identityUser(b *source.Block) {
	p := configs.Provided{Type: "user", Label: b.Label, Name: in.nameOn(b), Domain: in.inner.string(b, "domain"), Range: rangeOf(b)}
	if p.Domain == "" {
		in.refuseReserved("user", p.Name, b, b.AttributeRange("name"))
	}
	p.Password, p.Source = in.password(b)
	project := cty.NullVal(cty.String)
	if p.Domain == "" {
		p.Domain, project = "Default", cty.StringVal("service")
	}
	value := cty.DynamicVal
	if server := in.provider(b); server != nil {
		p.Server = server.out.Name
		value = server.provide(in, b, &p, map[string]cty.Value{
			"name":          in.inner.read(b, cty.StringVal(p.Name), "name"),
			"password":      mark.Generated(p.Password).Token(),
			"domain":        in.inner.read(b, cty.StringVal(p.Domain), "domain"),
			"project":       in.inner.read(b, project, "domain"),
			"password_file": cty.StringVal(b.Label + "/" + p.Password.Key),
		})
	}
	in.out.Provided = append(in.out.Provided, p)
	in.inner.scope.groups["user"][p.Label] = value
}

// registration makes the jobs that tell Keystone of the service.
func (in *instance) registration() {
	all := in.toRegister()
	if len(all) == 0 || in.registers() {
		return
	}
	for _, b := range all[1:] {
		if name := in.literal(b, "server"); name != in.literal(all[0], "server") {
			in.report.Error(b.AttributeRange("server"), "Two servers of one registration",
				"Service %q is registered with service %q already, by %s (%s). All of a service is registered with one.", in.out.Name, in.literal(all[0], "server"), all[0].Described(), diag.Position(all[0].Header))
			return
		}
	}
	server := in.provider(all[0])
	if server == nil {
		return
	}
	p := configs.Provided{Type: "registration", Server: server.out.Name}
	server.provide(in, all[0], &p, map[string]cty.Value{
		"users":     cty.TupleVal(in.wantedUsers()),
		"roles":     stringList(in.definition.Labels("identity_role")),
		"endpoints": cty.TupleVal(in.wantedEndpoints()),
	})
	in.out.Provided = append(in.out.Provided, p)
}

// wantedUsers are the users as a registration has them.
func (in *instance) wantedUsers() []cty.Value {
	var out []cty.Value
	for _, b := range in.definition.All("user") {
		user := in.inner.scope.groups["user"][b.Label]
		if !user.IsKnown() {
			continue // why was reported
		}
		wanted := map[string]cty.Value{"roles": in.inner.read(b, stringList(in.inner.list(b, "roles")), "roles")}
		for _, name := range []string{"name", "domain", "project", "password_file"} {
			wanted[name] = user.GetAttr(name)
		}
		out = append(out, cty.ObjectVal(wanted))
	}
	return out
}

// wantedEndpoints are the endpoints as a registration has them.
func (in *instance) wantedEndpoints() []cty.Value {
	var out []cty.Value
	for _, b := range in.toRegister() {
		if b.Type != schema.EndpointType {
			continue
		}
		out = append(out, in.inner.scope.groups["endpoint"][b.Label])
	}
	return out
}

// endpoints makes the endpoints of the service.
func (in *instance) endpoints() {
	for _, b := range in.definition.All("endpoint") {
		e := configs.Endpoint{Type: b.Label, Server: in.literal(b, "server"), Name: in.out.Definition, Port: in.inner.string(b, "port"), Path: in.inner.string(b, "path")}
		if in.inner.given(b, "name") {
			e.Name = in.inner.string(b, "name")
		}
		in.checkPort(b, "port", e.Port, in.definition.Labels("port"))
		in.out.Endpoints = append(in.out.Endpoints, e)
		in.inner.scope.groups["endpoint"][b.Label] = cty.ObjectVal(map[string]cty.Value{
			"type":       cty.StringVal(e.Type),
			"name":       in.inner.read(b, cty.StringVal(e.Name), "name"),
			"url":        in.endpointURL(b, e, false),
			"public_url": in.endpointURL(b, e, true),
		})
	}
}

// endpointURL is the URL of an endpoint, for clients in the cluster or outside.
func (in *instance) endpointURL(b *source.Block, e configs.Endpoint, public bool) cty.Value {
	host := in.out.Name + "." + in.config.Cloud.Namespace
	number := 0
	for _, p := range in.out.Ports {
		if p.Name != e.Port {
			continue
		}
		number = p.Number
		for _, x := range in.config.Exposures {
			if public && p.Exposed && x.Name == in.out.Exposure {
				host, number = x.Host(), p.AtExposure()
			}
		}
	}
	v := in.inNamespace("http://" + net.JoinHostPort(host, strconv.Itoa(number)) + e.Path)
	if public {
		v = in.readPlace(v, "expose")
	}
	for _, p := range in.definition.All("port") {
		if p.Label == e.Port {
			v = in.inner.read(p, v, "number", "expose", "public")
		}
	}
	return in.inner.read(b, v, "port", "path")
}

// provide makes something of another service on this one: it adds the jobs, and returns
// what the other reads. values are what the provides block reads of it.
func (in *instance) provide(consumer *instance, from *source.Block, p *configs.Provided, values map[string]cty.Value) cty.Value {
	b := in.definition.One("provides", p.Type)
	if b == nil {
		consumer.report.Error(consumer.block.Header, "Nothing provides it",
			"%s of service %q should be on service %q, whose definition has no block `provides %q`.", from.Described(), consumer.out.Name, p.Server, p.Type)
		return cty.DynamicVal
	}
	self := in.inner.scope.singles["self"]
	if !self.IsKnown() {
		return self // what is wrong with the server was reported
	}
	jobs := slices.DeleteFunc(slices.Clone(b.All("job")), in.isCleanup)
	if untold := in.untoldFor(in.jobsFor(p.Type)); len(untold) > 0 {
		jobs = nil // it is there already
		in.checkUntold(consumer, from, p, untold)
	}
	read := maps.Clone(values)
	read["owner"] = cty.StringVal(in.config.Cloud.Name + "/" + consumer.out.Name)
	e := in.inner.with(p.Type, cty.ObjectVal(read))
	for _, job := range jobs {
		made := in.job(job, e)
		if at := e.string(job, "passwords"); at != "" {
			made.Pod.Mounts = append(made.Pod.Mounts, consumer.passwordsIn(at, p)...)
		}
		p.Jobs = append(p.Jobs, made)
	}
	if self.Type().HasAttribute("host") && p.Type == "queue" {
		values["host"] = self.GetAttr("host")
		if self.Type().HasAttribute("port") {
			values["port"] = self.GetAttr("port")
		}
	}
	in.arguments(b, e, values)
	return cty.ObjectVal(values)
}

// jobsFor are the jobs that make something that this service provides.
func (in *instance) jobsFor(kind string) []*source.Block {
	if kind == "user" {
		kind = "registration"
	}
	b := in.definition.One("provides", kind)
	if b == nil {
		return nil
	}
	return b.All("job")
}

// arguments adds the arguments of a provides block to what the other service reads.
func (in *instance) arguments(b *source.Block, e *evaluator, values map[string]cty.Value) {
	for _, attr := range b.Ordered() {
		if b.Type.Attribute(attr.Name) != nil {
			continue // it is about the block
		}
		if _, taken := values[attr.Name]; taken {
			in.report.Error(attr.NameRange, "Unsuitable name", "Every %s has an attribute %q already.", b.Label, attr.Name)
			continue
		}
		values[attr.Name] = e.value(attr.Expr)
	}
}

// passwordsIn mounts the passwords of what a job makes.
func (in *instance) passwordsIn(dir string, p *configs.Provided) []configs.SecretMount {
	var out []configs.SecretMount
	for _, other := range append(slices.Clone(in.out.Provided), *p) {
		if other.Label != "" && (other.Label == p.Label && other.Type == p.Type || other.Type == "user" && p.Type == "registration") {
			out = append(out, configs.SecretMount{Service: in.out.Name, Secret: other.Password.Secret, Path: strings.TrimSuffix(dir, "/") + "/" + other.Label})
		}
	}
	return out
}

// checkUntold reports what cannot be made on an external service without its secrets:
// its password has to be told. Of what has no password there is a warning.
func (in *instance) checkUntold(consumer *instance, from *source.Block, p *configs.Provided, untold []string) {
	lacks := strings.TrimPrefix(secretsNamed(untold), "the ")
	if p.Type != "registration" {
		if p.Source == nil {
			in.untolds = append(in.untolds, untoldUse{fmt.Sprintf("%s of service %q", from.Described(), consumer.out.Name), untold, consumer.passwordInstead(p.Password.Secret)})
		}
		return
	}
	var names []string
	for _, e := range consumer.out.Endpoints {
		names = append(names, fmt.Sprintf("endpoint %q", e.Type))
	}
	for _, name := range consumer.definition.Labels("identity_role") {
		names = append(names, fmt.Sprintf("role %q", name))
	}
	if len(names) > 0 {
		consumer.report.Warn(consumer.block.Header, "Not registered",
			"Service %q is external, and kolla does not know its %s: %s of service %q have to be registered by somebody else.", p.Server, lacks, words.Sorted(names), consumer.out.Name)
	}
}
