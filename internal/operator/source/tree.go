// Package source brings the configuration of a Cloud: the files of ConfigMaps, of a Git repository, or
// of an artefact in a container registry. All are kept in memory as a [Tree]. Nothing is written to
// a disk, and a Tree has no file outside of itself.
package source

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// Bounds of a Tree.
const (
	maxFiles = 10_000
	maxBytes = 32 << 20 // of all files
)

// Tree has the files of a source at one revision.
type Tree struct {
	fs.FS
	// Revision says where the files are from: "main@sha1:0a1b...".
	Revision string

	archive []byte // zip
}

// Files collects files, and checks their bounds.
type Files struct {
	contents map[string][]byte
	links    map[string]string
	size     int64
}

// Add reads a file. Its name is a slash-separated path. It is an error if the name leads out of the
// source.
func (f *Files) Add(name string, content io.Reader) error {
	name, err := f.clean(name)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(io.LimitReader(content, maxBytes+1))
	if err != nil {
		return fmt.Errorf("read %s of the source: %w", name, err)
	}
	return f.put(name, text)
}

// put adds a file, within the bounds of a Tree.
func (f *Files) put(name string, text []byte) error {
	f.size += int64(len(text))
	if f.size > maxBytes || len(f.contents) >= maxFiles {
		return fmt.Errorf("the source has more than %d files or %d MiB: keep the configuration in a repository, or in a directory, of its own", maxFiles, maxBytes>>20)
	}
	if f.contents == nil {
		f.contents = map[string][]byte{}
	}
	f.contents[name] = text
	return nil
}

// Link adds a symbolic link.
func (f *Files) Link(name, target string) error {
	name, err := f.clean(name)
	if err != nil {
		return err
	}
	if f.links == nil {
		f.links = map[string]string{}
	}
	f.links[name] = path.Join(path.Dir(name), target)
	if path.IsAbs(target) {
		f.links[name] = target
	}
	return nil
}

func (f *Files) clean(name string) (string, error) {
	name = path.Clean(strings.TrimPrefix(name, "./"))
	if !fs.ValidPath(name) || name == "." {
		return "", fmt.Errorf("%q of the source is not a path inside of it", name)
	}
	return name, nil
}

// follow makes links to files and directories of the source copies of them. A link that leads to
// another link, out of the source or nowhere stays out. If it looks like a part of the configuration,
// it is an error.
func (f *Files) follow() error {
	for _, name := range slices.Sorted(maps.Keys(f.links)) {
		target, found := f.links[name], false
		if content, ok := f.contents[target]; ok {
			if err := f.put(name, content); err != nil {
				return err
			}
			found = true
		}
		for _, other := range slices.Sorted(maps.Keys(f.contents)) {
			if rest, below := strings.CutPrefix(other, target+"/"); below && !strings.HasPrefix(name+"/", target+"/") {
				if err := f.put(path.Join(name, rest), f.contents[other]); err != nil {
					return err
				}
				found = true
			}
		}
		if !found && (strings.HasSuffix(name, ".hcl") || strings.HasSuffix(name, ".hcl.json")) {
			return fmt.Errorf("%s of the source is a link to %s, which is not a file of the source", name, target)
		}
	}
	return nil
}

// Tree returns the files as a Tree.
func (f *Files) Tree(revision string) (*Tree, error) {
	if err := f.follow(); err != nil {
		return nil, err
	}
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	for _, name := range slices.Sorted(maps.Keys(f.contents)) {
		out, err := w.Create(name)
		if err == nil {
			_, err = out.Write(f.contents[name])
		}
		if err != nil {
			return nil, fmt.Errorf("keep %s of the source: %w", name, err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("keep the source: %w", err)
	}
	return Open(archive.Bytes(), revision)
}

// Open returns the Tree of an archive that Archive returned.
func Open(archive []byte, revision string) (*Tree, error) {
	r, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return nil, fmt.Errorf("read the kept source: %w", err)
	}
	return &Tree{FS: r, Revision: revision, archive: archive}, nil
}

// Archive returns all files, for Open. Equal files give equal archives.
func (t *Tree) Archive() []byte { return t.archive }

// Sum returns a hash of all files, in hexadecimal.
func (t *Tree) Sum() string {
	sum := sha256.Sum256(t.archive)
	return hex.EncodeToString(sum[:])
}

// Has reports whether the Tree has a directory. The empty name is the whole of it.
func (t *Tree) Has(dir string) bool {
	info, err := fs.Stat(t.FS, cleanDir(dir))
	return err == nil && info.IsDir()
}

// cleanDir returns a directory as fs.FS names it.
func cleanDir(dir string) string { return path.Clean(strings.TrimSuffix(dir, "/")) }
