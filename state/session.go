package state

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
)

// Session changes a state while its process holds the lock. It is safe for concurrent use.
//
// Begin and Intend are durable: when they return, the change is in the journal and survives
// a loss of power. Changes of Record and Forget survive a kill of the process, unless the backend
// has a Lag: then a kill may lose their changes of that time. The caller first intends an object, then writes
// it to the cluster, then records it. If the process is killed after the intent, or the record is
// lost, the object may exist or not. The state then has it with Ready false, with the UID of the object to be
// written or the token of the object to be created, so the next plan recognizes it.
type Session struct {
	store *Store
	lock  Lock
	tool  string
	// restored is the backup from which the session started; nil: none.
	restored *Backup
	resumes  bool // an earlier session left a journal

	mu      sync.Mutex
	ledger  *ledger
	saved   uint64       // serial of what is in the file
	journal *groupWriter // nil: this session has written nothing yet
	closed  bool
	// seed are entries that the ledger has, and that neither the state nor the journal
	// has yet.
	seed []entry
	// tickets has the ticket of the last line about each object, by address. The line may not
	// be durable yet.
	tickets map[string]uint64
}

// Lock takes the lock of the store, waiting up to timeout, and reads the state. It merges
// the journal of a killed process into the file. The caller sets Operation and Version of
// info.
//
// The error is a *LockedError if another process holds the lock, or an error of Read.
func (s *Store) Lock(ctx context.Context, info LockInfo, timeout time.Duration) (*Session, error) {
	return s.begin(ctx, info, timeout, s.load)
}

// Salvage is Lock for a state that is damaged or missing. It moves unusable files to the
// backups, with "damaged" in their names. The session starts from the newest usable
// backup, which Restored returns, plus the steps of the journal that continue it; without
// a backup, from an empty state.
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
	session := &Session{store: s, lock: held, tool: info.Version, tickets: map[string]uint64{}}
	var journaled bool
	session.ledger, journaled, err = load()
	if err == nil && journaled {
		err = s.mergeJournal(session.ledger)
	}
	if err != nil {
		return nil, errors.Join(err, held.Release())
	}
	session.saved, session.resumes = session.ledger.head.Serial, journaled
	return session, nil
}

// mergeJournal saves a state that was merged from file and journal, and removes the journal. If
// the journal changed nothing, the file stays as it is.
func (s *Store) mergeJournal(l *ledger) error {
	present, err := s.readFile()
	if err != nil {
		return err
	}
	if present.Serial != l.head.Serial {
		if err := s.write(l.state()); err != nil {
			return err
		}
	}
	if err := s.backend.Remove(JournalPart); err != nil {
		return fmt.Errorf("remove the journal of the state: %w", err)
	}
	return nil
}

// salvage is load after it has moved every file away that load refuses, and has put the
// newest backup in the place of a missing file.
func (s *Store) salvage() (l *ledger, journaled bool, restored *Backup, err error) {
	for {
		l, journaled, err = s.load()
		var damaged *DamagedError
		if !errors.As(err, &damaged) {
			return l, journaled, restored, err
		}
		part := StatePart
		if damaged.Journal {
			part = JournalPart
		}
		if err := s.backend.SetAside(part); err != nil {
			return nil, false, nil, fmt.Errorf("set a damaged file of the state aside: %w", err)
		}
		if len(damaged.Backups) == 0 {
			continue
		}
		raw, err := s.backend.LoadBackup(damaged.Backups[0])
		if err == nil {
			err = s.backend.Replace(part, raw)
		}
		if err != nil {
			return nil, false, nil, fmt.Errorf("restore a backup of the state: %w", err)
		}
		restored = &damaged.Backups[0]
	}
}

// Abandoned returns the previous holder of the lock if it had begun to write and ended
// without releasing the lock: a process that crashed or was killed. It returns nil if the
// previous holder ended normally, or before its first write, such as while it asked for
// approval.
func (s *Session) Abandoned() *LockInfo {
	if !s.resumes {
		return nil
	}
	return s.lock.Abandoned()
}

// Restored returns the backup from which Salvage started; nil: it used none.
func (s *Session) Restored() *Backup { return s.restored }

// Holder describes this process as the holder of the lock.
func (s *Session) Holder() LockInfo { return s.lock.Info() }

// State returns a copy of the present state.
func (s *Session) State() *State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ledger.state()
}

// Object returns the present record of the object with the address.
func (s *Session) Object(address string) (Object, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, ok := s.ledger.objects[address]
	return o.clone(), ok
}

// Run identifies an apply: its plan, and the state and cluster that the plan was made
// for.
type Run struct {
	Plan    string // ID of the plan
	Cloud   string
	Cluster Cluster
	// Lineage and Serial of the state that the plan was made from.
	Lineage string
	Serial  uint64
	// Apply is the entry of the history; nil: none.
	Apply *Apply
}

// Check returns the error that Begin would return, and starts nothing.
func (s *Session) Check(run Run) error { return run.fits(s.State()) }

// fits returns an error if the run was not planned for the state.
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

// Begin starts an apply. It refuses a plan that was applied before (an *AppliedError), a
// plan for another cluster (a *ClusterError), and a plan that was made from other content
// of the state (a *StaleError).
func (s *Session) Begin(run Run) error {
	return s.note(run.fits, true, entry{Begin: &opening{Tool: s.tool, Cloud: run.Cloud, Cluster: run.Cluster, Plan: run.Plan, Apply: run.Apply}})
}

