package services

import (
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/blocks"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/graph"
	"kolla.openstack.org/kolla/lang/internal/pods"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/mark"
	"kolla.openstack.org/kolla/lang/schema"
)

// registeredTypes are the types of blocks that Keystone has to know.
var registeredTypes = []string{"user", "identity_role", "endpoint"}

// isKeystone reports whether the definition is Keystone, which registers itself.
func isKeystone(in *instance) bool { return in.definition.One("provides", "registration") != nil }

// blocksToRegister returns the blocks of the definition that Keystone has to know. Keystone
// registers its own endpoint itself.
func blocksToRegister(in *instance) []*source.Block {
	var out []*source.Block
	for _, kind := range registeredTypes {
		for _, b := range in.definition.All(kind) {
			if !ownEndpoint(in, b) {
				out = append(out, b)
			}
		}
	}
	return out
}

// ownEndpoint reports whether a block is the endpoint of Keystone itself.
func ownEndpoint(in *instance, b *source.Block) bool {
	server := eval.Literal(in.set.Constant, b, "server")
	return b.Type == schema.EndpointType && (isKeystone(in) || server == in.block.Label || server == in.written.Label)
}

// serverEdges returns the references to the servers of queues, users and endpoints.
func serverEdges(in *instance) []graph.Edge {
	var out []graph.Edge
	for _, b := range slices.Concat(in.definition.All("queue"), blocksToRegister(in)) {
		if eval.GateOf(b) != eval.GateOpen {
			continue
		}
		if id := in.innerReach.Find("service", eval.Literal(in.set.Constant, b, "server")); id != "" {
			out = append(out, graph.Edge{To: id, At: b.Header})
		}
	}
	return out
}

// evaluateProvided evaluates endpoints, queues and users, and their registration.
func evaluateProvided(in *instance) {
	evaluateEndpoints(in)
	for _, b := range in.definition.All("queue") {
		evaluateQueue(in, b)
	}
	for _, b := range in.definition.All("user") {
		evaluateUser(in, b)
	}
	makeRegistration(in)
}

// provider returns the service that a block is on. It is nil if there is no such service, which is
// reported.
func provider(in *instance, b *source.Block) *instance {
	name := eval.Literal(in.set.Constant, b, "server")
	switch {
	case name == in.out.Name, isKeystone(in) && b.Type != schema.QueueType:
		in.report.Error(b.Header, "A service refers to itself", "%s cannot be on the service that it belongs to.", b.Described())
		return nil
	case name == "":
		return nil
	}
	return server(in, name, b)
}

// password returns the secret with the password of a queue or user, and the source of the password.
func password(in *instance, b *source.Block) (configs.SecretRef, *configs.SecretSource) {
	ref := configs.SecretRef{Service: in.out.Name, Secret: b.Type.Name + "-" + strings.ReplaceAll(b.Label, "_", "-"), Key: "password"}
	return ref, sourceOfSecret(in, ref.Secret, blocks.PasswordKeys())
}

// nameOn returns the name of a queue or user on its server.
func nameOn(in *instance, b *source.Block) string {
	if eval.IsSet(in.inner, b, "name") {
		return eval.String(in.inner, b, "name")
	}
	return b.Label
}

// evaluateQueue evaluates a queue.
func evaluateQueue(in *instance, b *source.Block) {
	p := configs.Provided{Type: "queue", Label: b.Label, Name: nameOn(in, b), Range: blocks.RangeOf(b)}
	blocks.CheckReserved(in.report, "queue", p.Name, b, b.AttributeRange("name"))
	p.Password, p.Source = password(in, b)
	value := cty.DynamicVal
	if server := provider(in, b); server != nil {
		p.Server = server.out.Name
		value = provide(server, in, b, &p, map[string]cty.Value{
			"name":          eval.Read(in.inner, b, cty.StringVal(p.Name), "name"),
			"user":          eval.Read(in.inner, b, cty.StringVal(p.Name), "name"),
			"password":      mark.Generated(p.Password).Token(),
			"password_file": cty.StringVal(b.Label + "/" + p.Password.Key),
		})
	}
	in.out.Provided = append(in.out.Provided, p)
	in.inner.Scope.Groups["queue"][p.Label] = value
}

