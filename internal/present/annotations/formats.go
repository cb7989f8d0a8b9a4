package annotations

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/base/files"
	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/internal/base/words"
)

// List are the places to which annotations are written.
type List []target

// target is a place, in a format.
type target struct {
	format format
	file   files.Output // without a path: standard output
}

// format is a way to write annotations.
type format struct {
	name   string
	begins string // of a file; empty: the format is for standard output
	write  func(w io.Writer, notes []note, version string) error
}

var formats = []format{
	{name: "github", write: github},
	{name: "gitlab", begins: "[", write: gitlab},
	{name: "sarif", begins: `{` + "\n" + `  "$schema": "` + sarifSchema + `"`, write: sarif},
}

// Targets reads the values of -annotations. It refuses a file that has other content.
func Targets(values []string) (List, error) {
	var out List
	for _, value := range values {
		name, path, named := strings.Cut(value, ":")
		var t target
		for _, f := range formats {
			if f.name == name {
				t.format = f
			}
		}
		switch {
		case t.format.name == "":
			names := []string{"github", "gitlab", "sarif"}
			return nil, failure.New(fmt.Sprintf("No format %q of annotations", name), words.WithHint(words.DidYouMean(name, names), "There are: github, gitlab:FILE, sarif:FILE."))
		case t.format.begins == "" && named:
			return nil, failure.New("Annotations of GitHub have no file", "GitHub reads them from the log of the job: write -annotations=github.")
		case t.format.begins != "" && path == "":
			return nil, failure.New(fmt.Sprintf("Annotations of the format %s need a file", name), fmt.Sprintf("Name it after a colon: -annotations=%s:FILE.", name))
		}
		t.file = files.Output{Path: path, Option: "-annotations", Content: "annotations", Ours: files.Begins(t.format.begins)}
		if err := t.file.Check(); err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// Stdout reports whether annotations are written to standard output.
func (l List) Stdout() bool {
	return slices.ContainsFunc(l, func(t target) bool { return t.file.Path == "" })
}

// Write writes the collected notes to all places. version is that of the program.
func (l List) Write(stdout io.Writer, log *Log, version string) error {
	notes := log.sorted()
	for _, t := range l {
		if t.file.Path == "" {
			if err := t.format.write(stdout, notes, version); err != nil {
				return fmt.Errorf("write annotations: %w", err)
			}
			continue
		}
		var content bytes.Buffer
		if err := t.format.write(&content, notes, version); err != nil {
			return err
		}
		if err := t.file.Write(content.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// In commands of GitHub Actions, these characters are written as escapes: in messages, and in
// the values of properties.
var (
	githubMessage  = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	githubProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// github writes commands of GitHub Actions. GitHub shows columns only if they are on one line.
func github(w io.Writer, notes []note, _ string) error {
	for _, n := range notes {
		command := "error"
		if n.warning {
			command = "warning"
		}
		var properties []string
		set := func(name string, value any) {
			properties = append(properties, name+"="+githubProperty.Replace(visible(fmt.Sprint(value))))
		}
		if p := n.place; p.file != "" {
			set("file", p.file)
			set("line", p.line)
			set("endLine", p.endLine)
			if p.col > 0 && p.line == p.endLine {
				set("col", p.col)
				set("endColumn", max(p.endCol, p.col))
			}
		}
		set("title", n.summary)
		message := cmp.Or(n.detail, n.summary)
		if _, err := fmt.Fprintf(w, "::%s %s::%s\n", command, strings.Join(properties, ","), githubMessage.Replace(visible(message))); err != nil {
			return err
		}
	}
	return nil
}

// visible escapes hidden characters in the lines of a text.
func visible(text string) string {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i, line := range lines {
		lines[i] = foreign.Text(line)
	}
	return strings.Join(lines, "\n")
}

// gitlabNote is an entry of a code quality report of GitLab.
type gitlabNote struct {
	Description string         `json:"description"`
	Check       string         `json:"check_name"`
	Fingerprint string         `json:"fingerprint"`
	Severity    string         `json:"severity"`
	Location    gitlabLocation `json:"location"`
}

type gitlabLocation struct {
	Path  string      `json:"path"`
	Lines gitlabLines `json:"lines"`
}

type gitlabLines struct {
	Begin int `json:"begin"`
	End   int `json:"end"`
}

// gitlab writes a code quality report. GitLab needs a place for each entry.
func gitlab(w io.Writer, notes []note, _ string) error {
	out := []gitlabNote{}
	prints := fingerprints(notes)
	for i, n := range notes {
		entry := gitlabNote{Description: n.message(), Check: n.rule(), Fingerprint: prints[i], Severity: "major"}
		if n.warning {
			entry.Severity = "minor"
		}
		entry.Location = gitlabLocation{".", gitlabLines{1, 1}}
		if n.place.file != "" {
			entry.Location = gitlabLocation{n.place.file, gitlabLines{n.place.line, n.place.endLine}}
		}
		out = append(out, entry)
	}
	return foreign.JSON(w, out, "  ")
}

// fingerprints identify notes from one run to the next. They do not depend on lines, so that
// an edit elsewhere in the file does not change them; equal notes are counted.
func fingerprints(notes []note) []string {
	var out []string
	seen := map[string]int{}
	for _, n := range notes {
		key := fmt.Sprintf("%t\x00%s\x00%s\x00%s", n.warning, n.place.file, n.summary, n.detail)
		sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d", key, seen[key]))
		seen[key]++
		out = append(out, hex.EncodeToString(sum[:16]))
	}
	return out
}
