package openstack_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestWith checks that "with" replaces a service that the definition names: the queue is created on
// the replacement, and only the replacement's NetworkPolicy lets the service in.
func TestWith(t *testing.T) {
	objects := render(t, written(t, `service "rabbitmq" {}

service "cell2" {
  definition = "rabbitmq"
}

definition "d" {
  queue "d" {}

  workload "w" {
    kind    = "Deployment"
    image   = "d"
    user    = 1000
    command = ["d"]
    env     = { URL = queue.d.url, HOST = service.rabbitmq.host }
  }
}

service "d" {
  with = { rabbitmq = service.cell2 }
}
`), facts())
	spec, _, _ := podOf(t, find(t, objects, "Deployment/d-w"))
	if got := spec.Containers[0].Env[0]; got.Name != "HOST" || got.Value != "cell2.openstack" {
		t.Errorf("the workload has %+v", got)
	}
	jobs, policies := 0, 0
	for _, o := range objects {
		content := fmt.Sprint(o.Manifest.Object["spec"])
		switch {
		case o.Address.Kind == "NetworkPolicy" && (o.Address.Block == "service.rabbitmq" || o.Address.Block == "service.cell2"):
			policies++
			lets := strings.Contains(content, "kolla.openstack.org/service:d]") || strings.Contains(content, "values:[d]")
			if lets != (o.Address.Block == "service.cell2") {
				t.Errorf("%s lets service d in: %t: %s", o.Address, lets, content)
			}
		case o.Address.Kind == "Job" && strings.HasPrefix(o.Address.Name, "d-queue"):
			jobs++
			if !strings.Contains(content, "cell2") || strings.Contains(content, "rabbitmq.openstack") || strings.Contains(content, "rabbitmq-admin") {
				t.Errorf("the job of the queue is %s", content)
			}
		}
	}
	if jobs == 0 || policies < 2 {
		t.Errorf("%d jobs of the queue, %d policies", jobs, policies)
	}
}