// evaluateUser evaluates a user of Keystone. The registration creates the user.
func evaluateUser(in *instance, b *source.Block) {
	p := configs.Provided{Type: "user", Label: b.Label, Name: nameOn(in, b), Domain: eval.String(in.inner, b, "domain"), Range: blocks.RangeOf(b)}
	if p.Domain == "" {
		blocks.CheckReserved(in.report, "user", p.Name, b, b.AttributeRange("name"))
	}
	p.Password, p.Source = password(in, b)
	project := cty.NullVal(cty.String)
	if p.Domain == "" {
		p.Domain, project = "Default", cty.StringVal("service")
	}
	value := cty.DynamicVal
	if server := provider(in, b); server != nil {
		p.Server = server.out.Name
		value = provide(server, in, b, &p, map[string]cty.Value{
			"name":          eval.Read(in.inner, b, cty.StringVal(p.Name), "name"),
			"password":      mark.Generated(p.Password).Token(),
			"domain":        eval.Read(in.inner, b, cty.StringVal(p.Domain), "domain"),
			"project":       eval.Read(in.inner, b, project, "domain"),
			"password_file": cty.StringVal(b.Label + "/" + p.Password.Key),
		})
	}
	in.out.Provided = append(in.out.Provided, p)
	in.inner.Scope.Groups["user"][p.Label] = value
}

// makeRegistration makes the jobs that register the service with Keystone.
func makeRegistration(in *instance) {
	all := blocksToRegister(in)
	if len(all) == 0 || isKeystone(in) {
		return
	}
	for _, b := range all[1:] {
		if name := eval.Literal(in.set.Constant, b, "server"); name != eval.Literal(in.set.Constant, all[0], "server") {
			in.report.Error(b.AttributeRange("server"), "Two servers of one registration",
				"Service %q is registered with service %q already, by %s (%s). All of a service is registered with one.", in.out.Name, eval.Literal(in.set.Constant, all[0], "server"), all[0].Described(), diag.Position(all[0].Header))
			return
		}
	}
	server := provider(in, all[0])
	if server == nil {
		return
	}
	p := configs.Provided{Type: "registration", Server: server.out.Name}
	provide(server, in, all[0], &p, map[string]cty.Value{
		"users":     cty.TupleVal(wantedUsers(in)),
		"roles":     blocks.StringList(in.definition.Labels("identity_role")),
		"endpoints": cty.TupleVal(wantedEndpoints(in)),
	})
	in.out.Provided = append(in.out.Provided, p)
}

// wantedUsers returns the users for the job of a registration.
func wantedUsers(in *instance) []cty.Value {
	var out []cty.Value
	for _, b := range in.definition.All("user") {
		user := in.inner.Scope.Groups["user"][b.Label]
		if !user.IsKnown() {
			continue // why was reported
		}
		wanted := map[string]cty.Value{"roles": eval.Read(in.inner, b, blocks.StringList(eval.List(in.inner, b, "roles")), "roles")}
		for _, name := range []string{"name", "domain", "project", "password_file"} {
			wanted[name] = user.GetAttr(name)
		}
		out = append(out, cty.ObjectVal(wanted))
	}
	return out
}

// wantedEndpoints returns the endpoints for the job of a registration.
func wantedEndpoints(in *instance) []cty.Value {
	var out []cty.Value
	for _, b := range blocksToRegister(in) {
		if b.Type != schema.EndpointType {
			continue
		}
		out = append(out, in.inner.Scope.Groups["endpoint"][b.Label])
	}
	return out
}

