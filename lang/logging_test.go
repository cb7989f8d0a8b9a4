package lang_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/lang/configs"
)

const loggingCloud = `
cloud "c" {
  release = "2025.1"
  logging {
    mode      = "MODE"
    collector = "collector"
    volume    = "64Mi"
    target "here" {
      url      = service.store.url
      password = secret.store.value
    }
  }
}
secret "store" {}
definition "collector" {
  input "targets" {}
  config "collector.conf" {
    format  = "raw"
    path    = "/etc/collector.conf"
    content = "${input.targets.here.url} ${input.targets.here.password} ${jsonencode(cloud.logs)}"
  }
  workload "node" {
    enabled = cloud.logging == "node"
    kind    = "DaemonSet"
    image   = "collector"
    config  = ["collector.conf"]
  }
  workload "sidecar" {
    enabled = cloud.logging == "sidecar"
    kind    = "Deployment"
    image   = "collector"
    config  = ["collector.conf"]
    env     = { POD = pod.name }
  }
  output "environment" {
    value = { LOG_FILE = "/var/log/kolla/CONTAINER.oslo.log" }
  }
}
definition "store" {
  port "http" {
    number = 9200
  }
  workload "server" {
    kind  = "StatefulSet"
    image = "store"
    ports = ["http"]
    logs  = "console"
  }
}
definition "api" {
  workload "web" {
    kind  = "Deployment"
    image = "api"
    env   = { A = "1" }

    sidecar "helper" {
      image = "helper"
      logs  = "oslo"
    }
  }
  workload "files" {
    kind  = "Deployment"
    image = "api"
    logs  = "files"
  }
  job "sync" {
    image = "api"
  }
}
service "store" {}
service "api" {}
`

// TestLoggingOfNodes checks that the collector knows the workloads of all services, and needs only those
// that its targets name, and that other services stay as they are but for the environment.
func TestLoggingOfNodes(t *testing.T) {
	config := loggingIn(t, "node")
	l := named(t, config, "logging")
	if diff := cmp.Diff([]string{"secret.store", "service.store"}, l.Needs); diff != "" {
		t.Errorf("needs (-want +got):\n%s", diff)
	}
	const want = `http://store.openstack:9200 (sensitive) [{"kind":"StatefulSet","service":"store","workload":"server"},` +
		`{"kind":"Deployment","service":"api","workload":"web"},{"kind":"Deployment","service":"api","workload":"files"},` +
		`{"kind":"Job","service":"api","workload":"sync"}]`
	if got := l.Configs[0].Content.Masked(); got != want {
		t.Errorf("the config is %s, want %s", got, want)
	}
	if len(l.Workloads) != 1 || l.Workloads[0].Name != "node" {
		t.Errorf("workloads: %v", l.Workloads)
	}
	web := named(t, config, "api").Workloads[0]
	if diff := cmp.Diff([]string{"A=1", "LOG_FILE=/var/log/kolla/web.oslo.log"}, variables(web.Pod.Env)); diff != "" {
		t.Errorf("environment (-want +got):\n%s", diff)
	}
	if len(web.Pod.Inits) != 1 || len(web.Pod.Volumes) != 0 {
		t.Errorf("the pod has more than it had: %v", web.Pod)
	}
}

// TestLoggingOfPods checks that the pods which write files have the sidecar, its config and the volume,
// that no service needs the collector or the store for that, and that the sidecar is no workload.
func TestLoggingOfPods(t *testing.T) {
	config := loggingIn(t, "sidecar")
	if l := named(t, config, "logging"); len(l.Workloads) != 0 {
		t.Errorf("workloads: %v", l.Workloads)
	}
	if store := named(t, config, "store"); len(store.Workloads[0].Pod.Inits) != 0 {
		t.Errorf("a workload without files has a sidecar: %v", store.Workloads[0].Pod.Inits)
	}
	api := named(t, config, "api")
	if len(api.Needs) != 0 {
		t.Errorf("the service needs %v", api.Needs)
	}
	if len(api.Configs) != 1 || api.Configs[0].Name != "collector.conf" {
		t.Errorf("configs: %v", api.Configs)
	}
	for i, w := range api.Workloads {
		side := w.Pod.Inits[0]
		want := []string{"KOLLA_SERVICE=api", "KOLLA_WORKLOAD=" + w.Name, "POD=$(pod.name)"}
		if diff := cmp.Diff(want, variables(side.Env)); diff != "" || !side.Sidecar || side.Image != "collector" || side.Name != "logs" {
			t.Errorf("the sidecar is %v (-want +got):\n%s", side, diff)
		}
		volume := []configs.Volume{{Name: "logs", Path: "/var/log/kolla", Shared: "64Mi"}}
		if diff := cmp.Diff(volume, w.Pod.Volumes); diff != "" {
			t.Errorf("volumes (-want +got):\n%s", diff)
		}
		if oslo := slices.Contains(variables(w.Pod.Env), "LOG_FILE=/var/log/kolla/web.oslo.log"); oslo != (i == 0) {
			t.Errorf("workload %s has the environment %v", w.Name, variables(w.Pod.Env))
		}
	}
	if helper := api.Workloads[0].Pod.Inits[1]; !slices.Contains(variables(helper.Env), "LOG_FILE=/var/log/kolla/helper.oslo.log") {
		t.Errorf("the other sidecar has the environment %v", variables(helper.Env))
	}
}

// TestLoggingNowhere checks that nothing is made without logging.
func TestLoggingNowhere(t *testing.T) {
	config := loggingIn(t, "none")
	if len(config.Services) != 2 {
		t.Errorf("%d services", len(config.Services))
	}
	if env := named(t, config, "api").Workloads[0].Pod.Env; len(env) != 1 {
		t.Errorf("environment: %v", env)
	}
}

// loggingIn loads a cloud with logs in a mode.
func loggingIn(t *testing.T, mode string) *configs.Config {
	t.Helper()
	config, diags := load(t, lang.Options{Catalogue: smallCatalogue()}, "main.hcl", strings.Replace(loggingCloud, "MODE", mode, 1))
	if len(diags) > 0 {
		t.Fatalf("diagnostics:\n%s", render(diags, ""))
	}
	return config
}

// named returns a service.
func named(t *testing.T, config *configs.Config, name string) configs.Service {
	t.Helper()
	i := slices.IndexFunc(config.Services, func(s configs.Service) bool { return s.Name == name })
	if i < 0 {
		t.Fatalf("there is no service %q", name)
	}
	return config.Services[i]
}

// variables returns an environment in the form NAME=VALUE.
func variables(env []configs.Env) (out []string) {
	for _, e := range env {
		out = append(out, e.Name+"="+e.Value.Masked())
	}
	return out
}
