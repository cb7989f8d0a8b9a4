// Package files opens files whose names come from a command line, from a configuration or
// from a directory that others may write to. What is opened is a regular file of a
// bounded size: to open a named pipe waits for whoever writes into it, a device may never
// end, and both keep a program from being interrupted.
package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Largest is how large a file may be that nothing more is known of, in bytes.
const Largest = 16 << 20

// Errors of this package, besides those of the file system. Each is in a *fs.PathError.
var (
	// ErrNotRegular: it is a directory, a named pipe, a device or a socket.
	ErrNotRegular = errors.New("not a regular file")
	// ErrTooLarge: it is larger than it may be.
	ErrTooLarge = errors.New("too large")
	// ErrWritable: others than its owner may change it.
	ErrWritable = errors.New("others may write to it")
	// ErrNotOwned: it belongs to another user, who is not root either.
	ErrNotOwned = errors.New("it belongs to another user")
	// ErrLink: it is a symbolic link, or has a second name, where neither may be.
	ErrLink = errors.New("it is a link")
)

// Open opens a regular file for reading. It never waits.
func Open(name string) (*os.File, error) {
	// What opening a device does is up to the device, so that it is not opened at all.
	if err := refuseKind(name, os.Stat); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(name, os.O_RDONLY|nonBlock, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat() // it may be another one by now
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

// ReadTrusted is Read for a file that decides what is done: nobody but the user and root
// may have written it.
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

// Check refuses a file that somebody else is going to open, unless Read would read it.
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
	return nil
}

// CheckTarget refuses the name of a file that is to be written: what there is of that
// name has to be a regular file, which is replaced, or a link to one.
func CheckTarget(name string) error {
	err := refuseKind(name, os.Stat)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it is made
	}
	return err
}

// Begins reports whether a regular file begins with a text, or is empty.
func Begins(name, text string) (bool, error) {
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

// Create makes a file, or empties the one that there is. It never waits.
func Create(name string) (*os.File, error) {
	if err := CheckTarget(name); err != nil {
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

// ReadAll reads a stream, such as the standard input, up to its end or limit bytes. It
// returns when ctx ends; what is read after that is lost.
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

// refuseKind refuses what is no regular file, by what stat says of it.
func refuseKind(name string, stat func(string) (fs.FileInfo, error)) error {
	info, err := stat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = refused(name, kindOf(info))
	}
	return err
}

func refused(name string, why error) error {
	return &fs.PathError{Op: "open", Path: name, Err: why}
}

// kindOf says what is there instead of a regular file.
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
