package lang_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

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
