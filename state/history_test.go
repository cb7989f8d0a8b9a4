package state_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/state"
)

// TestHistory checks that the journal of a killed apply has its entry, that the end of an apply
// completes the entry, and that only the last 100 applies stay.
func TestHistory(t *testing.T) {
	store := state.Open(filepath.Join(t.TempDir(), state.DefaultFile))
	began := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	for i := range 102 {
		session, err := store.Lock(t.Context(), state.LockInfo{Operation: "apply", Version: "1.0.0"}, 0)
		if err != nil {
			t.Fatal(err)
		}
		head := session.State()
		a := state.Apply{ID: session.Holder().ID, Operation: "apply", Who: fmt.Sprint("user-", i), Began: began}
		run := state.Run{Plan: fmt.Sprint(i), Cloud: "c", Cluster: state.Cluster{UID: "u"}, Lineage: head.Lineage, Serial: head.Serial, Apply: &a}
		if err := session.Begin(run); err != nil {
			t.Fatal(err)
		}
		read, err := store.Read() // as after a kill
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(a, read.History[len(read.History)-1]); diff != "" {
			t.Fatalf("after the beginning (-want +got):\n%s", diff)
		}
		a.Result, a.Ended, a.Blocks = state.Done, began.Add(time.Minute), []string{"service.a"}
		if err := session.Ended(a); err != nil {
			t.Fatal(err)
		}
		if err := session.Close(); err != nil {
			t.Fatal(err)
		}
		read, err = store.Read()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(a, read.History[len(read.History)-1]); diff != "" {
			t.Fatalf("after the end (-want +got):\n%s", diff)
		}
		if want := min(i+1, 100); len(read.History) != want {
			t.Fatalf("%d entries after %d applies", len(read.History), i+1)
		}
	}
	read, err := store.Read()
	if err != nil {
		t.Fatal(err)
	}
	if got := read.History[0].Who; got != "user-2" {
		t.Errorf("the oldest entry is that of %s", got)
	}
}
