package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPack checks that an archive contains the given files, and no data about the user or the time
// of the build.
func TestPack(t *testing.T) {
	var archive bytes.Buffer
	if err := pack(&archive, "kolla_1", []file{{"kolla", []byte("program"), true}, {"LICENSE", []byte("text"), false}}); err != nil {
		t.Fatal(err)
	}
	compressed, err := gzip.NewReader(&archive)
	if err != nil {
		t.Fatal(err)
	}
	if compressed.Name != "" || !compressed.ModTime.IsZero() {
		t.Errorf("the archive says %q, %v", compressed.Name, compressed.ModTime)
	}
	type entry struct {
		Name, Owner, Group, Content string
		UID, GID                    int
		Mode, Changed               int64
	}
	var got []entry
	reader := tar.NewReader(compressed)
	for {
		h, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(reader)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, entry{h.Name, h.Uname, h.Gname, string(content), h.Uid, h.Gid, h.Mode, h.ModTime.Unix()})
	}
	want := []entry{
		{Name: "kolla_1/kolla", Content: "program", Mode: 0o755, Changed: packed.Unix()},
		{Name: "kolla_1/LICENSE", Content: "text", Mode: 0o644, Changed: packed.Unix()},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestBill checks that the software bill of materials lists all modules of a program, with replaced
// modules replaced, and that all references resolve.
func TestBill(t *testing.T) {
	made := &debug.BuildInfo{
		GoVersion: "go1.26.8",
		Main:      debug.Module{Path: "kolla.openstack.org/kolla", Version: "(devel)"},
		Deps: []*debug.Module{
			{Path: "example.org/plain", Version: "v1.2.3", Sum: "h1:y"},
			{Path: "example.org/old", Version: "v1.0.0", Replace: &debug.Module{Path: "example.org/new", Version: "v2.0.0+incompatible", Sum: "h1:x"}},
		},
		Settings: []debug.BuildSetting{{Key: "-compiler", Value: "gc"}, {Key: "GOARCH", Value: "arm64"}, {Key: "GOOS", Value: "darwin"}},
	}
	text, err := billOf(made, "v1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	var got bill
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	library := func(name, version, sum string) component {
		purl := "pkg:golang/" + name + "@" + version
		c := component{Ref: purl, Type: "library", Name: name, Version: version, Scope: "required", PURL: purl}
		if sum != "" {
			c.Properties = []property{{"go:sum", sum}}
		}
		return c
	}
	want := []component{library("std", "1.26.8", ""), library("example.org/plain", "v1.2.3", "h1:y"), library("example.org/new", "v2.0.0+incompatible", "h1:x")}
	if diff := cmp.Diff(want, got.Components); diff != "" {
		t.Error(diff)
	}
	program := library("kolla.openstack.org/kolla", "v1.2.3", "")
	program.Type, program.Properties = "application", []property{{"go:GOARCH", "arm64"}, {"go:GOOS", "darwin"}}
	if diff := cmp.Diff(program, got.Metadata.Component); diff != "" {
		t.Error(diff)
	}
	if len(got.Dependencies) != 1 || len(got.Dependencies[0].DependsOn) != len(got.Components) || got.Dependencies[0].Ref != got.Metadata.Component.Ref {
		t.Errorf("got %+v", got.Dependencies)
	}
}

// TestSums checks that sha256sum -c can read the checksums.
func TestSums(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("kolla\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := sums(dir, []string{"a"}); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	if want := "7963559a8d8aa36123c64be693f3fb90f5b7fad6688adcce5d256954b92d0367  a\n"; string(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
