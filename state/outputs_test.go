package state_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/state"
)

// TestConclude checks that the outputs and checks of an apply replace those of the previous apply,
// are on the disk at once, and are no change if they stay the same.
func TestConclude(t *testing.T) {
	store := state.Open(filepath.Join(t.TempDir(), "kolla.state.json"))
	session := lock(t, store)
	outputs := []state.Output{
		{Name: "list", Type: []byte(`["tuple",["string"]]`), Value: []byte(`["<a>"]`)},
		{Name: "password", Sensitive: true},
	}
	checks := []state.CheckResult{{Address: "check.size", Status: "fail", Problems: []string{"It is 2."}}}
	must(t, session.Conclude(outputs, checks))
	same := func(s *state.State) {
		t.Helper()
		if len(s.Outputs) != 2 || !s.Outputs[0].Equal(outputs[0]) || !s.Outputs[1].Equal(outputs[1]) {
			t.Errorf("outputs are %+v", s.Outputs)
		}
		if diff := cmp.Diff(checks, s.Checks); diff != "" {
			t.Errorf("checks (-want +got):\n%s", diff)
		}
	}
	same(read(t, store)) // from the journal
	must(t, session.Close())
	same(read(t, store))

	session = lock(t, store)
	serial := session.State().Serial
	must(t, session.Conclude(outputs, checks))
	if got := session.State().Serial; got != serial {
		t.Errorf("the serial grew from %d to %d", serial, got)
	}
	copied := session.State()
	copied.Outputs[0].Name = "other"
	same(session.State())
	must(t, session.Conclude(nil, nil))
	must(t, session.Close())
	if s := read(t, store); len(s.Outputs)+len(s.Checks) > 0 || s.Serial == serial {
		t.Errorf("there are %+v and %+v left", s.Outputs, s.Checks)
	}
}
