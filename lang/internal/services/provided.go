package services

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/blocks"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/layers"
	"kolla.openstack.org/kolla/lang/internal/pods"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/internal/values"
	"kolla.openstack.org/kolla/lang/mark"
	"kolla.openstack.org/kolla/lang/schema"
)

// server returns the service that a database, queue or user is on. It is nil if there is no such
// service, which is reported.
func server(u *use, e *eval.Env, name string, b *source.Block) *service {
	if other, replaced := u.with[name]; replaced {
		return other
	}
	id := u.decl.reach().Find("service", name)
	e.Lookup("service", name, nil, b.Header) // so that it is there
	var found []string
	if id != "" {
		found = u.set.Graph.Node(id).AddressesIn(u.frame)
	}
	switch {
	case id == "", len(found) == 0 && eval.HasNoInstance(e, "service", name):
		eval.ReportMissingDependency(e, "service", name, diag.Position(b.Header))
	case len(found) > 1:
		e.Report.Error(u.block.Header, fmt.Sprintf("Which service %q?", name), "%s of service %q should be on service %q, and there are several: %s.", b.Described(), u.name, name, words.Sorted(found))
	case len(found) == 1:
		return u.set.byAddress[found[0]]
	}
	return nil
}

// provide makes a thing of another service on this server. The provides block reads the values,
// and the jobs mount the passwords in a directory. It returns the jobs, the value that the other
// service reads, and the secrets that the server lacks for it. There are no jobs without them: the
// thing is there already.
func provide(s *service, kind string, values, more map[string]cty.Value, passwords func(dir string) []configs.SecretMount) (jobs []configs.Job, value cty.Value, lacking []string) {
	b := s.pods.Definition.One("provides", kind)
	self := s.pods.Env.Scope.Singles["self"]
	if !self.IsKnown() {
		return nil, self, nil // what is wrong with the server was reported
	}
	of := b
	if kind == "user" { // the registration makes it
		of = s.pods.Definition.One("provides", "registration")
	}
	if of != nil {
		lacking = missingSecretsFor(s, of.All("job"))
	}
	read := maps.Clone(values)
	maps.Copy(read, more)
	e := s.pods.Env.With(kind, cty.ObjectVal(read))
	for _, job := range b.All("job") {
		if isCleanup(s, job) || len(lacking) > 0 {
			continue
		}
		made := pods.Job(s.pods, job, e)
		if at := eval.String(e, job, "passwords"); at != "" {
			made.Pod.Mounts = append(made.Pod.Mounts, passwords(at)...)
		}
		jobs = append(jobs, made)
	}
	out := maps.Clone(values)
	for _, name := range []string{"host", "port"} {
		if (kind == "database" || kind == "queue") && self.Type().HasAttribute(name) {
			out[name] = self.GetAttr(name)
		}
	}
	addArguments(e, b, out)
	return jobs, cty.ObjectVal(out), lacking
}

// addArguments adds the arguments of a provides block to the value that the consumer reads.
func addArguments(e *eval.Env, b *source.Block, values map[string]cty.Value) {
	for _, attr := range b.Ordered() {
		if b.Type.Attribute(attr.Name) != nil {
			continue // it is about the block
		}
		if _, taken := values[attr.Name]; taken {
			e.Report.Error(attr.NameRange, "Unsuitable name", "Every %s has an attribute %q already.", b.Label, attr.Name)
			continue
		}
		values[attr.Name] = e.Value(attr.Expr)
	}
}

