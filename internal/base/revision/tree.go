package revision

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kolla.openstack.org/kolla/internal/base/files"
)

// Tree has the files of a revision. Unlike those of other file systems, its names are
// relative to the directory of the repository, and may begin with "..". Links are followed
// within the repository.
type Tree struct {
	// Commit is the full name of the commit.
	Commit string

	ctx        context.Context
	repository *Repository
	files      map[string]*entry   // by path in the repository
	children   map[string][]string // names in each directory; "." is the repository
}

// entry is a file, or a link.
type entry struct {
	id     string
	size   int64 // or missing
	link   bool
	target string // of the link
}

// missing is the size of a file whose content is missing in the clone.
const missing = -1

// add adds a file. It refuses paths that git would not check out: commits of strangers may contain
// such paths.
func (t *Tree) add(file string, e *entry) error {
	for part := range strings.SplitSeq(file, "/") {
		if part == "" || part == "." || part == ".." || strings.EqualFold(part, ".git") {
			return fmt.Errorf("git checks out no file of the name %q", file)
		}
	}
	if t.files[file] != nil || t.children[file] != nil {
		return fmt.Errorf("the path %q is there twice", file)
	}
	t.files[file] = e
	for name := file; name != "."; name = path.Dir(name) {
		parent := path.Dir(name)
		_, known := t.children[parent]
		if t.files[parent] != nil {
			return fmt.Errorf("the path %q is there twice", parent)
		}
		t.children[parent] = append(t.children[parent], path.Base(name))
		if known {
			break
		}
	}
	return nil
}

// readLinks reads the targets of all links with one command.
func (t *Tree) readLinks() error {
	const maxLink = 4096 // as on Linux
	var links []*entry
	var ids strings.Builder
	for _, e := range t.files {
		if e.link && e.size >= 0 && e.size <= maxLink {
			links = append(links, e)
			ids.WriteString(e.id + "\n")
		}
	}
	if len(links) == 0 {
		return nil
	}
	out, _, err := t.repository.run(t.ctx, ids.String(), "cat-file", "--batch")
	if err != nil {
		return err
	}
	for _, e := range links {
		_, rest, _ := bytes.Cut(out, []byte("\n")) // ID blob SIZE
		if int64(len(rest)) < e.size+1 {
			return fmt.Errorf("git says nothing of %s", e.id)
		}
		e.target, out = string(rest[:e.size]), rest[e.size+1:]
	}
	return nil
}

// maxLinks is the maximum number of links in a path, as on Linux.
const maxLinks = 40

// resolve returns the path in the repository of a name, without links.
func (t *Tree) resolve(name string) (string, error) {
	full, err := t.repository.within(name)
	for range maxLinks {
		if err != nil {
			return "", err
		}
		link, rest := t.firstLink(full)
		if link == "" {
			return full, nil
		}
		target := t.files[link].target
		switch {
		case target == "":
			return "", errors.New("a link that leads nowhere")
		case path.IsAbs(target):
			return "", errOutside
		}
		if full = path.Join(path.Dir(link), target, rest); full == ".." || strings.HasPrefix(full, "../") {
			return "", errOutside
		}
	}
	return "", errors.New("too many links")
}

// firstLink splits a path after its first link. Without one, link is empty.
func (t *Tree) firstLink(full string) (link, rest string) {
	for end := 0; end < len(full); end++ {
		next := strings.IndexByte(full[end:], '/')
		if next < 0 {
			next = len(full) - end
		}
		end += next
		if e := t.files[full[:end]]; e != nil && e.link {
			return full[:end], strings.TrimPrefix(full[end:], "/")
		}
	}
	return "", ""
}

// content reads a file from the repository.
func (t *Tree) content(e *entry) ([]byte, error) {
	if e.size == missing {
		return nil, fmt.Errorf("%w; fetch it first: git archive %s > /dev/null", errPartial, t.Commit)
	}
	if e.size > files.MaxSize {
		return nil, fmt.Errorf("%w: it has more than %d MiB", files.ErrTooLarge, files.MaxSize>>20)
	}
	content, _, err := t.repository.run(t.ctx, "", "cat-file", "blob", e.id)
	return content, err
}

// Relative returns the name in the Tree of an absolute path on the disk, if the path is in the
// work tree of the repository.
func (t *Tree) Relative(path string) (name string, ok bool) {
	full, err := t.repository.within(path)
	if err != nil {
		return "", false
	}
	name, err = filepath.Rel(t.repository.dir, filepath.Join(t.repository.root, filepath.FromSlash(full)))
	return name, err == nil
}

// ReadFile reads a file of at most 16 MiB.
func (t *Tree) ReadFile(name string) ([]byte, error) {
	full, err := t.resolve(name)
	var content []byte
	if err == nil {
		e := t.files[full]
		switch {
		case e != nil:
			content, err = t.content(e)
		case t.children[full] != nil:
			err = fmt.Errorf("%w, but a directory", files.ErrNotRegular)
		default:
			err = fs.ErrNotExist
		}
	}
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	return content, nil
}

// Stat describes a file or a directory.
func (t *Tree) Stat(name string) (fs.FileInfo, error) {
	full, err := t.resolve(name)
	if err != nil {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: err}
	}
	if e := t.files[full]; e != nil {
		return info{path.Base(name), max(e.size, 0), 0o444, full}, nil
	}
	if t.children[full] != nil {
		return info{path.Base(name), 0, fs.ModeDir | 0o555, full}, nil
	}
	return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
}

// ReadDir lists a directory. The type of a link is that of its target.
func (t *Tree) ReadDir(name string) ([]fs.DirEntry, error) {
	full, err := t.resolve(name)
	if err == nil && t.children[full] == nil {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	var out []fs.DirEntry
	for _, child := range slices.Sorted(slices.Values(t.children[full])) {
		about, err := t.Stat(path.Join(name, child))
		if err != nil {
			about = info{name: child, mode: fs.ModeSymlink | 0o777} // reading the link returns the error
		}
		out = append(out, fs.FileInfoToDirEntry(about))
	}
	return out, nil
}

// Open opens a file for reading.
func (t *Tree) Open(name string) (fs.File, error) {
	content, err := t.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return file{bytes.NewReader(content), info{path.Base(name), int64(len(content)), 0o444, name}}, nil
}

// file is an open file.
type file struct {
	*bytes.Reader
	info info
}

func (f file) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f file) Close() error               { return nil }

// info describes a file.
type info struct {
	name string
	size int64
	mode fs.FileMode
	path string // in the repository, without links
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) Mode() fs.FileMode  { return i.mode }
func (i info) ModTime() time.Time { return time.Time{} }
func (i info) IsDir() bool        { return i.mode.IsDir() }

// Sys returns the path in the repository, without links. Two names of the same directory have the
// same path.
func (i info) Sys() any { return i.path }
