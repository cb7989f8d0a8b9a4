package ocitar_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"kolla.openstack.org/kolla/internal/dev/devimages/ocitar"
)

var packaged = time.Date(2025, 3, 7, 17, 36, 0, 500, time.UTC)

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("NOT RUN: it takes root to make what overlayfs leaves")
	}
}

// archive writes a layer and returns a line for each entry.
func archive(t *testing.T, dir string, options ocitar.Options) []string {
	t.Helper()
	var out bytes.Buffer
	must(t, ocitar.Write(&out, dir, options))
	var lines []string
	for reader := tar.NewReader(&out); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return lines
		}
		must(t, err)
		content, err := io.ReadAll(reader)
		must(t, err)
		lines = append(lines, describe(header, content))
	}
}

func describe(header *tar.Header, content []byte) string {
	line := fmt.Sprintf("%c %04o %d:%d %s", header.Typeflag, header.Mode, header.Uid, header.Gid, header.Name)
	if header.Linkname != "" {
		line += " -> " + header.Linkname
	}
	if len(content) > 0 {
		line += " " + string(content)
	}
	for key, value := range header.PAXRecords {
		if attribute, ok := strings.CutPrefix(key, "SCHILY.xattr."); ok {
			line += " " + attribute + "=" + value
		}
	}
	return line
}

func TestWrite(t *testing.T) {
	needRoot(t)
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	must(t,
		os.MkdirAll(at("usr/bin"), 0o755),
		os.MkdirAll(at("run/made"), 0o755),
		os.Mkdir(at("tmp"), 0o755),
		os.Chmod(at("tmp"), 0o777|os.ModeSticky),
		os.WriteFile(at("usr/bin/sudo"), []byte("sudo"), 0o755),
		os.Chmod(at("usr/bin/sudo"), 0o755|os.ModeSetuid),
		os.Symlink("sudo", at("usr/bin/link")),
		os.Link(at("usr/bin/sudo"), at("usr/bin/zz")),
		os.WriteFile(at("usr/mine"), []byte("mine"), 0o600),
		os.Chown(at("usr/mine"), 42425, 42400),
		unix.Setxattr(at("usr/mine"), "user.kind", []byte("test"), 0),
		unix.Setxattr(at("usr"), "trusted.overlay.origin", []byte("x"), 0),
	)
	listener, err := net.Listen("unix", at("usr/socket"))
	must(t, err)
	defer listener.Close()

	want := []string{
		"5 0755 0:0 run/",
		"5 1777 0:0 tmp/",
		"5 0755 0:0 usr/",
		"5 0755 0:0 usr/bin/",
		"2 0777 0:0 usr/bin/link -> sudo",
		"0 4755 0:0 usr/bin/sudo sudo",
		"1 4755 0:0 usr/bin/zz -> usr/bin/sudo",
		"0 0600 42425:42400 usr/mine mine user.kind=test",
	}
	got := archive(t, dir, ocitar.Options{Empty: []string{"run"}})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
}

// TestWriteHides checks the entries for the upper directory of an overlay in which files and
// directories of a lower layer were deleted or replaced.
func TestWriteHides(t *testing.T) {
	needRoot(t)
	upper, lower := t.TempDir(), t.TempDir()
	at := func(name string) string { return filepath.Join(upper, name) }
	must(t,
		os.MkdirAll(filepath.Join(lower, "var/lib/replaced"), 0o755),
		os.MkdirAll(at("var/lib/replaced"), 0o755),
		os.Mkdir(at("var/lib/new"), 0o755),
		os.WriteFile(at("var/lib/new/file"), nil, 0o644),
		unix.Mknod(at("var/lib/gone"), unix.S_IFCHR, 0),
		unix.Setxattr(at("var/lib/replaced"), "trusted.overlay.opaque", []byte("y"), 0),
		unix.Setxattr(at("var/lib/new"), "trusted.overlay.opaque", []byte("y"), 0),
	)
	want := []string{
		"5 0755 0:0 var/",
		"5 0755 0:0 var/lib/",
		"0 0600 0:0 var/lib/.wh.gone",
		"5 0755 0:0 var/lib/new/",
		"0 0644 0:0 var/lib/new/file",
		"5 0755 0:0 var/lib/replaced/",
		"0 0600 0:0 var/lib/replaced/.wh..wh..opq",
	}
	if diff := cmp.Diff(want, archive(t, upper, ocitar.Options{Lower: []string{lower}})); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
}

// TestWriteIsDeterministic checks that the same files make the same archive, in whatever order they
// were created.
func TestWriteIsDeterministic(t *testing.T) {
	var archives [][]byte
	for _, reversed := range []bool{false, true} {
		dir := t.TempDir()
		names := []string{"a", "b", "c"}
		if reversed {
			slices.Reverse(names)
		}
		for _, name := range names {
			file := filepath.Join(dir, name)
			must(t, os.WriteFile(file, []byte(name), 0o644), os.Chtimes(file, time.Time{}, packaged))
		}
		var out bytes.Buffer
		must(t, ocitar.Write(&out, dir, ocitar.Options{}))
		archives = append(archives, out.Bytes())
	}
	if !bytes.Equal(archives[0], archives[1]) {
		t.Error("the same files made two archives")
	}
	header, err := tar.NewReader(bytes.NewReader(archives[0])).Next()
	must(t, err)
	if want := packaged.Truncate(time.Second); !header.ModTime.Equal(want) {
		t.Errorf("a file's time is %v, want %v", header.ModTime, want)
	}
}
