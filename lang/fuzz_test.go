package lang_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/values"
)

// hidden is the value of the sensitive variable that every fuzzed configuration has.
const hidden = "qzxjv7-hidden"

const hiddenFile = `variable "fuzz_secret" {
  sensitive = true
}
`

// FuzzLoad checks that no configuration makes Load panic, whatever is in its files; that
// what is said of it is the same each time, has a place in it, and shows nothing that
// must not be seen; and that no token leaves the language.
func FuzzLoad(f *testing.F) {
	for _, seed := range seeds(f) {
		f.Add(seed)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, source []byte) {
		writeArchive(t, dir, source)
		options := lang.Options{Catalogue: smallCatalogue(), Vars: assigned("fuzz_secret=" + hidden)}
		config, diags := lang.Load(dir, options)
		checkPlaces(t, diags, config.Files)
		shown := render(diags, dir)
		if again, diags := lang.Load(dir, options); !bytes.Equal(shown, render(diags, dir)) || config.Digest != again.Digest {
			t.Errorf("loaded again, something else is said (-first +second):\n%s", cmp.Diff(string(shown), string(render(diags, dir))))
		}
		if bytes.Contains(shown, []byte(hidden)) && hides(source) {
			t.Errorf("a sensitive value is shown:\n%s", shown)
		}
		if writesTokens(source) {
			return
		}
		if bytes.ContainsAny(shown, "\uefe0\uefe1") {
			t.Errorf("a token is shown:\n%s", shown)
		}
		if !diags.HasErrors() {
			checkTokens(t, config)
		}
	})
}

// checkPlaces checks that diagnostics have places that can be shown, and nothing to show
// values of variables with.
func checkPlaces(t *testing.T, diags hcl.Diagnostics, files map[string]*hcl.File) {
	t.Helper()
	for _, d := range diags {
		if d.EvalContext != nil || d.Expression != nil {
			t.Errorf("%s: a renderer could show values of variables", d.Summary)
		}
		if d.Summary == "" || d.Detail == "" {
			t.Errorf("nothing is said: %+v", d)
		}
		if d.Subject == nil || strings.HasSuffix(strings.TrimSuffix(d.Subject.Filename, ".json"), ".vars.hcl") {
			continue
		}
		file := files[d.Subject.Filename]
		switch {
		case file == nil:
			t.Errorf("%s: the source of %s is not known", d.Summary, d.Subject)
		case len(file.Bytes) > 0 && d.Subject.End.Byte > len(file.Bytes):
			t.Errorf("%s: %s is after the end of the file", d.Summary, d.Subject)
		case d.Subject.Start.Byte > d.Subject.End.Byte:
			t.Errorf("%s: %s ends before it starts", d.Summary, d.Subject)
		}
	}
}

// checkTokens checks that what stands for generated secrets is nowhere in a
// configuration but in the outputs of services, and can be told from text there.
func checkTokens(t *testing.T, config *configs.Config) {
	t.Helper()
	shown := *config
	shown.Files, shown.Services, shown.Outputs = nil, nil, nil
	for _, s := range config.Services {
		for _, v := range s.Outputs {
			_, _ = values.TextOf(v)
		}
		s.Outputs = nil
		shown.Services = append(shown.Services, s)
	}
	text, err := json.Marshal(shown)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.ContainsAny(text, "\uefe0\uefe1") {
		t.Errorf("a token left the language:\n%s", text)
	}
}

// hides reports whether nothing in a configuration makes the hidden value public or
// computes something from it that holds it by chance.
func hides(source []byte) bool {
	return !bytes.Contains(source, []byte("nonsensitive")) && !bytes.Contains(source, []byte("fuzz_secret\"")) &&
		!bytes.Contains(source, []byte("variable fuzz_secret")) && !bytes.Contains(source, []byte("qzxjv7"))
}

// writesTokens reports whether a configuration has the characters that are reserved
// for tokens itself, or escapes that may be them.
func writesTokens(source []byte) bool {
	return bytes.ContainsAny(source, "\uefe0\uefe1") || escapedTokens.Match(source)
}

var escapedTokens = regexp.MustCompile(`(?i)\\u0{0,4}efe|base64|urldecode`)

// header starts a file of an archive. A module is a directory.
var header = regexp.MustCompile(`(?m)^-- (([a-z]{1,8}/){0,2}[a-z_-][a-z_.-]{0,24}) --\n`)

// writeArchive makes a directory of an archive of files, each after a line with its
// name; what stands before the first is main.hcl.
func writeArchive(t *testing.T, dir string, source []byte) {
	t.Helper()
	old, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range old {
		if err := os.RemoveAll(filepath.Join(dir, entry.Name())); err != nil {
			t.Fatal(err)
		}
	}
	write := func(name string, content []byte) {
		name = filepath.Join(dir, name)
		// A file may have the name of another's directory: then it is not there.
		if os.MkdirAll(filepath.Dir(name), 0o700) == nil {
			_ = os.WriteFile(name, content, 0o600)
		}
	}
	write("fuzz.hcl", []byte(hiddenFile))
	name, from := "main.hcl", 0
	for _, at := range header.FindAllSubmatchIndex(source, 12) {
		if at[0] > 0 {
			write(name, source[from:at[0]])
		}
		name, from = string(source[at[2]:at[3]]), at[1]
	}
	write(name, source[from:])
}

// seeds are the configurations of all tests and examples, as archives.
func seeds(f *testing.F) [][]byte {
	f.Helper()
	var out [][]byte
	for _, pattern := range []string{"testdata/diagnostics/*", "testdata/config/*", "testdata/json/*", "../examples/*"} {
		dirs, err := filepath.Glob(pattern)
		if err != nil || len(dirs) == 0 {
			f.Fatalf("no seeds in %s: %v", pattern, err)
		}
		for _, dir := range dirs {
			if info, err := os.Stat(dir); err != nil || !info.IsDir() {
				continue
			}
			out = append(out, archiveOf(f, dir))
		}
	}
	return append(out, []byte(`cloud "c" {
  release = var.fuzz_secret
}
locals {
  a = [var.fuzz_secret, "${var.fuzz_secret}-x", { (var.fuzz_secret) = 1 }]
  b = tonumber(var.fuzz_secret) + local.a[0].x
  c = jsondecode(var.fuzz_secret)
  d = templatefile("t.tmpl", { x = var.fuzz_secret })
}
module "m" {
  source   = "./m"
  for_each = toset([var.fuzz_secret])
  x        = var.fuzz_secret
}
-- t.tmpl --
${x.y}
-- m/main.hcl --
variable "x" {
  type = number
  validation {
    condition     = var.x > 1
    error_message = "It is ${var.x}."
  }
}
`))
}

// archiveOf makes an archive of a directory.
func archiveOf(tb testing.TB, dir string) []byte {
	tb.Helper()
	var archive bytes.Buffer
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path == "want.txt" || path == "want.json" {
			return err
		}
		if info, err := os.Stat(filepath.Join(dir, path)); err != nil || !info.Mode().IsRegular() {
			return nil // a link that leads nowhere
		}
		source, err := os.ReadFile(filepath.Join(dir, path))
		fmt.Fprintf(&archive, "-- %s --\n%s", path, source)
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return archive.Bytes()
}
