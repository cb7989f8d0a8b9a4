package files

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Dir is a directory with the private files of a program. Its methods do not follow symbolic
// links at any place of a path, because others may be able to create links. Names are relative
// to the directory.
type Dir struct{ path string }

// In returns the directory with a path. The path itself may contain links.
func In(path string) Dir { return Dir{path} }

// Path returns the path of a file in the directory, for messages.
func (d Dir) Path(name string) string { return filepath.Join(d.path, name) }

// with opens the directory while do runs. It first checks that the path to the file has no
// links.
func (d Dir) with(name string, do func(root *os.Root) error) error {
	root, err := os.OpenRoot(d.path)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	for parent := filepath.Dir(name); parent != "."; parent = filepath.Dir(parent) {
		info, err := root.Lstat(parent)
		if err != nil {
			return err
		}
		if !info.IsDir() {
			return refused(d.Path(parent), linkOr(info, errors.New("not a directory")))
		}
	}
	return do(root)
}

func linkOr(info fs.FileInfo, other error) error {
	if info.Mode()&fs.ModeSymlink != 0 {
		return ErrLink
	}
	return other
}

// regular returns an error if the name is not a regular file. If there is no file, the error is
// fs.ErrNotExist.
func (d Dir) regular(root *os.Root, name string) (fs.FileInfo, error) {
	info, err := root.Lstat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = refused(d.Path(name), kindOf(info))
	}
	return info, err
}

// open opens an existing file. It compares the identity of the opened file with the checked
// one, so that a link cannot take its place in between. It begins again, a few times, if
// another process replaces the file in between.
func (d Dir) open(root *os.Root, name string, flag int) (*os.File, error) {
	for attempt := 1; ; attempt++ {
		before, err := d.regular(root, name)
		if err != nil {
			return nil, err
		}
		f, err := root.OpenFile(name, flag|nonBlock|NoFollow, 0)
		if err != nil {
			return nil, err
		}
		info, err := f.Stat()
		if err == nil && os.SameFile(before, info) {
			return f, nil
		}
		if err == nil && attempt == 10 {
			err = refused(d.Path(name), ErrLink)
		}
		if err := errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
	}
}

// Read reads a regular file of at most limit bytes.
func (d Dir) Read(name string, limit int64) (content []byte, err error) {
	err = d.with(name, func(root *os.Root) error {
		f, err := d.open(root, name, os.O_RDONLY)
		if err != nil {
			return err
		}
		defer f.Close()
		content, err = readUpTo(f, d.Path(name), limit)
		return err
	})
	return content, err
}

// Open opens a file for reading and writing. If it does not exist, it is created for its owner
// only. A file with a second name is an error, because the write would change another file.
func (d Dir) Open(name string) (file *os.File, err error) {
	err = d.with(name, func(root *os.Root) error {
		f, err := root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			f, err = d.open(root, name, os.O_RDWR)
		}
		if err != nil {
			return err
		}
		info, err := f.Stat()
		if err == nil && otherNames(info) {
			err = refused(d.Path(name), fmt.Errorf("%w: it has a second name", ErrLink))
		}
		if err != nil {
			return errors.Join(err, f.Close())
		}
		file = f
		return nil
	})
	return file, err
}

// New creates a file to append to, readable by its owner only. The file must not exist.
func (d Dir) New(name string) (file *os.File, err error) {
	err = d.with(name, func(root *os.Root) error {
		file, err = root.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
		return err
	})
	return file, err
}

// Stat returns information about a regular file.
func (d Dir) Stat(name string) (info fs.FileInfo, err error) {
	err = d.with(name, func(root *os.Root) error {
		info, err = d.regular(root, name)
		return err
	})
	return info, err
}

// List returns the entries of a subdirectory.
func (d Dir) List(name string) (entries []fs.DirEntry, err error) {
	err = d.with(filepath.Join(name, "."), func(root *os.Root) error {
		info, err := root.Lstat(name)
		if err != nil {
			return err
		}
		if !info.IsDir() {
			return refused(d.Path(name), linkOr(info, errors.New("not a directory")))
		}
		entries, err = fs.ReadDir(root.FS(), filepath.ToSlash(name))
		return err
	})
	return entries, err
}

// Make creates a directory and its parents, for its owner only.
func (d Dir) Make(name string) error {
	root, err := os.OpenRoot(d.path)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	if parent := filepath.Dir(name); parent != "." {
		if err := d.Make(parent); err != nil {
			return err
		}
	}
	err = root.Mkdir(name, 0o700)
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := root.Lstat(name)
	if err == nil && !info.IsDir() {
		err = refused(d.Path(name), linkOr(info, errors.New("not a directory")))
	}
	return err
}

// Replace gives a file new content, readable by its owner only. After a failure the file has
// either the old or the new content. Once Replace has returned, the new content survives a loss
// of power. An existing file is replaced, not written to.
func (d Dir) Replace(name string, content []byte) error {
	return d.with(name, func(root *os.Root) (err error) {
		temporary := filepath.Join(filepath.Dir(name), "."+filepath.Base(name)+rand.Text())
		defer func() {
			if err != nil {
				err = errors.Join(err, ignoreMissing(root.Remove(temporary)))
			}
		}()
		f, err := root.OpenFile(temporary, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		if err := errors.Join(fill(f, content), f.Close()); err != nil {
			return err
		}
		written, err := root.ReadFile(temporary)
		if err != nil {
			return err
		}
		if !bytes.Equal(written, content) {
			return fmt.Errorf("%s does not hold what was written to it", d.Path(temporary))
		}
		if err := root.Rename(temporary, name); err != nil {
			return err
		}
		return syncDir(root, filepath.Dir(name))
	})
}

func fill(f *os.File, content []byte) error {
	if _, err := f.Write(content); err != nil {
		return err
	}
	return f.Sync()
}

// Rename changes the name of a file in the directory.
func (d Dir) Rename(name, to string) error {
	return d.with(name, func(root *os.Root) error {
		return d.with(to, func(*os.Root) error { return root.Rename(name, to) })
	})
}

// Remove deletes a file. The removal survives a loss of power. A file that does not exist is no
// error.
func (d Dir) Remove(name string) error {
	return d.with(name, func(root *os.Root) error {
		if err := ignoreMissing(root.Remove(name)); err != nil {
			return err
		}
		return syncDir(root, filepath.Dir(name))
	})
}

// Sync writes the list of files of a directory to the disk. Before that, neither a rename nor a
// removal survives a loss of power.
func (d Dir) Sync() error {
	return d.with(".", func(root *os.Root) error { return syncDir(root, ".") })
}

func syncDir(root *os.Root, name string) error {
	f, err := root.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
