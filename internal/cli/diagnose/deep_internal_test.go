package diagnose

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"kolla.openstack.org/kolla/internal/run/tempest"
	"kolla.openstack.org/kolla/lang/configs"
)

// TestShowDeep checks which results of Tempest are good, and what is printed of the others. No secret is.
func TestShowDeep(t *testing.T) {
	port := tempest.Result{Name: "tempest.api.network.test_ports.PortsTestJSON.test_list_ports", Status: tempest.Passed}
	failed := tempest.Result{Name: "a.b.C.test_d", Status: tempest.Failed, Trace: []string{"first", "2", "3", "4", "5", "6", "7", "8", "9", "10", "the secret hunter2"}}
	skipped := port
	skipped.Status, skipped.Reason = tempest.Skipped, "no hunter2"
	only := tempest.Choice{Regex: "ports", Without: []tempest.Omission{{Name: "slow", Regex: "slow", Reason: "Left out by -without."}}}
	for name, test := range map[string]struct {
		results []tempest.Result
		choice  tempest.Choice
		good    bool
		want    []string
	}{
		"passed":             {[]tempest.Result{port}, only, true, []string{"\n| networks | 1 | 0 | 0 |\n", "  - slow: Left out by -without."}},
		"failed":             {[]tempest.Result{port, failed}, only, false, []string{"Failed: a.b.C.test_d\n    2\n", "    the secret MASKED\n", "1 test failed. -tests=NAME runs one alone."}},
		"skipped":            {[]tempest.Result{skipped}, only, false, []string{"No test passed."}},
		"required":           {[]tempest.Result{port}, tempest.Choice{}, true, []string{"281 required tests without a result"}},
		"required, skipped":  {[]tempest.Result{skipped, {Name: "a.b.C.test_e", Status: tempest.Passed}}, tempest.Choice{}, false, []string{"Required, and skipped: " + port.Name + ": no MASKED", "1 required test skipped."}},
		"required, left out": {[]tempest.Result{skipped, {Name: "a.b.C.test_e", Status: tempest.Passed}}, tempest.Choice{Without: []tempest.Omission{{Regex: "test_list_ports"}}}, true, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			mask := func(text string) string { return strings.ReplaceAll(text, "hunter2", "MASKED") }
			tell := func(text string) { fmt.Fprintln(&out, "  "+text) }
			if good := showDeep(&out, tell, mask, test.results, test.choice); good != test.good {
				t.Errorf("good is %t", good)
			}
			for _, want := range test.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("the output lacks %q", want)
				}
			}
			if text := out.String(); strings.Contains(text, "hunter2") || strings.Contains(text, "first") || t.Failed() {
				t.Errorf("the output is\n%s", text)
			}
		})
	}
}

// TestConsoles checks that consoles count as reachable only if those of all cells are.
func TestConsoles(t *testing.T) {
	vnc := func(exposure string) configs.Service {
		return configs.Service{Exposure: exposure, Ports: []configs.Port{{Name: "vnc", Exposed: true}}}
	}
	for name, test := range map[string]struct {
		services []configs.Service
		want     bool
	}{
		"none":    {nil, false},
		"exposed": {[]configs.Service{vnc("public"), vnc("public")}, true},
		"a part":  {[]configs.Service{vnc("public"), vnc("")}, false},
	} {
		var c tempest.Cloud
		addDeclared(&c, &configs.Config{Exposures: []configs.Exposure{{Name: "public"}}, Services: test.services})
		if c.Consoles != test.want {
			t.Errorf("%s: %t", name, c.Consoles)
		}
	}
}
