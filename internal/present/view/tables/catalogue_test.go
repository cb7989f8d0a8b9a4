package tables_test

import (
	"bytes"
	"testing"

	"kolla.openstack.org/kolla/internal/present/view/tables"
	"kolla.openstack.org/kolla/lang/catalogue"
)

// TestInputs checks that the inputs of a definition are printed as comments, so that the output
// can be used as a configuration.
func TestInputs(t *testing.T) {
	var out bytes.Buffer
	err := tables.Definition(&out, catalogue.Definition{Inputs: []catalogue.Input{
		{Name: "stores", Type: "map(string)", Default: "{}", Description: "Where images are kept."},
		{Name: "n", Type: "number"},
	}})
	const want = `# Inputs, which are arguments of the service:
#
#   stores  map(string)  default {}  Where images are kept.
#   n       number       required    

`
	if err != nil || out.String() != want {
		t.Errorf("%v, got\n%s", err, out.String())
	}
}

// TestPowers checks that workloads with powers are printed as comments.
func TestPowers(t *testing.T) {
	var out bytes.Buffer
	err := tables.Definition(&out, catalogue.Definition{Powers: []catalogue.Powers{
		{Kind: "workload", Name: "compute", Powers: []string{"host_pid = true", "user = 0"}},
		{Kind: "sidecar", Name: "compute/libvirt", Powers: []string{"privileged = true"}},
	}})
	const want = `# With powers, which "kolla plan" names before it gives them:
#
#   workload  compute          host_pid = true, user = 0
#   sidecar   compute/libvirt  privileged = true

`
	if err != nil || out.String() != want {
		t.Errorf("%v, got\n%s", err, out.String())
	}
}
