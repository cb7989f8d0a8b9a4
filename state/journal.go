package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"
)

// The journal is a file of JSON lines. The first line is a base, which identifies the
// state that the entries continue. The others are entries. The line of an intent is on
// the disk before the write that it announces; any other line is there before a later
// step relies on it.

// base is the first line of a journal.
type base struct {
	Format  int    `json:"format"`
	Tool    string `json:"tool"`
	Lineage string `json:"lineage"`
	Serial  uint64 `json:"serial"` // of the state before the first entry
}

// journal is the content of a journal.
type journal struct {
	base    base
	entries []entry
}

// readJournal reads the journal; nil: there is none. If the writer was killed, the last
// line may be incomplete. It is ignored, because the step that it announces was not begun.
func (s *Store) readJournal() (*journal, error) {
	raw, err := s.backend.Load(JournalPart)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the journal of the state: %w", err)
	}
	file := s.backend.Name(JournalPart)
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

// fold applies the journal to the state that it continues. A state with a later serial
// already contains the journal: its writer was killed between saving the state and
// removing the journal.
func (j *journal) fold(l *ledger, file string) error {
	fresh := l.head.Fresh()
	switch {
	case j.base.Lineage == "": // even the first line is incomplete
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

// groupWriter appends to the journal of a session. Lines that arrive during a write to
// the disk are written together afterwards. With ten concurrent steps, each waits for one
// or two writes and not for ten.
type groupWriter struct {
	to    JournalWriter
	check func() error // called before each write; an error forbids the write

	mu        sync.Mutex
	writeDone *sync.Cond
	queue     []byte
	queued    uint64 // number of calls of put
	written   uint64 // number of calls of put whose lines survive a kill of the process
	synced    uint64 // number of calls of put whose lines survive a loss of power
	writing   bool
	timer     *time.Timer // timer of the next sync; nil: none is planned
	err       error       // the reason why no more lines are accepted
}

func newGroupWriter(to JournalWriter, check func() error) *groupWriter {
	w := &groupWriter{to: to, check: check}
	w.writeDone = sync.NewCond(&w.mu)
	return w
}

// put queues lines, and returns the ticket with which sync waits for them. The very first
// line must be the base.
func (w *groupWriter) put(lines ...any) (ticket uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, line := range lines {
		text, err := json.Marshal(line)
		if err != nil && w.err == nil {
			w.err = fmt.Errorf("encode a line of the state's journal: %w", err)
		}
		w.queue = append(append(w.queue, text...), '\n')
	}
	w.queued++
	return w.queued
}

// sync returns when the lines of the ticket survive a loss of power. After a failed write nothing
// more is written: the last line may be incomplete, and no line may follow it. After a check that
// forbade the write, the next call tries again.
func (w *groupWriter) sync(ticket uint64) error { return w.reach(&w.synced, ticket, true) }

// write returns when the lines of the ticket survive a kill of the process. Its errors are those of
// sync.
func (w *groupWriter) write(ticket uint64) error { return w.reach(&w.written, ticket, false) }

// reach writes until done, a field of w, is at least the ticket.
func (w *groupWriter) reach(done *uint64, ticket uint64, durable bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for *done < ticket {
		if w.writing {
			w.writeDone.Wait()
			continue
		}
		if w.err != nil {
			return w.err
		}
		if err := w.flush(durable); err != nil {
			return err
		}
	}
	return nil
}

// syncLater syncs all lines after the lag. It returns the error of an
// earlier write.
func (w *groupWriter) syncLater(lag time.Duration) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer == nil && w.err == nil {
		w.timer = time.AfterFunc(lag, func() {
			w.mu.Lock()
			w.timer = nil
			w.mu.Unlock()
			_ = w.syncAll() // the next call returns the error
		})
	}
	return w.err
}

// syncAll syncs all queued lines.
func (w *groupWriter) syncAll() error {
	w.mu.Lock()
	last := w.queued
	w.mu.Unlock()
	return w.sync(last)
}

// flush writes the queued lines. The caller holds the mutex, which flush releases during
// the write.
func (w *groupWriter) flush(durable bool) error {
	lines, upTo := w.queue, w.queued
	w.queue, w.writing = nil, true
	w.mu.Unlock()
	forbidden := w.check()
	var failed error
	if forbidden == nil {
		failed = w.to.Append(lines, durable)
	}
	w.mu.Lock()
	w.writing = false
	switch {
	case forbidden != nil:
		w.queue = append(lines, w.queue...)
	case failed == nil:
		w.written = upTo
		if durable {
			w.synced = upTo
		}
	case w.err == nil:
		w.err = fmt.Errorf("write the journal of the state: %w", failed)
	}
	w.writeDone.Broadcast()
	if forbidden != nil {
		return forbidden
	}
	return w.err
}

// close ends writing and leaves the journal as it is.
func (w *groupWriter) close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.writing {
		w.writeDone.Wait()
	}
	if w.timer != nil {
		w.timer.Stop()
	}
	if w.err == nil {
		w.err = errors.New("write the journal of the state: it has ended")
	}
	return w.to.Close()
}
