package backup

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"filippo.io/age"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/base/files"
)

// maxKeys limits the size of a file with keys in bytes.
const maxKeys = 1 << 20

// Recipients parses public keys: "age1...".
func Recipients(keys []string) ([]age.Recipient, error) {
	if len(keys) == 0 {
		return nil, failure.New("For which key is the backup encrypted?", "Name a public key with -recipient; it may be repeated. `kolla backup key FILE` makes a key.")
	}
	var out []age.Recipient
	for _, key := range keys {
		if strings.HasPrefix(strings.ToUpper(key), "AGE-SECRET-KEY-") {
			return nil, failure.New("This is a private key", "-recipient takes the public key that belongs to it, which begins with age1. A private key on a command line is not private any more: make a new one.")
		}
		one, err := age.ParseRecipients(strings.NewReader(key))
		if err != nil || len(one) != 1 {
			return nil, failure.New(fmt.Sprintf("%q is not a public key", key), "A public key begins with age1. `kolla backup key FILE` makes a key, and prints its public part.")
		}
		out = append(out, one...)
	}
	return out, nil
}

// Identities reads files with private keys.
func Identities(paths []string) ([]age.Identity, error) {
	var out []age.Identity
	for _, path := range paths {
		text, err := files.Read(path, maxKeys)
		if err != nil {
			return nil, failure.With(err, "The key cannot be read", err.Error()+".")
		}
		some, err := age.ParseIdentities(bytes.NewReader(text))
		if err != nil {
			// The error may quote the file.
			return nil, failure.New(path+" has no private key", "A key file has a line that begins with AGE-SECRET-KEY-, as `kolla backup key FILE` writes it.")
		}
		out = append(out, some...)
	}
	return out, nil
}

// NewKey writes a new private key into a file that must not exist, and returns the public key.
func NewKey(path string, now time.Time) (public string, err error) {
	key, err := age.GenerateX25519Identity()
	if err != nil {
		return "", err
	}
	file, err := os.OpenFile(filepath.Clean(path), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		_, err = fmt.Fprintf(file, "# created: %s\n# public key: %s\n%s\n", now.Format(time.RFC3339), key.Recipient(), key)
		if failed := (synced{file}).Close(); err == nil {
			err = failed
		}
	}
	if err != nil {
		return "", failure.With(err, "The key cannot be written", err.Error()+".")
	}
	return key.Recipient().String(), nil
}
