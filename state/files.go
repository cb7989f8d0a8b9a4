package state

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// replaceFile gives a file new content, readable by its owner only. Whatever
// happens, the file has either the old content or the new one; once replaceFile
// has returned, the new one survives a loss of power.
func replaceFile(file string, content []byte) (err error) {
	pending, err := renameio.NewPendingFile(file,
		renameio.WithTempDir(filepath.Dir(file)), renameio.WithStaticPermissions(0o600))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pending.Cleanup()) }()
	if _, err := pending.Write(content); err != nil {
		return err
	}
	if err := pending.Sync(); err != nil {
		return err
	}
	written, err := os.ReadFile(pending.Name())
	if err != nil {
		return err
	}
	if !bytes.Equal(written, content) {
		return fmt.Errorf("%s does not hold what was written to it", pending.Name())
	}
	if err := pending.CloseAtomicallyReplace(); err != nil {
		return err
	}
	return syncDir(filepath.Dir(file))
}

// removeFile removes a file for good; one that does not exist is no error.
func removeFile(file string) error {
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return syncDir(filepath.Dir(file))
}

// syncDir puts on the disk which files a directory has: neither a rename nor a
// removal survives a loss of power before that.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
