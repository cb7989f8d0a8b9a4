package services

import (
	"fmt"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/blocks"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/pods"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/internal/values"
	"kolla.openstack.org/kolla/lang/mark"
)

// evaluateDatabases evaluates the databases. The server of each database makes it.
func evaluateDatabases(in *instance) {
	for _, b := range in.definition.All("database") {
		d := configs.Database{
			Name:   eval.String(in.inner, b, "name"),
			User:   eval.String(in.inner, b, "user"),
			Server: eval.String(in.inner, b, "server"),
			Password: configs.SecretRef{
				Service: in.out.Name,
				Secret:  eval.PasswordPrefix + strings.ReplaceAll(b.Label, "_", "-"),
				Key:     "password",
			},
			Range: blocks.RangeOf(b),
		}
		if !eval.IsSet(in.inner, b, "name") {
			d.Name = b.Label
		}
		if !eval.IsSet(in.inner, b, "user") {
			d.User = d.Name
		}
		blocks.CheckReserved(in.report, "database", d.Name, b, b.AttributeRange("name"))
		if d.User != d.Name {
			blocks.CheckReserved(in.report, "database user", d.User, b, b.AttributeRange("user"))
		}
		d.Source = sourceOfSecret(in, d.Password.Secret, blocks.PasswordKeys())
		value := cty.DynamicVal
		switch {
		case d.Server == in.out.Name:
			in.report.Error(b.Header, "A service refers to itself", "Database %q cannot live on the service that it belongs to.", b.Label)
		case d.Server != "":
			if server := server(in, d.Server, b); server != nil {
				d.Server = server.out.Name
				value = provideDatabase(server, in, b.Label, &d)
			}
		}
		in.out.Databases = append(in.out.Databases, d)
		in.inner.Scope.Groups["database"][b.Label] = value
	}
}

// server returns the service that a database, queue or user is on. It is nil if there is no such
// service, which is reported.
func server(in *instance, name string, b *source.Block) *instance {
	if other, replaced := in.with[name]; replaced {
		return other
	}
	id := in.innerReach.Find("service", name)
	in.inner.Lookup("service", name, nil, b.Header) // so that it is there
	var found []string
	if id != "" {
		found = in.set.Graph.Node(id).AddressesIn(in.frame)
	}
	switch {
	case id == "", len(found) == 0 && eval.HasNoInstance(in.inner, "service", name):
		eval.ReportMissingDependency(in.inner, "service", name, diag.Position(b.Header))
	case len(found) > 1:
		in.report.Error(in.block.Header, fmt.Sprintf("Which service %q?", name), "%s of service %q should be on service %q, and there are several: %s.", b.Described(), in.out.Name, name, words.Sorted(found))
	case len(found) == 1:
		return in.set.byAddress[found[0]]
	}
	return nil
}

// provideDatabase makes a database of another service on this server. It adds the jobs and
// returns the value that the other service reads as database.NAME.
func provideDatabase(in *instance, by *instance, label string, d *configs.Database) cty.Value {
	consumer := by.block
	b := in.definition.One("provides", "database")
	if b == nil {
		in.report.Error(consumer.Header, "No database server",
			"Database %q of service %q should live on service %q, whose definition has no block `provides \"database\"`.", label, consumer.Label, d.Server)
		return cty.DynamicVal
	}
	self := in.inner.Scope.Singles["self"]
	if !self.IsKnown() {
		return self // what is wrong with the server was reported
	}
	jobs := creationJobs(in, b)
	if lacking := missingSecretsFor(in, jobs); len(lacking) > 0 {
		jobs = nil // the database is there already
		if d.Source == nil {
			in.missing = append(in.missing, missingUse{fmt.Sprintf("database %q of service %q", label, by.out.Name), lacking, passwordInstead(by, d.Password.Secret)})
		}
	}
	values := map[string]cty.Value{
		"name":     cty.StringVal(d.Name),
		"user":     cty.StringVal(d.User),
		"password": mark.Generated(d.Password).Token(),
	}
	values["password_file"] = cty.StringVal(d.Name + "/" + d.Password.Key)
	e := in.inner.With("database", cty.ObjectVal(values))
	for _, job := range jobs {
		made := pods.Job(podsOf(in), job, e)
		if at := eval.String(e, job, "passwords"); at != "" {
			made.Pod.Mounts = append(made.Pod.Mounts, configs.SecretMount{Service: d.Password.Service, Secret: d.Password.Secret, Path: at + "/" + d.Name})
		}
		d.Jobs = append(d.Jobs, made)
	}
	values["host"] = self.GetAttr("host")
	if self.Type().HasAttribute("port") {
		values["port"] = self.GetAttr("port")
	}
	addArguments(in, b, e, values)
	return cty.ObjectVal(values)
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
