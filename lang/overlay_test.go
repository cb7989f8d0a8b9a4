package lang_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/lang/configs"
)

// serviceIn loads a configuration in which all is right, and finds a service of it.
func serviceIn(t *testing.T, name, source string) configs.Service {
	t.Helper()
	config, diags := load(t, lang.Options{Catalogue: smallCatalogue()}, "main.hcl", "cloud \"c\" {\n  release = \"2025.2\"\n}\n"+source)
	if len(diags) > 0 {
		t.Fatalf("diagnostics:\n%s", render(diags, ""))
	}
	i := slices.IndexFunc(config.Services, func(s configs.Service) bool { return s.Name == name })
	if i < 0 {
		t.Fatalf("there is no service %q", name)
	}
	return config.Services[i]
}

const layeredDefinition = `
role "other" {
  nodes = ["a"]
}

service "needed" {
  definition = "memcached"
}

service "unneeded" {
  definition = "memcached"
}

definition "web" {
  port "http" {
    number = 80
  }

  secret "key" {
    kind   = "hex"
    length = 16
  }

  config "web.conf" {
    path   = "/etc/web.conf"
    values = { DEFAULT = { a = 1, b = 2 } }
  }

  job "sync" {
    image   = "web"
    command = ["sync"]
    args    = ["-v"]
    env     = { A = "1", B = service.unneeded.host }
    config  = ["web.conf"]
  }

  workload "api" {
    kind         = "StatefulSet"
    image        = "web"
    user         = 1000
    command      = ["web"]
    ports        = ["http"]
    config       = ["web.conf"]
    writable     = ["/run/a", "/run/b"]
    grace_period = 60

    init "first" {
      command = ["first"]
    }

    mount "key" {
      path = "/etc/key"
    }

    claim "data" {
      path          = "/data"
      size          = "1Gi"
      storage_class = "slow"
    }

    resources {
      requests = { cpu = "100m", memory = "64Mi" }
    }

    ready {
      http   = "/"
      port   = "http"
      period = 5
    }
  }

  endpoint "web" {
    server = "web"
    port = "http"
  }

  output "answer" {
    value = 1
  }
}
`

const layeringService = `
service "web" {
  port "http" {
    number = 81
  }
  port "admin" {
    number = 82
  }

  secret "key" {
    length = 32
  }
  secret "more" {
    from_env = "MORE"
  }

  config "web.conf" {
    path   = "/etc/other.conf"
    values = { DEFAULT = { b = 3, c = port.admin } }
  }
  config "more" {
    format  = "raw"
    path    = "/etc/more"
    content = secret.more.value
  }

  job "sync" {
    args = null
    runs = "once"
    env  = { B = service.needed.host, C = "3" }
  }
  job "extra" {
    image   = "web"
    command = ["extra", self.name]
  }

  workload "api" {
    role     = role.other
    user     = 2000
    ports    = ["admin"]
    config   = ["more"]
    writable = ["/run/c"]

    grace_period = null

    init "first" {
      command = ["other"]
    }
    init "second" {
      command = ["second"]
    }

    claim "data" {
      size          = "2Gi"
      storage_class = null
    }
    claim "logs" {
      path = "/logs"
      size = "1Gi"
    }

    resources {
      requests = { cpu = null, memory = "128Mi" }
      limits   = { memory = "1Gi" }
    }

    ready {
      tcp = "http"
    }
  }
  workload "worker" {
    kind  = "Deployment"
    image = "web"
  }

  endpoint "web" {
    path = "/v1"
  }

  output "answer" {
    value = 2
  }
}
`

