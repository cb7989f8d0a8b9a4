package build

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kolla.openstack.org/kolla/internal/dev/devimages/cache"
	"kolla.openstack.org/kolla/internal/dev/devimages/recipe"
)

// TestProgress checks that a build counts the layers of all its images, each once.
func TestProgress(t *testing.T) {
	dir := t.TempDir()
	var got []string
	options := Options{
		Out: filepath.Join(dir, "out"), Cache: filepath.Join(dir, "cache"), Images: []string{"keystone", "memcached", "placement-api"},
		Progress: func(line string) { got = append(got, line) },
	}
	release, err := recipe.FindRelease("")
	if err != nil {
		t.Fatal(err)
	}
	options.Tag = release.Tag
	images, err := options.choose(release)
	if err != nil {
		t.Fatal(err)
	}
	store, err := cache.Open(t.Context(), filepath.Join(options.Cache, release.Name), func() {})
	if err != nil {
		t.Fatal(err)
	}
	b := &builder{Options: options, release: release}
	var names []string
	for _, image := range images {
		for _, layer := range b.chain(image.Layer) {
			if slices.Contains(names, layer.Name) {
				continue
			}
			names = append(names, layer.Name)
			if _, err := store.Add(layer.Name, layer.key, "", func(w io.Writer) error {
				_, err := io.WriteString(w, layer.Name)
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
	store.Close()
	if err := Run(t.Context(), options); err != nil {
		t.Fatal(err)
	}
	var want []string
	for i, name := range names {
		want = append(want, fmt.Sprintf("layer %d of %d, %s: unchanged", i+1, len(names), name))
	}
	if all := len(recipe.Layers()); !slices.Equal(got, want) || len(names) < 4 || len(names) >= all {
		t.Errorf("of %d layers, the build says:\n%s\nwant:\n%s", all, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
