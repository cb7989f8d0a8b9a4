package realcloud_test

import (
	"archive/tar"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// imagesVariable chooses the images of most tests: those of bin/images-NAME, and for the others those of bin/images.
const imagesVariable = "KOLLA_TEST_RELEASE"

// chosenImages returns the release and the distribution of the images that imagesVariable chooses.
func chosenImages() (release, distro string) { return releaseOf(os.Getenv(imagesVariable)) }

// releaseOf returns the release and the distribution of bin/images-NAME. Names are such as 2026.2 and
// 2025.1-bookworm.
func releaseOf(name string) (release, distro string) {
	release, suite, _ := strings.Cut(cmp.Or(name, first), "-")
	return release, "debian-" + cmp.Or(suite, "trixie")
}

// ofChosen returns a configuration of bin/images for the images that imagesVariable chooses.
func ofChosen(text string) string {
	release, distro := chosenImages()
	return strings.NewReplacer(`"`+first+`"`, `"`+release+`"`, `"debian-trixie"`, `"`+distro+`"`).Replace(text)
}

// images is the index of an OCI image layout.
type images struct {
	Manifests []map[string]any `json:"manifests"`
	layouts   []string         // those in bin that have the content
}

// imagesOf returns the images of bin/images and bin/images-NAME, of bin/images only if the name is empty. An image that the
// second lacks is that of the first, with another tag. It skips the test if there is no second.
func imagesOf(t *testing.T, name string) *images {
	t.Helper()
	all := &images{layouts: []string{"images"}}
	decode(t, built(t, "images", "index.json"), all)
	if name == "" {
		return all
	}
	all.layouts = append(all.layouts, "images-"+name)
	index := built(t, "images-"+name, "index.json")
	if _, err := os.Stat(index); errors.Is(err, os.ErrNotExist) {
		t.Skipf("NOT RUN: there is no bin/images-%s; make images-more makes it", name)
	}
	var more images
	decode(t, index, &more)
	there := map[string]bool{}
	for _, manifest := range more.Manifests {
		there[referenceOf(manifest)] = true
	}
	release, distro := releaseOf(name)
	for _, manifest := range all.Manifests {
		image, tag, _ := strings.Cut(referenceOf(manifest), ":")
		if other := image + ":" + release + "-" + distro; strings.HasPrefix(tag, first) && !there[other] {
			more.Manifests = append(more.Manifests, withReference(manifest, other))
		}
	}
	all.Manifests = append(all.Manifests, more.Manifests...)
	return all
}

// withTag returns the images in which one of bin/images has a second tag.
func (all *images) withTag(t *testing.T, image, tag string) *images {
	t.Helper()
	release, distro := releaseOf("")
	for _, manifest := range all.Manifests {
		if referenceOf(manifest) == image+":"+release+"-"+distro {
			all.Manifests = append(all.Manifests, withReference(manifest, image+":"+tag))
			return all
		}
	}
	t.Fatalf("bin/images has no image %s", image)
	return nil
}

// imagesWithKolla returns the images of bin/images and bin/kolla-image.tar, as the option that gives them to the nodes.
func imagesWithKolla(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, blobs), 0o755); err != nil {
		t.Fatal(err)
	}
	archive, err := os.Open(built(t, "kolla-image.tar"))
	if err != nil {
		t.Fatalf("%v: make it with make image", err)
	}
	defer archive.Close()
	for reader := tar.NewReader(archive); ; {
		h, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		var content []byte
		if err == nil {
			content, err = io.ReadAll(reader)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, h.Name), content, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var outer, variants images
	blob := func(digest any) string {
		return filepath.Join(dir, blobs, strings.TrimPrefix(fmt.Sprint(digest), "sha256:"))
	}
	decode(t, filepath.Join(dir, "index.json"), &outer)
	decode(t, blob(outer.Manifests[0]["digest"]), &variants)
	all := imagesOf(t, "")
	for _, variant := range variants.Manifests {
		if system, _ := variant["platform"].(map[string]any); system["architecture"] == runtime.GOARCH {
			all.Manifests = append(all.Manifests, withReference(variant, kollaImage))
		}
	}
	return all.in(t, dir)
}

// option makes an image layout, and returns the option that gives it to the nodes.
func (all *images) option(t *testing.T) string {
	t.Helper()
	return all.in(t, t.TempDir())
}

// in makes the image layout in a directory that may have content of some images.
func (all *images) in(t *testing.T, dir string) string {
	t.Helper()
	index, err := json.Marshal(all)
	if err == nil {
		err = errors.Join(os.MkdirAll(filepath.Join(dir, blobs), 0o755), os.WriteFile(filepath.Join(dir, "index.json"), index, 0o644))
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, layout := range all.layouts {
		contents, err := filepath.Glob(filepath.Join(built(t, layout, blobs), "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, content := range contents {
			err := os.Symlink(content, filepath.Join(dir, blobs, filepath.Base(content)))
			if err != nil && !errors.Is(err, os.ErrExist) { // two layouts may have it
				t.Fatal(err)
			}
		}
	}
	return "-images=" + dir
}

// referenceKey is the annotation with the name and tag of an image in a layout.
const referenceKey = "io.containerd.image.name"

// referenceOf returns the name and tag of an image, or "" if it has none.
func referenceOf(manifest map[string]any) string {
	annotations, _ := manifest["annotations"].(map[string]any)
	name, _ := annotations[referenceKey].(string)
	return name
}

// withReference returns an image under another name and tag.
func withReference(manifest map[string]any, name string) map[string]any {
	other := maps.Clone(manifest)
	other["annotations"] = map[string]any{referenceKey: name}
	return other
}

// blobs is the folder with the content of an image layout.
const blobs = "blobs/sha256"

// built returns the path of something that make has built, in bin.
func built(t *testing.T, name ...string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(append([]string{"../../../bin"}, name...)...))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func decode(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}
