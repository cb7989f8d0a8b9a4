package state

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"kolla.openstack.org/kolla/internal/base/files"
)

// local is the backend of files in one directory. For kolla.state.json these are
//
//	kolla.state.json                          the state
//	kolla.state.journal                       the journal
//	.kolla.state.lock                         locked while a process may write; names it
//	.kolla/backups/kolla.state.SERIAL.json    the last ten versions, including the present one
//
// It follows no symbolic link to any of them, because others may be able to make links.
type local struct {
	dir files.Dir
	// Names in the directory.
	state   string
	journal string
	lock    string
	backups string // directory
	stem    string // file name without ".json"
}

// maxSize is the maximum size of a file of a state, in bytes.
const maxSize = 1 << 28

// maxBackups is the number of backups that are kept.
const maxBackups = 10

// newLocal follows a symbolic link to a file in the same directory, so that all names of a
// file share one lock. A link to another directory is refused when the state is read.
func newLocal(path string) *local {
	dir, name := filepath.Dir(path), filepath.Base(path)
	if target, err := filepath.EvalSymlinks(path); err == nil && sameDir(filepath.Dir(target), dir) {
		name = filepath.Base(target)
	}
	stem := strings.TrimSuffix(name, ".json")
	return &local{
		dir:     files.In(dir),
		state:   name,
		journal: stem + ".journal",
		lock:    "." + stem + ".lock",
		backups: filepath.Join(".kolla", "backups"),
		stem:    stem,
	}
}

func sameDir(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// file returns the name of a part in the directory.
func (l *local) file(p Part) string {
	if p == JournalPart {
		return l.journal
	}
	return l.state
}

func (l *local) Name(p Part) string { return l.dir.Path(l.file(p)) }

func (l *local) Load(p Part) ([]byte, error) {
	raw, err := l.dir.Read(l.file(p), maxSize)
	return raw, l.linked(l.file(p), err)
}

func (l *local) Replace(p Part, content []byte) error { return l.dir.Replace(l.file(p), content) }

func (l *local) Remove(p Part) error { return l.dir.Remove(l.file(p)) }

// SetAside moves the file to the backups, with "damaged" in its name.
func (l *local) SetAside(p Part) error { return l.moveAway(l.file(p), "damaged") }

// Retire moves the file to the backups, with "moved" in its name.
func (l *local) Retire(string) error { return l.moveAway(l.state, "moved") }

func (l *local) moveAway(file, why string) error {
	if err := l.makeBackups(); err != nil {
		return err
	}
	aside := fmt.Sprintf("%s.%s-%d", file, why, time.Now().UnixNano())
	err := l.dir.Rename(file, filepath.Join(l.backups, aside))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// linked wraps an error caused by a symbolic link in a *LinkError.
func (l *local) linked(name string, err error) error {
	if !errors.Is(err, files.ErrLink) {
		return err
	}
	target, _ := filepath.EvalSymlinks(l.dir.Path(name))
	return &LinkError{File: l.dir.Path(name), Target: target, State: name == l.state, err: err}
}

func (l *local) makeBackups() error {
	if err := l.dir.Make(l.backups); err != nil {
		return fmt.Errorf("make the directory of backups: %w", l.linked(l.backups, err))
	}
	return nil
}

// Keep does not overwrite a version of another lineage with the same serial.
func (l *local) Keep(serial uint64, content []byte) error {
	if err := l.makeBackups(); err != nil {
		return err
	}
	file := filepath.Join(l.backups, fmt.Sprintf("%s.%d.json", l.stem, serial))
	kept, err := l.dir.Read(file, maxSize)
	if err == nil && bytes.Equal(kept, content) {
		return nil
	}
	if err == nil {
		sum := sha256.Sum256(content)
		file = filepath.Join(l.backups, fmt.Sprintf("%s.%d.%x.json", l.stem, serial, sum[:4]))
	}
	if err := l.dir.Replace(file, content); err != nil {
		return fmt.Errorf("back up the state: %w", l.linked(file, err))
	}
	return l.rotate()
}

// rotate removes all but the newest backups.
func (l *local) rotate() error {
	found, err := l.Backups()
	if err != nil {
		return err
	}
	for _, file := range found[min(len(found), maxBackups):] {
		if err := l.dir.Remove(file.ID); err != nil {
			return fmt.Errorf("remove an old backup of the state: %w", err)
		}
	}
	return nil
}

func (l *local) Backups() ([]Backup, error) {
	dir, err := l.dir.List(l.backups)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list the backups of the state: %w", l.linked(l.backups, err))
	}
	var found []Backup
	for _, entry := range dir {
		name := entry.Name()
		info, err := entry.Info()
		if err == nil && strings.HasPrefix(name, l.stem+".") && strings.HasSuffix(name, ".json") {
			inside := filepath.Join(l.backups, name)
			found = append(found, Backup{Path: l.dir.Path(inside), Written: info.ModTime(), ID: inside, File: true})
		}
	}
	slices.SortFunc(found, func(a, b Backup) int {
		return cmp.Or(b.Written.Compare(a.Written), strings.Compare(b.Path, a.Path))
	})
	return found, nil
}

func (l *local) LoadBackup(b Backup) ([]byte, error) { return l.dir.Read(b.ID, maxSize) }

func (l *local) Journal() JournalWriter { return &localJournal{dir: l.dir, name: l.journal} }

// Lag is zero: a write to the disk is fast.
func (l *local) Lag() time.Duration { return 0 }

// localJournal appends to a file.
type localJournal struct {
	dir  files.Dir
	name string
	file *os.File // nil: not created yet
}

func (j *localJournal) Append(lines []byte, durable bool) error {
	if j.file != nil {
		return appendTo(j.file, lines, durable)
	}
	f, err := j.dir.New(j.name)
	if err != nil {
		return err
	}
	err = appendTo(f, lines, durable)
	if err == nil {
		err = j.dir.Sync()
	}
	if err != nil {
		return errors.Join(err, f.Close(), j.dir.Remove(j.name))
	}
	j.file = f
	return nil
}

func appendTo(f *os.File, raw []byte, durable bool) error {
	if _, err := f.Write(raw); err != nil || !durable {
		return err
	}
	return f.Sync()
}

func (j *localJournal) Close() error {
	if j.file == nil {
		return nil
	}
	err := j.file.Close()
	j.file = nil
	return err
}

// localLock is a lock of the file that this process holds.
type localLock struct {
	of        *local
	flock     *flock.Flock
	info      LockInfo
	abandoned *LockInfo
}

func (h *localLock) Info() LockInfo       { return h.info }
func (h *localLock) Abandoned() *LockInfo { return h.abandoned }

// Lock takes the lock of the file. The kernel holds the lock and
// releases it when the process ends, even if it is killed. The content of the file only
// describes the holder.
func (l *local) Lock(info LockInfo) (Lock, error) {
	if err := l.makeLock(); err != nil {
		return nil, err
	}
	h := &localLock{of: l, flock: l.newFlock(), info: info.Complete()}
	free, err := h.flock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock the state: %w", err)
	}
	if !free || h.Check() != nil { // check fails if force-unlock has just removed the file
		return nil, errors.Join(&LockedError{File: l.dir.Path(l.lock), Info: l.readLockInfo()}, h.flock.Unlock())
	}
	if left := l.readLockInfo(); left.ID != "" {
		h.abandoned = &left
	}
	raw, err := json.MarshalIndent(h.info, "", "  ")
	if err == nil {
		err = h.write(append(raw, '\n'))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("write into the lock of the state: %w", err), h.flock.Unlock())
	}
	return h, nil
}