// TestOverlay checks what becomes of a definition's blocks that a service overrides, and
// of those that it adds.
func TestOverlay(t *testing.T) {
	s := serviceIn(t, "web", layeredDefinition+layeringService)
	want := configs.Service{
		Ports: []configs.Port{{Name: "http", Number: 81, TLS: true}, {Name: "admin", Number: 82, TLS: true}},
		Jobs: []configs.Job{
			{Name: "sync", When: "before", Runs: "once", Attempts: 6, Pod: configs.Pod{
				Image: "web", Start: "direct", Command: []string{"sync"}, Configs: []string{"web.conf"},
				Env: []configs.Env{{Name: "A", Value: configs.Plain("1")}, {Name: "B", Value: configs.Plain("needed.openstack")}, {Name: "C", Value: configs.Plain("3")}},
			}},
			{Name: "extra", When: "before", Attempts: 6, Pod: configs.Pod{Image: "web", Start: "direct", Command: []string{"extra", "web"}}},
		},
		Workloads: []configs.Workload{
			{
				Name: "api", Kind: "StatefulSet", Role: "other", Replicas: 1, Update: "rolling",
				Pod: configs.Pod{
					Image: "web", Start: "direct", Command: []string{"web"}, User: 2000, Ports: []string{"http", "admin"},
					Configs: []string{"web.conf", "more"}, Writable: []string{"/run/c"},
					Mounts:   []configs.SecretMount{{Service: "web", Secret: "key", Path: "/etc/key"}},
					Inits:    []configs.Init{{Name: "first", Command: []string{"other"}}, {Name: "second", Command: []string{"second"}}},
					Requests: map[string]string{"memory": "128Mi"}, Limits: map[string]string{"memory": "1Gi"},
				},
				Claims: []configs.Claim{{Name: "data", Path: "/data", Size: "2Gi"}, {Name: "logs", Path: "/logs", Size: "1Gi"}},
				Ready:  &configs.Probe{TCP: true, Port: "http", Period: 5, Timeout: 5, Retries: 3},
			},
			{Name: "worker", Kind: "Deployment", Replicas: 1, Update: "rolling", Pod: configs.Pod{Image: "web", Start: "direct"}},
		},
		Endpoints: []configs.Endpoint{{Type: "web", Server: "web", Name: "web", Port: "http", Path: "/v1"}},
	}
	got := configs.Service{Ports: s.Ports, Jobs: s.Jobs, Workloads: s.Workloads, Endpoints: s.Endpoints}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreTypes(hcl.Range{}), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("the service (-want +got):\n%s", diff)
	}
	if want := []string{"service.needed"}; !slices.Equal(s.Needs, want) {
		t.Errorf("it needs %q, want %q: what is overridden is not needed", s.Needs, want)
	}
	if len(s.Secrets) != 2 || s.Secrets[0].Length != 32 || s.Secrets[0].Kind != "hex" || s.Secrets[1].Source == nil || s.Secrets[1].Source.Env != "MORE" {
		t.Errorf("the secrets are %+v", s.Secrets)
	}
	if c := s.Configs; len(c) != 2 || c[0].Path != "/etc/other.conf" || len(c[0].Options) != 3 || !c[1].Content.Secret() {
		t.Errorf("the config files are %+v", s.Configs)
	}
	if !s.Outputs["answer"].RawEquals(cty.NumberIntVal(2)) {
		t.Errorf("the output is %#v", s.Outputs["answer"])
	}
}

// TestExistingClaims checks that an existing claim takes the place of the size of a weaker layer, and
// the other way round.
func TestExistingClaims(t *testing.T) {
	for name, test := range map[string]struct {
		definition, service string
		want                configs.Claim
	}{
		"of the service":    {`size = "1Gi"`, `existing = "old"`, configs.Claim{Name: "data", Path: "/data", Existing: "old"}},
		"of the definition": {`existing = "old"`, `size = "1Gi"`, configs.Claim{Name: "data", Path: "/data", Size: "1Gi"}},
		"of both":           {`existing = "old"`, `existing = "older"`, configs.Claim{Name: "data", Path: "/data", Existing: "older"}},
		"taken back":        {"size = \"1Gi\"\n existing = null", `existing = null`, configs.Claim{Name: "data", Path: "/data", Size: "1Gi"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := serviceIn(t, "store", fmt.Sprintf(`
definition "store" {
  workload "db" {
    kind  = "StatefulSet"
    image = "store"
    claim "data" {
      path = "/data"
      %s
    }
  }
}
service "store" {
  workload "db" {
    claim "data" {
      %s
    }
  }
}
`, test.definition, test.service))
			if diff := cmp.Diff([]configs.Claim{test.want}, s.Workloads[0].Claims, cmpopts.IgnoreTypes(hcl.Range{})); diff != "" {
				t.Errorf("claims (-want +got):\n%s", diff)
			}
		})
	}
}

