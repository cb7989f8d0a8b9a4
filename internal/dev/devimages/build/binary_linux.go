package build

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"kolla.openstack.org/kolla/internal/dev/devimages/cache"
	"kolla.openstack.org/kolla/internal/dev/devimages/recipe"
)

// binary returns the layer of an image with a single program in the root directory.
func (b *builder) binary(image recipe.Image) (cache.Layer, error) {
	file, err := os.Open(filepath.Join(b.Binaries, image.Binary))
	if err != nil {
		return cache.Layer{}, err
	}
	defer file.Close()
	sum := sha256.New()
	length, err := io.Copy(sum, file)
	if err != nil {
		return cache.Layer{}, fmt.Errorf("reading %s: %w", file.Name(), err)
	}
	key := hex.EncodeToString(sum.Sum(nil))
	if layer, found, err := b.cache.Find(image.Name, key); err != nil || found {
		return layer, err
	}
	b.Progress(image.Name + ": packing")
	return b.cache.Add(image.Name, key, "", func(w io.Writer) error {
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			return err
		}
		archive := tar.NewWriter(w)
		header := &tar.Header{Typeflag: tar.TypeReg, Name: image.Binary, Mode: 0o755, Size: length}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		if _, err := io.Copy(archive, file); err != nil {
			return err
		}
		return archive.Close()
	})
}
