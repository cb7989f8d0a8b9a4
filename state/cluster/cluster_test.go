package cluster_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/dev/clustertest"
	"kolla.openstack.org/kolla/providers/kubernetes"
	"kolla.openstack.org/kolla/state"
	"kolla.openstack.org/kolla/state/cluster"
)

func TestMain(m *testing.M) { os.Exit(clustertest.Run(m)) }

var identity = state.Cluster{UID: "cluster-a", Server: "https://a"}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func connect(t testing.TB, kubeconfig string) *kubernetes.Client {
	t.Helper()
	client, err := kubernetes.Connect(kubernetes.Options{Kubeconfig: kubeconfig})
	must(t, err)
	return client
}

// at is the place of a state in a test.
type at struct {
	t      *testing.T
	client cluster.Client
	cluster.Options
}

func newPlace(t *testing.T) at {
	t.Helper()
	namespace := clustertest.Namespace(t)
	return at{t, connect(t, clustertest.Kubeconfig()).Records(namespace), cluster.Options{Namespace: namespace, Cloud: "prod"}}
}

// with returns the same place, reached through another client.
func (a at) with(client cluster.Client) at {
	a.client = client
	return a
}

func (a at) store() *state.Store {
	return state.New(cluster.New(a.t.Context(), a.client, a.Options))
}

func (a at) lock() *state.Session {
	a.t.Helper()
	return lock(a.t, a.store())
}

func lock(t *testing.T, store *state.Store) *state.Session {
	t.Helper()
	session, err := store.Lock(t.Context(), state.LockInfo{Operation: "apply", Version: "1.0.0"}, 0)
	must(t, err)
	return session
}

func (a at) read() *state.State {
	a.t.Helper()
	st, err := a.store().Read()
	must(a.t, err)
	return st
}

func object(name string) state.Object {
	return state.Object{Address: "service." + name + "/Deployment/" + name, APIVersion: "apps/v1", Kind: "Deployment", Namespace: "openstack", Name: name, UID: "uid-" + name, DesiredDigest: "1"}
}

// mortal is the client of a process that is killed at its nth write: before the server gets the
// write or, with late, before the answer arrives. All later requests fail. Without a number, only kill
// kills it.
type mortal struct {
	cluster.Client
	late bool

	mu   sync.Mutex
	left int // writes until the kill
	dead bool
}

var errKilled = errors.New("killed")

// write sends a write. It returns errKilled if the process is killed.
func (m *mortal) write(send func() error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dead {
		return errKilled
	}
	if m.left--; m.left == 0 {
		m.dead = true
		if m.late {
			_ = send()
		}
		return errKilled
	}
	return send()
}

// kill kills the process now.
func (m *mortal) kill() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dead = true
}

func (m *mortal) killed() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.dead
}

func (m *mortal) Secret(ctx context.Context, name string) (*corev1.Secret, error) {
	if m.killed() {
		return nil, errKilled
	}
	return m.Client.Secret(ctx, name)
}

func (m *mortal) Lease(ctx context.Context, name string) (*coordinationv1.Lease, error) {
	if m.killed() {
		return nil, errKilled
	}
	return m.Client.Lease(ctx, name)
}

func (m *mortal) PutSecret(ctx context.Context, s *corev1.Secret) (written *corev1.Secret, err error) {
	err = m.write(func() error { written, err = m.Client.PutSecret(ctx, s); return err })
	return written, err
}

func (m *mortal) DeleteSecret(ctx context.Context, name string, uid types.UID) error {
	return m.write(func() error { return m.Client.DeleteSecret(ctx, name, uid) })
}

func (m *mortal) PutLease(ctx context.Context, l *coordinationv1.Lease) (written *coordinationv1.Lease, err error) {
	err = m.write(func() error { written, err = m.Client.PutLease(ctx, l); return err })
	return written, err
}

// release releases the lock of a killed process, so that the test need not wait.
func (a at) release() {
	a.t.Helper()
	lease, err := a.client.Lease(a.t.Context(), "kolla-state."+a.Cloud)
	if apierrors.IsNotFound(err) {
		return
	}
	must(a.t, err)
	lease.Spec.HolderIdentity = nil
	_, err = a.client.PutLease(a.t.Context(), lease)
	must(a.t, err)
}

