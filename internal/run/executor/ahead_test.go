package executor_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"time"

	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// remote is an in-memory backend that reports a large lag, like a remote one.
type remote struct {
	mu      sync.Mutex
	parts   map[state.Part][]byte
	appends int
	lost    error // the error of Check
}

func newRemote() *remote { return &remote{parts: map[state.Part][]byte{}} }

func (r *remote) Name(state.Part) string { return "remote" }

func (r *remote) Load(p state.Part) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if content, ok := r.parts[p]; ok {
		return content, nil
	}
	return nil, fs.ErrNotExist
}

func (r *remote) Replace(p state.Part, content []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.parts[p] = content
	return nil
}

func (r *remote) Remove(p state.Part) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.parts, p)
	return nil
}

func (r *remote) SetAside(state.Part) error               { return nil }
func (r *remote) Retire(string) error                     { return nil }
func (r *remote) Lag() time.Duration                      { return time.Hour }
func (r *remote) Keep(uint64, []byte) error               { return nil }
func (r *remote) Backups() ([]state.Backup, error)        { return nil, nil }
func (r *remote) LoadBackup(state.Backup) ([]byte, error) { return nil, fs.ErrNotExist }
func (r *remote) Lock(state.LockInfo) (state.Lock, error) { return r, nil }
func (r *remote) Holder() (a, b *state.LockInfo, e error) { return nil, nil, nil }
func (r *remote) ForceUnlock(string) error                { return nil }
func (r *remote) Journal() state.JournalWriter            { return remoteJournal{r} }
func (r *remote) Release() error                          { return nil }
func (r *remote) Info() state.LockInfo                    { return state.LockInfo{} }
func (r *remote) Abandoned() *state.LockInfo              { return nil }

func (r *remote) Check() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lost
}

type remoteJournal struct{ *remote }

func (j remoteJournal) Append(lines []byte, _ bool) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.parts[state.JournalPart] = append(j.parts[state.JournalPart], lines...)
	j.appends++
	return nil
}

func (j remoteJournal) Close() error { return nil }

// TestAnnounced checks that the journal contains all creations before the first of them is sent,
// that this takes few requests, and that the state knows all of them after the process is killed.
func TestAnnounced(t *testing.T) {
	far := newRemote()
	a := newApplyAt(t, state.New(far), newCluster(live("Deployment old")), recorded("Deployment old", true))
	var once sync.Once
	a.onApply = func(context.Context, providers.Ref, providers.ApplyOptions) error {
		once.Do(func() {
			st, err := state.New(far).Read() // as after a kill
			if err != nil {
				t.Error(err)
				return
			}
			for i := range 30 {
				if o := st.Find(address(fmt.Sprint("ConfigMap c", i)).String()); o == nil || o.Token == "" || o.UID != "" {
					t.Errorf("the state knows c%d as %+v", i, o)
				}
			}
			if o := st.Find(address("Deployment old").String()); o == nil || o.Ready || o.UID != "uid-old" {
				t.Errorf("the state knows old as %+v", o)
			}
		})
		return nil
	}
	actions := []plans.Action{act(plans.Update, "Deployment old")}
	for i := range 30 {
		actions = append(actions, act(plans.Create, fmt.Sprint("ConfigMap c", i)))
	}
	before := far.appends
	if result := a.run(t.Context(), t, actions...); !result.Complete() {
		t.Errorf("not complete: %v", result.Outcomes)
	}
	if n := far.appends - before; n > 3 {
		t.Errorf("%d requests for the journal, want one for Begin and one for the intents", n)
	}
	if err := a.session.Close(); err != nil {
		t.Fatal(err)
	}
	for i := range 30 {
		if o := a.known(t, fmt.Sprint("ConfigMap c", i)); o == nil || o.UID == "" || o.Token != "" || !o.Ready {
			t.Errorf("in the end c%d is %+v", i, o)
		}
	}
}

// TestAnnouncedInVain checks that the intent of an action that never began is removed at the end of
// the apply.
func TestAnnouncedInVain(t *testing.T) {
	a := newApplyAt(t, state.New(newRemote()), newCluster(live("Deployment old")), recorded("Deployment old", true))
	refused := errors.New("no")
	a.onApply = func(_ context.Context, ref providers.Ref, _ providers.ApplyOptions) error {
		if ref.Name == "first" {
			return &providers.ConflictError{Ref: ref}
		}
		return refused
	}
	result := a.run(t.Context(), t, act(plans.Create, "ConfigMap first"),
		act(plans.Create, "ConfigMap second", "ConfigMap first"), act(plans.Update, "Deployment old", "ConfigMap second"))
	diff(t, "outcomes", []string{"first: failed", "second: skipped because of first", "old: skipped because of first"}, outcomes(result))
	if err := a.session.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ConfigMap first", "ConfigMap second"} {
		if o := a.known(t, name); o != nil {
			t.Errorf("the state has %+v", o)
		}
	}
	want := recorded("Deployment old", true)
	diff(t, "old", &want, a.known(t, "Deployment old"))
}

// TestLockIsLost checks that an apply that loses its lock stops before the next object, whether or
// not the journal has an intent for it.
func TestLockIsLost(t *testing.T) {
	for name, verb := range map[string]plans.Verb{"announced": plans.Create, "not announced": plans.Delete} {
		t.Run(name, func(t *testing.T) {
			far := newRemote()
			var known []state.Object
			c := newCluster()
			var actions []plans.Action
			for i := range 10 {
				text := fmt.Sprint("ConfigMap c", i)
				if verb == plans.Delete {
					c.objects[parse(text).Ref()] = live(text)
					known = append(known, recorded(text, true))
				}
				var after []string
				if i > 0 {
					after = []string{fmt.Sprint("ConfigMap c", i-1)}
				}
				actions = append(actions, act(verb, text, after...))
			}
			a := newApplyAt(t, state.New(far), c, known...)
			written := 0
			lose := func() {
				if written++; written == 3 {
					far.mu.Lock()
					far.lost = &state.LockLostError{ID: "mine", By: state.LockInfo{ID: "theirs", Who: "ci@host"}}
					far.mu.Unlock()
				}
			}
			a.onApply = func(context.Context, providers.Ref, providers.ApplyOptions) error { lose(); return nil }
			a.onDelete = func(context.Context, providers.Ref) error { lose(); return nil }
			result := a.run(t.Context(), t, actions...)
			if written != 3 || result.Complete() {
				t.Errorf("%d objects were written, want three", written)
			}
			var lost *state.LockLostError
			found := false
			for _, o := range result.Outcomes {
				found = found || errors.As(o.Err, &lost) && strings.Contains(o.Err.Error(), "ci@host")
			}
			if !found {
				t.Errorf("got %v, want who has the lock", outcomes(result))
			}
			if err := a.session.Close(); !errors.As(err, &lost) {
				t.Errorf("close: got %v", err)
			}
		})
	}
}
