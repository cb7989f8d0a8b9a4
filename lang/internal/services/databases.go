package services

import (
	"strings"

	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/blocks"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/internal/values"
	"kolla.openstack.org/kolla/lang/mark"
)

// evaluateDatabases evaluates the databases, which expressions then can read. The server of each
// database makes it.
func evaluateDatabases(u *use, e *eval.Env, definition *source.Block) ([]configs.Database, *eval.Env) {
	all := definition.All("database")
	if len(all) == 0 {
		return nil, e
	}
	var out []configs.Database
	e, group := withMore(e, "database", u.locals)
	for _, b := range all {
		d := configs.Database{
			Name:   eval.String(e, b, "name"),
			User:   eval.String(e, b, "user"),
			Server: eval.String(e, b, "server"),
			Password: configs.SecretRef{
				Service: u.name,
				Secret:  eval.PasswordPrefix + strings.ReplaceAll(b.Label, "_", "-"),
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
