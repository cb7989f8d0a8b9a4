package lang_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/lang/configs"
)

const measuredServices = `
definition "store" {
  port "metrics" {
    enabled = cloud.metrics
    number  = 9100
  }

  workload "server" {
    kind  = "StatefulSet"
    image = "store"
  }

  workload "exporter" {
    enabled = cloud.metrics
    kind    = "Deployment"
    image   = "exporter"
    ports   = ["metrics"]

    metrics {
      port     = "metrics"
      path     = "/status/prometheus"
      interval = 60
      timeout  = 45
    }
  }
}

definition "reader" {
  workload "w" {
    kind  = "Deployment"
    image = "reader"
    args = concat([tostring(cloud.metrics), cloud.scraping], [
      for name, x in cloud.targets : join(" ", concat([name, x.path], [for n in [x.interval, x.timeout] : n == null ? "-" : tostring(n)]))
    ])
  }
}

service "reader" {}

service "store" {
  for_each = toset(["a", "b"])
  name     = "shelf-${each.key}"
}

service "fast" {
  definition = "store"

  workload "exporter" {
    metrics {
      interval = 10
      timeout  = null
    }
  }
}

service "unhurried" {
  definition = "store"

  workload "exporter" {
    metrics {
      interval = null
      timeout  = null
    }
  }
}

service "off" {
  enabled    = false
  definition = "store"
}

service "elsewhere" {
  definition = "store"
  external   = { host = "store.example.org" }
}
`

// TestMetrics checks the metrics of services, and who may read them, with and without the block of the cloud.
// Who reads cloud.targets needs none of the services.
func TestMetrics(t *testing.T) {
	read := func(block string) (*configs.Config, configs.Service) {
		t.Helper()
		config, diags := load(t, lang.Options{Catalogue: smallCatalogue()}, "main.hcl", "cloud \"c\" {\n  release = \"2025.2\"\n"+block+"}\n"+measuredServices)
		if len(diags) > 0 {
			t.Fatalf("diagnostics:\n%s", render(diags, ""))
		}
		reader := config.Services[slices.IndexFunc(config.Services, func(s configs.Service) bool { return s.Name == "reader" })]
		if len(reader.Needs) > 0 {
			t.Errorf("the reader needs %v", reader.Needs)
		}
		return config, reader
	}
	names := []string{
		"fast-exporter-metrics /status/prometheus 10 -", "shelf-a-exporter-metrics /status/prometheus 60 45",
		"shelf-b-exporter-metrics /status/prometheus 60 45", "unhurried-exporter-metrics /status/prometheus - -",
	}

	config, reader := read("")
	if diff := cmp.Diff([]string{"false", "none"}, reader.Workloads[0].Pod.Args); diff != "" || config.Cloud.Metrics != nil {
		t.Errorf("without metrics: %v (-want +got):\n%s", config.Cloud.Metrics, diff)
	}
	for _, s := range config.Services {
		if strings.HasPrefix(s.Name, "shelf") && (len(s.Workloads) != 1 || len(s.Ports) != 0) {
			t.Errorf("without metrics, %s has %d workloads and the ports %v", s.Name, len(s.Workloads), s.Ports)
		}
	}

	config, reader = read("  metrics {\n    mode = \"services\"\n  }\n")
	if diff := cmp.Diff(append([]string{"true", "services"}, names...), reader.Workloads[0].Pod.Args); diff != "" {
		t.Errorf("with metrics (-want +got):\n%s", diff)
	}
	for name, pace := range map[string]configs.Pace{"shelf-a": {Interval: 60, Timeout: 45}, "fast": {Interval: 10}, "unhurried": {}} {
		i := slices.IndexFunc(config.Services, func(s configs.Service) bool { return s.Name == name })
		if w := config.Services[i].Workloads; len(w) != 2 || w[0].Metrics != nil || *w[1].Metrics != (configs.Metrics{Port: "metrics", Path: "/status/prometheus", Pace: pace}) {
			t.Errorf("the workloads of %s are %+v", name, w)
		}
	}
	if a := config.Cloud.Metrics.Allows; len(a) != 1 || a[0].Pods["app.kubernetes.io/name"] != "prometheus" || a[0].Namespace != "" {
		t.Errorf("by default these may connect: %+v", a)
	}

	config, reader = read("  network_policy = false\n\n  metrics {\n    mode = \"monitors\"\n  }\n")
	if mode := reader.Workloads[0].Pod.Args[1]; mode != configs.ScrapeMonitors {
		t.Errorf("the mode is %q", mode)
	}
	if a := config.Cloud.Metrics.Allows; len(a) != 0 {
		t.Errorf("without policies these may connect: %+v", a)
	}
}

