package lang

import (
	"strings"

	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/mark"
)

// databases makes the databases, each by what its server provides.
func (in *instance) databases() {
	for _, b := range in.definition.all("database") {
		d := Database{
			Name:   b.label,
			Server: in.literal(b, "server"),
			Password: SecretRef{
				Service: in.out.Name,
				Secret:  "db-" + strings.ReplaceAll(b.label, "_", "-"),
				Key:     "password",
			},
			Range: rangeOf(nil, b),
		}
		d.Source = in.sourceOfSecret(d.Password.Secret, secretKinds["password"].keys)
		value := cty.DynamicVal
		switch {
		case d.Server == in.out.Name:
			in.error(b.header, "A service refers to itself", "Database %q cannot live on the service that it belongs to.", d.Name)
		case d.Server != "":
			if server := in.server(d.Server, b); server != nil {
				d.Server = server.out.Name
				value = server.provideDatabase(in.block, &d)
			}
		}
		in.out.Databases = append(in.out.Databases, d)
		in.inner.scope.groups["database"][d.Name] = value
	}
}

// server is the service that a database lives on; nil if there is none, which was
// reported.
func (in *instance) server(name string, database *block) *instance {
	ids := in.inner.reach.find("service", name, nil)
	in.inner.lookup("service", name, nil, database.header) // so that it is there
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
		in.inner.unmet("service", name, position(database.header))
	case len(found) > 1:
		in.error(in.block.header, "Which database server?", "Database %q of service %q should live on service %q, and there are several: %s. A database needs one.", database.label, in.out.Name, name, listed(found))
	case len(found) == 1:
		return in.byAddress[found[0]]
	}
	return nil
}

// provideDatabase makes a database of another service on this one: it adds the
// jobs, and returns what the other reads as database.NAME.
func (in *instance) provideDatabase(consumer *block, d *Database) cty.Value {
	b := in.definition.one("provides", "database")
	if b == nil {
		in.error(consumer.header, "No database server",
			"Database %q of service %q should live on service %q, whose definition has no block `provides \"database\"`.", d.Name, consumer.label, d.Server)
		return cty.DynamicVal
	}
	self := in.inner.scope.singles["self"]
	if !self.IsKnown() {
		return self // what is wrong with the server was reported
	}
	jobs := b.all("job")
	if untold := in.untoldFor(jobs); len(untold) > 0 {
		jobs = nil // the database is there already
		if d.Source == nil {
			in.error(consumer.header, "Secret of an external service",
				"Database %q of service %q is on service %q, which is external, and kolla does not know its %s. If the database is there already, say in service %q what its password is:\n\n%s\n\nIf kolla shall make the database, give service %q what it takes for that:\n\n%s",
				d.Name, consumer.label, d.Server, strings.TrimPrefix(secretsNamed(untold), "the "), consumer.label, secretExamples([]string{d.Password.Secret}), in.block.label, secretExamples(untold))
		}
	}
	values := map[string]cty.Value{
		"name":     cty.StringVal(d.Name),
		"user":     cty.StringVal(d.Name),
		"password": mark.Generated(d.Password).Token(),
	}
	e := *in.inner
	e.scope = newScope(in.inner.scope)
	e.scope.singles["database"] = cty.ObjectVal(values)
	for _, job := range jobs {
		d.Jobs = append(d.Jobs, in.job(job, &e, e.environment(job)))
	}
	values["host"] = self.GetAttr("host")
	if self.Type().HasAttribute("port") {
		values["port"] = self.GetAttr("port")
	}
	url, ok := e.attribute(b, "url", cty.String)
	if !ok && !mark.IsDeferred(url) {
		url = cty.UnknownVal(cty.String) // why was reported
	}
	values["url"] = url
	return cty.ObjectVal(values)
}
