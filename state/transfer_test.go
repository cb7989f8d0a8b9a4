package state_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kolla.openstack.org/kolla/state"
)

// TestMoveOntoAVersion moves a state to a place that already has a version of it. If that version
// is not older, both states must stay.
func TestMoveOntoAVersion(t *testing.T) {
	for name, test := range map[string]struct {
		here, there []string // objects recorded at the source and at the target after the copy
		want        string   // part of the error; empty: the state moves
	}{
		"the same":  {nil, nil, ""},
		"older":     {[]string{"nova"}, nil, ""},
		"newer":     {nil, []string{"nova"}, "has a newer state: its serial is 2, and that of the one in "},
		"diverged":  {[]string{"nova"}, []string{"cinder"}, "has another version of the state: its serial is 2, as that of the one in "},
		"far ahead": {[]string{"nova"}, []string{"cinder", "heat"}, "has a newer state"},
	} {
		t.Run(name, func(t *testing.T) {
			from := state.Open(filepath.Join(t.TempDir(), state.DefaultFile))
			to := state.Open(filepath.Join(t.TempDir(), state.DefaultFile))
			record := func(store *state.Store, name string) {
				session := lock(t, store)
				must(t, session.Record(object(name)))
				must(t, session.Close())
			}
			record(from, "glance")
			text, err := os.ReadFile(from.Path())
			must(t, err)
			must(t, os.WriteFile(to.Path(), text, 0o600))
			for _, name := range test.here {
				record(from, name)
			}
			for _, name := range test.there {
				record(to, name)
			}
			here, there := read(t, from), read(t, to)

			moved, err := state.Move(t.Context(), from, to, state.LockInfo{Operation: "init -migrate-state"}, 0)
			if test.want == "" {
				must(t, err)
				same(t, "moved", here, moved)
				same(t, "there", here, read(t, to))
				var damaged *state.DamagedError
				if _, err := from.Read(); !errors.As(err, &damaged) || !damaged.Missing {
					t.Errorf("the source was not taken out of use: %v", err)
				}
				return
			}
			var other *state.OtherStateError
			if !errors.As(err, &other) || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("got %v, want %q", err, test.want)
			}
			for _, want := range []string{from.Path(), to.Path(), "Both stay as they are", "docs/state.md"} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}
			same(t, "the source", here, read(t, from))
			same(t, "the target", there, read(t, to))

			// If the state at the target is wrong, the documentation says to move it away.
			must(t, os.Rename(to.Path(), filepath.Join(t.TempDir(), "wrong.json")))
			moved, err = state.Move(t.Context(), from, to, state.LockInfo{Operation: "init -migrate-state"}, 0)
			must(t, err)
			same(t, "moved", here, moved)
		})
	}
}
