package state

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kolla.openstack.org/kolla/internal/files"
)

// DefaultFile is the name of the state file in the directory of a configuration.
const DefaultFile = "kolla.state.json"

// Store is the place of one state: a file, with other files beside it. For
// kolla.state.json these are
//
//	kolla.state.journal                       the steps of an apply that is running
//	.kolla.state.lock                         locked while a process may write; names it
//	.kolla/backups/kolla.state.SERIAL.json    the last ten versions, including the present one
//
// Store follows no symbolic link to any of them, because others may be able to make links.
type Store struct {
	dir files.Dir
	// Names in the directory.
	file    string
	journal string
	lock    string
	backups string // directory
	stem    string // file name without ".json"
}

// largest is the maximum size of a file of a state, in bytes.
const largest = 1 << 28

// Open returns the store whose state file has the given path. Only the directory has to
// exist; no file is created before the first lock. Open follows a symbolic link to a file
// in the same directory, so that all names of a file share one lock. A link to another
// directory is refused when the state is read.
func Open(path string) *Store {
	dir, name := filepath.Dir(path), filepath.Base(path)
	if target, err := filepath.EvalSymlinks(path); err == nil && sameDir(filepath.Dir(target), dir) {
		name = filepath.Base(target)
	}
	stem := strings.TrimSuffix(name, ".json")
	return &Store{
		dir:     files.In(dir),
		file:    name,
		journal: stem + ".journal",
		lock:    "." + stem + ".lock",
		backups: filepath.Join(".kolla", "backups"),
		stem:    stem,
	}
}

func sameDir(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// Path returns the path of the state file.
func (s *Store) Path() string { return s.dir.Path(s.file) }

// linked wraps an error caused by a symbolic link in a *LinkError.
func (s *Store) linked(name string, err error) error {
	if !errors.Is(err, files.ErrLink) {
		return err
	}
	target, _ := filepath.EvalSymlinks(s.dir.Path(name))
	return &LinkError{File: s.dir.Path(name), Target: target, State: name == s.file, err: err}
}

// Read returns the present state, without a lock: the file, plus the steps in the journal
// of an apply that is running or was killed. A state that was never written, and has no
// backups, is empty, with serial 0 and no lineage.
//
// The error is a *DamagedError or a *NewerFormatError if a file exists but cannot be used.
func (s *Store) Read() (*State, error) {
	l, _, err := s.load()
	if err != nil {
		return nil, err
	}
	return l.state(), nil
}

// load reads the journal before the file. If the state is saved in between, the file is
// ahead of the journal, which fold can handle; the reverse would lose steps.
func (s *Store) load() (l *ledger, journaled bool, err error) {
	j, err := s.readJournal()
	if err != nil {
		return nil, false, err
	}
	read, err := s.readFile()
	if err != nil {
		return nil, false, err
	}
	if read.isFresh() {
		if backups := s.usableBackups(); len(backups) > 0 {
			return nil, false, &DamagedError{File: s.Path(), Backups: backups, Problem: "it is missing, and there are backups of it"}
		}
	}
	l = newLedger(read)
	if j == nil {
		return l, false, nil
	}
	return l, true, j.fold(l, s.dir.Path(s.journal))
}

func (s *Store) readFile() (*State, error) {
	raw, err := s.dir.Read(s.file, largest)
	if errors.Is(err, fs.ErrNotExist) {
		return &State{Format: Format}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the state: %w", s.linked(s.file, err))
	}
	read, err := Decode(s.Path(), raw)
	var damaged *DamagedError
	if errors.As(err, &damaged) {
		damaged.Backups = s.usableBackups()
	}
	return read, err
}

// write saves a state, and backups of it and of the version that it replaces. It writes
// the backups first, so that nothing is left to do after the file was replaced.
func (s *Store) write(next *State) error {
	raw, err := next.Encode()
	if err != nil {
		return err
	}
	if err := s.makeBackups(); err != nil {
		return err
	}
	if old, err := s.dir.Read(s.file, largest); err == nil {
		if previous, err := Decode(s.Path(), old); err == nil {
			if err := s.backUp(previous.Serial, old); err != nil {
				return err
			}
		}
	}
	if err := s.backUp(next.Serial, raw); err != nil {
		return err
	}
	if err := s.dir.Replace(s.file, raw); err != nil {
		return fmt.Errorf("write the state: %w", err)
	}
	return s.rotate()
}

func (s *Store) makeBackups() error {
	if err := s.dir.Make(s.backups); err != nil {
		return fmt.Errorf("make the directory of backups: %w", s.linked(s.backups, err))
	}
	return nil
}

// Backup is a copy of an earlier version of the state, or of the present one.
type Backup struct {
	Path    string
	Serial  uint64
	Written time.Time
	name    string // in the directory of the state
}

// maxBackups is the number of backups that are kept.
const maxBackups = 10

// backUp stores a version of the state. It does not overwrite a version of another lineage
// with the same serial.
func (s *Store) backUp(serial uint64, raw []byte) error {
	file := filepath.Join(s.backups, fmt.Sprintf("%s.%d.json", s.stem, serial))
	kept, err := s.dir.Read(file, largest)
	if err == nil && bytes.Equal(kept, raw) {
		return nil
	}
	if err == nil {
		sum := sha256.Sum256(raw)
		file = filepath.Join(s.backups, fmt.Sprintf("%s.%d.%x.json", s.stem, serial, sum[:4]))
	}
	if err := s.dir.Replace(file, raw); err != nil {
		return fmt.Errorf("back up the state: %w", s.linked(file, err))
	}
	return nil
}

// rotate removes all but the newest backups.
func (s *Store) rotate() error {
	found, err := s.backupFiles()
	if err != nil {
		return err
	}
	for _, file := range found[min(len(found), maxBackups):] {
		if err := s.dir.Remove(file.name); err != nil {
			return fmt.Errorf("remove an old backup of the state: %w", err)
		}
	}
	return nil
}

// backupFiles lists the backups, newest first, without reading them.
func (s *Store) backupFiles() ([]Backup, error) {
	dir, err := s.dir.List(s.backups)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list the backups of the state: %w", s.linked(s.backups, err))
	}
	var found []Backup
	for _, entry := range dir {
		name := entry.Name()
		info, err := entry.Info()
		if err == nil && strings.HasPrefix(name, s.stem+".") && strings.HasSuffix(name, ".json") {
			inside := filepath.Join(s.backups, name)
			found = append(found, Backup{Path: s.dir.Path(inside), Written: info.ModTime(), name: inside})
		}
	}
	slices.SortFunc(found, func(a, b Backup) int {
		return cmp.Or(b.Written.Compare(a.Written), strings.Compare(b.Path, a.Path))
	})
	return found, nil
}

// usableBackups returns the backups that can be read, newest first.
func (s *Store) usableBackups() []Backup {
	found, err := s.backupFiles()
	if err != nil {
		return nil
	}
	var usable []Backup
	for _, file := range found {
		raw, err := s.dir.Read(file.name, largest)
		if err != nil {
			continue
		}
		if kept, err := Decode(file.Path, raw); err == nil {
			file.Serial = kept.Serial
			usable = append(usable, file)
		}
	}
	return usable
}