// TestEnabled checks that of a block that does not count nothing is there, and that nobody
// needs what it refers to.
func TestEnabled(t *testing.T) {
	s := serviceIn(t, "web", layeredDefinition+`
definition "gated" {
  port "http" {
    number = 80
  }
  port "old" {
    enabled = cloud.release < 2025.2
    number  = 81
  }
  port "new" {
    enabled = cloud.release >= 2025.2
    number  = 82
  }
  port "cluster" {
    enabled = self.replicas > 1
    number  = 83
  }

  secret "old" {
    enabled = cloud.release == "2025.1"
  }

  database "none" {
    enabled = false
    server  = "nowhere"
  }
  database "never" {
    enabled = cloud.release < 2025.2
    server  = "nowhere"
  }

  config "old.conf" {
    enabled = cloud.release < 2025.2
    path    = "/etc/old.conf"
    values  = { a = { b = service.nowhere.host, c = database.never.url } }
  }
  config "new.conf" {
    path   = "/etc/new.conf"
    values = { a = { b = service.needed.host, c = try(secret.old.value, "none"), d = coalesce(port.old, 0) } }
  }
  config "given.conf" {
    path   = "/etc/given.conf"
    values = { a = { b = service.unneeded.host } }
  }

  job "old" {
    enabled = cloud.release < 2025.2
    image   = "web"
    env     = { A = service.nowhere.host }
    config  = ["old.conf"]
  }

  workload "first" {
    enabled  = cloud.release < 2025.2
    kind     = "Deployment"
    image    = "web"
    replicas = 3
    role     = "nowhere"

    mount "nowhere" {
      path = "/nowhere"
    }
  }
  workload "second" {
    kind     = "Deployment"
    image    = "web"
    replicas = 2
    ports    = ["http", "old", "new", "cluster"]
    config   = ["old.conf", "new.conf", "given.conf"]

    init "old" {
      enabled = cloud.release < 2025.2
      command = ["x"]
    }
    init "new" {
      enabled = cloud.release >= 2025.2
      command = ["x"]
    }

    ready {
      enabled = false
      http    = "/"
      port    = "nowhere"
    }
  }

  output "count" {
    value = self.replicas
  }
}

service "web" {
  definition = "gated"

  config "given.conf" {
    enabled = false
  }
}
`)
	want := configs.Service{
		Ports: []configs.Port{{Name: "http", Number: 80, TLS: true}, {Name: "new", Number: 82, TLS: true}, {Name: "cluster", Number: 83, TLS: true}},
		Workloads: []configs.Workload{{
			Name: "second", Kind: "Deployment", Replicas: 2, Update: "rolling", Drain: 5,
			Pod: configs.Pod{
				Image: "web", Start: "direct", Ports: []string{"http", "new", "cluster"}, Configs: []string{"new.conf"},
				Inits: []configs.Init{{Name: "new", Command: []string{"x"}}},
			},
		}},
	}
	got := configs.Service{Ports: s.Ports, Jobs: s.Jobs, Databases: s.Databases, Secrets: s.Secrets, Workloads: s.Workloads}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreTypes(hcl.Range{}), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("the service (-want +got):\n%s", diff)
	}
	if want := []string{"service.needed"}; !slices.Equal(s.Needs, want) {
		t.Errorf("it needs %q, want %q", s.Needs, want)
	}
	if c := s.Configs; len(c) != 1 || c[0].Options[1].Values[0].Masked() != "none" || c[0].Options[2].Values[0].Masked() != "0" {
		t.Errorf("the config files are %+v", c)
	}
	if !s.Outputs["count"].RawEquals(cty.NumberIntVal(2)) {
		t.Errorf("self.replicas is %#v", s.Outputs["count"])
	}
}

// TestEnabledLater checks that what a block refers to is needed if the evaluation shows
// that it counts.
func TestEnabledLater(t *testing.T) {
	s := serviceIn(t, "web", layeredDefinition+`
secret "shared" {}

service "web" {
  workload "api" {
    config = ["more.conf"]

    mount "shared" {
      enabled = cloud.release >= 2025.2
      path    = "/shared"
    }
  }

  job "sync" {
    enabled = false
  }

  config "more.conf" {
    enabled = cloud.release >= 2025.2
    path    = "/etc/more.conf"
    values  = { a = { b = service.needed.host } }
  }
}
`)
	if want := []string{"secret.shared", "service.needed"}; !slices.Equal(s.Needs, want) {
		t.Errorf("it needs %q, want %q", s.Needs, want)
	}
}

// TestPorts checks the ports and members of a service that other blocks can refer to.
func TestPorts(t *testing.T) {
	s := serviceIn(t, "reader", `
exposure "public" {
  vip = "192.0.2.10"
}

definition "web" {
  port "http" {
    number    = 80
    expose    = true
    node_port = 30080
  }
  port "admin" {
    number = 81
  }
  port "peer" {
    number = 82
  }

  workload "set" {
    kind     = "StatefulSet"
    image    = "web"
    replicas = 2
    ports    = ["peer"]
    args     = self.members.set
  }
  workload "main" {
    kind  = "Deployment"
    image = "web"
    ports = ["http", "admin"]
  }
}

service "web" {
  expose = exposure.public
}

service "far" {
  definition = "web"
  external   = { host = "far.example.org", port = 8080 }
}

definition "reader" {
  workload "w" {
    kind  = "Deployment"
    image = "reader"
    args = concat(
      [for name in ["http", "admin", "peer"] : jsonencode(service.web.ports[name])],
      service.web.members.set,
      [service.far.ports.http.url, service.far.ports.peer.address],
    )
  }
}

service "reader" {}
`)
	want := []string{
		`{"address":"web.openstack:80","host":"web.openstack","number":80,"public_host":"192.0.2.10","public_url":"http://192.0.2.10","url":"http://web.openstack:80"}`,
		`{"address":"web.openstack:81","host":"web.openstack","number":81,"public_host":"web.openstack","public_url":"http://web.openstack:81","url":"http://web.openstack:81"}`,
		`{"address":"web-set.openstack:82","host":"web-set.openstack","number":82,"public_host":"web-set.openstack","public_url":"http://web-set.openstack:82","url":"http://web-set.openstack:82"}`,
		"web-set-0.web-set.openstack", "web-set-1.web-set.openstack",
		"http://far.example.org:8080", "far.example.org:82",
	}
	if diff := cmp.Diff(want, s.Workloads[0].Pod.Args); diff != "" {
		t.Errorf("what is read (-want +got):\n%s", diff)
	}
}