// evaluateEndpoints evaluates the endpoints of the service.
func evaluateEndpoints(in *instance) {
	for _, b := range in.definition.All("endpoint") {
		e := configs.Endpoint{Type: b.Label, Server: eval.Literal(in.set.Constant, b, "server"), Name: in.out.Definition, Port: eval.String(in.inner, b, "port"), Path: eval.String(in.inner, b, "path")}
		if eval.IsSet(in.inner, b, "name") {
			e.Name = eval.String(in.inner, b, "name")
		}
		pods.CheckPort(podsOf(in), b, "port", e.Port, in.definition.Labels("port"))
		in.out.Endpoints = append(in.out.Endpoints, e)
		in.inner.Scope.Groups["endpoint"][b.Label] = cty.ObjectVal(map[string]cty.Value{
			"type":       cty.StringVal(e.Type),
			"name":       eval.Read(in.inner, b, cty.StringVal(e.Name), "name"),
			"url":        endpointURL(in, b, e, false),
			"public_url": endpointURL(in, b, e, true),
		})
	}
}

// endpointURL returns the URL of an endpoint for clients in the cluster or outside.
func endpointURL(in *instance, b *source.Block, e configs.Endpoint, public bool) cty.Value {
	host := in.out.Name + "." + in.set.Config.Cloud.Namespace
	number := 0
	for _, p := range in.out.Ports {
		if p.Name != e.Port {
			continue
		}
		number = p.Number
		for _, x := range in.set.Config.Exposures {
			if public && p.Exposed && x.Name == in.out.Exposure {
				host, number = x.Host(), p.AtExposure()
			}
		}
	}
	v := inNamespace(in, "http://"+net.JoinHostPort(host, strconv.Itoa(number))+e.Path)
	if public {
		v = readPlace(in, v, "expose")
	}
	for _, p := range in.definition.All("port") {
		if p.Label == e.Port {
			v = eval.Read(in.inner, p, v, "number", "expose", "public")
		}
	}
	return eval.Read(in.inner, b, v, "port", "path")
}

// provide makes a queue, user or registration of a consumer on this server. It adds the jobs and
// returns the value that the consumer reads. The provides block reads the values.
func provide(in *instance, consumer *instance, from *source.Block, p *configs.Provided, values map[string]cty.Value) cty.Value {
	b := in.definition.One("provides", p.Type)
	if b == nil {
		consumer.report.Error(consumer.block.Header, "Nothing provides it",
			"%s of service %q should be on service %q, whose definition has no block `provides %q`.", from.Described(), consumer.out.Name, p.Server, p.Type)
		return cty.DynamicVal
	}
	self := in.inner.Scope.Singles["self"]
	if !self.IsKnown() {
		return self // what is wrong with the server was reported
	}
	jobs := creationJobs(in, b)
	if lacking := missingSecretsFor(in, jobsFor(in, p.Type)); len(lacking) > 0 {
		jobs = nil // it is there already
		checkMissing(in, consumer, from, p, lacking)
	}
	read := maps.Clone(values)
	read["owner"] = cty.StringVal(in.set.Config.Cloud.Name + "/" + consumer.out.Name)
	e := in.inner.With(p.Type, cty.ObjectVal(read))
	for _, job := range jobs {
		made := pods.Job(podsOf(in), job, e)
		if at := eval.String(e, job, "passwords"); at != "" {
			made.Pod.Mounts = append(made.Pod.Mounts, passwordsIn(consumer, at, p)...)
		}
		p.Jobs = append(p.Jobs, made)
	}
	if self.Type().HasAttribute("host") && p.Type == "queue" {
		values["host"] = self.GetAttr("host")
		if self.Type().HasAttribute("port") {
			values["port"] = self.GetAttr("port")
		}
	}
	addArguments(in, b, e, values)
	return cty.ObjectVal(values)
}

// jobsFor returns the jobs that create something of a kind on this server.
func jobsFor(in *instance, kind string) []*source.Block {
	if kind == "user" {
		kind = "registration"
	}
	b := in.definition.One("provides", kind)
	if b == nil {
		return nil
	}
	return b.All("job")
}

