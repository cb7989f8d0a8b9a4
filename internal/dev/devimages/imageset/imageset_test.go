package imageset_test

import (
	"archive/tar"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"kolla.openstack.org/kolla/internal/dev/devimages/cache"
	"kolla.openstack.org/kolla/internal/dev/devimages/imageset"
)

// layers makes layers in a cache of its own.
type layers struct {
	t     *testing.T
	cache *cache.Cache
}

func newLayers(t *testing.T) layers {
	t.Helper()
	c, err := cache.Open(t.Context(), t.TempDir(), func() {})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return layers{t, c}
}

// layer makes a layer with one file. The file has the name of the layer.
func (l layers) layer(name, content string) imageset.Layer {
	l.t.Helper()
	made, err := l.cache.Add(name, content, "", func(w io.Writer) error {
		archive := tar.NewWriter(w)
		header := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(len(content))}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		if _, err := io.WriteString(archive, content); err != nil {
			return err
		}
		return archive.Close()
	})
	if err != nil {
		l.t.Fatal(err)
	}
	return imageset.Layer{
		Path: made.Path, Hash: made.Digest, Length: made.Size, PlainHash: made.DiffID, Comment: name,
	}
}

func image(reference string, of ...imageset.Layer) imageset.Image {
	return imageset.Image{
		Reference:    reference,
		Config:       v1.Config{User: "keystone", Cmd: []string{"kolla_start"}},
		Layers:       of,
		Architecture: "amd64",
	}
}

func write(t *testing.T, dir string, images ...imageset.Image) {
	t.Helper()
	if err := imageset.Write(dir, images); err != nil {
		t.Fatal(err)
	}
}

// stored reads a layout and returns the images by name. It checks every digest and size. The library
// that reads is not the library that wrote the layout.
func stored(t *testing.T, dir string) map[string]v1.Image {
	t.Helper()
	index, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	images := map[string]v1.Image{}
	for _, descriptor := range manifest.Manifests {
		image, err := index.Image(descriptor.Digest)
		if err != nil {
			t.Fatal(err)
		}
		if err := validate.Image(image, validate.Fast); err != nil {
			t.Error(err)
		}
		checkLayers(t, image)
		images[descriptor.Annotations["io.containerd.image.name"]] = image
	}
	return images
}

// checkLayers reads the layers of an image and compares their hashes with the manifest and the
// configuration.
func checkLayers(t *testing.T, image v1.Image) {
	t.Helper()
	all, err := image.Layers()
	if err != nil {
		t.Fatal(err)
	}
	for _, layer := range all {
		for what, read := range map[string]struct {
			open func() (io.ReadCloser, error)
			hash func() (v1.Hash, error)
		}{
			"blob":    {layer.Compressed, layer.Digest},
			"archive": {layer.Uncompressed, layer.DiffID},
		} {
			want, err := read.hash()
			if err != nil {
				t.Fatal(err)
			}
			content, err := read.open()
			if err != nil {
				t.Fatal(err)
			}
			got, _, err := v1.SHA256(content)
			if err != nil || got != want {
				t.Errorf("a layer's %s has the hash %s (%v), and should have %s", what, got, err, want)
			}
			content.Close()
		}
	}
}

func blobs(t *testing.T, dir string) int {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(dir, "blobs", "sha256"))
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

func TestWrite(t *testing.T) {
	l := newLayers(t)
	dir := filepath.Join(t.TempDir(), "images")
	base := l.layer("base", "shared")
	write(t, dir, image("r.test/ns/a:1", base, l.layer("a", "aaa")), image("r.test/ns/b:1", base))

	images := stored(t, dir)
	if len(images) != 2 || images["r.test/ns/a:1"] == nil || images["r.test/ns/b:1"] == nil {
		t.Fatalf("images are %v", images)
	}
	// Two configurations, two manifests and two layers: the shared layer is stored once.
	if got := blobs(t, dir); got != 6 {
		t.Errorf("%d blobs, want 6", got)
	}
	config, err := images["r.test/ns/a:1"].ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(v1.Config{User: "keystone", Cmd: []string{"kolla_start"}}, config.Config); diff != "" {
		t.Errorf("configuration (-want +got):\n%s", diff)
	}
	if config.OS != "linux" || config.Architecture != "amd64" {
		t.Errorf("platform is %s/%s", config.OS, config.Architecture)
	}
}

