package recipe_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/internal/dev/devimages/recipe"
)

func TestReleasesOfImages(t *testing.T) {
	var known []string
	for _, image := range recipe.Images() {
		known = append(known, image.Name)
	}
	tags := map[string]bool{}
	for _, release := range recipe.Releases() {
		openstack, _, _ := strings.Cut(release.Name, "-")
		if !strings.HasPrefix(release.Tag, openstack+"-debian-") || tags[release.Tag] {
			t.Errorf("the tag of release %s is %s, want one of its own in Kolla's form", release.Name, release.Tag)
		}
		tags[release.Tag] = true
		for _, name := range release.Images {
			if !slices.Contains(known, name) {
				t.Errorf("release %s has an image %s without a recipe", release.Name, name)
			}
		}
	}
}

func TestFindRelease(t *testing.T) {
	for given, want := range map[string]string{"": "2025.1", "2025.1": "2025.1", "2025.1-bookworm": "2025.1-bookworm", "2026.1": "2026.1", "2026.2": "2026.2"} {
		if got, err := recipe.FindRelease(given); err != nil || got.Name != want {
			t.Errorf("release %q is %q (%v), want %s", given, got.Name, err, want)
		}
	}
	const want = `there are no images of a release "2025.2"; there are those of 2025.1, 2025.1-bookworm, 2026.1, 2026.2`
	if _, err := recipe.FindRelease("2025.2"); err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}

// TestAptSources checks that sid and testing have one source each. Testing gets security updates from sid.
func TestAptSources(t *testing.T) {
	for name, want := range map[string][]string{
		"2025.1": {"deb http://a trixie main", "deb http://a trixie-updates main", "deb http://b trixie-security main"},
		"2026.1": {"deb http://a forky main"},
		"2026.2": {"deb http://a sid main"},
	} {
		release, err := recipe.FindRelease(name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, release.AptSources("http://a", "http://b")); diff != "" {
			t.Errorf("apt's sources of %s (-want +got):\n%s", name, diff)
		}
	}
}
