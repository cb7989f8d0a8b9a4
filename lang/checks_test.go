package lang_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/lang/configs"
)

// What checks come to is told with their addresses; an assertion that does
// not hold outweighs one that is not known yet.
func TestChecks(t *testing.T) {
	config, diags := load(t, lang.Options{Unset: true}, `
cloud "a" { release = "2025.1" }
variable "later" { type = bool }
check "holds" {
  assert {
    condition     = true
    error_message = "No."
  }
}
check "open" {
  assert {
    condition     = var.later
    error_message = "No."
  }
}
check "fails" {
  assert {
    condition     = var.later
    error_message = "No."
  }
  assert {
    condition     = 1 == 2
    error_message = "One is not two."
  }
}
`)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	want := []configs.Check{
		{Address: "check.fails", Status: configs.CheckFailed, Problems: []string{"One is not two."}},
		{Address: "check.holds", Status: configs.CheckPassed},
		{Address: "check.open", Status: configs.CheckUnknown},
	}
	byAddress := cmpopts.SortSlices(func(a, b configs.Check) bool { return a.Address < b.Address })
	if diff := cmp.Diff(want, config.Checks, byAddress); diff != "" {
		t.Errorf("checks (-want +got):\n%s", diff)
	}
}

// TestDefinitionChecks checks that the checks of a definition read the outputs of all services, that
// the service in question gets the warning, and that they create no dependencies.
func TestDefinitionChecks(t *testing.T) {
	config, diags := load(t, lang.Options{}, `
cloud "a" { release = "2025.1" }
definition "gateway" {
  input "networks" { default = [] }
  workload "gateway" {
    kind  = "Deployment"
    image = "registry.example.org/gateway:1"
  }
  output "networks" { value = input.networks }
  check "networks" {
    assert {
      condition     = length(setsubtract(input.networks, flatten(cloud.outputs["switch"][*].networks))) == 0
      error_message = "No switch has ${join(", ", setsubtract(input.networks, flatten(cloud.outputs["switch"][*].networks)))}; left has ${service.left.networks[0]}."
    }
  }
}
definition "switch" {
  input "networks" { default = [] }
  workload "switch" {
    kind  = "Deployment"
    image = "registry.example.org/switch:1"
  }
  output "networks" { value = input.networks }
  check "networks" {
    assert {
      condition     = length(setsubtract(input.networks, flatten(cloud.outputs["gateway"][*].networks))) == 0
      error_message = "No gateway has them."
    }
  }
}
service "gateway" {
  networks = ["a", "b", "c"]
}
service "left" {
  definition = "switch"
  networks   = ["a"]
}
service "right" {
  definition = "switch"
  networks   = ["b"]
}
`)
	if len(diags) != 1 || diags[0].Severity != hcl.DiagWarning || diags[0].Detail != "No switch has c; left has a." || diags[0].Subject.Start.Line != 32 {
		t.Errorf("diagnostics: %v", diags)
	}
	for _, s := range config.Services {
		if len(s.Needs) > 0 {
			t.Errorf("%s needs %s", s.Block, s.Needs)
		}
	}
}

// TestDefinitionChecksLater checks that nothing is said about other services until it is known which
// ones there are.
func TestDefinitionChecksLater(t *testing.T) {
	_, diags := load(t, lang.Options{Unset: true}, `
cloud "a" { release = "2025.1" }
variable "zones" { type = set(string) }
definition "gateway" {
  workload "gateway" {
    kind  = "Deployment"
    image = "registry.example.org/gateway:1"
  }
  check "switches" {
    assert {
      condition     = length(cloud.outputs["switch"]) > 0
      error_message = "There is no switch."
    }
  }
}
definition "switch" {
  workload "switch" {
    kind  = "Deployment"
    image = "registry.example.org/switch:1"
  }
}
service "gateway" {}
service "switch" {
  for_each = var.zones
}
`)
	if len(diags) > 0 {
		t.Error(diags)
	}
}
