// Package imageset writes and reads a set of images in an OCI image layout.
package imageset

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// NameAnnotation is the annotation in the index with the full reference of an image.
const NameAnnotation = "io.containerd.image.name"

// Layer is a layer whose archive is in a file, compressed with zstd.
type Layer struct {
	Path      string
	Hash      v1.Hash // of the file
	Length    int64   // of the file
	PlainHash v1.Hash // of the uncompressed archive
	// Comment describes the layer in the history of the image.
	Comment string
}

// The methods that partial.CompressedToLayer needs.

// Digest returns the hash of the file.
func (l Layer) Digest() (v1.Hash, error) { return l.Hash, nil }

// DiffID returns the hash of the uncompressed archive.
func (l Layer) DiffID() (v1.Hash, error) { return l.PlainHash, nil }

// Size returns the length of the file.
func (l Layer) Size() (int64, error) { return l.Length, nil }

// MediaType returns the type of an archive that is compressed with zstd.
func (l Layer) MediaType() (types.MediaType, error) { return types.OCILayerZStd, nil }

// Compressed opens the file.
func (l Layer) Compressed() (io.ReadCloser, error) { return os.Open(l.Path) }

// Image is an image of the set.
type Image struct {
	// Reference is the full name: registry, namespace, name and tag.
	Reference string
	Config    v1.Config
	// Layers are ordered from the lowest to the topmost.
	Layers []Layer
	// Architecture is the name of the processor architecture in Go and OCI.
	Architecture string
}

// build makes the image's configuration and manifest.
func (i Image) build() (v1.Image, error) {
	image := mutate.MediaType(empty.Image, types.OCIManifestSchema1)
	image = mutate.ConfigMediaType(image, types.OCIConfigJSON)
	var err error
	for _, layer := range i.Layers {
		extended, err := partial.CompressedToLayer(layer)
		if err != nil {
			return nil, err
		}
		image, err = mutate.Append(image, mutate.Addendum{
			Layer:     extended,
			MediaType: types.OCILayerZStd,
			History:   v1.History{CreatedBy: layer.Comment},
		})
		if err != nil {
			return nil, err
		}
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS = "linux"
	config.Architecture = i.Architecture
	config.Config = i.Config
	return mutate.ConfigFile(image, config)
}

// Entry describes an image for List.
type Entry struct {
	Reference string
	Digest    v1.Hash
	// Layers are ordered from the lowest to the topmost.
	Layers []v1.Descriptor
}

// Size returns the sum of the layers' compressed sizes, in bytes.
func (e Entry) Size() int64 {
	var sum int64
	for _, layer := range e.Layers {
		sum += layer.Size
	}
	return sum
}

// List returns the images of a layout, sorted by name.
func List(dir string) ([]Entry, error) {
	index, err := readIndex(dir)
	if err != nil {
		return nil, err
	}
	var entries []Entry
	for _, descriptor := range index.Manifests {
		manifest, err := readManifest(dir, descriptor.Digest)
		if err != nil {
			return nil, err
		}
		entries = append(entries, Entry{
			Reference: descriptor.Annotations[NameAnnotation],
			Digest:    descriptor.Digest,
			Layers:    manifest.Layers,
		})
	}
	slices.SortFunc(entries, func(a, b Entry) int { return strings.Compare(a.Reference, b.Reference) })
	return entries, nil
}

func notALayout(dir string, err error) error {
	return fmt.Errorf("%s is not an image layout that can be read (remove it to have it written anew): %w", dir, err)
}
