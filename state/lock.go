package state

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/uuid"

	"kolla.openstack.org/kolla/internal/files"
)

// LockInfo describes the holder of the lock of a state.
type LockInfo struct {
	ID        string    `json:"id"`        // UUID; the argument of force-unlock
	Operation string    `json:"operation"` // "apply"
	Who       string    `json:"who"`       // user@host
	Version   string    `json:"version"`   // of kolla
	Created   time.Time `json:"created"`

	PID            int       `json:"pid"`
	ProcessStarted time.Time `json:"process_started"` // distinguishes a process from a later one with the same PID
	// Boot is the boot ID of the machine, which is unique; empty on systems without one.
	Boot string `json:"boot,omitempty"`
}

// Local reports whether the holder is a process of this machine.
func (i LockInfo) Local() bool { return i.Boot != "" && i.Boot == bootID() }

var processStarted = time.Now()

// complete fills in the fields that describe this process.
func (i LockInfo) complete() LockInfo {
	i.ID = uuid.NewString()
	i.Created = time.Now().UTC()
	i.PID = os.Getpid()
	i.ProcessStarted = processStarted.UTC()
	i.Boot = bootID()
	i.Who = whoAmI()
	return i
}

func whoAmI() string {
	name := os.Getenv("USER")
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	return name + "@" + host
}

// bootID returns the ID that Linux gives each boot of a machine. Containers share it.
func bootID() string {
	raw, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(raw))
}

// Pauses between attempts to take the lock. The first pause applies even without a
// timeout: Holder keeps the lock busy for an instant.
const (
	firstPause = 50 * time.Millisecond
	nextPause  = time.Second
	maxPause   = 16 * time.Second
)

// acquire takes the lock, waiting up to timeout.
func (s *Store) acquire(ctx context.Context, info LockInfo, timeout time.Duration) (*lock, error) {
	deadline := time.Now().Add(max(timeout, firstPause))
	for pause, following := firstPause, nextPause; ; pause, following = following, min(2*following, maxPause) {
		held, err := s.tryLock(info)
		var locked *LockedError
		left := time.Until(deadline)
		if err == nil || !errors.As(err, &locked) || left <= 0 {
			return held, err
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("wait for the lock of the state: %w", context.Cause(ctx)), err)
		case <-time.After(min(pause, left)):
		}
	}
}

// lock is the lock of a store, held.
type lock struct {
	store *Store
	flock *flock.Flock
	info  LockInfo
	// abandoned is the previous holder, if it ended without releasing the lock.
	abandoned *LockInfo
}

// tryLock takes the lock, or returns a *LockedError. The kernel holds the lock and
// releases it when the process ends, even if it is killed. The content of the file only
// describes the holder.
func (s *Store) tryLock(info LockInfo) (*lock, error) {
	if err := s.makeLock(); err != nil {
		return nil, err
	}
	l := &lock{store: s, flock: s.newFlock(), info: info.complete()}
	free, err := l.flock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock the state: %w", err)
	}
	if !free || l.check() != nil { // check fails if force-unlock has just removed the file
		return nil, errors.Join(&LockedError{File: s.dir.Path(s.lock), Info: s.readLockInfo()}, l.flock.Unlock())
	}
	if left := s.readLockInfo(); left.ID != "" {
		l.abandoned = &left
	}
	raw, err := json.MarshalIndent(l.info, "", "  ")
	if err == nil {
		err = l.write(append(raw, '\n'))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("write into the lock of the state: %w", err), l.flock.Unlock())
	}
	return l, nil
}

// check returns a *LockLostError if the lock was taken away: the locked file is no longer
// the one that other processes would lock.
func (l *lock) check() error {
	mine, err := l.flock.Stat()
	if err != nil {
		return fmt.Errorf("look at the lock of the state: %w", err)
	}
	present, err := l.store.dir.Stat(l.store.lock)
	if err == nil && os.SameFile(mine, present) {
		return nil
	}
	return &LockLostError{ID: l.info.ID}
}

// release releases the lock. The file stays, empty: removing it would take the lock from
// a process that is about to lock it.
func (l *lock) release() error {
	var err error
	if l.check() == nil {
		err = l.write(nil)
	}
	return errors.Join(err, l.flock.Unlock())
}

// write replaces the content of the lock file, which must be the locked one.
func (l *lock) write(content []byte) error {
	f, err := l.store.dir.Open(l.store.lock)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if mine, err := l.flock.Stat(); err != nil || !os.SameFile(mine, info) {
		return errors.Join(&LockLostError{ID: l.info.ID}, err)
	}
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err = f.WriteAt(content, 0)
	return err
}

// makeLock creates the lock file if it does not exist. It refuses a link, because writing
// the lock would write to another file.
func (s *Store) makeLock() error {
	f, err := s.dir.Open(s.lock)
	if err != nil {
		return fmt.Errorf("lock the state: %w", s.linked(s.lock, err))
	}
	return f.Close()
}

// newFlock returns a lock on the file. Locking does not follow a link that somebody made
// since makeLock.
func (s *Store) newFlock() *flock.Flock {
	return flock.New(s.dir.Path(s.lock), flock.SetFlag(os.O_RDWR|files.NoFollow), flock.SetPermissions(0o600))
}

// readLockInfo reads the description of the process that holds the lock, or that ended
// without releasing it. It is zero if there is none, and while it is being written.
func (s *Store) readLockInfo() LockInfo {
	raw, err := s.dir.Read(s.lock, 1<<16)
	if err != nil {
		return LockInfo{}
	}
	var info LockInfo
	if err := json.Unmarshal(raw, &info); err != nil {
		return LockInfo{}
	}
	return info
}

// Holder returns the present holder of the lock; nil: the lock is free. It does not wait.
func (s *Store) Holder() (*LockInfo, error) {
	info := s.readLockInfo()
	if info.ID == "" {
		return nil, nil
	}
	probe := s.newFlock()
	free, err := probe.TryRLock()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look at the lock of the state: %w", err)
	}
	if free {
		return nil, probe.Unlock()
	}
	return &info, nil
}

// Abandoned returns the last holder of the lock if it was killed after it had begun to
// write, and nobody has taken the lock since; nil: there is no such holder.
func (s *Store) Abandoned() (*LockInfo, error) {
	holder, err := s.Holder()
	if err != nil || holder != nil {
		return nil, err
	}
	left := s.readLockInfo()
	if left.ID == "" {
		return nil, nil
	}
	journal, err := s.readJournal()
	if err != nil || journal == nil {
		return nil, err
	}
	return &left, nil
}

// ForceUnlock takes the lock with the ID away from its holder. A holder that still works
// notices before its next step and writes nothing more. The error is an *UnlockError if no
// process holds a lock with that ID.
func (s *Store) ForceUnlock(id string) error {
	holder, err := s.Holder()
	if err != nil {
		return err
	}
	if holder == nil || holder.ID != id {
		return &UnlockError{ID: id, Holder: holder}
	}
	if err := s.dir.Remove(s.lock); err != nil {
		return fmt.Errorf("take away the lock of the state: %w", err)
	}
	return nil
}
