// Package files opens files whose names come from a command line, from a configuration, or from
// a directory that others may write to. It only opens regular files of a limited size. A named
// pipe blocks until a program writes to it, and a device or a file of the kernel may never end.
// In both cases the program could not be interrupted.
package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// MaxSize is the maximum size of a file, in bytes, if there is no more specific limit.
const MaxSize = 16 << 20

// Errors of this package, in addition to errors of the file system. Each is in a *fs.PathError.
var (
	// ErrNotRegular: the name is a directory, a named pipe, a device or a socket.
	ErrNotRegular = errors.New("not a regular file")
	// ErrTooLarge: the file is larger than the limit.
	ErrTooLarge = errors.New("too large")
	// ErrWritable: users other than the owner may change the file.
	ErrWritable = errors.New("others may write to it")
	// ErrNotOwned: the file belongs to another user, and not to root.
	ErrNotOwned = errors.New("it belongs to another user")
	// ErrLink: the file is a symbolic link or has a second name, and may not.
	ErrLink = errors.New("it is a link")
)

// Open opens a regular file for reading. It never waits.
func Open(name string) (*os.File, error) {
	// Opening a device can have any effect, so devices are not opened at all.
	if err := refuseKind(name, os.Stat); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(name, os.O_RDONLY|nonBlock, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat() // the file may have been replaced by now
	if err == nil && !info.Mode().IsRegular() {
		err = refused(name, kindOf(info))
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Read reads a regular file of at most limit bytes.
func Read(name string, limit int64) ([]byte, error) {
	f, err := Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readUpTo(f, name, limit)
}

// ReadTrusted is Read for a file that decides about actions: only the user and root may have
// permission to write it.
func ReadTrusted(name string, limit int64) ([]byte, error) {
	f, err := Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if why := untrusted(info); why != nil {
		return nil, refused(name, why)
	}
	return readUpTo(f, name, limit)
}

// Check returns an error if Read would refuse the file. It is for files that another program
// opens.
func Check(name string, limit int64) error {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return refused(name, kindOf(info))
	case info.Size() > limit:
		return refused(name, tooLarge(limit))
	}
	return RefuseKernel(name)
}

// checkTarget returns an error if a file with that name must not be written. An existing file
// has to be a regular file, which will be replaced, or a link to one.
func checkTarget(name string) error {
	err := refuseKind(name, os.Stat)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it will be created
	}
	return err
}

// begins reports whether a regular file begins with a text, or is empty.
func begins(name, text string) (bool, error) {
	f, err := Open(name)
	if err != nil {
		return false, err
	}
	defer f.Close()
	start := make([]byte, len(text))
	n, err := io.ReadFull(f, start)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return n == 0 || string(start[:n]) == text, err
}

// create creates a file, or empties an existing one. It never waits.
func create(name string) (*os.File, error) {
	if err := checkTarget(name); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|nonBlock, 0o666)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = refused(name, kindOf(info))
	default:
		err = f.Truncate(0)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// WriteNew writes a file that must not exist yet, and makes its directory. If it cannot
// write all of the file, it removes the file.
func WriteNew(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err = errors.Join(err, file.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// ReadAll reads a stream, such as the standard input, to its end. More than limit bytes are an
// error. It returns when ctx ends; later input is lost.
func ReadAll(ctx context.Context, stream io.Reader, limit int64) ([]byte, error) {
	type result struct {
		content []byte
		err     error
	}
	done := make(chan result, 1)
	go func() {
		content, err := readUpTo(stream, "the input", limit)
		done <- result{content, err}
	}()
	select {
	case r := <-done:
		return r.content, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func readUpTo(r io.Reader, name string, limit int64) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(content)) > limit {
		return nil, refused(name, tooLarge(limit))
	}
	return content, err
}

// refuseKind returns an error if stat shows that the name is not a regular file.
func refuseKind(name string, stat func(string) (fs.FileInfo, error)) error {
	info, err := stat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = refused(name, kindOf(info))
	}
	if err == nil {
		err = RefuseKernel(name)
	}
	return err
}

// RefuseKernel returns an error if a name leads to the files that the kernel makes. They look
// like regular files, but to read one may wait forever, or have any effect.
func RefuseKernel(name string) error {
	path, err := filepath.EvalSymlinks(name)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return nil // the file system reports it
	}
	for _, root := range []string{"/dev", "/proc", "/sys"} {
		if path == root || strings.HasPrefix(path, root+"/") {
			return refused(name, fmt.Errorf("%w, but one of the kernel, below %s", ErrNotRegular, root))
		}
	}
	return nil
}

func refused(name string, why error) error {
	return &fs.PathError{Op: "open", Path: name, Err: why}
}

// kindOf returns an error that names the type of a file that is not regular.
func kindOf(info fs.FileInfo) error {
	what := "something else"
	switch mode := info.Mode(); {
	case mode.IsDir():
		what = "a directory"
	case mode&fs.ModeSymlink != 0:
		return ErrLink
	case mode&fs.ModeNamedPipe != 0:
		what = "a named pipe"
	case mode&fs.ModeSocket != 0:
		what = "a socket"
	case mode&fs.ModeDevice != 0:
		what = "a device"
	}
	return fmt.Errorf("%w, but %s", ErrNotRegular, what)
}

func tooLarge(limit int64) error {
	if limit < 1<<20 {
		return fmt.Errorf("%w: it has more than %d KiB", ErrTooLarge, limit>>10)
	}
	return fmt.Errorf("%w: it has more than %d MiB", ErrTooLarge, limit>>20)
}

// Cause returns an error without the names of the operation and of the file.
func Cause(err error) error {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return pathError.Err
	}
	return err
}
