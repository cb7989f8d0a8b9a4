package state

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// DefaultFile is the name of the state file in the directory of a configuration.
const DefaultFile = "kolla.state.json"

// Store reads and changes one state, which a backend keeps.
type Store struct{ backend Backend }

// Open returns the store whose state file has the given path. Only the directory must exist; no
// file is created before the first lock.
func Open(path string) *Store { return &Store{newLocal(path)} }

// New returns the store of a backend.
func New(b Backend) *Store { return &Store{b} }

// Path returns the name of the state in messages: the path of its file, or its place in a
// cluster.
func (s *Store) Path() string { return s.backend.Name(StatePart) }

// Remote reports whether each write takes a request to a server.
func (s *Store) Remote() bool { return s.backend.Lag() > 0 }

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
	if read.Fresh() {
		backups := s.usableBackups()
		if j != nil && j.base.Serial == 0 { // a kill during the first save, after the backup
			backups = slices.DeleteFunc(backups, func(b Backup) bool { return b.lineage == j.base.Lineage })
		}
		if len(backups) > 0 {
			return nil, false, &DamagedError{File: s.Path(), Backups: backups, Missing: true, Problem: "it is missing, and there are backups of it"}
		}
	}
	l = newLedger(read)
	if j == nil {
		return l, false, nil
	}
	return l, true, j.fold(l, s.backend.Name(JournalPart))
}

func (s *Store) readFile() (*State, error) {
	raw, err := s.backend.Load(StatePart)
	if errors.Is(err, fs.ErrNotExist) {
		return &State{Format: Format}, nil
	}
	var read *State
	if err != nil {
		err = fmt.Errorf("read the state: %w", err)
	} else {
		read, err = Decode(s.Path(), raw)
	}
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
	if old, err := s.backend.Load(StatePart); err == nil {
		if previous, err := Decode(s.Path(), old); err == nil {
			if err := s.backend.Keep(previous.Serial, old); err != nil {
				return err
			}
		}
	}
	if err := s.backend.Keep(next.Serial, raw); err != nil {
		return err
	}
	if err := s.backend.Replace(StatePart, raw); err != nil {
		return fmt.Errorf("write the state: %w", err)
	}
	return nil
}

// usableBackups returns the backups that can be read, newest first.
func (s *Store) usableBackups() []Backup {
	found, err := s.backend.Backups()
	if err != nil {
		return nil
	}
	var usable []Backup
	for _, b := range found {
		raw, err := s.backend.LoadBackup(b)
		if err != nil {
			continue
		}
		if kept, err := Decode(b.Path, raw); err == nil {
			b.Serial, b.lineage = kept.Serial, kept.Lineage
			usable = append(usable, b)
		}
	}
	return usable
}
