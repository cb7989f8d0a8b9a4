package state

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestJournalWritesTogether checks that lines that arrive during a write go to the disk together,
// in the next write.
func TestJournalWritesTogether(t *testing.T) {
	const late = 9
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
	for i := range late {
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
	if len(lines) != 1+late || lines[0] != `"first"` || lines[late] != `"late 8"` {
		t.Errorf("the journal is %q", lines)
	}
}

// fullDisk is a JournalWriter that always fails.
type fullDisk struct{ err error }

func (d fullDisk) Append([]byte, bool) error { return d.err }
func (d fullDisk) Close() error              { return nil }

// TestJournalTakesNoMoreAfterAFailure checks that no line is written after a failed write.
func TestJournalTakesNoMoreAfterAFailure(t *testing.T) {
	full := fullDisk{errors.New("the disk is full")}
	w := newGroupWriter(full, func() error { return nil })
	for _, line := range []string{"lost", "after"} {
		if err := w.sync(w.put(line)); !errors.Is(err, full.err) {
			t.Errorf("%s: got %v, want %v", line, err, full.err)
		}
	}
}

// TestJournalGoesOnAfterACheck checks that a line that was forbidden while the holder of the lock
// was unknown is written later.
func TestJournalGoesOnAfterACheck(t *testing.T) {
	kept := newLocal(filepath.Join(t.TempDir(), DefaultFile))
	unknown := errors.New("no answer")
	w := newGroupWriter(kept.Journal(), func() error { return unknown })
	ticket := w.put("first")
	if err := w.sync(ticket); !errors.Is(err, unknown) {
		t.Fatalf("got %v, want %v", err, unknown)
	}
	w.check = func() error { return nil }
	for _, ticket := range []uint64{w.put("second"), ticket} {
		if err := w.sync(ticket); err != nil {
			t.Error(err)
		}
	}
	raw, err := kept.Load(JournalPart)
	if want := "\"first\"\n\"second\"\n"; err != nil || string(raw) != want {
		t.Errorf("the journal is %q, %v, want %q", raw, err, want)
	}
}

// disk is a JournalWriter that notes what it is asked for.
type disk struct{ asked []string }

func (d *disk) Append(lines []byte, durable bool) error {
	d.asked = append(d.asked, fmt.Sprintf("%q %v", lines, durable))
	return nil
}

func (d *disk) Close() error { return nil }

// TestJournalSyncsWhatMustLast checks that a line that need not survive a loss of power is written
// without a sync, and that the next sync includes it.
func TestJournalSyncsWhatMustLast(t *testing.T) {
	d := &disk{}
	w := newGroupWriter(d, func() error { return nil })
	intent, record := w.put("intent"), uint64(0)
	steps := []func() error{
		func() error { return w.sync(intent) },
		func() error { record = w.put("record"); return w.write(record) },
		func() error { return w.write(record) },
		func() error { return w.sync(record) },
		func() error { return w.sync(record) },
	}
	for i, step := range steps {
		if err := step(); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
	}
	want := []string{`"\"intent\"\n" true`, `"\"record\"\n" false`, `"" true`}
	if !slices.Equal(d.asked, want) {
		t.Errorf("asked for %q, want %q", d.asked, want)
	}
}
