package imageset

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// madeOf is the suffix of a file beside an unpacked file system. The file lists the images that
// were unpacked.
const madeOf = ".made-of"

// Unpack writes the file systems of images in the layout dir to a directory, one over the other.
// The names of the images are those of the recipes. If the directory already contains exactly these
// images, it is not changed; otherwise it is replaced. Unpack needs root, and the program tar.
func Unpack(ctx context.Context, dir, to string, names []string) error {
	digests, err := find(dir, names)
	if err != nil {
		return err
	}
	var made strings.Builder
	for _, digest := range digests {
		fmt.Fprintln(&made, digest)
	}
	if isMadeOf(to, made.String()) {
		return nil
	}
	if err := unpackAll(ctx, dir, to, digests); err != nil {
		return fmt.Errorf("unpacking %s: %w", strings.Join(names, ", "), err)
	}
	return os.WriteFile(to+madeOf, []byte(made.String()), 0o644)
}

// find returns the digests of the images with the names.
func find(dir string, names []string) ([]v1.Hash, error) {
	entries, err := List(dir)
	if err != nil {
		return nil, err
	}
	var digests []v1.Hash
	for _, name := range names {
		i := slices.IndexFunc(entries, func(e Entry) bool {
			base, _, _ := strings.Cut(path.Base(e.Reference), ":")
			return base == name
		})
		if i < 0 {
			return nil, fmt.Errorf("there is no image %s in %s; build it first", name, dir)
		}
		digests = append(digests, entries[i].Digest)
	}
	return digests, nil
}

func isMadeOf(to, made string) bool {
	if _, err := os.Stat(to); err != nil {
		return false
	}
	now, err := os.ReadFile(to + madeOf)
	return err == nil && string(now) == made
}

// unpackAll unpacks to a new directory, which then replaces the old one.
func unpackAll(ctx context.Context, dir, to string, digests []v1.Hash) error {
	unfinished := to + ".new"
	if err := errors.Join(os.RemoveAll(unfinished), os.MkdirAll(unfinished, 0o755)); err != nil {
		return err
	}
	for _, digest := range digests {
		if err := unpack(ctx, dir, digest, unfinished); err != nil {
			return err
		}
	}
	if err := errors.Join(os.RemoveAll(to+madeOf), os.RemoveAll(to)); err != nil {
		return err
	}
	return os.Rename(unfinished, to)
}

// unpack writes the file system of an image with tar, including owners, modes and attributes.
func unpack(ctx context.Context, dir string, digest v1.Hash, to string) error {
	index, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		return err
	}
	image, err := index.Image(digest)
	if err != nil {
		return err
	}
	archive := mutate.Extract(image)
	defer func() { _ = archive.Close() }()
	tar := exec.CommandContext(ctx, "tar", "--extract", "--preserve-permissions", "--numeric-owner",
		"--xattrs", "--xattrs-include=*", "--directory", to)
	tar.Stdin = archive
	if out, err := tar.CombinedOutput(); err != nil {
		return fmt.Errorf("tar: %w: %s", err, strings.TrimSpace(string(out)))
	}
	return nil
}