// steps returns the steps of an apply. durable: the change of the step is durable when the step
// returns.
//
// With small segments, a kill can come between two intents of one call.
func steps(small bool) []struct {
	durable bool
	do      func(*state.Session) error
} {
	type step = struct {
		durable bool
		do      func(*state.Session) error
	}
	ready, again := object("glance"), object("glance")
	ready.Ready, again.DesiredDigest = true, "2"
	intents := []step{{true, func(s *state.Session) error { return s.Intend(object("glance"), object("nova")) }}}
	if small {
		intents = []step{
			{true, func(s *state.Session) error { return s.Intend(object("glance")) }},
			{true, func(s *state.Session) error { return s.Intend(object("nova")) }},
		}
	}
	return slices.Concat([]step{
		{true, func(s *state.Session) error {
			now := s.State()
			return s.Begin(state.Run{Plan: "plan", Cloud: "prod", Cluster: identity, Lineage: now.Lineage, Serial: now.Serial})
		}},
	}, intents, []step{
		{false, func(s *state.Session) error { return s.Record(ready) }},
		{false, func(s *state.Session) error { return s.Forget(object("old").Address) }},
		{true, func(s *state.Session) error { return s.Intend(again) }},
		{false, func(s *state.Session) error { return s.Record(again) }},
		{false, func(s *state.Session) error { return s.Record(object("nova")) }},
	})
}

// TestKilledAtEveryWrite checks that a kill at any write of an apply, including the writes of the
// lock and of the save, loses no durable change, and that the next process can continue. With small
// parts, a version and the journal have several parts, and the oldest versions are deleted.
func TestKilledAtEveryWrite(t *testing.T) {
	for _, late := range []bool{false, true} {
		for _, small := range []bool{false, true} {
			t.Run(fmt.Sprintf("late=%v, small parts=%v", late, small), func(t *testing.T) {
				t.Parallel()
				place, least := newPlace(t), 8
				if small {
					place.PartSize, place.SegmentSize, least = 200, 300, 12
				}
				for n := 1; ; n++ {
					place.Cloud = fmt.Sprintf("kill-%d", n)
					if !killedAt(t, place, n, late) {
						if n <= least {
							t.Errorf("only %d writes: the test does not see all of them", n-1)
						}
						return
					}
				}
			})
		}
	}
}

// killedAt kills an apply at its nth write. It returns false if the apply has fewer writes.
func killedAt(t *testing.T, place at, n int, late bool) bool {
	t.Helper()
	versions := 1
	switch small := place.PartSize > 0; {
	case small && late:
		versions = 10 // the next one deletes the oldest
	case late:
		versions = 0 // a first apply
	}
	for i := range versions {
		session := place.lock()
		must(t, session.Record(object("old"+strings.Repeat("x", i))))
		must(t, session.Close())
	}
	seen := []*state.State{place.read()}
	client := &mortal{Client: place.client, late: late, left: n}
	durable := 0
	session, err := place.with(client).store().Lock(t.Context(), state.LockInfo{Operation: "apply"}, 0)
	for _, step := range steps(place.SegmentSize > 0) {
		if err != nil {
			break
		}
		err = step.do(session)
		seen = append(seen, session.State())
		if err == nil && step.durable {
			durable = len(seen) - 1
		}
	}
	if session != nil {
		closed := session.Close()
		if err == nil && closed == nil {
			durable = len(seen) - 1
		}
	}
	if !client.killed() {
		return false
	}

	place.release()
	found := func(st *state.State) int {
		for i := len(seen) - 1; i >= durable; i-- {
			if cmp.Equal(seen[i].Objects, st.Objects) && seen[i].Serial == st.Serial && cmp.Equal(seen[i].Plans, st.Plans) {
				return i
			}
		}
		return -1
	}
	got := place.read()
	if found(got) < 0 {
		t.Errorf("killed at write %d: got serial %d with %v, want one from step %d on", n, got.Serial, got.Objects, durable)
	}
	next := place.lock()
	if got := next.State(); found(got) < 0 {
		t.Errorf("killed at write %d, locked: got serial %d with %v", n, got.Serial, got.Objects)
	}
	serial := next.State().Serial
	must(t, next.Record(object("after")))
	must(t, next.Close())
	if got := place.read(); got.Serial != serial+1 || got.Find(object("after").Address) == nil {
		t.Errorf("killed at write %d: went on to serial %d, want %d", n, got.Serial, serial+1)
	}
	return true
}

