package backup

import (
	"context"
	"errors"
	"fmt"
	"io"

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
		return err
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
	if err != nil {
		return nil, failure.With(err, "The backup is damaged", fmt.Sprintf("File %s of backup %s cannot be read: %v. Use another backup.", item.File, name, err))
	}
	return file, nil
}

// cancelled is a reader that ends with a context.
type cancelled struct {
	ctx context.Context
	io.Reader
}

// Read implements io.Reader.
func (c *cancelled) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.Reader.Read(p)
}
