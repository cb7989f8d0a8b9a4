package backup

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"

	"filippo.io/age"

	"kolla.openstack.org/kolla/internal/base/failure"
)

// meter counts and hashes the bytes that pass.
type meter struct {
	size int64
	hash hash.Hash
}

func newMeter() *meter { return &meter{hash: sha256.New()} }

// Write implements io.Writer. It never fails.
func (m *meter) Write(p []byte) (int, error) {
	m.size += int64(len(p))
	return m.hash.Write(p)
}

func (m *meter) sum() string { return hex.EncodeToString(m.hash.Sum(nil)) }

// sealed packs and encrypts what is written to it.
type sealed struct {
	pack     *gzip.Writer
	encrypt  io.WriteCloser
	file     *meter
	unpacked int64
}

// seal returns a writer that packs and encrypts into a file. Close completes the content, and does not
// close the file.
func seal(file io.Writer, recipients []age.Recipient) (*sealed, error) {
	s := &sealed{file: newMeter()}
	var err error
	if s.encrypt, err = age.Encrypt(io.MultiWriter(file, s.file), recipients...); err != nil {
		return nil, fmt.Errorf("encrypt: %w", err)
	}
	// The network and the disk are slower than packing at this level.
	s.pack, err = gzip.NewWriterLevel(s.encrypt, gzip.BestSpeed)
	return s, err
}

// Write implements io.Writer.
func (s *sealed) Write(p []byte) (int, error) {
	s.unpacked += int64(len(p))
	return s.pack.Write(p)
}

// Close completes the content.
func (s *sealed) Close() error { return errors.Join(s.pack.Close(), s.encrypt.Close()) }

// opened reads the data of an item, and checks them: at the end it returns an error instead of io.EOF if
// anything was not as the manifest says.
type opened struct {
	name     string // of the backup
	item     Item
	file     io.Reader // through the meter
	meter    *meter
	content  io.Reader // decrypted
	data     *gzip.Reader
	unpacked int64
}

// unseal decrypts and unpacks a file of a backup. It reads the head of the file: a key that does not fit
// is an error here.
func unseal(file io.Reader, name string, item Item, identities []age.Identity) (*opened, error) {
	o := &opened{name: name, item: item, meter: newMeter()}
	o.file = io.TeeReader(file, o.meter)
	var err error
	o.content, err = age.Decrypt(o.file, identities...)
	var other *age.NoIdentityMatchError
	if errors.As(err, &other) {
		return nil, failure.New("The key does not fit", fmt.Sprintf("Backup %s is encrypted for other keys. `kolla backup list -json` shows for which ones.", name))
	}
	if err == nil {
		o.data, err = gzip.NewReader(o.content)
	}
	if err != nil {
		return nil, o.damaged(err)
	}
	return o, nil
}

// Read implements io.Reader.
func (o *opened) Read(p []byte) (int, error) {
	n, err := o.data.Read(p)
	o.unpacked += int64(n)
	if errors.Is(err, io.EOF) {
		err = o.end()
	} else if err != nil {
		err = o.damaged(err)
	}
	return n, err
}

// end returns io.EOF if the whole file was as the manifest says.
func (o *opened) end() error {
	rest, err := io.Copy(io.Discard, o.content)
	switch {
	case err != nil:
		return o.damaged(err)
	case rest > 0:
		return o.damaged(fmt.Errorf("%d bytes follow its data", rest))
	case o.unpacked != o.item.Unpacked:
		return o.damaged(fmt.Errorf("its data have %d bytes instead of %d", o.unpacked, o.item.Unpacked))
	}
	if err := o.compare(); err != nil {
		return err
	}
	return io.EOF
}

// compare returns an error if the file is not the one that the manifest describes.
func (o *opened) compare() error {
	switch {
	case o.meter.size != o.item.Size:
		return o.damaged(fmt.Errorf("it has %d bytes instead of %d", o.meter.size, o.item.Size))
	case o.meter.sum() != o.item.SHA256:
		return o.damaged(errors.New("it has another checksum than the manifest says"))
	}
	return nil
}

// damaged returns the error of a file that is not as it was written.
func (o *opened) damaged(err error) error {
	var place *readError
	if errors.As(err, &place) {
		return unread(o.name, o.item, place.error)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		err = fmt.Errorf("it ends after %d of %d bytes", o.meter.size, o.item.Size)
	}
	return failure.With(err, "The backup is damaged", fmt.Sprintf("File %s of backup %s is not as it was written: %v. Use another backup.", o.item.File, o.name, err))
}
