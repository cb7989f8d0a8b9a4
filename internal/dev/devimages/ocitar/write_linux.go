package ocitar

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	whiteout = ".wh."
	opaque   = ".wh..wh..opq"
	// overlayXattrs begins the names of what overlayfs keeps for itself.
	overlayXattrs = "trusted.overlay."
	// xattrRecord begins the names of the records in which a tar archive has extended
	// attributes.
	xattrRecord = "SCHILY.xattr."
)

// Options say how a directory becomes a layer.
type Options struct {
	// Lower are the file systems below, in any order: only a directory that one of
	// them has can hide anything.
	Lower []string
	// Empty are directories, relative with slashes, whose content is left out.
	Empty []string
}

// Write writes the tar archive of the layer whose files are in dir: sorted by name, with
// owners, modes, hard links and extended attributes, whiteouts in OCI's form.
// Sockets are left out.
func Write(w io.Writer, dir string, options Options) error {
	a := archive{
		Options: options,
		dir:     dir,
		tar:     tar.NewWriter(w),
		links:   map[inode]string{},
	}
	if err := a.directory("."); err != nil {
		return fmt.Errorf("writing the layer of %s: %w", dir, err)
	}
	return a.tar.Close()
}

type inode struct{ device, number uint64 }

type archive struct {
	Options
	dir   string
	tar   *tar.Writer
	links map[inode]string // the first name of each file that has several
}

// directory writes what is in a directory, but not the directory itself.
func (a *archive) directory(name string) error {
	entries, err := os.ReadDir(filepath.Join(a.dir, name)) // sorted
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if err := a.entry(path.Join(name, entry.Name())); err != nil {
			return err
		}
	}
	return nil
}

func (a *archive) entry(name string) error {
	full := filepath.Join(a.dir, name)
	info, err := os.Lstat(full)
	if err != nil {
		return err
	}
	status := info.Sys().(*syscall.Stat_t)
	switch {
	case info.Mode()&fs.ModeSocket != 0:
		return nil
	case info.Mode()&fs.ModeCharDevice != 0 && status.Rdev == 0:
		return a.marker(path.Join(path.Dir(name), whiteout+path.Base(name)))
	}
	header, err := a.header(name, info, status)
	if err != nil {
		return err
	}
	if err := a.tar.WriteHeader(header); err != nil {
		return err
	}
	switch {
	case header.Typeflag == tar.TypeReg:
		return a.content(full)
	case info.IsDir():
		return a.below(name, full)
	}
	return nil
}

// below writes the content of a directory that has been written itself.
func (a *archive) below(name, full string) error {
	if slices.Contains(a.Empty, name) {
		return nil
	}
	hides, err := isOpaque(full)
	if err != nil {
		return err
	}
	// A new directory is marked as well: that it hides nothing costs a lookup to know.
	if hides && a.covers(name) {
		if err := a.marker(path.Join(name, opaque)); err != nil {
			return err
		}
	}
	return a.directory(name)
}

// covers reports whether a layer below has something in a directory of this name.
func (a *archive) covers(name string) bool {
	return slices.ContainsFunc(a.Lower, func(lower string) bool {
		info, err := os.Lstat(filepath.Join(lower, name))
		return err == nil && info.IsDir()
	})
}

// marker writes an empty file with a meaning.
func (a *archive) marker(name string) error {
	return a.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o600})
}

func (a *archive) header(name string, info fs.FileInfo, status *syscall.Stat_t) (*tar.Header, error) {
	full := filepath.Join(a.dir, name)
	var target string
	if info.Mode()&fs.ModeSymlink != 0 {
		var err error
		if target, err = os.Readlink(full); err != nil {
			return nil, err
		}
	}
	header, err := tar.FileInfoHeader(info, target)
	if err != nil {
		return nil, err
	}
	header.Name = name
	if info.IsDir() {
		header.Name += "/"
	}
	// Numbers only: names are those of this machine.
	header.Uname, header.Gname = "", ""
	header.AccessTime, header.ChangeTime = time.Time{}, time.Time{}
	header.ModTime = info.ModTime().Truncate(time.Second)
	if first, ok := a.firstName(name, info, status); ok {
		header.Typeflag, header.Linkname, header.Size = tar.TypeLink, first, 0
		return header, nil
	}
	header.PAXRecords, err = extendedAttributes(full)
	if len(header.PAXRecords) > 0 {
		header.Format = tar.FormatPAX
	}
	return header, err
}

// firstName returns the name under which a file with several was already written.
func (a *archive) firstName(name string, info fs.FileInfo, status *syscall.Stat_t) (string, bool) {
	if !info.Mode().IsRegular() || status.Nlink < 2 {
		return "", false
	}
	id := inode{device: status.Dev, number: status.Ino}
	first, ok := a.links[id]
	if !ok {
		a.links[id] = name
	}
	return first, ok
}

func (a *archive) content(full string) error {
	file, err := os.Open(full)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.Copy(a.tar, file)
	return err
}

// extendedAttributes returns the attributes of a file but for overlayfs' own.
func extendedAttributes(name string) (map[string]string, error) {
	size, err := unix.Llistxattr(name, nil)
	if err != nil || size == 0 {
		return nil, ignoreUnsupported(err)
	}
	names := make([]byte, size)
	if size, err = unix.Llistxattr(name, names); err != nil {
		return nil, err
	}
	records := map[string]string{}
	for attribute := range strings.SplitSeq(strings.TrimRight(string(names[:size]), "\x00"), "\x00") {
		if strings.HasPrefix(attribute, overlayXattrs) {
			continue
		}
		value, err := extendedAttribute(name, attribute)
		if err != nil {
			return nil, err
		}
		records[xattrRecord+attribute] = value
	}
	return records, nil
}

func extendedAttribute(name, attribute string) (string, error) {
	size, err := unix.Lgetxattr(name, attribute, nil)
	if err != nil || size == 0 {
		return "", err
	}
	value := make([]byte, size)
	size, err = unix.Lgetxattr(name, attribute, value)
	return string(value[:max(size, 0)]), err
}

// isOpaque reports whether overlayfs hides what is below a directory.
func isOpaque(name string) (bool, error) {
	value, err := extendedAttribute(name, overlayXattrs+"opaque")
	if errors.Is(err, unix.ENODATA) {
		return false, nil
	}
	return value == "y", ignoreUnsupported(err)
}

func ignoreUnsupported(err error) error {
	if errors.Is(err, unix.ENOTSUP) {
		return nil
	}
	return err
}
