package notices_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"kolla.openstack.org/kolla/internal/cli/notices"
	"kolla.openstack.org/kolla/internal/dev/golden"
)

// systems lists the systems for which kolla is built. The linked modules differ a little
// between them.
var systems = []string{"linux", "darwin", "windows"}

// licences maps words of licence texts to licences that are compatible with kolla's own,
// Apache-2.0. The first match counts.
var licences = []struct{ name, words string }{
	{"MPL-2.0", "Mozilla Public License Version 2.0"},
	{"MPL-2.0", "Mozilla Public License, version 2.0"},
	{"Apache-2.0", "Apache License Version 2.0, January 2004"},
	{"MIT", "Permission is hereby granted, free of charge, to any person obtaining a copy"},
	{"ISC", "Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee"},
	{"ISC", "Permission to use, copy, modify, and distribute this software for any purpose with or without fee"},
	{"BSD-3-Clause", "may be used to endorse or promote products derived from"},
	{"BSD-2-Clause", "Redistributions in binary form must reproduce the above"},
	{"Unlicense", "This is free and unencumbered software released into the public domain"},
}

// legal matches the names of files that licences require to be distributed.
var legal = regexp.MustCompile(`(?i)^((un)?licen[cs]e|copying|notice|patents|copyright)([._-].*)?$`)

// grants matches the names in legal that contain a licence.
var grants = regexp.MustCompile(`(?i)^((un)?licen[cs]e|copying)`)

// module is a module that is linked into kolla. texts maps file names, relative to the module's
// directory, to legal texts.
type module struct {
	path, version string
	licences      []string
	texts         map[string]string
}

type goPackage struct {
	Dir      string
	Standard bool
	Module   *struct {
		Path, Version, Dir string
		Main               bool
		Replace            *struct{ Path string }
	}
}

