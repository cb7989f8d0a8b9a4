package state

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
)

// Session is the time during which one process holds the lock of a state, and
// alone may change it. It is safe for concurrent use.
//
// Begin, Owe, Intend, Record and Forget take effect when they return: what they say is
// on the disk, in the journal, and survives a kill of the process. An object is
// first intended, then written to the cluster, then recorded. If nothing follows
// an intent, the object may exist or not: the state then has it with Ready false, with
// the UID of the object that was to be written, and with the token of the object that
// was to be made, so that the next plan knows either of them again.
type Session struct {
	store *Store
	lock  *lock
	tool  string
	// restored is the backup that the state was taken from.
	restored *Backup
	resumes  bool // there was a journal of a session before

	mu      sync.Mutex
	ledger  *ledger
	saved   uint64         // serial of what is in the file
	journal *journalWriter // nil: nothing was put into it yet
	closed  bool
}

// Lock takes the lock of the store, waiting for it up to timeout, and reads the
// state. What a killed process has left in the journal is taken into the file.
// Of info, Operation and Version are to be given.
//
// The error is a *LockedError when somebody else holds the lock, or one that Read
// could return.
func (s *Store) Lock(ctx context.Context, info LockInfo, timeout time.Duration) (*Session, error) {
	return s.begin(ctx, info, timeout, s.load)
}

// Salvage is Lock for a state that cannot be read, or that is missing. Files that cannot be
// used are moved in among the backups, with "damaged" in their names, and the session goes
// on from the newest usable backup, which it then has as Restored, and what the journal
// says beyond it; without a backup, from an empty state.
func (s *Store) Salvage(ctx context.Context, info LockInfo, timeout time.Duration) (*Session, error) {
	var restored *Backup
	session, err := s.begin(ctx, info, timeout, func() (l *ledger, journaled bool, err error) {
		l, journaled, restored, err = s.salvage()
		return l, journaled, err
	})
	if err == nil {
		session.restored = restored
	}
	return session, err
}

func (s *Store) begin(ctx context.Context, info LockInfo, timeout time.Duration, load func() (*ledger, bool, error)) (*Session, error) {
	held, err := s.acquire(ctx, info, timeout)
	if err != nil {
		return nil, err
	}
	session := &Session{store: s, lock: held, tool: info.Version}
	var journaled bool
	session.ledger, journaled, err = load()
	if err == nil && journaled {
		err = s.takeIn(session.ledger)
	}
	if err != nil {
		return nil, errors.Join(err, held.release())
	}
	session.saved, session.resumes = session.ledger.head.Serial, journaled
	return session, nil
}

// takeIn saves a state that was put together from file and journal, and ends the
// journal. A journal without any change leaves the file as it is.
func (s *Store) takeIn(l *ledger) error {
	present, err := s.readFile()
	if err != nil {
		return err
	}
	if present.Serial != l.head.Serial {
		if err := s.write(l.state()); err != nil {
			return err
		}
	}
	if err := s.dir.Remove(s.journal); err != nil {
		return fmt.Errorf("remove the journal of the state: %w", err)
	}
	return nil
}

// salvage is load, after everything that load refuses was moved out of the way, and with
// the newest backup in the place of a file that is missing.
func (s *Store) salvage() (l *ledger, journaled bool, restored *Backup, err error) {
	for {
		l, journaled, err = s.load()
		var damaged *DamagedError
		name := s.file
		var backups []Backup
		switch {
		case errors.As(err, &damaged):
			if damaged.Journal {
				name = s.journal
			}
			backups = damaged.Backups
			if err := s.setAside(name); err != nil {
				return nil, false, nil, err
			}
		case err == nil && !journaled && l.head.isFresh():
			backups = s.usableBackups()
			if len(backups) == 0 {
				return l, journaled, restored, nil
			}
		default:
			return l, journaled, restored, err
		}
		if len(backups) == 0 {
			continue
		}
		raw, err := s.dir.Read(backups[0].name, largest)
		if err == nil {
			err = s.dir.Replace(name, raw)
		}
		if err != nil {
			return nil, false, nil, fmt.Errorf("restore a backup of the state: %w", err)
		}
		restored = &backups[0]
	}
}

// setAside moves a damaged file in among the backups, if there is one.
func (s *Store) setAside(file string) error {
	if err := s.makeBackups(); err != nil {
		return err
	}
	aside := fmt.Sprintf("%s.damaged-%d", file, time.Now().UnixNano())
	if err := s.dir.Rename(file, filepath.Join(s.backups, aside)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("set a damaged file of the state aside: %w", err)
	}
	return nil
}

// Abandoned is who held the lock before, had begun to write, and ended without releasing
// it: a process that crashed or was killed. Nil when the last one ended in order, or before
// it had begun, such as while it asked for approval.
func (s *Session) Abandoned() *LockInfo {
	if !s.resumes {
		return nil
	}
	return s.lock.abandoned
}

// Restored is the backup that Salvage has gone on from; nil: it needed none, or there is
// none.
func (s *Session) Restored() *Backup { return s.restored }

// ID is the ID of the lock that the session holds.
func (s *Session) ID() string { return s.lock.info.ID }

// State returns a copy of the present state.
func (s *Session) State() *State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ledger.state()
}

// Object returns the object with the address as the state has it at present.
func (s *Session) Object(address string) (Object, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, ok := s.ledger.objects[address]
	return o.clone(), ok
}

// Run says what an apply is about to do, and what its plan was made against.
type Run struct {
	Plan    string // ID of the plan
	Cloud   string
	Cluster Cluster
	// Lineage and Serial of the state that the plan was made against.
	Lineage string
	Serial  uint64
}