// addArguments adds the arguments of a provides block to the value that the consumer reads.
func addArguments(in *instance, b *source.Block, e *eval.Env, values map[string]cty.Value) {
	for _, attr := range b.Ordered() {
		if b.Type.Attribute(attr.Name) != nil {
			continue // it is about the block
		}
		if _, taken := values[attr.Name]; taken {
			in.report.Error(attr.NameRange, "Unsuitable name", "Every %s has an attribute %q already.", b.Label, attr.Name)
			continue
		}
		values[attr.Name] = e.Value(attr.Expr)
	}
}

// passwordsIn mounts the passwords that a job needs.
func passwordsIn(in *instance, dir string, p *configs.Provided) []configs.SecretMount {
	var out []configs.SecretMount
	for _, other := range append(slices.Clone(in.out.Provided), *p) {
		if other.Label != "" && (other.Label == p.Label && other.Type == p.Type || other.Type == "user" && p.Type == "registration") {
			out = append(out, configs.SecretMount{Service: in.out.Name, Secret: other.Password.Secret, Path: strings.TrimSuffix(dir, "/") + "/" + other.Label})
		}
	}
	return out
}

// checkMissing reports a queue or user on an external service that does not have the secrets for
// it. The service has to give its password. For a registration it is a warning.
func checkMissing(in *instance, consumer *instance, from *source.Block, p *configs.Provided, lacking []string) {
	lacks := strings.TrimPrefix(secretsNamed(lacking), "the ")
	if p.Type != "registration" {
		if p.Source == nil {
			in.missing = append(in.missing, missingUse{fmt.Sprintf("%s of service %q", from.Described(), consumer.out.Name), lacking, passwordInstead(consumer, p.Password.Secret)})
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

// isCleanup reports whether a job of a provides block deletes things that removed services left
// behind.
func isCleanup(in *instance, job *source.Block) bool {
	return eval.String(in.inner, job, "when") == schema.JobGone
}

// creationJobs returns the jobs of a provides block that create something.
func creationJobs(in *instance, b *source.Block) []*source.Block {
	return slices.DeleteFunc(slices.Clone(b.All("job")), func(job *source.Block) bool { return isCleanup(in, job) })
}

// Cleanups adds the cleanup jobs to Config.Services. There are none until all services are known.
// A service leaves its users and queues on other services, and a cleanup job of the other service
// deletes them. It knows everything that is still declared.
func (c *Set) Cleanups() {
	if len(c.Constant.Decisions.Open) > 0 {
		return
	}
	released := slices.ContainsFunc(c.Config.Removals, func(r addrs.Removal) bool {
		return !r.Destroy && r.From.Whole() && addrs.TypeOf(r.From.Block) != "manifest"
	})
	for i := range c.Config.Services {
		in := c.byAddress[c.Config.Services[i].Block]
		for _, b := range in.definition.All("provides") {
			jobs := slices.DeleteFunc(slices.Clone(b.All("job")), func(job *source.Block) bool { return !isCleanup(in, job) })
			if len(jobs) == 0 || len(missingSecretsFor(in, jobs)) > 0 || !in.inner.Scope.Singles["self"].IsKnown() {
				continue
			}
			if b.Label == "database" {
				in.report.Error(jobs[0].AttributeRange("when"), "Unsuitable value for \"when\"", "kolla never deletes databases, because they hold data. Remove the job.")
				continue
			}
			e := in.inner.With(b.Label, blocks.ProvidedObjects(c.Config.Services, in.out.Name, b.Label, released))
			for _, job := range jobs {
				made := pods.Job(podsOf(in), job, e)
				made.Name = b.Label + "-" + made.Name
				c.Config.Services[i].Cleanups = append(c.Config.Services[i].Cleanups, made)
			}
		}
	}
}
