package lang_test

import (
	"slices"
	"testing"

	"kolla.openstack.org/kolla/lang"
)

// TestDynamicReadsInputs checks that dynamic blocks of a definition can go over its inputs and
// local values, and those of a service block over the inputs, in each instance of the service.
func TestDynamicReadsInputs(t *testing.T) {
	const source = `
cloud "test" {
  release = "2025.1"
}

definition "store" {
  input "disks" {
    type = list(string)
  }

  locals {
    spare = [for d in input.disks : "${d}-spare"]
  }

  dynamic "port" {
    for_each = local.spare
    labels   = [port.value]

    content {
      number = 9000 + port.key
    }
  }

  workload "store" {
    kind  = "StatefulSet"
    image = "store"

    dynamic "volume" {
      for_each = input.disks
      labels   = [volume.value]

      content {
        host = "/srv/${volume.value}"
      }
    }
  }
}

service "store" {
  for_each = { a = ["sda"], b = ["sda", "sdb"] }
  disks    = each.value

  dynamic "config" {
    for_each = input.disks
    labels   = ["${config.value}.conf"]

    content {
      format  = "raw"
      path    = "/etc/${config.value}.conf"
      content = "disk"
    }
  }
}
`
	config, diags := load(t, lang.Options{}, "cloud.hcl", source)
	if diags.HasErrors() {
		t.Fatalf("diagnostics:\n%s", render(diags, ""))
	}
	for i, want := range [][]string{{"sda"}, {"sda", "sdb"}} {
		s := config.Services[i]
		var volumes, ports, files []string
		for _, v := range s.Workloads[0].Pod.Volumes {
			volumes = append(volumes, v.Name)
		}
		for _, p := range s.Ports {
			ports = append(ports, p.Name)
		}
		for _, f := range s.Configs {
			files = append(files, f.Name)
		}
		if !slices.Equal(volumes, want) {
			t.Errorf("%s has the volumes %q, want %q", s.Block, volumes, want)
		}
		if len(ports) != len(want) || ports[0] != "sda-spare" {
			t.Errorf("%s has the ports %q", s.Block, ports)
		}
		if len(files) != len(want) || files[0] != "sda.conf" {
			t.Errorf("%s has the files %q", s.Block, files)
		}
	}
}
