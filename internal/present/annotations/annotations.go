// Package annotations writes errors and warnings, with their places in the configuration, for
// code review: as commands of GitHub Actions, as a code quality report of GitLab, or as SARIF.
package annotations

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/internal/present/report"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/planner/plans"
)

// Log collects errors and warnings. A nil Log collects nothing.
type Log struct{ notes []note }

// note is an error or a warning.
type note struct {
	warning bool
	summary string
	detail  string
	place   place
}

// place is a place in a file. Lines and columns begin with 1; a column of 0 is not known.
type place struct {
	file      string // as the configuration names it; empty: there is no place
	line, col int
	endLine   int
	endCol    int // behind the last character
}

// Configuration collects diagnostics of the configuration.
func (l *Log) Configuration(diags hcl.Diagnostics) {
	for _, d := range diags {
		n := note{warning: d.Severity == hcl.DiagWarning, summary: d.Summary, detail: d.Detail}
		if s := d.Subject; s != nil && !configs.InCatalogue(*s) {
			n.place = place{s.Filename, s.Start.Line, s.Start.Column, s.End.Line, s.End.Column}
		}
		l.add(n)
	}
}

// Problems collects problems of a plan.
func (l *Log) Problems(problems []plans.Problem) {
	for _, p := range problems {
		l.add(note{warning: p.Warning, summary: p.Summary, detail: p.Detail, place: placeOf(p.Source)})
	}
}

// Plan collects the warnings of a plan.
func (l *Log) Plan(plan *plans.Plan) {
	if l == nil {
		return
	}
	for _, n := range plan.Warnings {
		p := n.Problem()
		for i := range plan.Actions {
			if a := &plan.Actions[i]; p.Source == "" && a.Address == n.Address && a.Object != nil {
				p.Source = a.Object.Source
			}
		}
		l.Problems([]plans.Problem{p})
	}
}

// Failure collects an error without a place.
func (l *Log) Failure(summary, detail string) {
	l.add(note{summary: summary, detail: detail})
}

// add adds a note once.
func (l *Log) add(n note) {
	if l == nil {
		return
	}
	n.summary = report.Headline(n.summary)
	if !slices.Contains(l.notes, n) {
		l.notes = append(l.notes, n)
	}
}

// placeOf reads a place such as "cloud.hcl:41".
func placeOf(source string) place {
	i := strings.LastIndexByte(source, ':')
	if i < 0 {
		return place{}
	}
	line, err := strconv.Atoi(source[i+1:])
	if err != nil || line < 1 {
		return place{}
	}
	return place{file: source[:i], line: line, endLine: line}
}

// sorted returns the notes by file and line, with paths from the root of the repository.
// Notes without a place come last.
func (l *Log) sorted() []note {
	here, root := directories()
	out := slices.Clone(l.notes)
	for i := range out {
		out[i].place.file = fromRoot(here, root, out[i].place.file)
		if out[i].place.file == "" {
			out[i].place = place{}
		}
	}
	slices.SortStableFunc(out, func(a, b note) int {
		x, y := a.place, b.place
		if (x.file == "") != (y.file == "") {
			return strings.Compare(y.file, x.file)
		}
		return cmp.Or(strings.Compare(x.file, y.file), x.line-y.line, x.col-y.col)
	})
	return out
}

// directories returns the working directory, and the root of the git repository that contains
// it. Without a repository, both are the same.
func directories() (here, root string) {
	here, err := os.Getwd()
	if err != nil {
		return ".", "."
	}
	for dir := here; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return here, dir
		}
		if dir == filepath.Dir(dir) {
			return here, here
		}
	}
}

// fromRoot returns the path of a file from the root, with slashes; empty: it is not below the
// root.
func fromRoot(here, root, file string) string {
	if file == "" {
		return ""
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(here, file)
	}
	path, err := filepath.Rel(root, file)
	if err != nil || !filepath.IsLocal(path) {
		return ""
	}
	return filepath.ToSlash(path)
}

// quoted matches the parts of a summary that differ from one case to the next.
var quoted = regexp.MustCompile(`"[^"]*"|[^a-zA-Z "]+`)

// rule returns a name for the sort of a note: `There is no variable "x"` is
// there-is-no-variable.
func (n note) rule() string {
	const maxLength = 60 // characters, so that a list of rules is readable
	words := strings.Fields(strings.ToLower(quoted.ReplaceAllString(n.summary, " ")))
	out := ""
	for _, word := range words {
		if len(out)+1+len(word) > maxLength {
			break
		}
		out += "-" + word
	}
	return cmp.Or(strings.TrimPrefix(out, "-"), "problem")
}

// message returns the summary and the detail in one text.
func (n note) message() string {
	return strings.TrimSpace(strings.TrimSuffix(n.summary, ".") + ". " + n.detail)
}