func TestOnlyOneAtATime(t *testing.T) {
	t.Parallel()
	place := newPlace(t)
	first := place.lock()
	_, err := place.store().Lock(t.Context(), state.LockInfo{Operation: "destroy"}, 0)
	var locked *state.LockedError
	if !errors.As(err, &locked) || locked.Info.ID != first.Holder().ID {
		t.Fatalf("got %v, want it locked by the first", err)
	}
	for _, want := range []string{"Operation: apply", "kolla force-unlock " + first.Holder().ID, "-lock-timeout", "30s after that"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
	time.AfterFunc(300*time.Millisecond, func() { _ = first.Close() })
	second, err := place.store().Lock(t.Context(), state.LockInfo{}, 20*time.Second)
	must(t, err)
	if second.Abandoned() != nil {
		t.Error("the first released its lock, and counts as killed")
	}
	must(t, second.Close())
	if holder, err := place.store().Holder(); holder != nil || err != nil {
		t.Errorf("after: %v, %v", holder, err)
	}
}

// TestReleaseOfAnEditedLease checks that a Lease that another client has edited is still released,
// unless it has another holder.
func TestReleaseOfAnEditedLease(t *testing.T) {
	t.Parallel()
	place := newPlace(t)
	edit := func(change func(*coordinationv1.Lease)) {
		t.Helper()
		lease, err := place.client.Lease(t.Context(), "kolla-state.prod")
		must(t, err)
		change(lease)
		_, err = place.client.PutLease(t.Context(), lease)
		must(t, err)
	}
	session := place.lock()
	edit(func(l *coordinationv1.Lease) { l.Labels["team"] = "blue" })
	must(t, session.Close())
	if holder, err := place.store().Holder(); err != nil || holder != nil {
		t.Errorf("after the release: %+v, %v", holder, err)
	}

	session = place.lock()
	other := "somebody else"
	edit(func(l *coordinationv1.Lease) { l.Spec.HolderIdentity, l.Annotations = &other, nil })
	must(t, session.Close())
	if holder, err := place.store().Holder(); err != nil || holder == nil || holder.ID != other {
		t.Errorf("after the release of a lock that is lost: %+v, %v", holder, err)
	}
}

// stuck is a client that cannot reach the Lease, as if the machine slept or the network were cut.
type stuck struct {
	cluster.Client
	mu  sync.Mutex
	cut bool
}

func (s *stuck) PutLease(ctx context.Context, l *coordinationv1.Lease) (*coordinationv1.Lease, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cut {
		return nil, errors.New("no route to host")
	}
	return s.Client.PutLease(ctx, l)
}

func (s *stuck) setCut(cut bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cut = cut
}

// TestExpired checks that a process that cannot renew its Lease loses it in the middle of an apply
// and writes nothing more, and that its earlier intents are not lost.
func TestExpired(t *testing.T) {
	t.Parallel()
	place := newPlace(t)
	place.Duration = 2 * time.Second
	link := &stuck{Client: place.client}
	first := place.with(link).lock()
	must(t, first.Intend(object("glance")))
	link.setCut(true)

	start := time.Now()
	second, err := place.store().Lock(t.Context(), state.LockInfo{Operation: "destroy"}, 30*time.Second)
	must(t, err)
	if waited := time.Since(start); waited < place.Duration {
		t.Errorf("the lock was taken after %s, and lasts %s", waited, place.Duration)
	}
	if left := second.Abandoned(); left == nil || left.ID != first.Holder().ID {
		t.Errorf("got %v, want the first holder", left)
	}
	if _, ok := second.Object(object("glance").Address); !ok {
		t.Error("the intent of the first is lost")
	}
	must(t, second.Record(object("nova")))

	if err := first.Intend(object("glance")); err == nil {
		t.Error("cut off, and with a lock that is too old, the first goes on")
	}
	link.setCut(false)
	var lost *state.LockLostError
	if err := first.Intend(object("cinder")); !errors.As(err, &lost) || lost.By.Operation != "destroy" {
		t.Errorf("intend without the lock: got %v", err)
	}
	if err := first.Close(); !errors.As(err, &lost) {
		t.Errorf("close without the lock: got %v", err)
	}
	must(t, second.Close())
	if got := place.read(); len(got.Objects) != 2 || got.Find(object("cinder").Address) != nil {
		t.Errorf("got %v, want glance and nova", got.Objects)
	}
}

// TestGoesOnAfterAnOutage checks that a process continues after a long outage if no other process
// has taken the Lease.
func TestGoesOnAfterAnOutage(t *testing.T) {
	t.Parallel()
	place := newPlace(t)
	place.Duration = time.Second
	link := &stuck{Client: place.client}
	session := place.with(link).lock()
	link.setCut(true)
	time.Sleep(2 * time.Second)
	if err := session.Intend(object("glance")); err == nil {
		t.Error("it goes on before it knows that it still has the lock")
	}
	link.setCut(false)
	must(t, session.Intend(object("nova")))
	must(t, session.Intend(object("glance")))
	must(t, session.Close())
	if got := place.read(); len(got.Objects) != 2 {
		t.Errorf("got %v, want glance and nova", got.Objects)
	}
}

// TestIntentWithoutAJournal checks that Intend fails as long as it cannot write to the journal,
// even if it is repeated.
func TestIntentWithoutAJournal(t *testing.T) {
	t.Parallel()
	place := newPlace(t)
	place.Duration = time.Second
	link := &stuck{Client: place.client}
	session := place.with(link).lock()
	link.setCut(true)
	time.Sleep(2 * time.Second)
	for range 2 {
		if err := session.Intend(object("glance")); err == nil {
			t.Error("the caller may write what no journal announces")
		}
	}
	link.setCut(false)
	must(t, session.Intend(object("glance")))
	if got := place.read(); got.Find(object("glance").Address) == nil {
		t.Errorf("got %v, want glance", got.Objects)
	}
	must(t, session.Close())
}

// TestHolderWithAFastClock checks that the Lease of a killed holder expires, even if the holder's
// clock was fast.
func TestHolderWithAFastClock(t *testing.T) {
	t.Parallel()
	place := newPlace(t)
	place.Duration = 3 * time.Second
	process := &mortal{Client: place.client}
	first := place.with(process).lock()
	process.kill()
	lease, err := place.client.Lease(t.Context(), "kolla-state.prod")
	must(t, err)
	later := metav1.NewMicroTime(time.Now().Add(time.Hour))
	lease.Spec.RenewTime = &later
	_, err = place.client.PutLease(t.Context(), lease)
	must(t, err)
	second := place.lock()
	must(t, second.Close())
	_ = first.Close()
}

// TestKilledHolder checks that, without -lock-timeout, Lock watches a silent holder until it is
// certain that the holder was killed.
func TestKilledHolder(t *testing.T) {
	t.Parallel()
	place := newPlace(t)
	place.Duration = 3 * time.Second
	process := &mortal{Client: place.client}
	first := place.with(process).lock()
	process.kill()
	clustertest.Eventually(t, "the holder looks killed", func() bool {
		holder, err := place.store().Holder()
		return err == nil && holder == nil
	})
	second := place.lock()
	must(t, second.Close())
	_ = first.Close()
}

func TestForcedUnlock(t *testing.T) {
	t.Parallel()
	place := newPlace(t)
	place.Duration = 3 * time.Second
	link := &stuck{Client: place.client}
	first := place.with(link).lock()
	must(t, first.Intend(object("glance")))
	var wrong *state.UnlockError
	if err := place.store().ForceUnlock("some-id"); !errors.As(err, &wrong) {
		t.Errorf("got %v", err)
	}
	link.setCut(true) // no renewal shows the first that it has lost the lock
	must(t, place.store().ForceUnlock(first.Holder().ID))
	if err := first.Intend(object("glance")); err == nil {
		t.Error("the first still believes to have the lock, and writes what it has announced")
	}
	link.setCut(false)
	second := place.lock()
	must(t, second.Record(object("nova")))
	must(t, second.Close())
	if err := first.Intend(object("cinder")); err == nil {
		t.Error("the first writes to the journal that the second has removed")
	}
	if err := first.Close(); err == nil {
		t.Error("the first saves a state over that of the second")
	}
	if got := place.read(); len(got.Objects) != 2 || got.Find(object("cinder").Address) != nil {
		t.Errorf("got %v, want glance and nova", got.Objects)
	}
}

// TestSpoiltVersion checks that Keep writes a version again if somebody has damaged it, and leaves
// an intact version alone.
func TestSpoiltVersion(t *testing.T) {
	t.Parallel()
	place := newPlace(t)
	content := []byte("the content of a version")
	keep := func() {
		t.Helper()
		must(t, cluster.New(t.Context(), place.client, place.Options).Keep(1, content))
	}
	names := func() []string {
		t.Helper()
		listed, err := place.client.SecretNames(t.Context())
		must(t, err)
		var out []string
		for _, m := range listed {
			out = append(out, m.Name+" "+string(m.UID))
		}
		return out
	}
	keep()
	before := names()
	place.PartSize = 10 // another version of kolla may use another size
	keep()
	if got := names(); len(before) != 1 || !cmp.Equal(got, before) {
		t.Errorf("got %v, want %v", got, before)
	}
	name, uid, _ := strings.Cut(before[0], " ")
	s, err := place.client.Secret(t.Context(), name)
	must(t, err)
	must(t, place.client.DeleteSecret(t.Context(), name, types.UID(uid)))
	s.UID, s.ResourceVersion, s.Data = "", "", map[string][]byte{"state": []byte("spoilt")}
	_, err = place.client.PutSecret(t.Context(), s)
	must(t, err)
	keep()
	b := cluster.New(t.Context(), place.client, place.Options)
	backups, err := b.Backups()
	must(t, err)
	if len(backups) != 1 {
		t.Fatalf("got %v, want one version", backups)
	}
	if got, err := b.LoadBackup(backups[0]); err != nil || !bytes.Equal(got, content) {
		t.Errorf("got %q, %v", got, err)
	}
}

// TestParts checks that a state of some thousand objects is stored in several Secrets.
func TestParts(t *testing.T) {
	t.Parallel()
	place := newPlace(t)
	var many []state.Object
	for i := range 12_000 {
		o := object(fmt.Sprintf("s%d", i))
		o.UID, o.DesiredDigest, o.Fingerprint = rand.Text(), rand.Text()+rand.Text(), state.Fingerprint{Owned: rand.Text() + rand.Text()}
		many = append(many, o)
	}
	session := place.lock()
	must(t, session.Record(many...))
	want := session.State()
	must(t, session.Close())
	if diff := cmp.Diff(want, place.read()); diff != "" {
		t.Errorf("read (-want +got):\n%.2000s", diff)
	}
	parts := versions(t, place)
	if len(parts) < 2 {
		t.Errorf("%d parts, want several", len(parts))
	}
	// Ten versions are kept, with all of their parts.
	for i := range 12 {
		session := place.lock()
		for _, o := range session.State().Objects {
			must(t, session.Forget(o.Address))
		}
		must(t, session.Record(object(fmt.Sprint("more", i))))
		must(t, session.Close())
	}
	parts = versions(t, place)
	if len(parts) != 10 {
		t.Errorf("%d parts of versions stay, want those of ten small ones", len(parts))
	}
}

// versions returns the names of the parts of all versions.
func versions(t *testing.T, place at) []string {
	t.Helper()
	all, err := place.client.SecretNames(t.Context())
	must(t, err)
	var names []string
	for i := range all {
		if strings.HasPrefix(all[i].Name, "kolla-state.prod.v.") {
			names = append(names, all[i].Name)
		}
	}
	return names
}

func TestEditedByHand(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		edit    func(t *testing.T, place at)
		journal bool
		want    string
	}{
		"the first Secret": {edit: func(t *testing.T, place at) {
			head, err := place.client.Secret(t.Context(), "kolla-state.prod")
			must(t, err)
			head.Data["state"] = []byte(`{"version":"latest","parts":1}`)
			_, err = place.client.PutSecret(t.Context(), head)
			must(t, err)
		}, want: "a part of it is missing"},
		"nonsense": {edit: func(t *testing.T, place at) {
			head, err := place.client.Secret(t.Context(), "kolla-state.prod")
			must(t, err)
			head.Data = map[string][]byte{"more": []byte("what?")}
			_, err = place.client.PutSecret(t.Context(), head)
			must(t, err)
		}, want: "does not name a version"},
		"deleted": {edit: func(t *testing.T, place at) {
			must(t, place.client.DeleteSecret(t.Context(), "kolla-state.prod", ""))
		}, want: "it is missing, and there are backups of it"},
		"a version": {edit: func(t *testing.T, place at) {
			name := newest(t, place)
			s, err := place.client.Secret(t.Context(), name)
			must(t, err)
			must(t, place.client.DeleteSecret(t.Context(), name, ""))
			s.ResourceVersion, s.UID, s.Data["state"] = "", "", []byte("edited")
			_, err = place.client.PutSecret(t.Context(), s)
			must(t, err)
		}, want: "the checksum of its version"},
		"deleted, and without labels": {edit: func(t *testing.T, place at) {
			for _, name := range versions(t, place) {
				unlabel(t, place, name)
			}
			must(t, place.client.DeleteSecret(t.Context(), "kolla-state.prod", ""))
		}, want: "it is missing, and there are backups of it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			place := newPlace(t)
			for _, name := range []string{"one", "two"} {
				session := place.lock()
				must(t, session.Record(object(name)))
				must(t, session.Close())
			}
			test.edit(t, place)
			_, err := place.store().Read()
			var damaged *state.DamagedError
			if !errors.As(err, &damaged) || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "kolla state rebuild") || strings.Contains(err.Error(), "cp ") {
				t.Fatalf("got %v, want it damaged: %s", err, test.want)
			}
			if len(damaged.Backups) == 0 {
				t.Error("no backups are named")
			}
			session, err := place.store().Salvage(t.Context(), state.LockInfo{}, 0)
			must(t, err)
			if session.Restored() == nil || len(session.State().Objects) == 0 {
				t.Errorf("restored %v with %v", session.Restored(), session.State().Objects)
			}
			must(t, session.Record(object("after")))
			must(t, session.Close())
			if place.read().Find(object("after").Address) == nil {
				t.Error("it does not go on")
			}
		})
	}
}

