//go:build unix

package state_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"kolla.openstack.org/kolla/state"
)

// TestLinks replaces each file of a state by a link, as any user who may write to the directory
// can. The target of the link must not be read, changed or emptied.
func TestLinks(t *testing.T) {
	const precious = "precious\n"
	for name, link := range map[string]func(target, dir string) error{
		"the lock":          func(target, dir string) error { return os.Symlink(target, filepath.Join(dir, ".kolla.state.lock")) },
		"the lock, by hard": func(target, dir string) error { return os.Link(target, filepath.Join(dir, ".kolla.state.lock")) },
		"the lock, inside": func(_, dir string) error {
			return os.Symlink("kolla.state.json", filepath.Join(dir, ".kolla.state.lock"))
		},
		"the journal": func(target, dir string) error { return os.Symlink(target, filepath.Join(dir, "kolla.state.journal")) },
		"the state": func(target, dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, state.DefaultFile)), os.Symlink(target, filepath.Join(dir, state.DefaultFile)))
		},
		".kolla": func(target, dir string) error {
			return errors.Join(os.RemoveAll(filepath.Join(dir, ".kolla")), os.Symlink(filepath.Dir(target), filepath.Join(dir, ".kolla")))
		},
		"the backups": func(target, dir string) error {
			return errors.Join(os.RemoveAll(filepath.Join(dir, ".kolla/backups")), os.Symlink(filepath.Dir(target), filepath.Join(dir, ".kolla/backups")))
		},
		"a lock that leads nowhere": func(target, dir string) error {
			return os.Symlink(target+".new", filepath.Join(dir, ".kolla.state.lock"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, elsewhere := t.TempDir(), t.TempDir()
			target := filepath.Join(elsewhere, "precious")
			must(t, os.WriteFile(target, []byte(precious), 0o600))
			store := state.Open(filepath.Join(dir, state.DefaultFile))
			session := lock(t, store)
			must(t, session.Record(object("glance")))
			must(t, session.Close())
			must(t, os.Remove(filepath.Join(dir, ".kolla.state.lock")))
			kept, err := os.ReadFile(store.Path())
			must(t, err)
			must(t, link(target, dir))

			session, err = state.Open(store.Path()).Lock(t.Context(), state.LockInfo{Operation: "test"}, 0)
			if err == nil {
				must(t, session.Record(object("nova")))
				err = session.Close()
			}
			var linked *state.LinkError
			if !errors.As(err, &linked) || !strings.Contains(err.Error(), dir) {
				t.Errorf("error is %v", err)
			}
			if now, err := os.ReadFile(target); err != nil || string(now) != precious {
				t.Errorf("behind the link is %q, error %v", now, err)
			}
			if entries, err := os.ReadDir(elsewhere); err != nil || len(entries) != 1 {
				t.Errorf("beside it are %v, error %v", entries, err)
			}
			if now, err := os.ReadFile(store.Path()); name != "the state" && (err != nil || string(now) != string(kept)) {
				t.Errorf("the state is %q, error %v", now, err)
			}
		})
	}
}

// TestPipes replaces each file of a state by a named pipe. Lock must fail, and must not wait for a
// writer.
func TestPipes(t *testing.T) {
	for _, name := range []string{".kolla.state.lock", "kolla.state.journal", state.DefaultFile} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			must(t, syscall.Mkfifo(filepath.Join(dir, name), 0o600))
			_, err := state.Open(filepath.Join(dir, state.DefaultFile)).Lock(t.Context(), state.LockInfo{Operation: "test"}, 0)
			if err == nil || !strings.Contains(err.Error(), "a named pipe") {
				t.Errorf("error is %v", err)
			}
		})
	}
}
