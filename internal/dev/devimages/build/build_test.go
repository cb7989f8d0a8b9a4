package build_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"

	"kolla.openstack.org/kolla/internal/dev/devimages/build"
	"kolla.openstack.org/kolla/internal/dev/devimages/imageset"
)

// workshop is a build of images that contain a single binary, so no packages are installed.
type workshop struct {
	t       *testing.T
	options build.Options
	lines   *[]string
}

func newWorkshop(t *testing.T) workshop {
	t.Helper()
	dir := t.TempDir()
	w := workshop{t: t, lines: new([]string)}
	w.options = build.Options{
		Out:      filepath.Join(dir, "out"),
		Cache:    filepath.Join(dir, "cache"),
		Binaries: filepath.Join(dir, "binaries"),
		Images:   []string{"pause"},
		Progress: func(line string) { *w.lines = append(*w.lines, line) },
	}
	if err := os.Mkdir(w.options.Binaries, 0o755); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w workshop) program(name, content string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.options.Binaries, name), []byte(content), 0o755); err != nil {
		w.t.Fatal(err)
	}
}

func (w workshop) run() {
	w.t.Helper()
	*w.lines = nil
	if err := build.Run(w.t.Context(), w.options); err != nil {
		w.t.Fatal(err)
	}
}

// only returns the only image of the layout.
func (w workshop) only() (reference string, image v1.Image) {
	w.t.Helper()
	entries, err := imageset.List(w.options.Out)
	if err != nil || len(entries) != 1 {
		w.t.Fatalf("images are %v (%v)", entries, err)
	}
	path, err := layout.FromPath(w.options.Out)
	if err != nil {
		w.t.Fatal(err)
	}
	image, err = path.Image(entries[0].Digest)
	if err != nil {
		w.t.Fatal(err)
	}
	return entries[0].Reference, image
}

func TestBinaryImage(t *testing.T) {
	w := newWorkshop(t)
	w.program("pause", "the program")
	w.run()
	reference, image := w.only()
	if want := "kolla.test/devcluster/pause:dev"; reference != want {
		t.Errorf("the image is %s, want %s", reference, want)
	}
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"/pause"}, config.Config.Entrypoint); diff != "" {
		t.Errorf("entry point (-want +got):\n%s", diff)
	}
}

// TestUnchanged checks that a second build makes nothing again, and that a changed program changes
// its image.
func TestUnchanged(t *testing.T) {
	w := newWorkshop(t)
	w.program("pause", "the program")
	w.run()
	if len(*w.lines) == 0 {
		t.Error("nothing was said about what is made")
	}
	_, before := w.only()

	w.run()
	if len(*w.lines) > 0 {
		t.Errorf("something was made again: %q", *w.lines)
	}
	_, again := w.only()
	if one, other := digest(t, before), digest(t, again); one != other {
		t.Errorf("the image was %s, and is %s", one, other)
	}

	w.program("pause", "another program")
	w.run()
	_, after := w.only()
	if one, other := digest(t, before), digest(t, after); one == other {
		t.Error("another program makes the same image")
	}
}

func digest(t *testing.T, image v1.Image) v1.Hash {
	t.Helper()
	d, err := image.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestMistakes checks that mistakes are reported before any directory is created.
func TestMistakes(t *testing.T) {
	tests := map[string]struct {
		change func(*build.Options)
		want   string
	}{
		"an unknown image":     {func(o *build.Options) { o.Images = []string{"base"} }, `no recipe for an image "base"; there are barbican-api, `},
		"no such program":      {func(o *build.Options) { o.Images = []string{"pause", "coredns"} }, "coredns: no such file"},
		"not a program":        {func(o *build.Options) { o.Images = []string{"coredns"}; o.Binaries = "testdata" }, "testdata/coredns is not a program"},
		"no binaries":          {func(o *build.Options) { o.Binaries = "" }, "image pause: it holds one program, and no -binaries says where"},
		"an impossible tag":    {func(o *build.Options) { o.Images, o.Tag = []string{"keystone"}, "a b" }, "image keystone: prefix and tag make no valid reference"},
		"an impossible prefix": {func(o *build.Options) { o.Images, o.Prefix = []string{"keystone"}, "UPPER/x" }, "image keystone: prefix and tag make no valid reference"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorkshop(t)
			w.program("pause", "the program")
			test.change(&w.options)
			err := build.Run(t.Context(), w.options)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error is %v, want one with %q", err, test.want)
			}
			for _, dir := range []string{w.options.Out, w.options.Cache} {
				if _, err := os.Stat(dir); !os.IsNotExist(err) {
					t.Errorf("%s was made", dir)
				}
			}
		})
	}
}

// TestBlobsAreShared checks that the layout hard-links layers of the cache, if the file system can.
func TestBlobsAreShared(t *testing.T) {
	w := newWorkshop(t)
	w.program("pause", string(bytes.Repeat([]byte{1}, 1000)))
	w.run()
	blobs, err := filepath.Glob(filepath.Join(w.options.Cache, "2025.1", "layers", "pause@*", "*.zst"))
	if err != nil || len(blobs) != 1 {
		t.Fatalf("blobs are %v (%v)", blobs, err)
	}
	cached, err := os.Stat(blobs[0])
	if err != nil {
		t.Fatal(err)
	}
	shared := false
	files, _ := filepath.Glob(filepath.Join(w.options.Out, "blobs", "sha256", "*"))
	for _, file := range files {
		info, err := os.Stat(file)
		shared = shared || err == nil && os.SameFile(info, cached)
	}
	if !shared {
		t.Error("the layout has a copy of its own")
	}
}

// TestReleasesShareNoCache checks that a build of one release leaves the layers of another one.
func TestReleasesShareNoCache(t *testing.T) {
	w := newWorkshop(t)
	w.program("pause", "the program")
	w.run()
	w.options.Release = "2026.2"
	w.program("pause", "another program")
	w.run()
	w.options.Release = ""
	w.program("pause", "the program")
	w.run()
	if len(*w.lines) > 0 {
		t.Errorf("something was made again: %q", *w.lines)
	}
}
