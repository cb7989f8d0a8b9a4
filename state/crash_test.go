package state_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kolla.openstack.org/kolla/state"
)

// steps returns the steps of an apply.
func steps() []func(*state.Session) error {
	again := object("glance")
	again.DesiredDigest = "another digest"
	return []func(*state.Session) error{
		func(s *state.Session) error {
			now := s.State()
			return s.Begin(state.Run{Plan: "plan", Cloud: "prod", Cluster: cluster, Lineage: now.Lineage, Serial: now.Serial})
		},
		func(s *state.Session) error { return s.Intend(object("glance")) },
		func(s *state.Session) error { return s.Record(object("glance")) },
		func(s *state.Session) error { return s.Intend(object("nova")) },
		func(s *state.Session) error { return s.Intend(again) },
		func(s *state.Session) error { return s.Record(again) },
		func(s *state.Session) error { return s.Forget("service.old/Deployment/old") },
		func(s *state.Session) error { return s.Record(object("nova")) },
	}
}

// started returns a store with one object, and the session of an apply after all steps. seen are
// the states before the first step and after each step.
func started(t *testing.T, dir string) (store *state.Store, session *state.Session, seen []*state.State) {
	t.Helper()
	store = state.Open(filepath.Join(dir, state.DefaultFile))
	session = lock(t, store)
	must(t, session.Record(object("old")))
	must(t, session.Close())
	session = lock(t, store)
	seen = []*state.State{session.State()}
	for _, step := range steps() {
		must(t, step(session))
		seen = append(seen, session.State())
	}
	return store, session, seen
}

// sane checks that a store has the state want after a crash, and that a session can continue from
// it.
func sane(t *testing.T, store *state.Store, want *state.State) {
	t.Helper()
	same(t, "read", want, read(t, store))
	session := lock(t, store)
	same(t, "locked", want, session.State())
	same(t, "taken in", want, read(t, store))
	must(t, session.Record(object("after")))
	must(t, session.Close())
	if got := read(t, store); got.Serial != want.Serial+1 || got.Lineage != want.Lineage {
		t.Errorf("went on to serial %d of %s, want %d of %s", got.Serial, got.Lineage, want.Serial+1, want.Lineage)
	}
}

// TestJournalCutAnywhere checks the state after a kill between any two steps, or in the middle of
// any line.
func TestJournalCutAnywhere(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	dir := t.TempDir()
	store, _, seen := started(t, dir)
	file, err := os.ReadFile(store.Path())
	must(t, err)
	journal, err := os.ReadFile(filepath.Join(dir, "kolla.state.journal"))
	must(t, err)

	crashed := state.Open(filepath.Join(t.TempDir(), state.DefaultFile))
	cut := filepath.Join(filepath.Dir(crashed.Path()), "kolla.state.journal")
	for n := range len(journal) + 1 {
		must(t, os.WriteFile(crashed.Path(), file, 0o600))
		must(t, os.WriteFile(cut, journal[:n], 0o600))
		// A line counts if it is complete, with or without its line end.
		complete := bytes.Count(append(bytes.Clone(journal), ' ')[:n+1], []byte("\n"))
		want := seen[max(0, complete-1)]
		same(t, fmt.Sprintf("cut after %d bytes", n), want, read(t, crashed))
		atEnd := n == 0 || journal[n-1] == '\n'
		if atEnd || n == len(journal)-1 || n%97 == 0 {
			sane(t, crashed, want)
		}
		if t.Failed() {
			return
		}
	}
}

func TestFirstJournalCutAnywhere(t *testing.T) {
	dir := t.TempDir()
	session := lock(t, state.Open(filepath.Join(dir, state.DefaultFile)))
	must(t, session.Record(object("glance")))
	journal, err := os.ReadFile(filepath.Join(dir, "kolla.state.journal"))
	must(t, err)
	for n := range len(journal) + 1 {
		crashed := state.Open(filepath.Join(t.TempDir(), state.DefaultFile))
		must(t, os.WriteFile(filepath.Join(filepath.Dir(crashed.Path()), "kolla.state.journal"), journal[:n], 0o600))
		if got := read(t, crashed); len(got.Objects) > 1 || got.Serial != uint64(len(got.Objects)) {
			t.Fatalf("cut after %d bytes: %d objects, serial %d", n, len(got.Objects), got.Serial)
		}
		session := lock(t, crashed)
		must(t, session.Record(object("nova")))
		must(t, session.Close())
	}
}

