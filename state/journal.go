package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// The journal is a file of JSON lines: first a base, which says what state the
// entries continue, then the entries. Each line is on the disk before what it
// announces is begun, or before the next step that relies on it.

// base is the first line of a journal.
type base struct {
	Format  int    `json:"format"`
	Tool    string `json:"tool"`
	Lineage string `json:"lineage"`
	Serial  uint64 `json:"serial"` // of the state before the first entry
}

// journal is a journal as it was read.
type journal struct {
	base    base
	entries []entry
}

// readJournal reads the journal; nil when there is none. The last line of a journal
// whose writer was killed may be torn: what it announced was not begun, and it does
// not count.
func readJournal(file string) (*journal, error) {
	raw, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the journal of the state: %w", err)
	}
	lines := bytes.Split(bytes.TrimSuffix(raw, []byte("\n")), []byte("\n"))
	var j journal
	for i, line := range lines {
		var problem string
		if i == 0 {
			if problem = j.readBase(line); problem == "" && j.base.Format > Format {
				return nil, &NewerFormatError{File: file, Format: j.base.Format, Tool: j.base.Tool}
			}
		} else {
			problem = j.readEntry(line)
		}
		switch {
		case problem == "":
		case i < len(lines)-1:
			return nil, &DamagedError{File: file, Journal: true, Problem: fmt.Sprintf("line %d: %s", i+1, problem)}
		case i == 0:
			j.base = base{}
		}
	}
	return &j, nil
}

func (j *journal) readBase(line []byte) (problem string) {
	if err := json.Unmarshal(line, &j.base); err != nil {
		return err.Error()
	}
	if j.base.Format < 1 || j.base.Lineage == "" {
		return "it does not say which state it continues"
	}
	return ""
}

func (j *journal) readEntry(line []byte) (problem string) {
	var e entry
	if err := json.Unmarshal(line, &e); err != nil {
		return err.Error()
	}
	if !e.valid() {
		return "it is no step of an apply"
	}
	j.entries = append(j.entries, e)
	return ""
}

// fold applies the journal to the state that it continues. A state that is
// further on has taken the journal in already: its writer was killed between
// saving the state and removing the journal.
func (j *journal) fold(l *ledger, file string) error {
	fresh := l.head.isFresh()
	switch {
	case j.base.Lineage == "": // even its first line is torn
		return nil
	case !fresh && l.head.Lineage == j.base.Lineage && l.head.Serial > j.base.Serial:
		return nil
	case l.head.Serial != j.base.Serial || !fresh && l.head.Lineage != j.base.Lineage:
		return &DamagedError{File: file, Journal: true, Problem: fmt.Sprintf(
			"it continues a state with lineage %q and serial %d, but the one beside it has lineage %q and serial %d",
			j.base.Lineage, j.base.Serial, l.head.Lineage, l.head.Serial)}
	}
	for _, e := range j.entries {
		if l.apply(e) {
			l.head.Lineage = j.base.Lineage
		}
	}
	return nil
}

// journalWriter appends to the journal of a session.
type journalWriter struct {
	file *os.File
}

// createJournal begins a journal with its base. None may exist.
func createJournal(file string, b base) (*journalWriter, error) {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("begin the journal of the state: %w", err)
	}
	w := &journalWriter{file: f}
	err = w.append(b)
	if err == nil {
		err = syncDir(filepath.Dir(file))
	}
	if err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(file))
	}
	return w, nil
}

// append puts lines on the disk. Nothing may follow an append that failed.
func (w *journalWriter) append(lines ...any) error {
	var raw []byte
	for _, line := range lines {
		text, err := json.Marshal(line)
		if err != nil {
			return fmt.Errorf("encode a line of the state's journal: %w", err)
		}
		raw = append(append(raw, text...), '\n')
	}
	if _, err := w.file.Write(raw); err != nil {
		return fmt.Errorf("write the journal of the state: %w", err)
	}
	if err := w.file.Sync(); err != nil {
		return fmt.Errorf("write the journal of the state: %w", err)
	}
	return nil
}

// remove ends the journal, after all of it was saved elsewhere.
func (w *journalWriter) remove() error {
	return errors.Join(w.file.Close(), removeFile(w.file.Name()))
}
