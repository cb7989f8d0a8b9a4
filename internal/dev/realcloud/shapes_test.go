package realcloud_test

import (
	"strings"
	"testing"
	"time"
)

// shapes is a cloud whose processes are those of a later release, in the images of the tests.
const shapes = `
cloud "shapes" {
  release  = "2025.2"
  tag      = "2025.1-debian-trixie"
  distro   = "debian-trixie"
  registry = "kolla.test/openstack.kolla"

  defaults {
    role   = role.control
    expose = exposure.public
  }
}

role "control" { nodes = ["real-1"] }

exposure "public" {
  vip   = "` + vip + `"
  nodes = role.control
}

service "mariadb" {}
service "rabbitmq" {}
service "memcached" {}
service "keystone" {}
service "ovn" { replicas = 1 }

service "neutron" {
  dns_servers = []

  # Neutron 2025.1 does not know project_network_types.
  config "ml2_conf.ini" {
    values = { ml2 = { tenant_network_types = "geneve" } }
  }
}

service "glance" {
` + oldGlance + `
}
`

// oldGlance runs Glance 2025.1 with the configuration of a later release. Debian's package lacks the module
// glance.wsgi.api, and Debian's uWSGI has its router in a plug-in.
const oldGlance = `
  config "glance-api-uwsgi.ini" {
    values = { uwsgi = { plugins = "python3,http", module = null, wsgi-file = "/usr/bin/glance-wsgi-api" } }
  }
`

// TestShapes brings up Neutron and Glance with the processes of 2025.2, changes to those of 2026.1,
// and uses them in both releases. TestServices has those of 2025.1.
func TestShapes(t *testing.T) {
	c := emptyCloud(t, 1)
	c.write(t, "cloud.hcl", shapes)
	take(t, c, []step{{"apply", func(t *testing.T, c *cloud) {
		r := c.kolla(t, 0, "apply", "-auto-approve", "-timeout=20m")
		measured(t, "apply of Neutron and Glance with the processes of 2025.2", r.took.Round(time.Second))
	}}})
	c.haproxy(t)
	take(t, c, []step{
		{"2025.2", func(t *testing.T, c *cloud) { c.answersInRelease(t, "2025.2", "glance-api") }},
		{"change", func(t *testing.T, c *cloud) {
			c.edit(t, `"2025.2"`, `"2026.1"`)
			c.kolla(t, 0, "apply", "-auto-approve", "-timeout=20m")
		}},
		{"2026.1", func(t *testing.T, c *cloud) { c.answersInRelease(t, "2026.1", "uwsgi") }},
	})
}

// answersInRelease checks which processes run, and that Neutron and Glance answer: a network gets into
// OVN's databases, and an image comes back. glance is the program that runs Glance.
func (c *cloud) answersInRelease(t *testing.T, release, glance string) {
	t.Helper()
	for workload, program := range map[string]string{
		"neutron-api": "uwsgi", "neutron-rpc-server": "neutron-rpc-server", "neutron-periodic-worker": "neutron-periodic-workers",
		"neutron-ovn-maintenance-worker": "neutron-ovn-maintenance-worker", "glance-api": glance,
	} {
		pods := strings.Fields(c.kubectl(t, "get", "pods", "-l", "app.kubernetes.io/component="+workload,
			"-o", "go-template={{range .items}}{{if not .metadata.deletionTimestamp}}{{.metadata.name}} {{end}}{{end}}"))
		if len(pods) != 1 {
			t.Fatalf("%s has the pods %v, want one", workload, pods)
		}
		command := strings.ReplaceAll(c.kubectl(t, "exec", pods[0], "--", "cat", "/proc/1/cmdline"), "\x00", " ")
		if !strings.Contains(" "+strings.ReplaceAll(command, "/", " ")+" ", " "+program+" ") {
			t.Errorf("%s runs %q, want %s", workload, command, program)
		}
		measured(t, release+": "+workload+" runs", command)
	}
	name := "net-" + release
	id := c.value(t, "network", "create", name, "-f", "value", "-c", "id")
	if kind := c.value(t, "network", "show", name, "-f", "value", "-c", "provider:network_type"); kind != "geneve" {
		t.Errorf("the network is of type %s, want geneve", kind)
	}
	c.value(t, "subnet", "create", name, "--network", name, "--subnet-range", "10.0.0.0/24", "-f", "value", "-c", "id")
	c.keptOVN(t, 1, "neutron-"+id)
	c.imageReturns(t, "image-"+release)
	c.noChanges(t)
}
