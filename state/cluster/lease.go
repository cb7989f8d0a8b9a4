package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kolla.openstack.org/kolla/internal/base/crash"
	"kolla.openstack.org/kolla/state"
)

// holderNote is the annotation of the Lease that describes its holder.
const holderNote = "kolla.openstack.org/state-holder"

// lease is the Lease of a state, which is its lock.
type lease struct {
	site *site

	mu   sync.Mutex
	seen sighting
}

// sighting is a version of the Lease, and the time at which this process first saw it.
type sighting struct {
	version string
	at      time.Time
}

// lock is a Lease that this process holds. A goroutine renews it.
type lock struct {
	of        *lease
	info      state.LockInfo
	abandoned *state.LockInfo
	stop      context.CancelFunc
	ended     chan struct{}

	renewing sync.Mutex // held during a renewal

	mu    sync.Mutex
	lease *coordinationv1.Lease // as it was written last
	good  time.Time             // when the last successful renewal was sent
	lost  error
}

// take takes the lock. The clocks of two machines may differ. So a Lease counts as expired only
// when this process has seen no renewal for the whole duration of the Lease.
func (e *lease) take(info state.LockInfo) (*lock, error) {
	l := &lock{of: e, info: info.Complete(), good: time.Now()}
	present, err := e.site.client.Lease(e.site.ctx, e.site.name())
	switch {
	case apierrors.IsNotFound(err):
		present = &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: e.site.name(), Namespace: e.site.Namespace, Labels: map[string]string{labelState: e.site.Cloud}}}
	case err != nil:
		return nil, fmt.Errorf("read the lock of the state: %w", err)
	}
	if holder := holderOf(present); holder != nil {
		if remains := e.remains(present); remains > 0 {
			return nil, e.lockedBy(present, remains)
		}
		l.abandoned = holder
	}
	l.lease, err = e.putLease(e.taken(present, l.info))
	switch {
	case apierrors.IsNotFound(err):
		if err := e.makeNamespace(); err != nil {
			return nil, err
		}
		return e.take(info)
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
		present, failed := e.site.client.Lease(e.site.ctx, e.site.name())
		if failed != nil {
			return nil, fmt.Errorf("take the lock of the state: %w", errors.Join(err, failed))
		}
		return nil, e.lockedBy(present, e.site.Duration)
	case err != nil:
		return nil, fmt.Errorf("take the lock of the state: %w", err)
	}
	ctx, stop := context.WithCancel(e.site.ctx)
	l.stop, l.ended = stop, make(chan struct{})
	go func() {
		defer close(l.ended)
		_ = crash.Catch(func() error { l.renew(ctx); return nil }) // without renewal Check asks the server
	}()
	return l, nil
}

// makeNamespace creates the namespace of the state, or says how to do it.
func (e *lease) makeNamespace() error {
	if !e.site.MakeNamespace {
		return fmt.Errorf("namespace %s, which is to hold the state, does not exist. It is the cloud's own namespace, and an apply creates it: give the backend block another namespace, such as %q, or create this one and take it over with -adopt", e.site.Namespace, defaultNamespace)
	}
	err := e.site.client.MakeNamespace(e.site.ctx)
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("namespace %s, which is to hold the state, does not exist and cannot be created; to create it yourself: kubectl create namespace %s: %w", e.site.Namespace, e.site.Namespace, err)
	}
	return nil
}

// remains returns the time for which a Lease must still be watched until it counts as expired. Zero
// or less: it is expired.
func (e *lease) remains(l *coordinationv1.Lease) time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.seen.version != l.ResourceVersion {
		e.seen = sighting{l.ResourceVersion, time.Now()}
	}
	return e.lasts(l) - time.Since(e.seen.at)
}

// lasts returns how long a Lease lasts without renewal.
func (e *lease) lasts(l *coordinationv1.Lease) time.Duration {
	if seconds := l.Spec.LeaseDurationSeconds; seconds != nil {
		return time.Duration(*seconds) * time.Second
	}
	return e.site.Duration
}

