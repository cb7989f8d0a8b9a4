package lang_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/lang/catalogue"
)

func TestCatalogue(t *testing.T) {
	infos, diags := catalogue.Describe(smallCatalogue())
	if len(diags) > 0 {
		t.Fatalf("diagnostics:\n%s", render(diags, ""))
	}
	var names []string
	for _, info := range infos {
		names = append(names, info.Name)
	}
	if diff := cmp.Diff([]string{"agent", "keystone", "mariadb", "memcached"}, names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	keystone := infos[1]
	if !strings.HasPrefix(string(keystone.Source), "definition \"keystone\" {\n") || !strings.HasSuffix(string(keystone.Source), "\n}\n") {
		t.Errorf("source:\n%s", keystone.Source)
	}
	keystone.Source = nil
	want := catalogue.Definition{
		Name:        "keystone",
		Description: "Identity",
		Registered:  []catalogue.Registered{{Kind: "endpoint", Name: "identity", Arguments: []string{`port = "public"`, `path = "/v3"`}}},
		Ports:       []catalogue.Port{{Name: "public", Number: 5000, Expose: true}},
		Images:      []string{"keystone"},
		Databases:   []string{"keystone"},
		Secrets:     []catalogue.Secret{{Name: "admin", Kind: "password"}, {Name: "fernet", Kind: "fernet"}},
		Configs: []catalogue.Config{
			{Name: "keystone.conf", Path: "/etc/keystone/keystone.conf"},
			{Name: "policy.json", Path: "/etc/keystone/policy.json"},
		},
		Workloads: []catalogue.Workload{{Name: "api", Kind: "Deployment"}},
		Jobs:      []string{"bootstrap"},
		Needs:     []string{"mariadb", "memcached"},
	}
	if diff := cmp.Diff(want, keystone); diff != "" {
		t.Errorf("keystone (-want +got):\n%s", diff)
	}
}

func TestCatalogueSource(t *testing.T) {
	infos, diags := catalogue.Describe(fstest.MapFS{"x.hcl": {Data: []byte(`# About the file.

# About a.
# More of it.
definition "a" {
}
definition "b" {}
`)}})
	if len(diags) > 0 {
		t.Fatalf("diagnostics:\n%s", render(diags, ""))
	}
	var got []string
	for _, info := range infos {
		got = append(got, string(info.Source))
	}
	want := []string{"# About a.\n# More of it.\ndefinition \"a\" {\n}\n", "definition \"b\" {}\n"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sources (-want +got):\n%s", diff)
	}
}

func TestCatalogueSourceWithLocals(t *testing.T) {
	infos, diags := catalogue.Describe(fstest.MapFS{
		"common.hcl": {Data: []byte("locals {\n  # About one.\n  one = 1\n\n  two = {\n    of = local.one\n  }\n  own    = 3\n  unread = 4\n}\n")},
		"x.hcl":      {Data: []byte("definition \"a\" {\n  locals {\n    own = local.two\n  }\n\n  output \"a\" {\n    value = local.own\n  }\n}\n\ndefinition \"b\" {}\n")},
	})
	if len(diags) > 0 {
		t.Fatalf("diagnostics:\n%s", render(diags, ""))
	}
	want := `definition "a" {
  locals {
    # About one.
    one = 1

    two = {
      of = local.one
    }
  }

  locals {
    own = local.two
  }

  output "a" {
    value = local.own
  }
}
`
	if diff := cmp.Diff(want, string(infos[0].Source)); diff != "" {
		t.Errorf("source (-want +got):\n%s", diff)
	}
	if got := string(infos[1].Source); got != "definition \"b\" {}\n" {
		t.Errorf("source of a definition that reads none:\n%s", got)
	}
}

func TestCatalogueErrors(t *testing.T) {
	for name, source := range map[string]string{
		"syntax":      `definition "x" {`,
		"other block": `service "x" {}`,
		"argument":    "definition \"x\" {\n colour = 1\n}\n",
	} {
		fsys := fstest.MapFS{"x.hcl": {Data: []byte(source)}}
		if _, diags := catalogue.Describe(fsys); !diags.HasErrors() {
			t.Errorf("%s: no error", name)
		}
		_, diags := load(t, lang.Options{Catalogue: fsys}, "cloud \"test\" {\n release = \"2025.1\"\n}\n")
		if !diags.HasErrors() {
			t.Errorf("%s: loaded without an error", name)
		}
	}
}

// TestCatalogueScope checks that definitions of the catalogue do not depend on
// names that a user happens to have given.
func TestCatalogueScope(t *testing.T) {
	const definition = `definition "own" {
  workload "w" {
    kind  = "Deployment"
    image = "own"
    env   = { A = %s }
  }
}
`
	const cloud = `
cloud "test" {
  release = "2025.1"
}
variable "x" {
  default = "v"
}
locals {
  x = "l"
}
service "own" {}
`
	for _, expression := range []string{"var.x", "local.x", "path.root"} {
		source := strings.Replace(definition, "%s", expression, 1)
		if _, diags := load(t, lang.Options{Catalogue: fstest.MapFS{"own.hcl": {Data: []byte(source)}}}, cloud); !diags.HasErrors() {
			t.Errorf("%s: the catalogue can see it", expression)
		}
		if _, diags := load(t, lang.Options{}, cloud+source); diags.HasErrors() {
			t.Errorf("%s: a definition of the user cannot see it:\n%s", expression, render(diags, ""))
		}
	}
}

// TestReplacedDefinition checks that a user's definition takes the place of the
// catalogue's, and that the places of its parts are the user's lines.
func TestReplacedDefinition(t *testing.T) {
	config, diags := load(t, lang.Options{}, `
cloud "test" {
  release = "2025.1"
}
definition "memcached" {
  workload "mine" {
    kind  = "Deployment"
    image = "mine"
  }
}
service "memcached" {}
service "mariadb" {}
`)
	if len(diags) > 0 {
		t.Fatalf("diagnostics:\n%s", render(diags, ""))
	}
	mine, builtin := config.Services[0].Workloads[0], config.Services[1].Workloads[0]
	if mine.Name != "mine" || mine.Range.Start.Line != 6 {
		t.Errorf("got workload %q at %s", mine.Name, mine.Range)
	}
	if builtin.Range.Filename != "" {
		t.Errorf("a workload of the catalogue has the place %s", builtin.Range)
	}
}

// TestCataloguePowers checks that whatever may do more than others is listed.
func TestCataloguePowers(t *testing.T) {
	infos, diags := catalogue.Describe(fstest.MapFS{"x.hcl": {Data: []byte(`definition "a" {
  input "capabilities" {}

  job "none" {
    image      = "a"
    user       = 1
    privileged = false
  }
  workload "w" {
    kind         = "DaemonSet"
    image        = "a"
    user         = 0
    capabilities = input.capabilities
    host_pid     = true

    volume "run" {
      host = "/run"
    }
    volume "shm" {
      memory = "1Mi"
      path   = "/dev/shm"
    }
    init "none" {
      command = ["a"]
    }
    sidecar "s" {
      image      = "a"
      privileged = true
    }
  }
}
`)}})
	if len(diags) > 0 {
		t.Fatalf("diagnostics:\n%s", render(diags, ""))
	}
	want := []catalogue.Powers{
		{Kind: "workload", Name: "w", Powers: []string{"capabilities = input.capabilities", "host_pid = true", "user = 0", `volume "/run"`}},
		{Kind: "sidecar", Name: "w/s", Powers: []string{"privileged = true"}},
	}
	if diff := cmp.Diff(want, infos[0].Powers); diff != "" {
		t.Errorf("powers (-want +got):\n%s", diff)
	}
}