// newest returns the name of the Secret with the present version.
func newest(t *testing.T, place at) string {
	t.Helper()
	head, err := place.client.Secret(t.Context(), "kolla-state.prod")
	must(t, err)
	_, rest, _ := strings.Cut(string(head.Data["state"]), `"version":"`)
	sum, _, _ := strings.Cut(rest, `"`)
	return "kolla-state.prod.v." + sum + ".1"
}

// unlabel removes the labels of a Secret.
func unlabel(t *testing.T, place at, name string) {
	t.Helper()
	s, err := place.client.Secret(t.Context(), name)
	must(t, err)
	s.Labels = nil
	_, err = place.client.PutSecret(t.Context(), s)
	must(t, err)
}

// TestEditedParts checks that parts of a journal without labels are still found, and that the error
// about a missing or spoilt part names the part.
func TestEditedParts(t *testing.T) {
	t.Parallel()
	const name = "kolla-state.prod.journal."
	all := []string{name + "1", name + "2", name + "3"}
	remove := func(n int) func(*testing.T, at) {
		return func(t *testing.T, place at) { must(t, place.client.DeleteSecret(t.Context(), all[n], "")) }
	}
	strip := func(names ...string) func(*testing.T, at) {
		return func(t *testing.T, place at) {
			for _, name := range names {
				unlabel(t, place, name)
			}
		}
	}
	for name, test := range map[string]struct {
		edit    func(t *testing.T, place at)
		damaged string // name of the part in the error; empty: no error
	}{
		"no label of the first":  {strip(all[0]), ""},
		"no label of the middle": {strip(all[1]), ""},
		"no label of the last":   {strip(all[2]), ""},
		"no labels":              {strip(all...), ""},
		"no first":               {remove(0), all[0]},
		"no middle":              {remove(1), all[1]},
		"no annotation": {func(t *testing.T, place at) {
			s, err := place.client.Secret(t.Context(), all[2])
			must(t, err)
			s.Annotations = nil
			_, err = place.client.PutSecret(t.Context(), s)
			must(t, err)
		}, all[2]},
		"restored with other UIDs": {func(t *testing.T, place at) {
			for _, name := range all {
				s, err := place.client.Secret(t.Context(), name)
				must(t, err)
				must(t, place.client.DeleteSecret(t.Context(), name, ""))
				s.UID, s.ResourceVersion = "", ""
				_, err = place.client.PutSecret(t.Context(), s)
				must(t, err)
			}
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			place := newPlace(t)
			var want []byte
			journal := cluster.New(t.Context(), place.client, place.Options).Journal()
			for _, letter := range []string{"a", "b", "c"} {
				line := []byte(strings.Repeat(letter, 200<<10) + "\n")
				must(t, journal.Append(line, true))
				want = append(want, line...)
			}
			test.edit(t, place)
			reader := cluster.New(t.Context(), place.client, place.Options)
			got, err := reader.Load(state.JournalPart)
			if test.damaged == "" {
				must(t, err)
				if !bytes.Equal(got, want) {
					t.Errorf("got %d bytes, want %d", len(got), len(want))
				}
				must(t, reader.Remove(state.JournalPart))
			} else {
				var damaged *state.DamagedError
				if !errors.As(err, &damaged) || !damaged.Journal || !strings.HasSuffix(damaged.File, test.damaged) {
					t.Errorf("got %d bytes and %v, want that %s is damaged", len(got), err, test.damaged)
				}
				must(t, reader.SetAside(state.JournalPart))
			}
			if _, err := reader.Load(state.JournalPart); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("after it was taken away: %v", err)
			}
		})
	}
}

