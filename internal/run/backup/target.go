package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	"kolla.openstack.org/kolla/internal/base/failure"
)

// Target is a place for backups. Its String is a name for messages.
type Target interface {
	fmt.Stringer
	// Backups returns the names of the directories.
	Backups(ctx context.Context) ([]string, error)
	// Create writes a new file of a backup, and makes its directory. The file is complete and durable
	// when Close has returned nil.
	Create(ctx context.Context, backup, file string) (io.WriteCloser, error)
	// Open reads a file. If it does not exist, the error is fs.ErrNotExist.
	Open(ctx context.Context, backup, file string) (io.ReadCloser, error)
	// Remove removes a backup with all files.
	Remove(ctx context.Context, backup string) error
	// Close ends the use of the target, also after the context has ended.
	Close(ctx context.Context) error
}

// Directory is a Target on this machine.
type Directory struct{ root *os.Root }

var _ Target = (*Directory)(nil)

// OpenDirectory opens a directory as a target. With create, it makes a missing directory.
func OpenDirectory(dir string, create bool) (*Directory, error) {
	if create {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, unreachable(dir, err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, unreachable(dir, err)
	}
	return &Directory{root}, nil
}

// unreachable is the error of a target that cannot be used at all.
func unreachable(target string, err error) error {
	return failure.With(err, "The backups cannot be reached", fmt.Sprintf("%s: %v. Nothing was changed.", target, err))
}

// String returns the path.
func (d *Directory) String() string { return d.root.Name() }

// Close implements Target.
func (d *Directory) Close(context.Context) error { return d.root.Close() }

// Backups implements Target.
func (d *Directory) Backups(context.Context) (names []string, err error) {
	entries, err := fs.ReadDir(d.root.FS(), ".")
	if err != nil {
		return nil, unreachable(d.String(), err)
	}
	for _, entry := range entries {
		if entry.IsDir() {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}

// Create implements Target.
func (d *Directory) Create(_ context.Context, backup, file string) (io.WriteCloser, error) {
	if err := d.root.Mkdir(backup, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	f, err := d.root.OpenFile(path.Join(backup, file), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return synced{f}, nil
}

// synced is a file that is durable when Close has returned.
type synced struct{ *os.File }

// Close implements io.Closer.
func (s synced) Close() error { return errors.Join(s.Sync(), s.File.Close()) }

// Open implements Target. It opens regular files only, because others may never end.
func (d *Directory) Open(_ context.Context, backup, file string) (io.ReadCloser, error) {
	name := path.Join(backup, file)
	info, err := d.root.Lstat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: name, Err: errors.New("not a regular file")}
	}
	if err != nil {
		return nil, err
	}
	return d.root.Open(name)
}

// Remove implements Target.
func (d *Directory) Remove(_ context.Context, backup string) error { return d.root.RemoveAll(backup) }