func TestNotices(t *testing.T) {
	want := render(t, linked(t))
	if golden.Update() {
		if err := os.WriteFile("notices.txt", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if notices.Text != want {
		t.Errorf("notices.txt is not what is linked into kolla: run make golden%s", differs(notices.Text, want))
	}
	for _, words := range []string{"github.com/hashicorp/hcl/v2 ", "MPL-2.0", "Mozilla Public License", "k8s.io/client-go "} {
		if !strings.Contains(notices.Text, words) {
			t.Errorf("notices.txt does not have %q", words)
		}
	}
}

// differs returns a text about the first line that differs.
func differs(got, want string) string {
	lines := strings.Split(got, "\n")
	for i, l := range strings.Split(want, "\n") {
		if i >= len(lines) || lines[i] != l {
			return fmt.Sprintf("\nline %d should be %q", i+1, l)
		}
	}
	return ""
}

// linked returns the modules that kolla uses on any system.
func linked(t *testing.T) []*module {
	t.Helper()
	found := map[string]*module{}
	for _, system := range systems {
		for _, p := range packages(t, system) {
			if p.Standard || p.Module == nil || p.Module.Main {
				continue
			}
			if p.Module.Replace != nil {
				t.Errorf("%s is replaced by %s: say so in the notices", p.Module.Path, p.Module.Replace.Path)
			}
			m := found[p.Module.Path]
			if m == nil {
				m = &module{path: p.Module.Path, version: p.Module.Version, texts: map[string]string{}}
				found[m.path] = m
			}
			m.collect(t, p.Module.Dir, p.Dir)
		}
	}
	runtime := &module{path: "Go, its standard library and runtime", texts: map[string]string{}}
	root := strings.TrimSpace(run(t, "", "env", "GOROOT"))
	runtime.collect(t, root, root)
	found[""] = runtime
	modules := slices.SortedFunc(maps.Values(found), func(a, b *module) int { return cmp.Compare(a.path, b.path) })
	for _, m := range modules {
		m.classify(t)
	}
	return modules
}

// collect reads the legal texts in a package's directory and in the directories above it.
func (m *module) collect(t *testing.T, root, dir string) {
	t.Helper()
	for {
		files, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			path := filepath.Join(dir, file.Name())
			name, err := filepath.Rel(root, path)
			if err != nil {
				t.Fatal(err)
			}
			if !file.Type().IsRegular() || !legal.MatchString(file.Name()) || strings.HasSuffix(name, ".go") ||
				strings.HasSuffix(name, ".docs") { // a licence of pages that are not linked
				continue
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			m.texts[name] = tidy(string(text))
		}
		if dir == root || len(dir) < len(root) {
			return
		}
		dir = filepath.Dir(dir)
	}
}

// tidy returns a text without invisible blanks.
func tidy(text string) string {
	lines := strings.Split(strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n"), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " \t\f")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n") + "\n"
}

// classify determines the licences of a module. An unknown licence is an error, because a
// maintainer must check whether it is compatible with kolla's.
func (m *module) classify(t *testing.T) {
	t.Helper()
	for name, text := range m.texts {
		if !grants.MatchString(filepath.Base(name)) {
			continue
		}
		words := strings.Join(strings.Fields(text), " ")
		i := slices.IndexFunc(licences, func(l struct{ name, words string }) bool { return strings.Contains(words, l.words) })
		if i < 0 {
			t.Errorf("%s: nobody knows the licence in %s", m.path, name)
			continue
		}
		m.licences = append(m.licences, licences[i].name)
	}
	slices.Sort(m.licences)
	m.licences = slices.Compact(m.licences)
	if len(m.licences) == 0 {
		t.Errorf("%s has no licence", m.path)
	}
}

// render returns the list of modules and then the texts, each text once.
func render(t *testing.T, modules []*module) string {
	t.Helper()
	var list, texts strings.Builder
	list.WriteString(`Third-party notices

kolla is licensed under the Apache License, version 2.0. The program has the following
in it, by the licences that are named, whose texts follow. The source of each is at the
address beside it, unchanged; that of what is under the Mozilla Public License (MPL-2.0)
is available there under that licence.

`)
	numbers := map[string]int{}
	for _, m := range modules {
		source := "https://go.dev/dl/"
		if m.version != "" {
			source = fmt.Sprintf("https://proxy.golang.org/%s/@v/%s.zip", escaped(m.path), m.version)
		}
		var refs []string
		for _, name := range slices.Sorted(maps.Keys(m.texts)) {
			text := m.texts[name]
			n, known := numbers[text]
			if !known {
				n = len(numbers) + 1
				numbers[text] = n
				fmt.Fprintf(&texts, "\n%[1]s\n[%[2]d] %[3]s of %[4]s\n%[1]s\n\n%[5]s", strings.Repeat("-", 80), n, filepath.ToSlash(name), m.path, text)
			}
			if ref := fmt.Sprintf("[%d]", n); !slices.Contains(refs, ref) {
				refs = append(refs, ref)
			}
		}
		fmt.Fprintf(&list, "%s\n    %s %s\n    %s\n", strings.TrimSpace(m.path+" "+m.version), strings.Join(m.licences, ", "), strings.Join(refs, " "), source)
	}
	return list.String() + texts.String()
}

// escaped returns a path in the notation of the module proxy: "!a" for "A".
func escaped(path string) string {
	var b strings.Builder
	for _, r := range path {
		if 'A' <= r && r <= 'Z' {
			b.WriteByte('!')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

func packages(t *testing.T, system string) []goPackage {
	t.Helper()
	var all []goPackage
	decoder := json.NewDecoder(strings.NewReader(run(t, system, "list", "-deps", "-json=Dir,Standard,Module", "kolla.openstack.org/kolla/cmd/kolla")))
	for {
		var p goPackage
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("read go list: %v", err)
		}
		all = append(all, p)
	}
}

func run(t *testing.T, system string, args ...string) string {
	t.Helper()
	command := exec.Command("go", args...)
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if system != "" {
		command.Env = append(command.Env, "GOOS="+system, "GOARCH=amd64")
	}
	var stderr bytes.Buffer
	command.Stderr = &stderr
	output, err := command.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, &stderr)
	}
	return string(output)
}