func TestEditedJournal(t *testing.T) {
	t.Parallel()
	place := newPlace(t)
	session := place.lock()
	must(t, session.Record(object("one")))
	must(t, session.Close())
	first := place.with(&mortal{Client: place.client, left: 3}).lock()
	must(t, first.Intend(object("two")))
	_ = first.Intend(object("three")) // killed
	_ = first.Close()
	s, err := place.client.Secret(t.Context(), "kolla-state.prod.journal.1")
	must(t, err)
	s.Data["state"] = []byte("edited")
	_, err = place.client.PutSecret(t.Context(), s)
	must(t, err)
	_, err = place.store().Read()
	var damaged *state.DamagedError
	if !errors.As(err, &damaged) || !damaged.Journal {
		t.Fatalf("got %v, want a damaged journal", err)
	}
	place.release()
	next, err := place.store().Salvage(t.Context(), state.LockInfo{}, 0)
	must(t, err)
	if len(next.State().Objects) != 1 {
		t.Errorf("got %v, want what was before the journal", next.State().Objects)
	}
	must(t, next.Close())
	must(t, place.lock().Close())
}

// TestJournalOfASuccessor checks that a process that has lost the lock cannot harm the journal
// of its successor: it deletes no part of it, and adds no part to it.
func TestJournalOfASuccessor(t *testing.T) {
	t.Parallel()
	place := newPlace(t)
	must(t, place.lock().Close())
	paused := cluster.New(t.Context(), place.client, place.Options)
	slow := paused.Journal()
	must(t, slow.Append([]byte("{\"paused\":1}\n"), true))
	successor := cluster.New(t.Context(), place.client, place.Options)
	if _, err := successor.Load(state.JournalPart); err != nil {
		t.Fatal(err)
	}
	must(t, successor.Remove(state.JournalPart))
	const line = "{\"successor\":1}\n"
	journal := successor.Journal()
	must(t, journal.Append([]byte(line), true))

	if err := paused.Remove(state.JournalPart); err == nil {
		t.Error("the journal of a successor is deleted")
	}
	if err := slow.Append([]byte(strings.Repeat("x", 300<<10)+"\n"), true); err != nil {
		t.Fatal(err) // a new part, which no resourceVersion protects
	}
	got, err := cluster.New(t.Context(), place.client, place.Options).Load(state.JournalPart)
	must(t, err)
	if string(got) != line {
		t.Errorf("the journal has %.200q, want only the line of the successor", got)
	}
	// The successor can still write its next part.
	long := strings.Repeat("y", 300<<10) + "\n"
	must(t, journal.Append([]byte(long), true))
	got, err = cluster.New(t.Context(), place.client, place.Options).Load(state.JournalPart)
	must(t, err)
	if string(got) != line+long {
		t.Errorf("the journal has %d bytes, want both lines of the successor", len(got))
	}
}

