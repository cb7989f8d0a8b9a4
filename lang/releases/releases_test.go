package releases_test

import (
	"regexp"
	"slices"
	"testing"

	"kolla.openstack.org/kolla/lang/releases"
)

// TestAll checks the form of the list: a release for each half of a year, from the oldest on, with
// distributions.
func TestAll(t *testing.T) {
	all := releases.All()
	if len(all) < 2 {
		t.Fatalf("got %+v", all)
	}
	form := regexp.MustCompile(`^20\d\d\.[12]$`)
	for i, r := range all {
		if !form.MatchString(r.Name) || len(r.Distros) == 0 || i > 0 && r.Name <= all[i-1].Name {
			t.Errorf("%+v", r)
		}
		if got := releases.Named(r.Name); got.Name != r.Name || got.Distro() != r.Distros[0] || releases.Names()[i] != r.Name {
			t.Errorf("%s: got %+v", r.Name, got)
		}
	}
	if releases.Processors("rocky-10") <= releases.Processors("rocky-9") || releases.Processors("debian-trixie") != "" {
		t.Error("the levels of processors are wrong")
	}
	if got := releases.Named("2024.2"); got.Distro() != "" || slices.Contains(releases.Names(), "2024.2") {
		t.Errorf("got %+v", got)
	}
}
