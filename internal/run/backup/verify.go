package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"filippo.io/age"

	"kolla.openstack.org/kolla/internal/base/failure"
)

// Verify reads a file of a backup, and compares it with the manifest. With identities it also decrypts
// and unpacks the data.
func Verify(ctx context.Context, target Target, name string, item Item, identities []age.Identity) error {
	if len(identities) > 0 {
		data, err := Open(ctx, target, name, item, identities)
		if err != nil {
			return err
		}
		defer func() { _ = data.Close() }()
		_, err = io.Copy(io.Discard, data)
		return err
	}
	file, err := open(ctx, target, name, item)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	all := newMeter()
	if _, err := io.Copy(all, &cancelled{ctx, file}); err != nil {
		return unread(name, item, err)
	}
	return (&opened{name: name, item: item, meter: all}).compare()
}

// Open returns a reader of the data of an item. Instead of io.EOF it returns an error if the file is not
// as it was written.
func Open(ctx context.Context, target Target, name string, item Item, identities []age.Identity) (io.ReadCloser, error) {
	file, err := open(ctx, target, name, item)
	if err != nil {
		return nil, err
	}
	data, err := unseal(&cancelled{ctx, file}, name, item, identities)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return struct {
		io.Reader
		io.Closer
	}{data, file}, nil
}

// open opens the file of an item.
func open(ctx context.Context, target Target, name string, item Item) (io.ReadCloser, error) {
	file, err := target.Open(ctx, name, item.File)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, failure.With(err, "The backup is damaged", fmt.Sprintf("It has no file %s, which its manifest names. Use another backup than %s.", item.File, name))
	case err != nil:
		return nil, unread(name, item, err)
	}
	return file, nil
}

// unread is the error of a file that cannot be read now.
func unread(name string, item Item, err error) error {
	return failure.With(err, "The backup cannot be read", fmt.Sprintf("File %s of backup %s: %v. Try again.", item.File, name, err))
}

// cancelled is a reader that ends with a context. Its errors are *readError.
type cancelled struct {
	ctx context.Context
	io.Reader
}

// Read implements io.Reader.
func (c *cancelled) Read(p []byte) (int, error) {
	err := c.ctx.Err()
	n := 0
	if err == nil {
		n, err = c.Reader.Read(p)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = &readError{err}
	}
	return n, err
}

// readError is an error of the place of a backup, and not of its content.
type readError struct{ error }

// Unwrap returns the error of the place.
func (e *readError) Unwrap() error { return e.error }
