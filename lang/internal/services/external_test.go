package services_test

import (
	"fmt"
	"strings"
	"testing"
)

// Of an external service others read what the service says, and what follows from that.
func TestExternal(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		external string
		more     string // in the service
		read     string
		want     string // empty: it is not known
		said     []string
	}{
		"the host":                   {external: `{ host = "x" }`, read: "service.a.host", want: `"x"`},
		"no host":                    {external: `{ port = 1 }`, read: "service.a.name", said: []string{`Unsuitable value for "external"`}},
		"the port of the definition": {external: `{ host = "x" }`, read: "service.a.url", want: `"http://x:80"`},
		"another port":               {external: `{ host = "x", port = 81 }`, read: "service.a.address", want: `"x:81"`},
		"another port, by its name":  {external: `{ host = "x", port = 81 }`, read: "service.a.ports.http.url", want: `"http://x:81"`},
		"a URL":                      {external: `{ host = "x", url = "https://x/y" }`, read: "[service.a.url, service.a.public_url]", want: `["https://x/y","https://x/y"]`},
		"a public URL":               {external: `{ host = "x", public_url = "https://x/y" }`, read: "[service.a.url, service.a.public_url]", want: `["http://x:80","https://x/y"]`},
		"that it is external":        {external: `{ host = "x" }`, read: "[service.a.external, service.a.replicas]", want: `[true,0]`},
		"null":                       {external: "null", read: "[service.a.external, service.a.host]", want: `[false,"a.openstack"]`},
		"an output":                  {external: `{ host = "x" }`, read: "service.a.where", want: `"at x"`},
		"an output that it says":     {external: `{ host = "x", where = "y" }`, read: "service.a.where", want: `"y"`},
		"an output it does not have": {external: `{ host = "x", wher = "y" }`, read: "service.a.host", want: `"x"`, said: []string{`Unsuitable value for "external"`}},
		"what all have":              {external: `{ host = "x", name = "y" }`, read: "service.a.host", want: `"x"`, said: []string{`Unsuitable value for "external"`}},
		"an argument of what runs":   {external: `{ host = "x" }`, more: "replicas = 2", read: "service.a.host", want: `"x"`, said: []string{"Not for an external service"}},
		"a block of what runs":       {external: `{ host = "x" }`, more: "workload \"w\" {}", read: "service.a.host", want: `"x"`, said: []string{"Not for an external service"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, said := reads(t, cloud+fmt.Sprintf(`
definition "a" {
  port "http" { number = 80 }
  workload "w" {
    image = "a"
    kind  = "Deployment"
    ports = ["http"]
  }
  output "where" { value = "at ${self.host}" }
}
service "a" {
  external = %s
  %s
}
`, test.external, test.more), test.read)
			checkSaid(t, test.said, said)
			if got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// kolla does not know the secrets of some external services. Values made from them are errors.
func TestSecretsOfExternals(t *testing.T) {
	t.Parallel()
	const missing = "Secret of an external service"
	tests := map[string]struct {
		server, user string // more of the blocks
		said         []string
		jobs         int // that make the database
	}{
		"the secret is missing":       {said: []string{missing}},
		"the server has it":           {server: `secret "root" { from_env = "ROOT" }`, jobs: 1},
		"the database has a password": {user: `secret "db-a" { from_env = "A" }`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			config, said := load(t, cloud+fmt.Sprintf(`
definition "db" {
  port "sql" { number = 3306 }
  secret "root" {}
  workload "w" {
    image = "db"
    kind  = "StatefulSet"
    ports = ["sql"]
  }
  provides "database" {
    url = "mysql://${self.host}/${database.name}"
    job "create" {
      image = "db"
      env   = { ROOT = secret.root.value }
    }
  }
}
service "db" {
  external = { host = "x" }
  %s
}
definition "a" {
  database "a" { server = "db" }
  workload "w" {
    image = "a"
    kind  = "Deployment"
    env   = { URL = database.a.url }
  }
}
service "a" {
  %s
}
`, test.server, test.user))
			checkSaid(t, test.said, said)
			if d := service(config).Databases; len(d) != 1 || d[0].Server != "db" || len(d[0].Jobs) != test.jobs {
				t.Errorf("databases: %+v", d)
			}
		})
	}
}

// A database has the name of its block, and its user that of the database.
func TestDatabases(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		definition, service string // arguments of the block
		want                string // the name, the user, the URL; empty: there is no URL
		said                []string
	}{
		"nothing":                {definition: `server = "db"`, want: "d d db.openstack/d"},
		"a name":                 {definition: "server = \"db\"\nname = \"n\"", want: "n n db.openstack/n"},
		"a user":                 {definition: "server = \"db\"\nuser = \"u\"", want: "d u db.openstack/d"},
		"the service":            {definition: "server = \"db\"\nname = \"n\"", service: `name = "m"`, want: "m m db.openstack/m"},
		"another server":         {definition: `server = "db"`, service: `server = "other"`, want: "d d other.openstack/d"},
		"the service itself":     {definition: `server = "a"`, want: "d d", said: []string{"A service refers to itself"}},
		"no such server":         {definition: `server = "dbx"`, want: "d d", said: []string{`Service "a" needs service "dbx"`}},
		"no server of databases": {definition: `server = "plain"`, want: "d d", said: []string{"No database server"}},
		"a reserved name":        {definition: "server = \"db\"\nname = \"mysql\"", want: "mysql mysql db.openstack/mysql", said: []string{"Reserved name"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			config, said := load(t, cloud+fmt.Sprintf(`
definition "db" {
  port "sql" { number = 3306 }
  workload "w" {
    image = "db"
    kind  = "StatefulSet"
    ports = ["sql"]
  }
  provides "database" { url = "${self.host}/${database.name}" }
}
definition "plain" {
  workload "w" {
    image = "p"
    kind  = "Deployment"
  }
}
service "db" {}
service "other" { definition = "db" }
service "plain" {}
definition "a" {
  database "d" {
    %s
  }
  workload "w" {
    image = "a"
    kind  = "Deployment"
    args  = [database.d.url]
  }
}
service "a" {
  database "d" {
    %s
  }
}
`, test.definition, test.service))
			checkSaid(t, test.said, said)
			s := service(config)
			got := fmt.Sprint(s.Databases[0].Name, " ", s.Databases[0].User)
			for _, url := range s.Workloads[0].Pod.Args {
				got += " " + url
			}
			if strings.TrimSpace(got) != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
