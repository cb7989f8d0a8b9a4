package releases_test

import (
	"regexp"
	"slices"
	"testing"

	"kolla.openstack.org/kolla/lang/releases"
)

// TestAll checks the form of the list: a release for each half of a year, from the oldest on, with
// distributions and programs.
func TestAll(t *testing.T) {
	all := releases.All()
	if len(all) < 2 {
		t.Fatalf("got %+v", all)
	}
	form, program := regexp.MustCompile(`^20\d\d\.[12]$`), regexp.MustCompile(`^[A-Z]\w+ \d+\.\d+$`)
	for i, r := range all {
		if !form.MatchString(r.Name) || len(r.Distros) == 0 || len(r.Programs) == 0 || i > 0 && r.Name <= all[i-1].Name {
			t.Errorf("%+v", r)
		}
		for image, version := range r.Programs {
			if !program.MatchString(version) || all[0].Programs[image] == "" {
				t.Errorf("%s: %s has %q", r.Name, image, version)
			}
		}
		if got := releases.Named(r.Name); got.Name != r.Name || got.Distro() != r.Distros[0] || releases.Names()[i] != r.Name {
			t.Errorf("%s: got %+v", r.Name, got)
		}
	}
	if got := releases.Named("2024.2"); got.Distro() != "" || slices.Contains(releases.Names(), "2024.2") {
		t.Errorf("got %+v", got)
	}
}
