package plans_test

import (
	"testing"

	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// TestDeclared checks that a change of a config file names the places of the changed values. If a
// value has no place, the change also names the place of the file.
func TestDeclared(t *testing.T) {
	const before = "[a]\nx = 1\ny = 1\nz = 1\n"
	places := map[string]string{"[a] x": "config/own.conf:2", "[a] y": "cloud.hcl:7", "[a] w": "cloud.hcl:7"}
	tests := map[string]struct {
		after any
		want  string
	}{
		"one value":               {"[a]\nx = 2\ny = 1\nz = 1\n", "config/own.conf:2"},
		"several":                 {"[a]\nx = 2\ny = 2\nz = 1\n", "config/own.conf:2, cloud.hcl:7"},
		"one place":               {"[a]\nx = 1\ny = 2\nz = 1\nw = 1\n", "cloud.hcl:7"},
		"value of the catalogue":  {"[a]\nx = 2\ny = 1\nz = 2\n", "cloud.hcl:41"},
		"value taken away":        {"[a]\nx = 1\ny = 1\n", "cloud.hcl:41"},
		"not settings":            {"text", "cloud.hcl:41"},
		"not text":                {3, "cloud.hcl:41"},
		"nothing that is changed": {before, "cloud.hcl:41"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			a := plans.Action{
				Object:  &providers.Object{Source: "cloud.hcl:41", Places: places},
				Changes: []plans.Change{{Path: `data["own.conf"]`, Before: before, After: test.after}},
			}
			if got := a.Declared(); got != test.want {
				t.Errorf("declared at %q, not %q", got, test.want)
			}
		})
	}
	if got := (&plans.Action{}).Declared(); got != "" {
		t.Errorf("what is not declared is declared at %q", got)
	}
}
