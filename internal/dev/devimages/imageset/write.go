package imageset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/google/renameio/v2"
)

// Write adds images to the layout in dir, and creates the layout if there is none. It replaces
// images with the same reference, keeps all others, and removes blobs that no image uses any more.
// The layout does not change until the index is replaced at the end.
func Write(dir string, images []Image) error {
	index, err := readIndex(dir)
	if errors.Is(err, fs.ErrNotExist) {
		index, err = &v1.IndexManifest{SchemaVersion: 2, MediaType: types.OCIImageIndex}, nil
	}
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(dir, "blobs", "sha256"), 0o755); err != nil {
		return err
	}
	for _, image := range images {
		descriptor, err := writeImage(dir, image)
		if err != nil {
			return fmt.Errorf("writing image %s: %w", image.Reference, err)
		}
		index.Manifests = slices.DeleteFunc(index.Manifests, func(d v1.Descriptor) bool {
			return d.Annotations[NameAnnotation] == image.Reference
		})
		index.Manifests = append(index.Manifests, *descriptor)
	}
	slices.SortFunc(index.Manifests, func(a, b v1.Descriptor) int {
		return strings.Compare(a.Annotations[NameAnnotation], b.Annotations[NameAnnotation])
	})
	if err := writeIndex(dir, index); err != nil {
		return fmt.Errorf("writing the index of %s: %w", dir, err)
	}
	return removeUnused(dir, index)
}

func writeIndex(dir string, index *v1.IndexManifest) error {
	encoded, err := json.MarshalIndent(index, "", "  ")
	if err != nil {
		return err
	}
	version := []byte(`{"imageLayoutVersion":"1.0.0"}` + "\n")
	if err := renameio.WriteFile(filepath.Join(dir, "oci-layout"), version, 0o644); err != nil {
		return err
	}
	return renameio.WriteFile(filepath.Join(dir, "index.json"), append(encoded, '\n'), 0o644)
}

// writeImage writes the blobs of an image and returns its entry for the index.
func writeImage(dir string, image Image) (*v1.Descriptor, error) {
	for _, layer := range image.Layers {
		if err := placeFile(blobPath(dir, layer.Hash), layer); err != nil {
			return nil, err
		}
	}
	built, err := image.build()
	if err != nil {
		return nil, err
	}
	config, err := built.RawConfigFile()
	if err != nil {
		return nil, err
	}
	manifest, err := built.RawManifest()
	if err != nil {
		return nil, err
	}
	for _, content := range [][]byte{config, manifest} {
		hash, _, err := v1.SHA256(bytes.NewReader(content))
		if err != nil {
			return nil, err
		}
		if err := renameio.WriteFile(blobPath(dir, hash), content, 0o644); err != nil {
			return nil, err
		}
	}
	descriptor, err := partial.Descriptor(built)
	if err != nil {
		return nil, err
	}
	descriptor.Annotations = map[string]string{NameAnnotation: image.Reference}
	descriptor.Platform = &v1.Platform{OS: "linux", Architecture: image.Architecture}
	return descriptor, nil
}

// placeFile adds a layer's file to the blobs: as a hard link if the file system allows it, or else
// as a copy.
func placeFile(name string, layer Layer) error {
	info, err := os.Stat(name)
	if err == nil && info.Size() == layer.Length {
		return nil
	}
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if os.Link(layer.Path, name) == nil {
		return nil
	}
	source, err := os.Open(layer.Path)
	if err != nil {
		return err
	}
	defer source.Close()
	pending, err := renameio.NewPendingFile(name, renameio.WithPermissions(0o644))
	if err != nil {
		return err
	}
	defer pending.Cleanup()
	if _, err := io.Copy(pending, source); err != nil {
		return err
	}
	return pending.CloseAtomicallyReplace()
}

// removeUnused removes blobs that the index does not refer to, and leftovers of a killed build.
func removeUnused(dir string, index *v1.IndexManifest) error {
	used := map[string]bool{}
	for _, descriptor := range index.Manifests {
		manifest, err := readManifest(dir, descriptor.Digest)
		if err != nil {
			return err
		}
		used[descriptor.Digest.Hex] = true
		used[manifest.Config.Digest.Hex] = true
		for _, layer := range manifest.Layers {
			used[layer.Digest.Hex] = true
		}
	}
	blobs := filepath.Join(dir, "blobs", "sha256")
	entries, err := os.ReadDir(blobs)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if used[entry.Name()] {
			continue
		}
		if err := os.Remove(filepath.Join(blobs, entry.Name())); err != nil {
			return err
		}
	}
	return nil
}

func blobPath(dir string, hash v1.Hash) string {
	return filepath.Join(dir, "blobs", hash.Algorithm, hash.Hex)
}

func readIndex(dir string) (*v1.IndexManifest, error) {
	file, err := os.Open(filepath.Join(dir, "index.json"))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	index, err := v1.ParseIndexManifest(file)
	if err != nil {
		return nil, notALayout(dir, err)
	}
	return index, nil
}

func readManifest(dir string, digest v1.Hash) (*v1.Manifest, error) {
	file, err := os.Open(blobPath(dir, digest))
	if err != nil {
		return nil, notALayout(dir, err)
	}
	defer file.Close()
	manifest, err := v1.ParseManifest(file)
	if err != nil {
		return nil, notALayout(dir, err)
	}
	return manifest, nil
}
