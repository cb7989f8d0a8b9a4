package state

import "time"

// Backend keeps one state: the state itself, the journal of an apply that is running or was
// killed, earlier versions of the state, and a lock. It knows nothing of their contents.
//
// Nobody but the holder of the lock calls a method that writes, except ForceUnlock.
type Backend interface {
	// Name returns the name of a part for messages, such as its path.
	Name(p Part) string

	// Load reads a part. The error is fs.ErrNotExist if the part does not exist.
	Load(p Part) ([]byte, error)
	// Replace gives a part new content, as a whole or not at all. The content survives a
	// loss of power once Replace has returned.
	Replace(p Part, content []byte) error
	// Remove deletes a part. It is no error if the part does not exist.
	Remove(p Part) error
	// SetAside keeps a part that cannot be used under another name, so that a person can look at
	// it. It is no error if the part does not exist.
	SetAside(p Part) error
	// Retire takes the state out of use because it has moved to the place with the given
	// name. Backups stay.
	Retire(to string) error
	// Journal returns a writer of the journal, which must not exist yet.
	Journal() JournalWriter
	// Lag is the time that a line of the journal may wait for further lines, so that one request
	// writes all of them; zero: lines do not wait. Lines of intents never wait.
	Lag() time.Duration

	// Keep adds a version of the state to the backups, and drops the oldest ones.
	Keep(serial uint64, content []byte) error
	// Backups lists the backups, newest first, without their serials.
	Backups() ([]Backup, error)
	// LoadBackup reads a backup.
	LoadBackup(b Backup) ([]byte, error)

	// Lock takes the lock at once, or returns a *LockedError.
	Lock(info LockInfo) (Lock, error)
	// Holder returns the present holder of the lock; nil: the lock is free. left is the last holder
	// if it has ended without releasing the lock, and nobody holds the lock now.
	Holder() (holder, left *LockInfo, err error)
	// ForceUnlock takes the lock with the ID away from its holder.
	ForceUnlock(id string) error
}

// Part is one of the two documents that a backend keeps for a state.
type Part int

// The parts of a state.
const (
	StatePart Part = iota
	JournalPart
)

// JournalWriter appends lines to a journal.
type JournalWriter interface {
	// Append adds lines, which survive a kill of this process once it has returned. If it is
	// durable, these and all earlier lines also survive a loss of power. The first call creates
	// the journal; if that fails, there is none.
	Append(lines []byte, durable bool) error
	// Close ends writing and leaves the journal as it is.
	Close() error
}

// Lock is a lock of a backend that this process holds.
type Lock interface {
	// Check returns a *LockLostError if the lock was taken away.
	Check() error
	Release() error
	// Info describes the holder.
	Info() LockInfo
	// Abandoned returns the previous holder, if it ended without releasing the lock.
	Abandoned() *LockInfo
}

// Backup is a copy of an earlier version of the state, or of the present one.
type Backup struct {
	Path    string // its name in messages
	Serial  uint64
	Written time.Time
	ID      string // identifies the backup in its backend
	File    bool   // Path is the path of a file

	lineage string // of the state in it
}
