package state

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// What is put while the disk is at work goes there in one write after that.
func TestJournalWritesTogether(t *testing.T) {
	const unsyncedTickets = 9
	kept := newLocal(filepath.Join(t.TempDir(), DefaultFile))
	var w *groupWriter
	writes, first := 0, make(chan struct{})
	w = newGroupWriter(kept.Journal(), func() error {
		if writes++; writes == 1 {
			<-first
		}
		return nil
	})
	var done sync.WaitGroup
	add := func(line string) {
		ticket := w.put(line)
		done.Go(func() {
			if err := w.sync(ticket); err != nil {
				t.Error(err)
			}
		})
	}
	add("first")
	for {
		w.mu.Lock()
		writing := w.writing
		w.mu.Unlock()
		if writing {
			break
		}
	}
	for i := range unsyncedTickets {
		add(fmt.Sprintf("late %d", i))
	}
	close(first)
	done.Wait()
	if writes != 2 {
		t.Errorf("%d writes, want 2", writes)
	}
	raw, err := kept.Load(JournalPart)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	if len(lines) != 1+unsyncedTickets || lines[0] != `"first"` || lines[unsyncedTickets] != `"late 8"` {
		t.Errorf("the journal is %q", lines)
	}
}

// After a line that did not reach the disk, none does.
func TestJournalTakesNoMoreAfterAFailure(t *testing.T) {
	full := errors.New("the disk is full")
	fails := true
	w := newGroupWriter(newLocal(filepath.Join(t.TempDir(), DefaultFile)).Journal(), func() error {
		if fails {
			return full
		}
		return nil
	})
	if err := w.sync(w.put("lost")); !errors.Is(err, full) {
		t.Fatalf("got %v, want %v", err, full)
	}
	fails = false
	if err := w.sync(w.put("after")); !errors.Is(err, full) {
		t.Errorf("got %v, want %v", err, full)
	}
}
