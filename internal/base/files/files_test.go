//go:build unix

package files_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"kolla.openstack.org/kolla/internal/base/files"
)

// within runs a function that must not block, and fails the test if it does.
func within(t *testing.T, what string, f func() error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-time.After(5 * time.Second):
		t.Fatalf("%s waits", what)
		return nil
	}
}

func write(t *testing.T, name, content string, mode fs.FileMode) string {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(name, mode); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestWhatIsNoRegularFile(t *testing.T) {
	dir := t.TempDir()
	pipe, link, kernel := filepath.Join(dir, "pipe"), filepath.Join(dir, "link"), filepath.Join(dir, "kernel")
	if err := errors.Join(syscall.Mkfifo(pipe, 0o600), os.Symlink(pipe, link), os.Symlink("/proc/self/status", kernel)); err != nil {
		t.Fatal(err)
	}
	names := map[string]string{pipe: "a named pipe", link: "a named pipe", dir: "a directory", "/dev/zero": "a device"}
	if runtime.GOOS == "linux" {
		names["/proc/self/status"], names[kernel] = "one of the kernel", "one of the kernel"
	}
	for name, want := range names {
		for what, f := range map[string]func() error{
			"Open":        func() error { _, err := files.Open(name); return err },
			"Read":        func() error { _, err := files.Read(name, 10); return err },
			"ReadTrusted": func() error { _, err := files.ReadTrusted(name, 10); return err },
			"Begins":      func() error { _, err := files.Begins("x")(name); return err },
			"Check":       func() error { return files.Check(name, 10) },
		} {
			err := within(t, what+" of "+name, f)
			if !errors.Is(err, files.ErrNotRegular) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s of %s: error is %v", what, name, err)
			}
		}
		err := within(t, "Create of "+name, func() error { _, err := output(name).Create(); return err })
		if err == nil || !strings.Contains(err.Error(), "Cannot write the file of -out: ") || !strings.Contains(err.Error(), "not a regular file, but "+want) {
			t.Errorf("Create of %s: error is %v", name, err)
		}
	}
}

// output is an output file that contains notes.
func output(path string) files.Output {
	return files.Output{Path: path, Option: "-out", Content: "notes", Ours: files.Begins("# ours")}
}

// TestOutput checks that a file is replaced only if it is empty or has the content that kolla
// writes.
func TestOutput(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a")
	for content, ours := range map[string]bool{"": true, "# ours\nx": true, "# ours": true, "# ou": false, "theirs": false} {
		write(t, name, content, 0o600)
		err := output(name).Check()
		if (err == nil) != ours {
			t.Errorf("%q: Check returns %v", content, err)
		}
		if want := name + " holds no notes, and -out would overwrite it."; !ours && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: Check returns %v, want %s", content, err, want)
		}
		f, err := output(name).Create()
		if (err == nil) != ours {
			t.Errorf("%q: Create returns %v", content, err)
		}
		if err == nil {
			err = f.Close()
		}
		if left, _ := os.ReadFile(name); ours != (len(left) == 0) || ours && err != nil {
			t.Errorf("%q: Create leaves %q, %v", content, left, err)
		}
	}
	for _, path := range []string{"", name + ".none", filepath.Join(name+".none", "b")} {
		if err := output(path).Check(); err != nil {
			t.Errorf("%q is refused: %v", path, err)
		}
	}
	if err := output(filepath.Join(name+".none", "b")).Write(nil); err == nil || !strings.HasPrefix(err.Error(), "Cannot write the file of -out: ") {
		t.Errorf("Write without a directory returns %v", err)
	}
	if err := output(name).Write([]byte("# ours")); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadFile(name); string(left) != "# ours" {
		t.Errorf("Write leaves %q, %v", left, err)
	}
}

func TestReadWithinALimit(t *testing.T) {
	name := write(t, filepath.Join(t.TempDir(), "a"), "0123456789", 0o600)
	if content, err := files.Read(name, 10); err != nil || string(content) != "0123456789" {
		t.Errorf("got %q, %v", content, err)
	}
	if _, err := files.Read(name, 9); !errors.Is(err, files.ErrTooLarge) {
		t.Errorf("error is %v", err)
	}
	if err := files.Check(name, 9); !errors.Is(err, files.ErrTooLarge) {
		t.Errorf("error is %v", err)
	}
	if _, err := files.Read(name+".none", 9); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error is %v", err)
	}
}