const observedServices = `
definition "store" {
  input "measured" {
    type    = bool
    default = true
  }

  port "http" {
    number = 80
    expose = true
  }

  port "web" {
    number = 81
    expose = true
  }

  port "raw" {
    number = 82
    expose = true
  }

  port "metrics" {
    number = 9100
  }

  workload "server" {
    kind  = "StatefulSet"
    image = "store"
    ports = ["http", "raw"]

    ready {
      http = "/healthcheck"
      port = "http"
    }
  }

  workload "web" {
    kind  = "Deployment"
    image = "web"
    ports = ["web"]

    ready {
      http = "/login"
    }
  }

  workload "exporter" {
    enabled = input.measured
    kind    = "Deployment"
    image   = "exporter"
    ports   = ["metrics"]

    metrics {
      port = "metrics"
    }
  }
}

definition "reader" {
  port "http" {
    number = 9090
  }

  workload "w" {
    kind  = "Deployment"
    image = "reader"
    args  = concat(keys(cloud.targets), [for name, x in cloud.urls : "${name} ${x.url}${x.private_ca ? " private" : ""}"])
    ports = ["http"]
  }
}

# It needs the reader, and has metrics itself.
definition "board" {
  port "http" {
    number = 3000
    expose = true
  }

  workload "w" {
    kind  = "Deployment"
    image = "board"
    args  = [service.reader.url]
    ports = ["http"]

    ready {
      http = "/"
    }

    metrics {
      port = "http"
    }
  }
}

role "control" {
  nodes = ["a"]
}

exposure "public" {
  vip   = "192.0.2.10"
  mode  = "managed"
  nodes = role.control

  keepalived {
    interface = "eth0"
  }
}

exposure "private" {
  fqdn = "cloud.example.org"
  vip  = "192.0.2.11"

  tls {}
}

service "reader" {}

service "other-reader" {
  definition = "reader"
}

service "board" {
  expose = exposure.public
}

service "inside" {
  definition = "store"
}

service "store" {
  expose = exposure.public
}

service "silent" {
  definition = "store"
  expose     = exposure.private
  measured   = false

  port "http" { node_port = 30080 }
  port "web" { node_port = 30081 }
  port "raw" { node_port = 30082 }
}

service "asleep" {
  definition = "store"

  workload "exporter" {
    replicas = 0
  }
}
`

// TestObserved checks what cloud.targets and cloud.urls have: the workloads and the ports as they are after all
// overrides, and for a service that needs the reader the workloads of its definition. Readers need no service, also
// not each other.
func TestObserved(t *testing.T) {
	for block, want := range map[string][]string{
		"": nil,
		"  metrics {\n    mode = \"services\"\n  }\n": {"board-w-metrics", "exposure-public-exporter-metrics", "inside-exporter-metrics", "store-exporter-metrics"},
	} {
		config, diags := load(t, lang.Options{Catalogue: smallCatalogue()}, "main.hcl", "cloud \"c\" {\n  release = \"2025.2\"\n"+block+"}\n"+observedServices)
		if len(diags) > 0 {
			t.Fatalf("diagnostics:\n%s", render(diags, ""))
		}
		if block == "" {
			want = []string{"board-w-metrics"} // the definition knows no more
		}
		want = append(want,
			"silent https://cloud.example.org:80/healthcheck private", "silent-web https://cloud.example.org:81/login private",
			"store http://192.0.2.10/healthcheck", "store-web http://192.0.2.10:81/login")
		for _, s := range config.Services {
			if s.Definition != "reader" {
				continue
			}
			if diff := cmp.Diff(want, s.Workloads[0].Pod.Args); diff != "" || len(s.Needs) > 0 {
				t.Errorf("%s needs %v, and reads (-want +got):\n%s", s.Name, s.Needs, diff)
			}
		}
	}
}
