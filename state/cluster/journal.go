package cluster

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/state"
)

func journalSuffix(n int) string { return ".journal." + strconv.Itoa(n) }

// segmentOf returns the number at the end of the name of a part of the journal.
func segmentOf(name string) int {
	n, err := strconv.Atoi(name[strings.LastIndexByte(name, '.')+1:])
	if err != nil {
		return 0
	}
	return n
}

// journal has the steps of an apply that is running or was killed.
type journal struct {
	site *site

	mu   sync.Mutex
	uids []types.UID // of its parts, as they were read or written last
}

// parts returns the parts by their numbers. It reads all parts with the label in one request, so
// that no part is newer than another. It finds a part without the label by its name.
func (j *journal) parts() ([]corev1.Secret, error) {
	for {
		found, err := j.site.client.Secrets(j.site.ctx, labelState+"="+j.site.Cloud+","+labelPart+"="+partJournal)
		if err != nil {
			return nil, err
		}
		has := map[int]bool{}
		for i := range found {
			has[segmentOf(found[i].Name)] = true
		}
		written := false // since the list
		for n := 1; n <= len(found)+1 && !written; n++ {
			if has[n] {
				continue
			}
			s, err := j.site.client.Secret(j.site.ctx, j.site.name()+journalSuffix(n))
			switch {
			case apierrors.IsNotFound(err):
			case err != nil:
				return nil, err
			case s.Labels[labelState] == j.site.Cloud && s.Labels[labelPart] == partJournal:
				written = true
			default:
				found = append(found, *s)
			}
		}
		if !written {
			slices.SortFunc(found, func(x, y corev1.Secret) int { return segmentOf(x.Name) - segmentOf(y.Name) })
			return found, nil
		}
	}
}

// load reads the journal. It leaves out parts of another journal, written by a process that
// has lost the lock since.
func (j *journal) load() ([]byte, error) {
	found, err := j.parts()
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		j.know(nil)
		return nil, fs.ErrNotExist
	}
	present := found[0].Annotations[journalNote]
	if present != "" && segmentOf(found[0].Name) == 1 {
		found = slices.DeleteFunc(found, func(s corev1.Secret) bool {
			id := s.Annotations[journalNote]
			return id != "" && id != present
		})
	}
	var uids []types.UID
	var lines []byte
	for i := range found {
		text, err := unpack(found[i].Data[dataKey])
		if err != nil || segmentOf(found[i].Name) != i+1 || found[i].Annotations[journalNote] != present {
			return nil, &state.DamagedError{
				File: j.site.place(j.site.name() + journalSuffix(i+1)), Journal: true, Problem: "it is missing, or it was edited by hand",
			}
		}
		uids, lines = append(uids, found[i].UID), append(lines, text...)
	}
	j.know(uids)
	return lines, nil
}

func (j *journal) know(uids []types.UID) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.uids = uids
}

func (j *journal) known() []types.UID {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.uids)
}

// remove deletes the journal. The last part goes first: while the first one is there, there
// is a journal. It deletes only the parts that were read or written here: a process that took
// the lock may have begun a journal of the same name.
func (j *journal) remove() error {
	known := j.known()
	for n := len(known); n >= 1; n-- {
		if err := j.site.remove(j.site.name()+journalSuffix(n), known[n-1]); err != nil {
			return err
		}
	}
	j.know(nil)
	return nil
}

// setAside keeps the journal under other names.
func (j *journal) setAside() error {
	found, err := j.parts()
	if err != nil {
		return err
	}
	slices.Reverse(found)
	j.know(nil)
	return j.site.setAside(found)
}

// writer returns a writer of a new journal.
func (j *journal) writer() *journalWriter { return &journalWriter{of: j, id: rand.Text()} }

// journalWriter appends to the last part of a journal, and begins a new one when that is full.
type journalWriter struct {
	of      *journal
	id      string
	parts   int            // number of them
	present *corev1.Secret // the last part; nil: the next write begins another one
	lines   []byte         // its content
}

// Append is part of state.JournalWriter. All lines are durable.
func (w *journalWriter) Append(lines []byte, _ bool) error {
	for len(lines) > 0 {
		n := fits(lines, w.of.site.SegmentSize-len(w.lines))
		switch {
		case n > 0:
		case len(w.lines) > 0:
			w.present, w.lines = nil, nil
			continue
		default: // a line is never divided
			n = len(lines)
			if end := bytes.IndexByte(lines, '\n'); end >= 0 {
				n = end + 1
			}
		}
		if err := w.write(append(slices.Clone(w.lines), lines[:n]...)); err != nil {
			return err
		}
		lines = lines[n:]
	}
	return nil
}

// fits returns the length of the whole lines for which there is room.
func fits(lines []byte, room int) int {
	if len(lines) <= room {
		return len(lines)
	}
	return bytes.LastIndexByte(lines[:max(room, 0)], '\n') + 1
}

// write gives the last part new content.
func (w *journalWriter) write(lines []byte) error {
	packed, err := pack(lines)
	if err != nil {
		return err
	}
	n := w.parts
	if w.present == nil {
		n++
	}
	next := w.of.site.secret(journalSuffix(n), partJournal, packed)
	next.Annotations[journalNote] = w.id
	if w.present != nil {
		next.ResourceVersion, next.UID = w.present.ResourceVersion, w.present.UID
	}
	written, err := w.of.site.put(next)
	if apierrors.IsAlreadyExists(err) && w.evict(next.Name) {
		written, err = w.of.site.put(next)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", w.of.site.place(next.Name), err)
	}
	if n > w.parts {
		w.of.know(append(w.of.known(), written.UID))
	}
	w.present, w.lines, w.parts = written, lines, n
	return nil
}

// evict deletes a part of an older journal, which a process wrote after it had lost the lock,
// and reports whether it did. This journal is the present one if its first part is there.
func (w *journalWriter) evict(name string) bool {
	old, err := w.of.site.client.Secret(w.of.site.ctx, name)
	if err != nil || old.Annotations[journalNote] == "" || old.Annotations[journalNote] == w.id {
		return false
	}
	first, err := w.of.site.client.Secret(w.of.site.ctx, w.of.site.name()+journalSuffix(1))
	return err == nil && first.Annotations[journalNote] == w.id && w.of.site.remove(name, old.UID) == nil
}

// Close is part of state.JournalWriter.
func (w *journalWriter) Close() error { return nil }