// lockedBy returns the error of a Lease that another process holds.
func (e *lease) lockedBy(l *coordinationv1.Lease, remains time.Duration) error {
	locked := &state.LockedError{File: "Lease " + e.site.Namespace + "/" + e.site.name(), Lasts: e.lasts(l)}
	if holder := holderOf(l); holder != nil {
		locked.Info = *holder
	}
	if e.seemsExpired(l) || time.Until(l.Spec.RenewTime.Time) > e.lasts(l) { // or its clock is fast
		locked.Doubtful = remains + time.Second
	}
	return locked
}

// seemsExpired reports whether a Lease is expired if the clocks of both machines are right.
func (e *lease) seemsExpired(l *coordinationv1.Lease) bool {
	return l.Spec.RenewTime == nil || time.Since(l.Spec.RenewTime.Time) > e.lasts(l)
}

// holderOf returns the holder of a Lease; nil: nobody holds it.
func holderOf(l *coordinationv1.Lease) *state.LockInfo {
	if l.Spec.HolderIdentity == nil || *l.Spec.HolderIdentity == "" {
		return nil
	}
	var info state.LockInfo
	if json.Unmarshal([]byte(l.Annotations[holderNote]), &info) != nil || info.ID == "" {
		info = state.LockInfo{ID: *l.Spec.HolderIdentity, Who: *l.Spec.HolderIdentity} // edited by hand
	}
	return &info
}

// taken returns a Lease with another holder.
func (e *lease) taken(l *coordinationv1.Lease, info state.LockInfo) *coordinationv1.Lease {
	next := l.DeepCopy()
	raw, err := json.Marshal(info)
	if err != nil {
		panic(err) // it has texts, numbers and times
	}
	if next.Annotations == nil {
		next.Annotations = map[string]string{}
	}
	next.Annotations[holderNote] = string(raw)
	holder, seconds, moment, transitions := info.Who+" "+info.ID, int32(max(e.site.Duration/time.Second, 1)), now(), int32(1)
	if l.Spec.LeaseTransitions != nil {
		transitions += *l.Spec.LeaseTransitions
	}
	next.Spec = coordinationv1.LeaseSpec{
		HolderIdentity: &holder, LeaseDurationSeconds: &seconds, AcquireTime: &moment, RenewTime: &moment, LeaseTransitions: &transitions,
	}
	return next
}

// now returns the time as the server stores it.
func now() metav1.MicroTime { return metav1.NewMicroTime(time.Now().Truncate(time.Microsecond)) }

// free returns a Lease without a holder.
func free(l *coordinationv1.Lease) *coordinationv1.Lease {
	next := l.DeepCopy()
	delete(next.Annotations, holderNote)
	next.Spec.HolderIdentity = new(string)
	return next
}

// putLease writes the Lease. If the answer to an earlier attempt was lost, the Lease already
// has the new holder and time.
func (e *lease) putLease(l *coordinationv1.Lease) (*coordinationv1.Lease, error) {
	written, err := e.site.client.PutLease(e.site.ctx, l)
	if !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) {
		return written, err
	}
	live, failed := e.site.client.Lease(e.site.ctx, l.Name)
	if failed == nil && live.Annotations[holderNote] == l.Annotations[holderNote] && live.Spec.RenewTime.Equal(l.Spec.RenewTime) {
		return live, nil
	}
	return nil, err
}

// renew renews the Lease until the context ends.
func (l *lock) renew(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(l.of.site.Duration / 6):
		}
		_ = l.refresh() // Check returns its error, unless a later renewal succeeds
	}
}