// TestKilledWhileSaving checks the state after a kill while the session is closed: after writing
// the backup, or after writing the file, but before removing the journal.
func TestKilledWhileSaving(t *testing.T) {
	tests := map[string]func(t *testing.T, store *state.Store, oldFile, journal []byte){
		"backup written, file not": func(t *testing.T, store *state.Store, oldFile, journal []byte) {
			must(t, os.WriteFile(store.Path(), oldFile, 0o600))
			must(t, os.WriteFile(filepath.Join(filepath.Dir(store.Path()), "kolla.state.journal"), journal, 0o600))
		},
		"file written, journal still there": func(t *testing.T, store *state.Store, _, journal []byte) {
			must(t, os.WriteFile(filepath.Join(filepath.Dir(store.Path()), "kolla.state.journal"), journal, 0o600))
		},
		"temporary file left": func(t *testing.T, store *state.Store, oldFile, journal []byte) {
			must(t, os.WriteFile(store.Path(), oldFile, 0o600))
			must(t, os.WriteFile(filepath.Join(filepath.Dir(store.Path()), "kolla.state.journal"), journal, 0o600))
			must(t, os.WriteFile(filepath.Join(filepath.Dir(store.Path()), ".kolla.state.json123"), oldFile[:7], 0o600))
		},
	}
	for name, crash := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			store, session, seen := started(t, dir)
			oldFile, err := os.ReadFile(store.Path())
			must(t, err)
			journal, err := os.ReadFile(filepath.Join(dir, "kolla.state.journal"))
			must(t, err)
			must(t, session.Close())
			crash(t, store, oldFile, journal)
			sane(t, store, seen[len(seen)-1])
		})
	}
}

func TestJournalRefused(t *testing.T) {
	tests := map[string]struct {
		change func(lines []string) []string
		want   string
	}{
		"torn inside":        {func(l []string) []string { l[2] = l[2][:10]; return l }, "line 3: "},
		"torn first line":    {func(l []string) []string { l[0] = l[0][:10]; return l }, "line 1: "},
		"line missing":       {func(l []string) []string { return l[1:] }, "line 1: it does not say which state it continues"},
		"unknown step":       {func(l []string) []string { l[3] = `{"teleport":{}}`; return l }, "line 4: it is no step of an apply"},
		"another lineage":    {func(l []string) []string { l[0] = `{"format":1,"lineage":"other","serial":1}`; return l }, `it continues a state with lineage "other" and serial 1`},
		"older, and another": {func(l []string) []string { l[0] = `{"format":1,"lineage":"other","serial":0}`; return l }, `it continues a state with lineage "other" and serial 0`},
		"of a later state":   {func(l []string) []string { l[0] = strings.Replace(l[0], `"serial":1`, `"serial":9`, 1); return l }, "and serial 9, but the one beside it"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			store, session, _ := started(t, dir)
			file := filepath.Join(dir, "kolla.state.journal")
			journal, err := os.ReadFile(file)
			must(t, err)
			must(t, session.Close())
			must(t, os.Remove(store.Path()))
			must(t, os.WriteFile(store.Path(), []byte(backup(t, dir, 1)), 0o600))
			lines := test.change(strings.Split(string(journal), "\n"))
			must(t, os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o600))

			_, err = store.Read()
			var damaged *state.DamagedError
			if !errors.As(err, &damaged) || !damaged.Journal || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want a damaged journal: %s", err, test.want)
			}
			if _, err := store.Lock(t.Context(), state.LockInfo{}, 0); !errors.As(err, &damaged) {
				t.Errorf("lock: got %v, want a damaged journal", err)
			}
		})
	}
}