func TestReadTrusted(t *testing.T) {
	dir := t.TempDir()
	for mode, want := range map[fs.FileMode]error{0o600: nil, 0o644: nil, 0o664: files.ErrWritable, 0o602: files.ErrWritable} {
		name := write(t, filepath.Join(dir, "plan"), "x", mode)
		if _, err := files.ReadTrusted(name, 10); !errors.Is(err, want) {
			t.Errorf("mode %o: error is %v, want %v", mode, err, want)
		}
	}
	// A user who is not root cannot create files of other users. Files of root exist, and are
	// trusted.
	if os.Geteuid() != 0 {
		if _, err := files.ReadTrusted("/etc/passwd", 1<<20); err != nil {
			t.Errorf("a file of root's is refused: %v", err)
		}
		return
	}
	name := write(t, filepath.Join(dir, "theirs"), "x", 0o600)
	if err := os.Chown(name, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	if _, err := files.ReadTrusted(name, 10); !errors.Is(err, files.ErrNotOwned) || !strings.Contains(err.Error(), "65534") {
		t.Errorf("error is %v", err)
	}
}

func TestReadAllEndsWithTheContext(t *testing.T) {
	silent, writer := io.Pipe()
	defer writer.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := within(t, "ReadAll", func() error { _, err := files.ReadAll(ctx, silent, 10); return err })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
	if _, err := files.ReadAll(t.Context(), strings.NewReader("0123456789"), 9); !errors.Is(err, files.ErrTooLarge) {
		t.Errorf("error is %v", err)
	}
}

// TestDirFollowsNoLinks tries each method on a link at the end of a path and on a link in the
// middle.
func TestDirFollowsNoLinks(t *testing.T) {
	for name, f := range map[string]func(d files.Dir, name string) error{
		"Read":    func(d files.Dir, name string) error { _, err := d.Read(name, 10); return err },
		"Open":    func(d files.Dir, name string) error { _, err := d.Open(name); return err },
		"Stat":    func(d files.Dir, name string) error { _, err := d.Stat(name); return err },
		"New":     func(d files.Dir, name string) error { _, err := d.New(name); return err },
		"List":    func(d files.Dir, name string) error { _, err := d.List(name); return err },
		"Make":    func(d files.Dir, name string) error { return d.Make(name) },
		"Replace": func(d files.Dir, name string) error { return d.Replace(name, []byte("new")) },
		"Rename":  func(d files.Dir, name string) error { return d.Rename(name, "other") },
		"Remove":  func(d files.Dir, name string) error { return d.Remove(name) },
	} {
		for _, at := range []string{"link", "dir/link", "over/file", "over/none"} {
			inside, outside := t.TempDir(), t.TempDir()
			kept := write(t, filepath.Join(outside, "file"), "kept", 0o600)
			err := errors.Join(
				os.Mkdir(filepath.Join(inside, "dir"), 0o700), os.Symlink(kept, filepath.Join(inside, "link")),
				os.Symlink(kept, filepath.Join(inside, "dir/link")), os.Symlink(outside, filepath.Join(inside, "over")),
			)
			if err != nil {
				t.Fatal(err)
			}
			err = f(files.In(inside), at)
			// Replace, Rename and Remove change the link itself, and do not follow it.
			itself := strings.HasSuffix(at, "link") && (name == "Replace" || name == "Rename" || name == "Remove")
			if (err == nil) != itself {
				t.Errorf("%s(%q): error is %v", name, at, err)
			}
			entries, _ := os.ReadDir(outside)
			if content, err := os.ReadFile(kept); err != nil || string(content) != "kept" || len(entries) != 1 {
				t.Errorf("%s(%q) reached over the link: %q, %v, %v", name, at, content, entries, err)
			}
		}
	}
}

func TestDirReplace(t *testing.T) {
	dir := t.TempDir()
	d := files.In(dir)
	for _, content := range []string{"first", "second"} {
		if err := d.Replace("a", []byte(content)); err != nil {
			t.Fatal(err)
		}
		if got, err := d.Read("a", 10); err != nil || string(got) != content {
			t.Errorf("got %q, %v", got, err)
		}
	}
	info, err := os.Stat(d.Path("a"))
	entries, _ := os.ReadDir(dir)
	if err != nil || info.Mode().Perm() != 0o600 || len(entries) != 1 {
		t.Errorf("mode %v, entries %v, error %v", info.Mode(), entries, err)
	}
}

// TestReadWhileReplaced checks that a file can be read while another process replaces it.
func TestReadWhileReplaced(t *testing.T) {
	dir := files.In(t.TempDir())
	done := make(chan error)
	go func() {
		var err error
		for i := 0; i < 300 && err == nil; i++ {
			err = dir.Replace("f", []byte("content"))
		}
		done <- err
	}()
	for {
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
			return
		default:
		}
		if content, err := dir.Read("f", 100); err != nil && !errors.Is(err, fs.ErrNotExist) || err == nil && string(content) != "content" {
			t.Errorf("got %q, %v", content, err)
			<-done
			return
		}
	}
}
