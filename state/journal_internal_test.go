package state

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"kolla.openstack.org/kolla/internal/files"
)

// What is put while the disk is at work goes there in one write after that.
func TestJournalWritesTogether(t *testing.T) {
	const late = 9
	var w *journalWriter
	writes, first := 0, make(chan struct{})
	w = newJournalWriter(files.In(t.TempDir()), "journal", func() error {
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
	for i := range late {
		add(fmt.Sprintf("late %d", i))
	}
	close(first)
	done.Wait()
	if writes != 2 {
		t.Errorf("%d writes, want 2", writes)
	}
	raw, err := os.ReadFile(w.dir.Path(w.name))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	if len(lines) != 1+late || lines[0] != `"first"` || lines[late] != `"late 8"` {
		t.Errorf("the journal is %q", lines)
	}
}

// After a line that did not reach the disk, none does.
func TestJournalTakesNoMoreAfterAFailure(t *testing.T) {
	full := errors.New("the disk is full")
	fails := true
	w := newJournalWriter(files.In(t.TempDir()), "journal", func() error {
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
