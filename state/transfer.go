package state

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"
)

// Move moves a state from one store to another, and returns it. Both are locked meanwhile.
// The state is in use at one of the two places at any time: if the move is cut off, it can
// be done again. Backups stay where they are.
//
// The error is an *OtherStateError if the other store has a state that is neither the same nor
// an earlier version of this one. Then both stay as they are.
func Move(ctx context.Context, from, to *Store, info LockInfo, timeout time.Duration) (moved *State, err error) {
	source, err := from.Lock(ctx, info, timeout)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	target, err := to.begin(ctx, info, timeout, to.loadForMove)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	moved = source.State()
	err = target.Replace(moved, false)
	var other *OtherStateError
	if errors.As(err, &other) {
		other.Source = from.Path()
	}
	if err != nil {
		return nil, err
	}
	read, err := to.readFile()
	if err != nil {
		return nil, err
	}
	if is, err := same(read, moved); err != nil || !is {
		return nil, errors.Join(fmt.Errorf("%s does not have the state that was written there", to.Path()), err)
	}
	if err := from.backend.Retire(to.Path()); err != nil {
		return nil, fmt.Errorf("retire the state at its former place: %w", err)
	}
	return read, nil
}

// loadForMove is load for a store that a state moves to. A store from which the state has
// moved before, or which has nothing but backups, counts as empty.
func (s *Store) loadForMove() (*ledger, bool, error) {
	l, journaled, err := s.load()
	var (
		moved   *MovedError
		damaged *DamagedError
	)
	if errors.As(err, &moved) || errors.As(err, &damaged) && damaged.Missing {
		return newLedger(&State{Format: Format}), false, nil
	}
	return l, journaled, err
}

// Replace replaces the content of the state, and saves it. It does not write the same content
// again. Without force, a state of another lineage is an *OtherStateError, and so is a version that
// is not newer than the present one. With force, the serial becomes newer.
func (s *Session) Replace(next *State, force bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.journal != nil {
		return errors.New("replace the state: its session has ended, or has written something")
	}
	if is, err := same(s.ledger.state(), next); err != nil || is {
		return err
	}
	head := &s.ledger.head
	if other := head.Lineage != next.Lineage || next.Serial <= head.Serial; other && !head.Fresh() {
		if !force {
			return &OtherStateError{Place: s.store.Path(), Lineage: head.Lineage, OtherLineage: next.Lineage, Serial: head.Serial, OtherSerial: next.Serial}
		}
		replaced := *next
		replaced.Serial = max(next.Serial, head.Serial+1)
		next = &replaced
	}
	s.ledger = newLedger(next)
	return s.save()
}

// same reports whether two states have the same content.
func same(a, b *State) (bool, error) {
	one, err := a.Encode()
	if err != nil {
		return false, err
	}
	other, err := b.Encode()
	return bytes.Equal(one, other), err
}
