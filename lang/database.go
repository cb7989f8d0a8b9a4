package lang

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/internal/values"
	"kolla.openstack.org/kolla/lang/mark"
)

// databases makes the databases, each by what its server provides.
func (in *instance) databases() {
	for _, b := range in.definition.All("database") {
		d := configs.Database{
			Name:   in.inner.string(b, "name"),
			User:   in.inner.string(b, "user"),
			Server: in.inner.string(b, "server"),
			Password: configs.SecretRef{
				Service: in.out.Name,
				Secret:  passwordPrefix + strings.ReplaceAll(b.Label, "_", "-"),
				Key:     "password",
			},
			Range: rangeOf(b),
		}
		if !in.inner.given(b, "name") {
			d.Name = b.Label
		}
		if !in.inner.given(b, "user") {
			d.User = d.Name
		}
		in.refuseReserved("database", d.Name, b, b.AttributeRange("name"))
		if d.User != d.Name {
			in.refuseReserved("database user", d.User, b, b.AttributeRange("user"))
		}
		d.Source = in.sourceOfSecret(d.Password.Secret, secretKinds["password"].keys)
		value := cty.DynamicVal
		switch {
		case d.Server == in.out.Name:
			in.report.Error(b.Header, "A service refers to itself", "Database %q cannot live on the service that it belongs to.", b.Label)
		case d.Server != "":
			if server := in.server(d.Server, b); server != nil {
				d.Server = server.out.Name
				value = server.provideDatabase(in, b.Label, &d)
			}
		}
		in.out.Databases = append(in.out.Databases, d)
		in.inner.scope.groups["database"][b.Label] = value
	}
}

// server is the service that a database or the like is on; nil if there is none, which was
// reported.
func (in *instance) server(name string, b *source.Block) *instance {
	if other, replaced := in.with[name]; replaced {
		return other
	}
	ids := in.inner.reach.find("service", name, nil)
	in.inner.lookup("service", name, nil, b.Header) // so that it is there
	var found []string
	if ids != nil {
		for _, m := range in.nodes[ids[0]].made {
			if m.frame.sees(in.frame) {
				found = append(found, m.address)
			}
		}
	}
	switch {
	case ids == nil, len(found) == 0 && in.inner.never("service", name):
		in.inner.unmet("service", name, diag.Position(b.Header))
	case len(found) > 1:
		in.report.Error(in.block.Header, fmt.Sprintf("Which service %q?", name), "%s of service %q should be on service %q, and there are several: %s.", b.Described(), in.out.Name, name, words.Sorted(found))
	case len(found) == 1:
		return in.byAddress[found[0]]
	}
	return nil
}

// provideDatabase makes a database of another service on this one: it adds the
// jobs, and returns what the other reads as database.NAME.
func (in *instance) provideDatabase(by *instance, label string, d *configs.Database) cty.Value {
	consumer := by.block
	b := in.definition.One("provides", "database")
	if b == nil {
		in.report.Error(consumer.Header, "No database server",
			"Database %q of service %q should live on service %q, whose definition has no block `provides \"database\"`.", label, consumer.Label, d.Server)
		return cty.DynamicVal
	}
	self := in.inner.scope.singles["self"]
	if !self.IsKnown() {
		return self // what is wrong with the server was reported
	}
	jobs := slices.DeleteFunc(slices.Clone(b.All("job")), in.isCleanup)
	if untold := in.untoldFor(jobs); len(untold) > 0 {
		jobs = nil // the database is there already
		if d.Source == nil {
			in.untolds = append(in.untolds, untoldUse{fmt.Sprintf("database %q of service %q", label, by.out.Name), untold, by.passwordInstead(d.Password.Secret)})
		}
	}
	values := map[string]cty.Value{
		"name":     cty.StringVal(d.Name),
		"user":     cty.StringVal(d.User),
		"password": mark.Generated(d.Password).Token(),
	}
	values["password_file"] = cty.StringVal(d.Name + "/" + d.Password.Key)
	e := in.inner.with("database", cty.ObjectVal(values))
	for _, job := range jobs {
		made := in.job(job, e)
		if at := e.string(job, "passwords"); at != "" {
			made.Pod.Mounts = append(made.Pod.Mounts, configs.SecretMount{Service: d.Password.Service, Secret: d.Password.Secret, Path: at + "/" + d.Name})
		}
		d.Jobs = append(d.Jobs, made)
	}
	values["host"] = self.GetAttr("host")
	if self.Type().HasAttribute("port") {
		values["port"] = self.GetAttr("port")
	}
	in.arguments(b, e, values)
	return cty.ObjectVal(values)
}

// serverOf is the service that a database lives on, as far as that is written out.
func serverOf(b *source.Block) string {
	attr := b.Attributes["server"]
	if attr == nil {
		fallback, _ := b.Type.Attribute("server").Default.(string)
		return fallback
	}
	name, _ := values.StaticKey(attr.Expr)
	return name
}