// Check refuses what Begin would refuse, and starts nothing.
func (s *Session) Check(run Run) error { return run.fits(s.State()) }

// fits refuses a state that the run was not planned against.
func (r Run) fits(head *State) error {
	if slices.Contains(head.Plans, r.Plan) {
		return &AppliedError{Plan: r.Plan}
	}
	if err := head.CheckCluster(r.Cluster.UID, r.Cluster.Server); err != nil {
		return err
	}
	if r.Lineage != head.Lineage || r.Serial != head.Serial {
		return &StaleError{PlanLineage: r.Lineage, PlanSerial: r.Serial, Lineage: head.Lineage, Serial: head.Serial}
	}
	return nil
}

// Begin starts an apply. It refuses a plan that was applied before (an
// *AppliedError), another cluster (a *ClusterError), and a plan that was made
// against another content of the state (a *StaleError).
func (s *Session) Begin(run Run) error {
	return s.note(run.fits, entry{Begin: &opening{Tool: s.tool, Cloud: run.Cloud, Cluster: run.Cluster, Plan: run.Plan}})
}

// Intend says that a write of the object to the cluster, or its deletion, is
// about to begin; Going says that it is deleted. UID names the object that is written
// or deleted, Token the object that is created. It must not begin when Intend returns an
// error.
func (s *Session) Intend(o Object) error {
	return s.note(nil, entry{Intend: &o})
}

// Record says what is now known of the objects. Even when it returns an error the
// session knows it, and Close tries once more to save it.
func (s *Session) Record(objects ...Object) error {
	entries := make([]entry, len(objects))
	for i := range objects {
		entries[i].Record = &objects[i]
	}
	return s.note(nil, entries...)
}

// Forget says that the object is no longer kolla's, or no longer there. An
// address that the state does not have is no error.
func (s *Session) Forget(address string) error {
	return s.note(nil, entry{Forget: address})
}

// Owe says that a write of what has the address by is about to begin, with which
// objects are to be replaced: until they are recorded without it, the state has it as
// owed to them. What was owed already, or is not in the state, is not among the added.
func (s *Session) Owe(by string, objects ...string) (added []string, err error) {
	err = s.noteOf(nil, func() (entries []entry) {
		for _, address := range objects {
			o, known := s.ledger.objects[address]
			if !known || slices.Contains(o.Owed, by) {
				continue
			}
			o = o.clone()
			o.Owed = append(o.Owed, by)
			entries, added = append(entries, entry{Record: &o}), append(added, address)
		}
		return entries
	})
	return added, err
}

// Waive takes back what Owe has added: the write was refused.
func (s *Session) Waive(by string, objects ...string) error {
	return s.noteOf(nil, func() (entries []entry) {
		for _, address := range objects {
			if o, known := s.ledger.objects[address]; known {
				o = o.clone()
				o.Owed = slices.DeleteFunc(o.Owed, func(owed string) bool { return owed == by })
				entries = append(entries, entry{Record: &o})
			}
		}
		return entries
	})
}

// note applies entries, unless fits refuses it, and returns when those that change
// anything are in the journal, on the disk.
func (s *Session) note(fits func(*State) error, entries ...entry) error {
	return s.noteOf(fits, func() []entry { return entries })
}

// noteOf is note of entries that depend on what the state has just then.
func (s *Session) noteOf(fits func(*State) error, entries func() []entry) error {
	journal, ticket, err := s.take(fits, entries)
	if err != nil || journal == nil {
		return err
	}
	return journal.sync(ticket)
}

// take applies entries, and puts those that change anything into the journal; it is
// nil when none does.
func (s *Session) take(fits func(*State) error, entries func() []entry) (journal *journalWriter, ticket uint64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, 0, errors.New("change the state: its session has ended")
	}
	if fits != nil {
		if err := fits(&s.ledger.head); err != nil {
			return nil, 0, err
		}
	}
	before := s.ledger.head.Serial
	var lines []any
	for _, e := range entries() {
		if s.ledger.apply(e) {
			lines = append(lines, e)
		}
	}
	if len(lines) == 0 {
		return nil, 0, nil
	}
	if s.ledger.head.Lineage == "" {
		s.ledger.head.Lineage = uuid.NewString()
	}
	if s.journal == nil {
		s.journal = newJournalWriter(s.store.dir, s.store.journal, s.lock.check)
		start := base{Format: Format, Tool: s.tool, Lineage: s.ledger.head.Lineage, Serial: before}
		lines = slices.Insert(lines, 0, any(start))
	}
	return s.journal, s.journal.put(lines...), nil
}

// save writes the state if it is not in the file yet, and ends the journal.
func (s *Session) save() error {
	if s.ledger.head.Serial == s.saved {
		return nil
	}
	if err := s.lock.check(); err != nil {
		return err
	}
	if err := s.store.write(s.ledger.state()); err != nil {
		return err
	}
	s.saved = s.ledger.head.Serial
	if s.journal == nil {
		return nil
	}
	err := s.journal.remove()
	s.journal = nil
	if err != nil {
		return fmt.Errorf("remove the journal of the state: %w", err)
	}
	return nil
}

// Close saves the state and releases the lock. When the state cannot be saved,
// what the journal holds is taken in by the next lock. A second call does nothing.
func (s *Session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	err := s.save()
	if s.journal != nil {
		err = errors.Join(err, s.journal.close())
	}
	return errors.Join(err, s.lock.release())
}
