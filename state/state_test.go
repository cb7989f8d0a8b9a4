package state_test

import (
	"testing"

	"kolla.openstack.org/kolla/state"
)

// TestFingerprintEqual checks that the time of the last apply does not matter when fingerprints are
// compared.
func TestFingerprintEqual(t *testing.T) {
	known := state.Fingerprint{Owned: "ef56", Server: "v1.37.1", Admission: "0789", Stamp: "2026-11-21T02:11:00Z"}
	for name, test := range map[string]struct {
		change func(*state.Fingerprint)
		want   bool
	}{
		"the same":         {func(*state.Fingerprint) {}, true},
		"another time":     {func(f *state.Fingerprint) { f.Stamp = "2026-11-21T02:12:00Z" }, true},
		"an unknown time":  {func(f *state.Fingerprint) { f.Stamp = "" }, true},
		"another object":   {func(f *state.Fingerprint) { f.Owned = "ab12" }, false},
		"another server":   {func(f *state.Fingerprint) { f.Server = "v1.38.0" }, false},
		"another mutation": {func(f *state.Fingerprint) { f.Admission = "" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			other := known
			test.change(&other)
			if got := known.Equal(other); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}
