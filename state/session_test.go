package state_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"kolla.openstack.org/kolla/state"
)

var cluster = state.Cluster{UID: "cluster-a", Server: "https://a"}

func lock(t testing.TB, store *state.Store) *state.Session {
	t.Helper()
	session, err := store.Lock(t.Context(), state.LockInfo{Operation: "apply", Version: "1.0.0"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// TestSuppose checks that the content of Seed is written with the first change, and not before.
func TestSuppose(t *testing.T) {
	dir := t.TempDir()
	store := state.Open(filepath.Join(dir, state.DefaultFile))
	found := &state.State{Cloud: "prod", Cluster: cluster, Objects: []state.Object{object("glance"), object("nova")}, Outputs: []state.Output{{Name: "url"}}}
	session := lock(t, store)
	session.Seed(found)
	if got := session.State(); len(got.Objects) != 2 || got.Serial != 0 || got.Cloud != "prod" {
		t.Errorf("got %+v", got)
	}
	must(t, session.Close())
	if got := read(t, store); !got.Fresh() {
		t.Errorf("without a change %+v was written", got)
	}

	session = lock(t, store)
	session.Seed(found)
	must(t, session.Begin(state.Run{Plan: "plan", Cloud: "prod", Cluster: cluster}))
	must(t, session.Forget(object("nova").Address))
	want := session.State()
	same(t, "by the journal", want, read(t, store)) // as after a kill
	must(t, session.Close())
	same(t, "saved", want, read(t, store))
	if len(want.Objects) != 1 || len(want.Outputs) != 1 || want.Cluster != cluster {
		t.Errorf("got %+v", want)
	}
}

func read(t *testing.T, store *state.Store) *state.State {
	t.Helper()
	s, err := store.Read()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// object returns the record of a Deployment that exists.
func object(name string) state.Object {
	return state.Object{
		Address:       "service." + name + "/Deployment/" + name,
		APIVersion:    "apps/v1",
		Kind:          "Deployment",
		Namespace:     "openstack",
		Name:          name,
		UID:           "uid-" + name,
		DependsOn:     []string{"cloud.prod/Namespace/openstack"},
		DesiredDigest: "digest-" + name,
		Ready:         true,
		Applied:       time.Date(2026, 11, 21, 2, 11, 0, 0, time.FixedZone("CET", 3600)),
	}
}

func begin(t *testing.T, session *state.Session, plan string) {
	t.Helper()
	now := session.State()
	must(t, session.Begin(state.Run{Plan: plan, Cloud: "prod", Cluster: cluster, Lineage: now.Lineage, Serial: now.Serial}))
}

func same(t *testing.T, what string, want, got *state.State) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestFirstApply(t *testing.T) {
	dir := t.TempDir()
	store := state.Open(filepath.Join(dir, state.DefaultFile))
	same(t, "before", &state.State{Format: state.Format}, read(t, store))
	if entries, _ := os.ReadDir(dir); len(entries) > 0 {
		t.Errorf("a read left %v", entries)
	}

	session := lock(t, store)
	same(t, "locked", &state.State{Format: state.Format}, session.State())
	begin(t, session, "plan-1")
	o := object("glance")
	must(t, session.Intend(o))
	must(t, session.Record(o))
	seen := read(t, store) // without the lock, from the journal
	same(t, "while open", session.State(), seen)
	must(t, session.Close())
	must(t, session.Close())

	got := read(t, store)
	same(t, "closed", seen, got)
	o.Applied = o.Applied.UTC()
	want := &state.State{
		Format: state.Format, Serial: 3, Lineage: got.Lineage, Tool: "1.0.0", Cloud: "prod", Cluster: cluster,
		Objects: []state.Object{o}, Plans: []string{"plan-1"},
	}
	same(t, "content", want, got)
	if got.Lineage == "" {
		t.Error("no lineage was given")
	}
	if info, err := os.Stat(store.Path()); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has mode %v, %v", info.Mode(), err)
	}
	if _, err := os.Stat(filepath.Join(dir, "kolla.state.journal")); err == nil {
		t.Error("the journal was left behind")
	}
}

func TestSerialGrowsOnlyWithContent(t *testing.T) {
	store := state.Open(filepath.Join(t.TempDir(), state.DefaultFile))
	session := lock(t, store)
	must(t, session.Record(object("glance")))
	must(t, session.Close())
	before, err := os.ReadFile(store.Path())
	must(t, err)

	session = lock(t, store)
	must(t, session.Record(object("glance")))
	must(t, session.Forget("service.nova/Deployment/nova"))
	must(t, session.Close())
	after, err := os.ReadFile(store.Path())
	must(t, err)
	if diff := cmp.Diff(string(before), string(after)); diff != "" {
		t.Errorf("the file changed (-before +after):\n%s", diff)
	}
}

func TestIntentOutlivesTheApply(t *testing.T) {
	store := state.Open(filepath.Join(t.TempDir(), state.DefaultFile))
	session := lock(t, store)
	must(t, session.Record(object("known")))
	must(t, session.Intend(object("known")))
	must(t, session.Intend(object("unknown")))
	made, replaced := object("made"), object("replaced")
	made.UID, made.Token = "", "token-1"
	must(t, session.Intend(made))
	must(t, session.Record(replaced))
	replaced.UID, replaced.Token = "uid-adopted", "token-2"
	must(t, session.Intend(replaced))
	recorded := object("recorded")
	recorded.Token = "token-3"
	must(t, session.Intend(recorded))
	must(t, session.Record(object("recorded")))
	must(t, session.Close())

	got := read(t, store)
	known, unknown := got.Find("service.known/Deployment/known"), got.Find("service.unknown/Deployment/unknown")
	if known == nil || known.Ready || known.UID != "uid-known" {
		t.Errorf("known: got %+v, want it with its UID and not ready", known)
	}
	if unknown == nil || unknown.Ready || unknown.UID != "uid-unknown" || unknown.Name != "unknown" {
		t.Errorf("unknown: got %+v, want it with the UID of what was to be written, and not ready", unknown)
	}
	if o := got.Find("service.made/Deployment/made"); o == nil || o.UID != "" || o.Token != "token-1" {
		t.Errorf("made: got %+v, want it with its token alone", o)
	}
	if o := got.Find("service.replaced/Deployment/replaced"); o == nil || o.UID != "uid-adopted" || o.Token != "token-2" {
		t.Errorf("replaced: got %+v, want it with the UID of what was to be replaced, and the token", o)
	}
	if o := got.Find("service.recorded/Deployment/recorded"); o == nil || o.UID != "uid-recorded" || o.Token != "" {
		t.Errorf("recorded: got %+v, want it with its UID alone", o)
	}
}

func TestBeginRefuses(t *testing.T) {
	store := state.Open(filepath.Join(t.TempDir(), state.DefaultFile))
	session := lock(t, store)
	begin(t, session, "plan-1")
	now := session.State()
	fits := state.Run{Plan: "plan-2", Cloud: "prod", Cluster: cluster, Lineage: now.Lineage, Serial: now.Serial}

	for name, test := range map[string]struct {
		change func(*state.Run)
		want   any
	}{
		"applied before":    {func(r *state.Run) { r.Plan = "plan-1" }, new(*state.AppliedError)},
		"another cluster":   {func(r *state.Run) { r.Cluster.UID = "cluster-b" }, new(*state.ClusterError)},
		"older content":     {func(r *state.Run) { r.Serial-- }, new(*state.StaleError)},
		"another lineage":   {func(r *state.Run) { r.Lineage = "other" }, new(*state.StaleError)},
		"from before birth": {func(r *state.Run) { r.Lineage, r.Serial = "", 0 }, new(*state.StaleError)},
	} {
		t.Run(name, func(t *testing.T) {
			run := fits
			test.change(&run)
			if err := session.Begin(run); !errors.As(err, test.want) {
				t.Errorf("got %v, want a %T", err, test.want)
			}
		})
	}
	must(t, session.Begin(fits))
}

func TestPlansAreForgottenInTheEnd(t *testing.T) {
	store := state.Open(filepath.Join(t.TempDir(), state.DefaultFile))
	session := lock(t, store)
	for i := range 103 {
		begin(t, session, fmt.Sprint("plan-", i))
	}
	plans := session.State().Plans
	if len(plans) != 100 || plans[0] != "plan-3" || plans[99] != "plan-102" {
		t.Errorf("got %d plans, from %s to %s", len(plans), plans[0], plans[len(plans)-1])
	}
}

func TestStateIsACopy(t *testing.T) {
	store := state.Open(filepath.Join(t.TempDir(), state.DefaultFile))
	session := lock(t, store)
	given := object("glance")
	given.Yields = []state.Yield{{Path: "spec.replicas", Manager: "autoscaler"}}
	want := given
	want.DependsOn, want.Yields = slices.Clone(given.DependsOn), slices.Clone(given.Yields)
	must(t, session.Record(given))
	whole := session.State().Objects[0]
	single, _ := session.Object(given.Address)
	for _, o := range []*state.Object{&given, &whole, &single} {
		o.UID, o.DependsOn[0], o.Yields[0].Path = "something else", "something else", "something else"
	}
	got, _ := session.Object(given.Address)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("a change outside of the session changed it (-want +got):\n%s", diff)
	}
}

func TestBackups(t *testing.T) {
	dir := t.TempDir()
	store := state.Open(filepath.Join(dir, state.DefaultFile))
	for i := range 14 {
		session := lock(t, store)
		must(t, session.Record(object(fmt.Sprint("s", i))))
		must(t, session.Close())
	}
	backups := names(t, filepath.Join(dir, ".kolla", "backups"))
	if len(backups) != 10 || !slices.Contains(backups, "kolla.state.14.json") || slices.Contains(backups, "kolla.state.4.json") {
		t.Errorf("got backups %v, want serials 5 to 14", backups)
	}
	// A state of another lineage does not overwrite backups with the same serial.
	other, err := sample().Encode()
	must(t, err)
	must(t, os.WriteFile(store.Path(), other, 0o600))
	for range 13 {
		session := lock(t, store)
		must(t, session.Record(object(fmt.Sprint("s", session.State().Serial))))
		must(t, session.Close())
	}
	for _, name := range names(t, filepath.Join(dir, ".kolla", "backups")) {
		raw, err := os.ReadFile(filepath.Join(dir, ".kolla", "backups", name))
		must(t, err)
		if _, err := state.Decode(name, raw); err != nil {
			t.Error(err)
		}
	}
}

// TestLostState checks that no new state begins if backups of another state exist.
func TestLostState(t *testing.T) {
	dir := t.TempDir()
	store := state.Open(filepath.Join(dir, state.DefaultFile))
	session := lock(t, store)
	must(t, session.Record(object("nova")))
	must(t, session.Close())
	must(t, os.Remove(store.Path()))
	_, err := store.Read()
	_, lockErr := store.Lock(t.Context(), state.LockInfo{Operation: "apply"}, 0)
	for _, err := range []error{err, lockErr} {
		var damaged *state.DamagedError
		if !errors.As(err, &damaged) || len(damaged.Backups) == 0 || !strings.Contains(err.Error(), "it is missing") {
			t.Errorf("got %v, want a hint at the backups", err)
		}
	}
	must(t, os.RemoveAll(filepath.Join(dir, ".kolla")))
	if _, err := store.Read(); err != nil {
		t.Errorf("without backups: %v", err)
	}
}

// TestBackupOfAStateFromElsewhere checks that a state file without backups gets a backup before it
// is overwritten.
func TestBackupOfAStateFromElsewhere(t *testing.T) {
	dir := t.TempDir()
	store := state.Open(filepath.Join(dir, state.DefaultFile))
	encoded, err := sample().Encode()
	must(t, err)
	must(t, os.WriteFile(store.Path(), encoded, 0o600))
	session := lock(t, store)
	must(t, session.Record(object("nova")))
	must(t, session.Close())
	if diff := cmp.Diff(string(encoded), backup(t, dir, int(sample().Serial))); diff != "" {
		t.Errorf("backup (-want +got):\n%s", diff)
	}
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

func TestDamagedStateNamesTheWayBack(t *testing.T) {
	dir := t.TempDir()
	store := state.Open(filepath.Join(dir, state.DefaultFile))
	for _, name := range []string{"glance", "nova"} {
		session := lock(t, store)
		must(t, session.Record(object(name)))
		must(t, session.Close())
	}
	want := read(t, store)
	must(t, os.Truncate(store.Path(), 200))

	_, err := store.Lock(t.Context(), state.LockInfo{}, 0)
	var damaged *state.DamagedError
	if !errors.As(err, &damaged) {
		t.Fatalf("got %v, want damage", err)
	}
	if len(damaged.Backups) != 2 || damaged.Backups[0].Serial != 2 || damaged.Backups[1].Serial != 1 {
		t.Errorf("got backups %+v, want serials 2 and 1", damaged.Backups)
	}
	backup := filepath.Join(dir, ".kolla", "backups", "kolla.state.2.json")
	if command := "cp '" + backup + "' '" + store.Path() + "'"; !strings.Contains(err.Error(), command) {
		t.Errorf("%q does not say %q", err, command)
	}
	if holder, err := store.Holder(); holder != nil || err != nil {
		t.Errorf("the refusal kept the lock: %v, %v", holder, err)
	}

	raw, err := os.ReadFile(backup)
	must(t, err)
	must(t, os.WriteFile(store.Path(), raw, 0o600))
	same(t, "restored", want, read(t, store))
}

func TestSalvage(t *testing.T) {
	type files struct{ state, journal string }
	cut := func(text string) string { return text[:len(text)/2] }
	tests := map[string]struct {
		damage func(now, before files) files
		want   uint64 // serial
	}{
		"nothing":                  {func(now, _ files) files { return now }, 4},
		"state cut":                {func(now, _ files) files { return files{cut(now.state), now.journal} }, 4},
		"state gone":               {func(now, _ files) files { return files{"", now.journal} }, 4},
		"journal torn inside":      {func(now, _ files) files { return files{now.state, strings.Replace(now.journal, "record", "", 1)} }, 2},
		"both":                     {func(now, _ files) files { return files{cut(now.state), "x\n" + now.journal} }, 2},
		"journal of another state": {func(now, before files) files { return files{before.state, now.journal} }, 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			store := state.Open(filepath.Join(dir, state.DefaultFile))
			journal := filepath.Join(dir, "kolla.state.journal")
			load := func() files {
				s, _ := os.ReadFile(store.Path())
				j, _ := os.ReadFile(journal)
				return files{string(s), string(j)}
			}
			session := lock(t, store)
			must(t, session.Record(object("glance")))
			must(t, session.Close())
			before := load()
			session = lock(t, store)
			must(t, session.Record(object("nova")))
			must(t, session.Close())
			session = lock(t, store)
			must(t, session.Record(object("neutron")))
			must(t, session.Record(object("cinder")))
			now := load()
			must(t, session.Close())

			damaged := test.damage(files{backup(t, dir, 2), now.journal}, before)
			must(t, os.WriteFile(store.Path(), []byte(damaged.state), 0o600))
			if damaged.state == "" {
				must(t, os.Remove(store.Path()))
			}
			must(t, os.WriteFile(journal, []byte(damaged.journal), 0o600))
			removeBackup(t, dir, 4)

			session, err := store.Salvage(t.Context(), state.LockInfo{Operation: "state rebuild"}, 0)
			must(t, err)
			if got := session.State().Serial; got != test.want {
				t.Errorf("got serial %d, want %d", got, test.want)
			}
			must(t, session.Close())
			same(t, "readable again", session.State(), read(t, store))
		})
	}
}

func removeBackup(t *testing.T, dir string, serial int) {
	t.Helper()
	must(t, os.Remove(filepath.Join(dir, ".kolla", "backups", fmt.Sprintf("kolla.state.%d.json", serial))))
}

func TestSymbolicLinksShareOneState(t *testing.T) {
	dir := t.TempDir()
	shared := state.Open(filepath.Join(dir, "shared.json"))
	session := lock(t, shared)
	must(t, session.Record(object("glance")))
	must(t, session.Close())
	link := filepath.Join(dir, state.DefaultFile)
	must(t, os.Symlink(shared.Path(), link))

	session = lock(t, state.Open(link))
	var locked *state.LockedError
	if _, err := shared.Lock(t.Context(), state.LockInfo{}, 0); !errors.As(err, &locked) {
		t.Errorf("got %v, want it locked", err)
	}
	must(t, session.Record(object("nova")))
	must(t, session.Close())
	if got := read(t, shared); len(got.Objects) != 2 {
		t.Errorf("got %d objects, want 2", len(got.Objects))
	}
}

func TestClosedSessionChangesNothing(t *testing.T) {
	store := state.Open(filepath.Join(t.TempDir(), state.DefaultFile))
	session := lock(t, store)
	must(t, session.Close())
	for name, err := range map[string]error{
		"intend": session.Intend(object("glance")),
		"record": session.Record(object("glance")),
		"forget": session.Forget("a"),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestJournalThatCannotBeWritten checks that Intend fails if the journal cannot be written, as on a
// full disk or without its directory, and that Close still saves all records if it can.
func TestJournalThatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	store := state.Open(filepath.Join(dir, state.DefaultFile))
	session := lock(t, store)
	blocker := filepath.Join(dir, "kolla.state.journal")
	must(t, os.Mkdir(blocker, 0o700))
	if err := session.Intend(object("glance")); err == nil {
		t.Fatal("an intent was accepted that is not on the disk")
	}
	must(t, os.Remove(blocker))
	if err := session.Record(object("nova")); err == nil {
		t.Error("a journal that misses a step was continued")
	}
	must(t, session.Close())
	if got := read(t, store); len(got.Objects) != 2 {
		t.Errorf("got %d objects saved, want 2", len(got.Objects))
	}
}

// BenchmarkRecord measures the time to write a step to the disk, by the number of concurrent steps.
func BenchmarkRecord(b *testing.B) {
	for _, parallel := range []int{1, 10, 64} {
		b.Run(fmt.Sprintf("parallel=%d", parallel), func(b *testing.B) {
			session := lock(b, state.Open(filepath.Join(b.TempDir(), "cloud.state")))
			defer session.Close()
			var next atomic.Int64
			var all sync.WaitGroup
			b.ResetTimer()
			for range parallel {
				all.Go(func() {
					for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
						if err := session.Record(state.Object{Address: fmt.Sprintf("service.s/ConfigMap/c-%d", i), UID: "u"}); err != nil {
							b.Error(err)
						}
					}
				})
			}
			all.Wait()
		})
	}
}
