package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// nowhere checks that no file of the script contains one of the strings, not even in an archive or
// in base64: nowhere TEXT... [-- FILE...]. It leaves out FILEs, which the script itself wrote.
func nowhere(ts *testscript.TestScript, neg bool, args []string) {
	texts, sources := args, []string(nil)
	if i := slices.Index(args, "--"); i >= 0 {
		texts, sources = args[:i], args[i+1:]
	}
	if neg || len(texts) == 0 {
		ts.Fatalf("usage: nowhere TEXT... [-- FILE...]")
	}
	work, searched := ts.Getenv("WORK"), 0
	ts.Check(filepath.WalkDir(work, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		name, err := filepath.Rel(work, path)
		if err != nil || slices.Contains(sources, name) {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		searched++
		for _, text := range texts {
			if place := findIn(name, content, spelt(text)); place != "" {
				ts.Logf("%s has %s", place, text)
				err = errLeak
			}
		}
		return err
	}))
	if searched == 0 {
		ts.Fatalf("there is no file to search")
	}
}

var errLeak = errors.New("a file has a secret value")

// spelt returns a string, and the parts of its base64 that do not depend on the bytes around it.
func spelt(text string) [][]byte {
	all := [][]byte{[]byte(text)}
	for offset, skip := range []int{0, 2, 3} {
		encoded := base64.RawStdEncoding.EncodeToString(append(make([]byte, offset), text...))
		if (offset+len(text))%3 != 0 {
			encoded = encoded[:len(encoded)-1]
		}
		all = append(all, []byte(encoded[skip:]))
	}
	return all
}

// findIn returns the first place of one of the strings: the file, or a file in an archive. It is
// empty if none of them is found.
func findIn(name string, content []byte, texts [][]byte) string {
	for _, text := range texts {
		if bytes.Contains(content, text) {
			return name
		}
	}
	for inner, content := range unpacked(content) {
		if place := findIn(name+"!"+inner, content, texts); place != "" {
			return place
		}
	}
	return ""
}

// unpacked returns the files of an archive. There are none if the content is no archive.
func unpacked(content []byte) map[string][]byte {
	files := map[string][]byte{}
	if archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content))); err == nil {
		for _, file := range archive.File {
			if r, err := file.Open(); err == nil {
				files[file.Name], _ = io.ReadAll(r)
			}
		}
		return files
	}
	if r, err := gzip.NewReader(bytes.NewReader(content)); err == nil {
		files["gz"], _ = io.ReadAll(r)
		return files
	}
	for archive := tar.NewReader(bytes.NewReader(content)); ; {
		header, err := archive.Next()
		if err != nil {
			return files
		}
		files[header.Name], _ = io.ReadAll(archive)
	}
}

// TestNowhereLooksIntoArchives checks that the search finds strings in base64 and in nested
// archives.
func TestNowhereLooksIntoArchives(t *testing.T) {
	const text = "a swordfish in a box"
	var tarred, zipped, gzipped bytes.Buffer
	archive := tar.NewWriter(&tarred)
	packed := zip.NewWriter(&zipped)
	inner, err := packed.Create("inner.json")
	for _, err := range []error{
		err, archive.WriteHeader(&tar.Header{Name: "x", Size: int64(len(text)), Mode: 0o600}), write(archive, text), archive.Close(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	compressed := gzip.NewWriter(&gzipped)
	for _, err := range []error{write(compressed, tarred.String()), compressed.Close(), write(inner, gzipped.String()), packed.Close()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, content := range map[string][]byte{
		"plain":  []byte(text),
		"base64": []byte(base64.StdEncoding.EncodeToString([]byte("x" + text))),
		"packed": zipped.Bytes(),
	} {
		if findIn(name, content, spelt("swordfish")) == "" {
			t.Errorf("%s: nothing is found", name)
		}
		if place := findIn(name, content, spelt("hunter")); place != "" {
			t.Errorf("%s: found at %s", name, place)
		}
	}
}

func write(w io.Writer, text string) error {
	_, err := io.WriteString(w, text)
	return err
}