// TestFullDatabase checks that an apply stops at once if etcd refuses writes, that the error says
// what to do, and that a later apply continues from the durable steps.
func TestFullDatabase(t *testing.T) {
	t.Parallel()
	for name, code := range map[string]int{"quota": http.StatusInternalServerError, "507": http.StatusInsufficientStorage} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			place := newPlace(t)
			var mu sync.Mutex
			full := false
			config := rest.CopyConfig(clustertest.Config(t))
			transport, err := rest.TransportFor(config)
			must(t, err)
			target, err := url.Parse(config.Host)
			must(t, err)
			proxy := httputil.NewSingleHostReverseProxy(target)
			proxy.Transport = transport
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				refuse := full && r.Method != http.MethodGet
				mu.Unlock()
				if refuse {
					w.Header().Set("Content-Type", "application/json")
					w.WriteHeader(code)
					fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"etcdserver: mvcc: database space exceeded","code":%d}`, code)
					return
				}
				proxy.ServeHTTP(w, r)
			}))
			t.Cleanup(server.Close)
			path := filepath.Join(t.TempDir(), "kubeconfig")
			must(t, clientcmd.WriteToFile(clientcmdapi.Config{
				Clusters:       map[string]*clientcmdapi.Cluster{"c": {Server: server.URL}},
				Contexts:       map[string]*clientcmdapi.Context{"c": {Cluster: "c"}},
				CurrentContext: "c",
			}, path))
			session := place.with(connect(t, path).Records(place.Namespace)).lock()
			must(t, session.Intend(object("glance")))
			mu.Lock()
			full = true
			mu.Unlock()
			start := time.Now()
			err = session.Intend(object("nova"))
			if summary, detail, ok := failure.Explain(err); !ok || !strings.Contains(summary, "is full") || !strings.Contains(detail, "quota") {
				t.Errorf("got %v: %q, %q", err, summary, detail)
			}
			if err := session.Close(); err == nil {
				t.Error("the state was saved")
			}
			if waited := time.Since(start); waited > 20*time.Second {
				t.Errorf("it waited %s for something that does not end by itself", waited)
			}
			mu.Lock()
			full = false
			mu.Unlock()
			place.release()
			next := place.lock()
			if _, ok := next.Object(object("glance").Address); !ok || len(next.State().Objects) != 1 {
				t.Errorf("got %v, want glance", next.State().Objects)
			}
			must(t, next.Close())
		})
	}
}

// TestMove checks that a state that is moved is in use at one of the two places at any time, and
// never at both.
func TestMove(t *testing.T) {
	t.Parallel()
	place := newPlace(t)
	file := state.Open(filepath.Join(t.TempDir(), state.DefaultFile))
	session := lock(t, file)
	must(t, session.Record(object("glance")))
	want := session.State()
	must(t, session.Close())
	info := state.LockInfo{Operation: "init -migrate-state"}

	for n := 1; ; n++ { // killed at each write
		client := &mortal{Client: place.client, left: n}
		_, err := state.Move(t.Context(), file, place.with(client).store(), info, 0)
		place.release()
		if !client.killed() {
			must(t, err)
			break
		}
		if st, err := file.Read(); err != nil || st.Serial != want.Serial {
			if got := place.read(); got.Serial != want.Serial || got.Lineage != want.Lineage {
				t.Fatalf("killed at write %d: it is neither here (%v, %v) nor there (%v)", n, st, err, got)
			}
			break
		}
	}
	if diff := cmp.Diff(want, place.read()); diff != "" {
		t.Errorf("moved (-want +got):\n%s", diff)
	}
	if _, err := file.Read(); err == nil {
		t.Error("it is still in the file")
	}
	session = place.lock()
	must(t, session.Record(object("nova")))
	want = session.State()
	must(t, session.Close())

	if _, err := state.Move(t.Context(), place.store(), file, info, 0); err != nil {
		t.Fatal(err)
	}
	got, err := file.Read()
	must(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("moved back (-want +got):\n%s", diff)
	}
	var moved *state.MovedError
	if _, err := place.store().Read(); !errors.As(err, &moved) || moved.To != file.Path() {
		t.Errorf("got %v, want to know where it is", err)
	}
	if _, err := place.store().Lock(t.Context(), info, 0); !errors.As(err, &moved) {
		t.Errorf("lock: got %v", err)
	}
	// A repeated move succeeds.
	if _, err := state.Move(t.Context(), file, place.store(), info, 0); err != nil {
		t.Fatal(err)
	}
	other := state.Open(filepath.Join(t.TempDir(), state.DefaultFile))
	session = lock(t, other)
	must(t, session.Record(object("glance")))
	must(t, session.Close())
	var taken *state.OtherStateError
	if _, err := state.Move(t.Context(), other, place.store(), info, 0); !errors.As(err, &taken) {
		t.Errorf("got %v, want that there is another state", err)
	}
	// If the state at the target is wrong, the documentation says to delete it.
	must(t, place.client.DeleteSecret(t.Context(), "kolla-state.prod", ""))
	if _, err := state.Move(t.Context(), other, place.store(), info, 0); err != nil {
		t.Error(err)
	}
}

func TestNamespaceIsMade(t *testing.T) {
	t.Parallel()
	name := clustertest.Namespace(t) + "-state"
	place := at{t, connect(t, clustertest.Kubeconfig()).Records(name), cluster.Options{Namespace: name, Cloud: "prod"}}
	if st := place.read(); !st.Fresh() {
		t.Errorf("got %v, want an empty state", st)
	}
	_, err := place.store().Lock(t.Context(), state.LockInfo{}, 0)
	if err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("got %v, want that the cloud's own namespace is not there", err)
	}
	place.MakeNamespace = true
	session := place.lock()
	must(t, session.Close())
	clustertest.Kubectl(t, "delete", "namespace", name, "--wait=false")
}
