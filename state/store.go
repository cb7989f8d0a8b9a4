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
)

// DefaultFile is the name of the state file in the directory of a configuration.
const DefaultFile = "kolla.state.json"

// Store is where one state is kept: in a file, with its companions beside it.
// For kolla.state.json they are
//
//	kolla.state.journal                       what an apply that is under way has done
//	.kolla.state.lock                         locked while somebody may write; says who
//	.kolla/backups/kolla.state.SERIAL.json    the last ten versions, the present one included
type Store struct {
	file    string
	journal string
	lock    string
	backups string // directory
	stem    string // file name without ".json"
}

// Open returns the store whose state file has the given path. Nothing has to
// exist yet but its directory, and nothing is made before the first lock. A
// symbolic link is followed, so that all names of a file share one lock.
func Open(path string) *Store {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	dir := filepath.Dir(path)
	stem := strings.TrimSuffix(filepath.Base(path), ".json")
	return &Store{
		file:    path,
		journal: filepath.Join(dir, stem+".journal"),
		lock:    filepath.Join(dir, "."+stem+".lock"),
		backups: filepath.Join(dir, ".kolla", "backups"),
		stem:    stem,
	}
}

// Path is the path of the state file.
func (s *Store) Path() string { return s.file }

// Read returns the present state, without a lock: the file, and what the journal
// of an apply that is under way or was killed says beyond it. A state that was
// never written is empty, with serial 0 and no lineage.
//
// The error is a *DamagedError or a *NewerFormatError where a file is there but
// cannot be used.
func (s *Store) Read() (*State, error) {
	l, _, err := s.load()
	if err != nil {
		return nil, err
	}
	return l.state(), nil
}

// load reads the journal, then the file: in this order a save that happens in
// between leaves a file that is further on than the journal, never the reverse.
func (s *Store) load() (l *ledger, journaled bool, err error) {
	j, err := readJournal(s.journal)
	if err != nil {
		return nil, false, err
	}
	read, err := s.readFile()
	if err != nil {
		return nil, false, err
	}
	l = newLedger(read)
	if j == nil {
		return l, false, nil
	}
	if read.isFresh() && j.base.Serial > 0 {
		if backups := s.usableBackups(); len(backups) > 0 {
			return nil, false, &DamagedError{File: s.file, Backups: backups, Problem: fmt.Sprintf(
				"it is missing, while %s continues a state with serial %d", s.journal, j.base.Serial)}
		}
	}
	return l, true, j.fold(l, s.journal)
}

func (s *Store) readFile() (*State, error) {
	raw, err := os.ReadFile(s.file)
	if errors.Is(err, fs.ErrNotExist) {
		return &State{Format: Format}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the state: %w", err)
	}
	read, err := Decode(s.file, raw)
	var damaged *DamagedError
	if errors.As(err, &damaged) {
		damaged.Backups = s.usableBackups()
	}
	return read, err
}

// write saves a state, and backups of it and of what it takes the place of.
// Backups come first: once the file is replaced, all is done.
func (s *Store) write(next *State) error {
	raw, err := next.Encode()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.backups, 0o700); err != nil {
		return fmt.Errorf("make the directory of backups: %w", err)
	}
	if old, err := os.ReadFile(s.file); err == nil {
		if previous, err := Decode(s.file, old); err == nil {
			if err := s.backUp(previous.Serial, old); err != nil {
				return err
			}
		}
	}
	if err := s.backUp(next.Serial, raw); err != nil {
		return err
	}
	if err := replaceFile(s.file, raw); err != nil {
		return fmt.Errorf("write the state: %w", err)
	}
	return s.rotate()
}

// Backup is an earlier version of the state, or a copy of the present one.
type Backup struct {
	Path    string
	Serial  uint64
	Written time.Time
}

// maxBackups is how many backups are kept.
const maxBackups = 10

// backUp keeps a version of the state. A version of another lineage that has the
// same serial is not overwritten.
func (s *Store) backUp(serial uint64, raw []byte) error {
	file := filepath.Join(s.backups, fmt.Sprintf("%s.%d.json", s.stem, serial))
	kept, err := os.ReadFile(file)
	if err == nil && bytes.Equal(kept, raw) {
		return nil
	}
	if err == nil {
		sum := sha256.Sum256(raw)
		file = filepath.Join(s.backups, fmt.Sprintf("%s.%d.%x.json", s.stem, serial, sum[:4]))
	}
	if err := replaceFile(file, raw); err != nil {
		return fmt.Errorf("back up the state: %w", err)
	}
	return nil
}

// rotate removes all but the newest backups.
func (s *Store) rotate() error {
	files, err := s.backupFiles()
	if err != nil {
		return err
	}
	for _, file := range files[min(len(files), maxBackups):] {
		if err := os.Remove(file.Path); err != nil {
			return fmt.Errorf("remove an old backup of the state: %w", err)
		}
	}
	return nil
}

// backupFiles lists the backups, newest first, without looking into them.
func (s *Store) backupFiles() ([]Backup, error) {
	dir, err := os.ReadDir(s.backups)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list the backups of the state: %w", err)
	}
	var files []Backup
	for _, found := range dir {
		name := found.Name()
		info, err := found.Info()
		if err == nil && strings.HasPrefix(name, s.stem+".") && strings.HasSuffix(name, ".json") {
			files = append(files, Backup{Path: filepath.Join(s.backups, name), Written: info.ModTime()})
		}
	}
	slices.SortFunc(files, func(a, b Backup) int {
		return cmp.Or(b.Written.Compare(a.Written), strings.Compare(b.Path, a.Path))
	})
	return files, nil
}

// usableBackups are the backups that can be read, newest first.
func (s *Store) usableBackups() []Backup {
	files, err := s.backupFiles()
	if err != nil {
		return nil
	}
	var usable []Backup
	for _, file := range files {
		raw, err := os.ReadFile(file.Path)
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