// Check compares the locked file with the one that other processes would lock.
func (h *localLock) Check() error {
	mine, err := h.flock.Stat()
	if err != nil {
		return fmt.Errorf("look at the lock of the state: %w", err)
	}
	present, err := h.of.dir.Stat(h.of.lock)
	if err == nil && os.SameFile(mine, present) {
		return nil
	}
	return &LockLostError{ID: h.info.ID}
}

// Release leaves the file there, empty: removing it would take the lock from a process
// that is about to lock it.
func (h *localLock) Release() error {
	var err error
	if h.Check() == nil {
		err = h.write(nil)
	}
	return errors.Join(err, h.flock.Unlock())
}

// write replaces the content of the lock file, which must be the locked one.
func (h *localLock) write(content []byte) error {
	f, err := h.of.dir.Open(h.of.lock)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if mine, err := h.flock.Stat(); err != nil || !os.SameFile(mine, info) {
		return errors.Join(&LockLostError{ID: h.info.ID}, err)
	}
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err = f.WriteAt(content, 0)
	return err
}

// makeLock creates the lock file if it does not exist. It refuses a link, because writing
// the lock would write to another file.
func (l *local) makeLock() error {
	f, err := l.dir.Open(l.lock)
	if err != nil {
		return fmt.Errorf("lock the state: %w", l.linked(l.lock, err))
	}
	return f.Close()
}

// newFlock returns a lock on the file. Locking does not follow a link that somebody made
// since makeLock.
func (l *local) newFlock() *flock.Flock {
	return flock.New(l.dir.Path(l.lock), flock.SetFlag(os.O_RDWR|files.NoFollow), flock.SetPermissions(0o600))
}

// readLockInfo reads the description of the process that holds the lock, or that ended
// without releasing it. It is zero if there is none, and while it is being written.
func (l *local) readLockInfo() LockInfo {
	raw, err := l.dir.Read(l.lock, 1<<16)
	if err != nil {
		return LockInfo{}
	}
	var info LockInfo
	if err := json.Unmarshal(raw, &info); err != nil {
		return LockInfo{}
	}
	return info
}

func (l *local) Holder() (holder, left *LockInfo, err error) {
	info := l.readLockInfo()
	if info.ID == "" {
		return nil, nil, nil
	}
	probe := l.newFlock()
	free, err := probe.TryRLock()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("look at the lock of the state: %w", err)
	}
	if free {
		return nil, &info, probe.Unlock()
	}
	return &info, nil, nil
}

func (l *local) ForceUnlock(string) error { return l.dir.Remove(l.lock) }
