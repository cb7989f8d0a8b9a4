package drift

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kolla.openstack.org/kolla/internal/base/files"
	"kolla.openstack.org/kolla/state"
)

// The limits of a history.
const (
	// keep is how long a history remembers drift that is gone.
	keep = 90 * 24 * time.Hour
	// maxEntries is the number of its entries. The oldest ones that are gone are dropped first.
	maxEntries = 5000
)

// Storage keeps the text of a history.
type Storage interface {
	// Load returns the text. If there is none, the error satisfies fs.ErrNotExist.
	Load() ([]byte, error)
	Save(text []byte) error
	// String names the place, for messages.
	String() string
}

// File is a Storage beside a state: .kolla/drift.json in the directory of the state file. A
// state file with another name than the default has a history of its own.
type File struct {
	dir  files.Dir
	name string
}

// FileOf returns the history of the state with a path.
func FileOf(statePath string) File {
	name := "drift.json"
	if base := filepath.Base(statePath); base != state.DefaultFile {
		name = "drift." + strings.TrimSuffix(base, ".json") + ".json"
	}
	return File{files.In(filepath.Dir(statePath)), filepath.Join(directory, name)}
}

const directory = ".kolla"

// maxSize is the maximum size of a file, in bytes.
const maxSize = 64 << 20

// Load is part of Storage.
func (f File) Load() ([]byte, error) { return f.dir.Read(f.name, maxSize) }

// Save is part of Storage. After a failure the file is as before.
func (f File) Save(text []byte) error {
	if err := f.dir.Make(directory); err != nil {
		return err
	}
	return f.dir.Replace(f.name, text)
}

// String is part of Storage: the path of the file.
func (f File) String() string { return f.dir.Path(f.name) }

// historyFormat is the version of the structure of a history.
const historyFormat = 1

// History is the drift of all looks at a cloud.
type History struct {
	Format int    `json:"format"`
	Cloud  string `json:"cloud"`
	// Looked is the time of the last look that succeeded; zero: there was none.
	Looked time.Time `json:"looked,omitzero"`
	// Notified has the set of drift that each receiver of notifications knows; see Set.
	Notified map[string]string `json:"notified,omitempty"`
	Entries  []Entry           `json:"entries"`
	// Checksum is the SHA-256 of the JSON of all other fields.
	Checksum string `json:"checksum,omitempty"`
}

// Entry is one drifted field.
type Entry struct {
	Address string `json:"address"`
	Path    string `json:"path,omitempty"` // empty: the whole object was deleted
	Change  Change `json:"change"`
	Manager string `json:"manager,omitempty"`
	// Value is a hash of the live value; empty for a sensitive value.
	Value string `json:"value,omitempty"`
	// Written is the time at which the manager wrote a sensitive value: the only sign of another
	// value that reveals nothing.
	Written time.Time `json:"written_at,omitzero"`
	First   time.Time `json:"first_seen"`
	Last    time.Time `json:"last_seen"`
	Gone    time.Time `json:"gone_at,omitzero"` // zero: it is there
}

// DamagedError says that a history cannot be used.
type DamagedError struct {
	Why string
	// Newer: a newer version of kolla wrote it, so it must not be overwritten.
	Newer bool
}

// Error implements error.
func (e *DamagedError) Error() string { return e.Why }

// Read reads a history. Without a text, or with a *DamagedError, it is empty.
func Read(from Storage) (*History, error) {
	text, err := from.Load()
	if errors.Is(err, fs.ErrNotExist) {
		return &History{Format: historyFormat}, nil
	}
	if err != nil {
		return &History{Format: historyFormat}, err
	}
	var h History
	if err := json.Unmarshal(text, &h); err != nil {
		return &History{Format: historyFormat}, &DamagedError{Why: fmt.Sprintf("it is not a history of drift: %v", err)}
	}
	if h.Format > historyFormat {
		return &History{Format: historyFormat}, &DamagedError{Why: fmt.Sprintf("it has the format %d, and this kolla reads up to %d", h.Format, historyFormat), Newer: true}
	}
	want := h.Checksum
	if err := h.sum(); err != nil {
		return nil, err
	}
	if h.Checksum != want {
		return &History{Format: historyFormat}, &DamagedError{Why: "its checksum is wrong: it was edited, or not written completely"}
	}
	return &h, nil
}