// refresh renews the Lease once. During an outage of the server no other process can take the Lease
// either. So the Lease is lost only if it has another holder, or was deleted.
func (l *lock) refresh() error {
	l.renewing.Lock()
	defer l.renewing.Unlock()
	l.mu.Lock()
	next, lost := l.lease.DeepCopy(), l.lost
	l.mu.Unlock()
	if lost != nil {
		return lost
	}
	sent, moment := time.Now(), now()
	next.Spec.RenewTime = &moment
	written, err := l.of.putLease(next)
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		live, failed := l.of.site.client.Lease(l.of.site.ctx, next.Name)
		switch {
		case failed != nil && !apierrors.IsNotFound(failed):
			err = failed
		case failed == nil && sameHolder(live, l.info):
			written, err = live, nil // another client has changed something else, such as a label
		default:
			lost := &state.LockLostError{ID: l.info.ID}
			if failed == nil {
				if by := holderOf(live); by != nil {
					lost.By = *by
				}
			}
			err = lost
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var gone *state.LockLostError
	switch {
	case err == nil:
		l.lease, l.good = written, sent
	case errors.As(err, &gone):
		l.lost = gone
	default:
		return fmt.Errorf("renew the lock of the state: %w", err)
	}
	return err
}

func sameHolder(l *coordinationv1.Lease, info state.LockInfo) bool {
	holder := holderOf(l)
	return holder != nil && holder.ID == info.ID
}

// Check is part of state.Lock. It asks the server only if the last renewal is too old.
func (l *lock) Check() error {
	l.mu.Lock()
	good, lost := l.good, l.lost
	l.mu.Unlock()
	// The monotonic clock stops while the machine sleeps. The wall clock can be set.
	age := max(time.Since(good), time.Now().Round(0).Sub(good.Round(0)))
	if lost != nil || age < trusted(l.of.site.Duration) {
		return lost
	}
	return l.refresh()
}

// Release is part of state.Lock.
func (l *lock) Release() error {
	l.stop()
	<-l.ended
	l.renewing.Lock()
	defer l.renewing.Unlock()
	if l.lost != nil {
		return nil // another process has the Lease
	}
	_, err := l.of.putLease(free(l.lease))
	for apierrors.IsConflict(err) {
		var live *coordinationv1.Lease
		if live, err = l.of.site.client.Lease(l.of.site.ctx, l.of.site.name()); err == nil {
			if !sameHolder(live, l.info) {
				return nil
			}
			_, err = l.of.putLease(free(live)) // somebody has added a label
		}
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("release the lock of the state: %w", err)
	}
	return nil
}

// Info is part of state.Lock.
func (l *lock) Info() state.LockInfo { return l.info }

// Abandoned is part of state.Lock.
func (l *lock) Abandoned() *state.LockInfo { return l.abandoned }

// holder returns the holder of the lock, and the last holder if it seems to have been killed.
func (e *lease) holder() (holder, left *state.LockInfo, err error) {
	present, err := e.site.client.Lease(e.site.ctx, e.site.name())
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil, nil
	case err != nil:
		return nil, nil, fmt.Errorf("look at the lock of the state: %w", err)
	case e.seemsExpired(present):
		return nil, holderOf(present), nil
	}
	return holderOf(present), nil, nil
}

// release takes the lock away from the holder with the ID. A holder that still runs may write until
// its next renewal (see lock.Check). Until then this process keeps the Lease from all others.
func (e *lease) release(id string) error {
	for {
		present, err := e.site.client.Lease(e.site.ctx, e.site.name())
		if err != nil {
			return err
		}
		if holder := holderOf(present); holder == nil || holder.ID != id {
			return &state.UnlockError{ID: id, Holder: holder} // another process took it meanwhile
		}
		l := &lock{of: e, info: state.LockInfo{Operation: "force-unlock"}.Complete(), stop: func() {}, ended: make(chan struct{})}
		close(l.ended) // no goroutine renews it
		l.lease, err = e.putLease(e.taken(present, l.info))
		if apierrors.IsConflict(err) {
			continue
		}
		if err != nil {
			return err
		}
		time.Sleep(trusted(e.lasts(present)))
		return l.Release()
	}
}

// trusted returns the time for which a holder of a Lease trusts its last renewal. After that it
// asks the server.
func trusted(lasts time.Duration) time.Duration { return lasts * 2 / 3 }