func TestWriteReplacesAndKeeps(t *testing.T) {
	l := newLayers(t)
	dir := t.TempDir()
	write(t, dir, image("r.test/ns/a:1", l.layer("a", "old")), image("r.test/ns/b:1", l.layer("b", "b")))
	before := stored(t, dir)["r.test/ns/b:1"]
	// A build that is killed may leave such a file.
	if err := os.WriteFile(filepath.Join(dir, "blobs", "sha256", ".torn"), nil, 0o600); err != nil {
		t.Fatal(err)
	}

	write(t, dir, image("r.test/ns/a:1", l.layer("a", "new")))
	images := stored(t, dir)
	if len(images) != 2 {
		t.Fatalf("images are %v", images)
	}
	want, _ := before.Digest()
	if got, _ := images["r.test/ns/b:1"].Digest(); got != want {
		t.Errorf("the other image is %s now; it was %s", got, want)
	}
	if got := blobs(t, dir); got != 6 {
		t.Errorf("%d blobs, want 6: those of the old image have to go", got)
	}
}

// TestWriteMendsATornBlob checks that a blob with the right name and the wrong length is written
// again.
func TestWriteMendsATornBlob(t *testing.T) {
	l := newLayers(t)
	dir := t.TempDir()
	layer := l.layer("a", "aaa")
	torn := filepath.Join(dir, "blobs", "sha256", layer.Hash.Hex)
	if err := os.MkdirAll(filepath.Dir(torn), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(torn, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	write(t, dir, image("r.test/ns/a:1", layer))
	stored(t, dir)
}

func TestList(t *testing.T) {
	l := newLayers(t)
	dir := t.TempDir()
	base := l.layer("base", "shared")
	write(t, dir, image("r.test/ns/b:1", base, l.layer("b", "bbb")), image("r.test/ns/a:1", base))
	entries, err := imageset.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, entry := range entries {
		got = append(got, entry.Reference)
	}
	if diff := cmp.Diff([]string{"r.test/ns/a:1", "r.test/ns/b:1"}, got); diff != "" {
		t.Errorf("images (-want +got):\n%s", diff)
	}
	if entries[0].Size() != base.Length || len(entries[1].Layers) != 2 {
		t.Errorf("sizes and layers are wrong: %+v", entries)
	}
}

func TestListWithoutALayout(t *testing.T) {
	dir := t.TempDir()
	if _, err := imageset.List(dir); !os.IsNotExist(err) {
		t.Errorf("error is %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "index.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := imageset.List(dir); err == nil {
		t.Error("half an index is taken for a whole one")
	}
	if err := imageset.Write(dir, nil); err == nil {
		t.Error("half an index is overwritten")
	}
}

func TestUnpack(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("NOT RUN: it takes root to unpack a file system with its owners")
	}
	l := newLayers(t)
	dir, to := t.TempDir(), filepath.Join(t.TempDir(), "root")
	base := l.layer("base", "shared")
	write(t, dir, image("r.test/ns/a:1", base, l.layer("a", "aaa")), image("r.test/ns/b:1", base, l.layer("b", "bbb")))

	unpack := func(names ...string) error { return imageset.Unpack(t.Context(), dir, to, names) }
	has := func(want map[string]string) {
		t.Helper()
		got := map[string]string{}
		err := fs.WalkDir(os.DirFS(to), ".", func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			content, err := os.ReadFile(filepath.Join(to, name))
			got[name] = string(content)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("files (-want +got):\n%s", diff)
		}
	}
	if err := unpack("a", "b"); err != nil {
		t.Fatal(err)
	}
	has(map[string]string{"base": "shared", "a": "aaa", "b": "bbb"})

	if err := os.WriteFile(filepath.Join(to, "mine"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := unpack("a", "b"); err != nil {
		t.Fatal(err)
	}
	has(map[string]string{"base": "shared", "a": "aaa", "b": "bbb", "mine": "mine"}) // unchanged

	if err := unpack("a"); err != nil {
		t.Fatal(err)
	}
	has(map[string]string{"base": "shared", "a": "aaa"})

	if err := unpack("c"); err == nil {
		t.Error("an image that is not there is unpacked")
	}
}