// sum sets the checksum.
func (h *History) sum() error {
	h.Checksum = ""
	text, err := json.Marshal(h)
	if err != nil {
		return fmt.Errorf("write the history of drift: %w", err)
	}
	h.Checksum = hash(string(text))
	return nil
}

// Write saves the history.
func (h *History) Write(to Storage) error {
	if err := h.sum(); err != nil {
		return err
	}
	text, err := json.MarshalIndent(h, "", " ")
	if err != nil {
		return fmt.Errorf("write the history of drift: %w", err)
	}
	return to.Save(append(text, '\n'))
}

// Add adds a look, and sets Since in its fields. Entries of an object that could not be compared do
// not change. A look at another cloud starts a new history.
func (h *History) Add(look *Look) {
	if h.Cloud != look.Cloud {
		*h = History{Format: historyFormat, Cloud: look.Cloud}
	}
	h.Looked = look.At
	open := map[[2]string]*Entry{}
	for i := range h.Entries {
		if e := &h.Entries[i]; e.Gone.IsZero() {
			open[[2]string{e.Address, e.Path}] = e
		}
	}
	unknown := map[string]bool{}
	for _, n := range look.NotCompared {
		unknown[n.Address.String()] = true
	}
	var fresh []Entry
	for i := range look.Fields {
		f := &look.Fields[i]
		key := [2]string{f.Address.String(), f.Path}
		e := open[key]
		if e == nil {
			fresh = append(fresh, Entry{Address: key[0], Path: key[1], First: look.At})
			e = &fresh[len(fresh)-1]
		}
		delete(open, key)
		e.Change, e.Manager, e.Value, e.Last = f.Change, f.Manager, valueHash(*f), look.At
		if f.Sensitive {
			e.Written = f.Written
		}
		f.Since = e.First
	}
	for _, e := range open {
		if !unknown[e.Address] {
			e.Gone = look.At
		}
	}
	h.Entries = bounded(append(h.Entries, fresh...), look.At)
}

// bounded drops the entries that are too old or too many.
func bounded(entries []Entry, now time.Time) []Entry {
	entries = slices.DeleteFunc(entries, func(e Entry) bool { return !e.Gone.IsZero() && now.Sub(e.Gone) > keep })
	if len(entries) > maxEntries {
		slices.SortStableFunc(entries, func(a, b Entry) int { // drift that is there comes first, then the latest
			return cmp.Or(boolToInt(!a.Gone.IsZero())-boolToInt(!b.Gone.IsZero()), b.Last.Compare(a.Last))
		})
		entries = entries[:maxEntries]
	}
	slices.SortStableFunc(entries, func(a, b Entry) int {
		return cmp.Or(a.First.Compare(b.First), cmp.Compare(a.Address, b.Address), cmp.Compare(a.Path, b.Path))
	})
	return entries
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Set identifies the drift that is there: another field, another writer or another value
// gives another set. It is empty without drift.
func (h *History) Set() string {
	var lines []string
	for _, e := range h.Entries {
		if e.Gone.IsZero() {
			line := []string{e.Address, e.Path, string(e.Change), e.Manager, e.Value}
			if !e.Written.IsZero() {
				line = append(line, e.Written.UTC().Format(time.RFC3339))
			}
			lines = append(lines, strings.Join(line, "\x00"))
		}
	}
	if len(lines) == 0 {
		return ""
	}
	slices.Sort(lines)
	return hash(strings.Join(lines, "\n"))
}

// Since returns the entries of drift that was there at or after a time, the oldest first.
func (h *History) Since(t time.Time) []Entry {
	var out []Entry
	for _, e := range h.Entries {
		if e.Gone.IsZero() || !e.Gone.Before(t) {
			out = append(out, e)
		}
	}
	return out
}

// valueHash returns the hash of a live value, or "" for a sensitive value, which is masked.
func valueHash(f Field) string {
	if f.Sensitive || f.After == nil {
		return ""
	}
	text, err := json.Marshal(f.After)
	if err != nil {
		return ""
	}
	return hash(string(text))[:16]
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
