package source

import (
	"io/fs"
	"os"

	"kolla.openstack.org/kolla/internal/base/files"
	"kolla.openstack.org/kolla/lang/syntax"
)

// Disk has the files of this machine. Unlike those of other file systems, its names are
// paths of the operating system: they may be absolute, or begin with "..".
var Disk fs.FS = disk{}

type disk struct{}

// Open opens a regular file.
func (disk) Open(name string) (fs.File, error) {
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// ReadDir reads a directory.
func (disk) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }

// ReadFile reads a regular file, up to the size that a configuration may have.
func (disk) ReadFile(name string) ([]byte, error) { return syntax.Read(name) }
