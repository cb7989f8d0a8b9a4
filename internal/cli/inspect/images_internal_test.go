package inspect

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/providers/openstack"
)

// TestCopies checks which images are copied if several would get the same name.
func TestCopies(t *testing.T) {
	const locked = "q.io/kolla/memcached:1@sha256:aa"
	for name, test := range map[string]struct {
		images, want []string
		shadowed     int
		fails        string
	}{
		"all":                 {images: []string{"q.io/kolla/keystone:1", locked}, want: []string{"q.io/kolla/keystone:1", locked}},
		"locked by a service": {images: []string{"q.io/kolla/memcached:1", locked}, want: []string{locked}},
		"of two charts":       {images: []string{"q.io/a/controller:1", "q.io/b/controller:1"}, want: []string{"q.io/a/controller:1"}, shadowed: 1},
		"digests":             {images: []string{"q.io/a@sha256:aa", "q.io/a@sha256:bb"}, want: []string{"q.io/a@sha256:aa", "q.io/a@sha256:bb"}},
		"onto itself":         {images: []string{locked, "to.io/site/page:1@sha256:bb"}, fails: "to.io/site/page:1"},
		"digest onto itself":  {images: []string{"to.io/site/page@sha256:bb"}, fails: "to.io/site/page"},
	} {
		t.Run(name, func(t *testing.T) {
			var images []openstack.Image
			for _, reference := range test.images {
				images = append(images, openstack.Image{Reference: reference})
			}
			chosen, shadowed, err := copies(images, "to.io/site")
			if test.fails != "" {
				if err == nil || !strings.Contains(err.Error(), test.fails) {
					t.Fatalf("got %v, want an error about %s", err, test.fails)
				}
				return
			}
			var got []string
			for _, image := range chosen {
				got = append(got, image.Reference)
			}
			if diff := cmp.Diff(test.want, got); diff != "" || err != nil || len(shadowed) != test.shadowed {
				t.Errorf("shadowed %q, %v (-want +got):\n%s", shadowed, err, diff)
			}
		})
	}
}