func backup(t *testing.T, dir string, serial int) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, ".kolla", "backups", fmt.Sprintf("kolla.state.%d.json", serial)))
	must(t, err)
	return string(raw)
}

func TestJournalOfTheFuture(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "kolla.state.journal"), []byte(`{"format":2,"tool":"9.0.0","lineage":"a","serial":0}`+"\n"), 0o600))
	var newer *state.NewerFormatError
	if _, err := state.Open(filepath.Join(dir, state.DefaultFile)).Read(); !errors.As(err, &newer) || newer.Tool != "9.0.0" {
		t.Errorf("got %v, want it to be from a newer kolla", err)
	}
}

// childDir is the environment variable that makes the test binary the process to kill. Its value is
// the directory of the state.
const childDir = "KOLLA_STATE_TEST_CHILD"

// childAsks makes that process wait with the lock, as a command that asks for approval does.
const childAsks = "KOLLA_STATE_TEST_ASKS"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		fmt.Fprintln(os.Stderr, child(dir))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// child records objects until it is killed. It prints the address of each recorded object.
func child(dir string) error {
	session, err := state.Open(filepath.Join(dir, state.DefaultFile)).Lock(
		neverDone{}, state.LockInfo{Operation: "apply", Version: "1.0.0"}, 0)
	if err != nil {
		return err
	}
	if os.Getenv(childAsks) != "" {
		fmt.Println("asks")
		select {}
	}
	for i := 0; ; i++ {
		o := object(fmt.Sprint("s", i))
		if err := errors.Join(session.Intend(o), session.Record(o)); err != nil {
			return err
		}
		fmt.Println(o.Address)
	}
}

// TestKilledBeforeItBegan checks that a process that was killed before its first write is not
// reported as abandoned.
func TestKilledBeforeItBegan(t *testing.T) {
	dir := t.TempDir()
	command := exec.CommandContext(t.Context(), os.Args[0])
	command.Env = append(os.Environ(), childDir+"="+dir, childAsks+"=1")
	out, err := command.StdoutPipe()
	must(t, err)
	must(t, command.Start())
	bufio.NewScanner(out).Scan()
	must(t, command.Process.Kill())
	_ = command.Wait()
	if left := lock(t, state.Open(filepath.Join(dir, state.DefaultFile))).Abandoned(); left != nil {
		t.Errorf("%+v counts as begun", left)
	}
}

func TestKilledProcess(t *testing.T) {
	dir := t.TempDir()
	store := state.Open(filepath.Join(dir, state.DefaultFile))
	command := exec.CommandContext(t.Context(), os.Args[0])
	command.Env = append(os.Environ(), childDir+"="+dir)
	out, err := command.StdoutPipe()
	must(t, err)
	must(t, command.Start())
	var told []string
	lines := bufio.NewScanner(out)
	for len(told) < 20 && lines.Scan() {
		told = append(told, lines.Text())
	}

	holder, err := store.Holder()
	must(t, err)
	var locked *state.LockedError
	if _, err := store.Lock(t.Context(), state.LockInfo{}, 0); !errors.As(err, &locked) || holder == nil || locked.Info != *holder {
		t.Errorf("got %v, want it locked by %+v", err, holder)
	}
	must(t, command.Process.Kill())
	for lines.Scan() {
		told = append(told, lines.Text())
	}
	_ = command.Wait()

	if holder, err := store.Holder(); err != nil || holder != nil {
		t.Errorf("the lock is still held by %+v, %v", holder, err)
	}
	session := lock(t, store)
	if left := session.Abandoned(); left == nil || left.PID != command.Process.Pid || left.Operation != "apply" {
		t.Errorf("got %+v, want to know that process %d left the lock", left, command.Process.Pid)
	}
	for _, address := range told {
		if o, ok := session.Object(address); !ok || !o.Ready {
			t.Errorf("%s was lost", address)
		}
	}
	must(t, session.Close())
	if session := lock(t, store); session.Abandoned() != nil {
		t.Error("the lock was released in order, and still counts as left")
	}
}
