package imageset

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// madeOf is the file beside an unpacked file system that says which images it is
// made of.
const madeOf = ".made-of"

// Unpack makes the directory to the file system of images of the layout in dir,
// which are named as recipes name them, each laid over the one before. It is
// replaced in one step, and left as it is when it is of these very images.
func Unpack(ctx context.Context, dir, to string, names []string) error {
	entries, err := List(dir)
	if err != nil {
		return err
	}
	var wanted []Entry
	var digests []string
	for _, name := range names {
		i := slices.IndexFunc(entries, func(e Entry) bool {
			base, _, _ := strings.Cut(path.Base(e.Reference), ":")
			return base == name
		})
		if i < 0 {
			return fmt.Errorf("there is no image %s in %s; build it first", name, dir)
		}
		wanted = append(wanted, entries[i])
		digests = append(digests, entries[i].Digest.String())
	}
	made := strings.Join(digests, "\n") + "\n"
	if now, err := os.ReadFile(to + madeOf); err == nil && string(now) == made {
		if _, err := os.Stat(to); err == nil {
			return nil
		}
	}
	unfinished := to + ".new"
	err = errors.Join(remove(unfinished), os.MkdirAll(unfinished, 0o755))
	for _, entry := range wanted {
		if err == nil {
			err = unpack(ctx, dir, entry, unfinished)
		}
	}
	if err == nil {
		err = errors.Join(remove(to+madeOf), remove(to), os.Rename(unfinished, to), os.WriteFile(to+madeOf, []byte(made), 0o644))
	}
	if err != nil {
		return fmt.Errorf("unpack %s: %w", strings.Join(names, ", "), err)
	}
	return nil
}

func remove(path string) error {
	if err := os.RemoveAll(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// unpack has tar write the image's file system, with owners and modes.
func unpack(ctx context.Context, dir string, entry Entry, to string) error {
	index, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		return err
	}
	image, err := index.Image(entry.Digest)
	if err != nil {
		return err
	}
	archive := mutate.Extract(image)
	defer archive.Close()
	tar := exec.CommandContext(ctx, "tar", "--extract", "--preserve-permissions", "--numeric-owner", "--directory", to)
	tar.Stdin = archive
	if out, err := tar.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(string(out)))
	}
	return nil
}