// Intend records that the objects are about to be written to the cluster or, with Going, to be
// deleted. UID identifies an object that is written or deleted, Token one that is created. If
// Intend returns an error, the caller must not write. The error is a *LockLostError if the lock is
// lost, even if there is nothing to record.
func (s *Session) Intend(objects ...Object) error {
	entries := make([]entry, len(objects))
	for i := range objects {
		entries[i].Intend = &objects[i]
	}
	if err := s.note(nil, true, entries...); err != nil {
		return err
	}
	return s.lock.Check()
}

// CheckLock returns a *LockLostError if the lock is lost.
func (s *Session) CheckLock() error { return s.lock.Check() }

// Remote reports whether each write to the journal takes a request. An apply then intends
// many objects at once.
func (s *Session) Remote() bool { return s.store.Remote() }

// Seed sets the content of a state that was never written. The content is written together with the
// next change; without a change, nothing is written.
func (s *Session) Seed(st *State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	serial := s.ledger.head.Serial
	entries := []entry{{Begin: &opening{Tool: s.tool, Cloud: st.Cloud, Cluster: st.Cluster}}}
	for i := range st.Objects {
		entries = append(entries, entry{Record: &st.Objects[i]})
	}
	if len(st.Outputs) > 0 {
		entries = append(entries, entry{Conclude: &conclusion{Outputs: st.Outputs}})
	}
	for _, e := range entries {
		if s.ledger.apply(e) {
			s.seed = append(s.seed, e)
		}
	}
	s.ledger.head.Serial = serial
}

// Record replaces the records of the objects. If it returns an error, the session still
// has the new records, and Close tries to save them again.
func (s *Session) Record(objects ...Object) error {
	entries := make([]entry, len(objects))
	for i := range objects {
		entries[i].Record = &objects[i]
	}
	return s.note(nil, false, entries...)
}

// Forget removes the records of objects that are no longer kolla's or no longer exist. An
// unknown address is not an error.
func (s *Session) Forget(addresses ...string) error {
	entries := make([]entry, len(addresses))
	for i, address := range addresses {
		entries[i].Forget = address
	}
	return s.note(nil, false, entries...)
}

// note applies entries, unless fits returns an error. It returns when all entries that
// change anything are in the journal, durably if they must be. Other entries may come later, if
// the backend has a lag.
func (s *Session) note(fits func(*State) error, durable bool, entries ...entry) error {
	journal, ticket, err := s.take(fits, durable, entries)
	if err != nil || journal == nil {
		return err
	}
	if durable {
		return journal.sync(ticket)
	}
	if lag := s.store.backend.Lag(); lag > 0 {
		return journal.syncLater(lag)
	}
	return journal.write(ticket)
}

// take applies entries, and queues those that change anything for the journal. journal is
// nil if there is nothing to wait for.
func (s *Session) take(fits func(*State) error, durable bool, entries []entry) (journal *groupWriter, ticket uint64, err error) {
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
	for _, e := range entries {
		if s.ledger.apply(e) {
			lines = append(lines, e)
		}
	}
	if len(lines) == 0 {
		if durable && s.journal != nil { // the earlier line about the object may not be durable yet
			for _, e := range entries {
				ticket = max(ticket, s.tickets[e.address()])
			}
			return s.journal, ticket, nil
		}
		return nil, 0, nil
	}
	for i, e := range s.seed {
		lines = slices.Insert(lines, i, any(e))
	}
	s.ledger.head.Serial += uint64(len(s.seed)) // readers of the journal count these lines, too
	s.seed = nil
	if s.ledger.head.Lineage == "" {
		s.ledger.head.Lineage = uuid.NewString()
	}
	if s.journal == nil {
		s.journal = newGroupWriter(s.store.backend.Journal(), s.lock.Check)
		start := base{Format: Format, Tool: s.tool, Lineage: s.ledger.head.Lineage, Serial: before}
		lines = slices.Insert(lines, 0, any(start))
	}
	ticket = s.journal.put(lines...)
	for _, e := range entries {
		s.tickets[e.address()] = ticket
	}
	return s.journal, ticket, nil
}

// save writes the state, unless the file has it already, and removes the journal.
func (s *Session) save() error {
	if s.ledger.head.Serial == s.saved {
		return nil
	}
	if err := s.lock.Check(); err != nil {
		return err
	}
	if err := s.store.write(s.ledger.state()); err != nil {
		return err
	}
	s.saved = s.ledger.head.Serial
	if s.journal == nil {
		return nil
	}
	err := s.journal.close()
	if err == nil {
		err = s.store.backend.Remove(JournalPart)
	}
	s.journal = nil
	if err != nil {
		return fmt.Errorf("remove the journal of the state: %w", err)
	}
	return nil
}

// Close saves the state and releases the lock. If the state cannot be saved, the next Lock
// merges the journal. A second call does nothing.
func (s *Session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	err := s.save()
	if s.journal != nil { // the journal keeps unsaved changes
		err = errors.Join(err, s.journal.syncAll(), s.journal.close())
	}
	return errors.Join(err, s.lock.Release())
}
