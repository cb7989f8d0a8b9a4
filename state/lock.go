package state

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"time"

	"github.com/google/uuid"
)

// LockInfo describes the holder of the lock of a state.
type LockInfo struct {
	ID        string `json:"id"`        // UUID; the argument of force-unlock
	Operation string `json:"operation"` // "apply"
	Who       string `json:"who"`       // user@host
	// Operator is the Cloud of the operator that holds the lock; see Apply.Operator.
	Operator string    `json:"operator,omitempty"`
	Version  string    `json:"version"` // of kolla
	Created  time.Time `json:"created"`

	PID            int       `json:"pid"`
	ProcessStarted time.Time `json:"process_started"` // distinguishes a process from a later one with the same PID
	// Boot is the boot ID of the machine, which is unique; empty on systems without one.
	Boot string `json:"boot,omitempty"`
}

// Local reports whether the holder is a process of this machine.
func (i LockInfo) Local() bool { return i.Boot != "" && i.Boot == bootID() }

var processStarted = time.Now()

// Complete fills in the fields that describe this process.
func (i LockInfo) Complete() LockInfo {
	i.ID = uuid.NewString()
	i.Created = time.Now().UTC()
	i.PID = os.Getpid()
	i.ProcessStarted = processStarted.UTC()
	i.Boot = bootID()
	i.Who = whoAmI()
	if i.Operator != "" {
		i.Who = "the operator (Cloud " + i.Operator + ")"
	}
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

// acquire takes the lock, and waits up to timeout for it. If the holder looks dead, acquire
// waits until that is certain, even beyond timeout.
func (s *Store) acquire(ctx context.Context, info LockInfo, timeout time.Duration) (Lock, error) {
	deadline := time.Now().Add(max(timeout, firstPause))
	for pause, following := firstPause, nextPause; ; pause, following = following, min(2*following, maxPause) {
		held, err := s.backend.Lock(info)
		var locked *LockedError
		if errors.As(err, &locked) && locked.Doubtful > timeout && pause == firstPause {
			deadline = time.Now().Add(locked.Doubtful)
		}
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

// Holder returns the present holder of the lock; nil: the lock is free. It does not wait.
func (s *Store) Holder() (*LockInfo, error) {
	holder, _, err := s.backend.Holder()
	return holder, err
}

// Abandoned returns the last holder of the lock if it was killed after it had begun to
// write, and nobody has taken the lock since; nil: there is no such holder.
func (s *Store) Abandoned() (*LockInfo, error) {
	_, left, err := s.backend.Holder()
	if err != nil || left == nil {
		return nil, err
	}
	journal, err := s.readJournal()
	if err != nil || journal == nil {
		return nil, err
	}
	return left, nil
}

// ForceUnlock takes the lock with the ID away from its holder. When it returns, a holder that still
// works has noticed, or will notice before its next step, and begins no other write. With a backend
// in a cluster this takes 20 seconds. The error is an *UnlockError if no process holds a lock with
// that ID.
func (s *Store) ForceUnlock(id string) error {
	holder, left, err := s.backend.Holder()
	if err != nil {
		return err
	}
	if holder == nil && left != nil && left.ID == id {
		holder = left // a lock can outlast its holder
	}
	if holder == nil || holder.ID != id {
		return &UnlockError{ID: id, Holder: holder}
	}
	if err := s.backend.ForceUnlock(id); err != nil {
		return fmt.Errorf("take away the lock of the state: %w", err)
	}
	return nil
}