// isCleanup reports whether a job of a provides block deletes things that removed services left
// behind.
func isCleanup(s *service, job *source.Block) bool {
	return eval.String(s.pods.Env, job, "when") == schema.JobGone
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
		s := c.byAddress[c.Config.Services[i].Block]
		for _, b := range s.pods.Definition.All("provides") {
			jobs := slices.DeleteFunc(slices.Clone(b.All("job")), func(job *source.Block) bool { return !isCleanup(s, job) })
			if len(jobs) == 0 || len(missingSecretsFor(s, jobs)) > 0 || !s.pods.Env.Scope.Singles["self"].IsKnown() {
				continue
			}
			if b.Label == "database" {
				c.Report.Error(jobs[0].AttributeRange("when"), "Unsuitable value for \"when\"", "kolla never deletes databases, because they hold data. Remove the job.")
				continue
			}
			e := s.pods.Env.With(b.Label, blocks.ProvidedObjects(c.Config.Services, s.out.Name, b.Label, released))
			for _, job := range jobs {
				made := pods.Job(s.pods, job, e)
				made.Name = b.Label + "-" + made.Name
				c.Config.Services[i].Cleanups = append(c.Config.Services[i].Cleanups, made)
			}
		}
	}
}

// evaluateDatabases evaluates the databases, which expressions then can read. The server of each
// database makes it.
func evaluateDatabases(u *use, e *eval.Env, definition *source.Block) ([]configs.Database, *eval.Env) {
	var out []configs.Database
	e, group := withMore(e, definition, "database", u.locals)
	for _, b := range definition.All("database") {
		d := configs.Database{
			Name:   eval.String(e, b, "name"),
			User:   eval.String(e, b, "user"),
			Server: eval.String(e, b, "server"),
			Password: configs.SecretRef{
				Service: u.name,
				Secret:  layers.PasswordPrefix + strings.ReplaceAll(b.Label, "_", "-"),
				Key:     "password",
			},
			Range: blocks.RangeOf(b),
		}
		if !eval.IsSet(e, b, "name") {
			d.Name = b.Label
		}
		if !eval.IsSet(e, b, "user") {
			d.User = d.Name
		}
		blocks.CheckReserved(e.Report, "database", d.Name, b, b.AttributeRange("name"))
		if d.User != d.Name {
			blocks.CheckReserved(e.Report, "database user", d.User, b, b.AttributeRange("user"))
		}
		d.Source = sourceOfSecret(u, e, d.Password.Secret, blocks.PasswordKeys())
		group[b.Label] = cty.DynamicVal
		switch {
		case d.Server == u.name:
			e.Report.Error(b.Header, "A service refers to itself", "Database %q cannot live on the service that it belongs to.", b.Label)
		case d.Server != "":
			if s := server(u, e, d.Server, b); s != nil {
				d.Server = s.out.Name
				d.Jobs, group[b.Label] = provideDatabase(s, u, b, d)
			}
		}
		out = append(out, d)
	}
	return out, e
}

// provideDatabase makes a database of another service on its server. It returns the jobs, and the
// value that the other service reads as database.NAME.
func provideDatabase(s *service, u *use, b *source.Block, d configs.Database) ([]configs.Job, cty.Value) {
	if s.pods.Definition.One("provides", "database") == nil {
		s.pods.Env.Report.Error(u.block.Header, "No database server",
			"Database %q of service %q should live on service %q, whose definition has no block `provides \"database\"`.", b.Label, u.block.Label, d.Server)
		return nil, cty.DynamicVal
	}
	at := func(dir string) []configs.SecretMount {
		return []configs.SecretMount{{Service: d.Password.Service, Secret: d.Password.Secret, Path: dir + "/" + d.Name}}
	}
	jobs, value, lacking := provide(s, "database", map[string]cty.Value{
		"name":          cty.StringVal(d.Name),
		"user":          cty.StringVal(d.User),
		"password":      mark.Generated(d.Password).Token(),
		"password_file": cty.StringVal(d.Name + "/" + d.Password.Key),
	}, nil, at)
	if len(lacking) > 0 && d.Source == nil {
		u.set.missing = append(u.set.missing, missingUseBy(u, b, d.Server, lacking, d.Password.Secret))
	}
	return jobs, value
}

// serverOf returns the server of a database, if it is a literal.
func serverOf(b *source.Block) string {
	attr := b.Attributes["server"]
	if attr == nil {
		fallback, _ := b.Type.Attribute("server").Default.(string)
		return fallback
	}
	name, _ := values.StaticKey(attr.Expr)
	return name
}
