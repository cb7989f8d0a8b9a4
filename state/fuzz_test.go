package state_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"kolla.openstack.org/kolla/state"
)

// FuzzRead reads any content of the two files. It must not panic. A state that it can read must
// stay the same after it was written and read again. The checksum is corrected first, because
// otherwise nearly all content would be refused.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"state.json", "future.json"} {
		raw, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw, []byte(nil))
	}
	f.Fuzz(func(t *testing.T, file, journal []byte) {
		dir := t.TempDir()
		store := state.Open(filepath.Join(dir, state.DefaultFile))
		if len(file) > 0 {
			must(t, os.WriteFile(store.Path(), mended(file), 0o600))
		}
		if len(journal) > 0 {
			must(t, os.WriteFile(filepath.Join(dir, "kolla.state.journal"), journal, 0o600))
		}
		first, err := store.Read()
		if err != nil {
			return
		}
		encoded, err := first.Encode()
		must(t, err)
		decoded, err := state.Decode("encoded", encoded)
		must(t, err)
		same(t, "encoded and decoded", first, decoded)
		again, err := decoded.Encode()
		must(t, err)
		if !bytes.Equal(encoded, again) {
			t.Errorf("encoded twice:\n%s\n%s", encoded, again)
		}
		must(t, lock(t, store).Close())
		same(t, "taken in", first, read(t, store))
	})
}

// mended returns a JSON object with its correct checksum.
func mended(raw []byte) []byte {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var members map[string]any
	if decoder.Decode(&members) != nil || members == nil {
		return raw
	}
	delete(members, "checksum")
	var canonical bytes.Buffer
	encoder := json.NewEncoder(&canonical)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(members) != nil {
		return raw
	}
	sum := sha256.Sum256(bytes.TrimRight(canonical.Bytes(), "\n"))
	members["checksum"] = "sha256:" + hex.EncodeToString(sum[:])
	out, err := json.Marshal(members)
	if err != nil {
		return raw
	}
	return out
}
