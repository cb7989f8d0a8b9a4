// Package publish writes a plan to a file or to standard output for readers without a terminal:
// as Markdown or HTML for code review, as JSON for programs, and in the words of tfcmt. The
// formats of `kolla drift` are in internal/cli/inspect.
package publish

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/base/files"
	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/present/jsonview"
	"kolla.openstack.org/kolla/internal/present/report"
	"kolla.openstack.org/kolla/internal/present/view/html"
	"kolla.openstack.org/kolla/internal/present/view/markdown"
	"kolla.openstack.org/kolla/internal/present/view/screen"
	"kolla.openstack.org/kolla/internal/present/view/terminal"
	"kolla.openstack.org/kolla/planner/plans"
)

// Terminal is the name of the format for people at a terminal. This package does not write it.
const Terminal = "terminal"

const markdownName = "markdown"

// format is a way to write a plan.
type format struct {
	name   string
	ending string // of files; empty: the format is for standard output only
	begins string // of each file; other files are not overwritten
	values bool   // the plan needs the values of all objects
	write  func(io.Writer, *plans.Plan, reading) error
}

// reading is how a plan is read.
type reading struct {
	now   time.Time // zero: when it is made
	full  bool
	limit int // Outputs.MarkdownLimit
}

var formats = []format{
	{name: markdownName, ending: ".md", begins: "<!-- kolla ", write: func(w io.Writer, plan *plans.Plan, r reading) error {
		_, err := io.WriteString(w, markdown.Plan(report.Of(plan, report.Moment{Now: r.now}), markdown.Options{Full: r.full, Budget: r.limit}))
		return err
	}},
	{name: "html", ending: ".html", begins: html.Begins, write: func(w io.Writer, plan *plans.Plan, r reading) error {
		return html.Render(w, report.Of(plan, report.Moment{Now: r.now}), html.Options{Full: r.full})
	}},
	{name: "tfcmt", write: func(w io.Writer, plan *plans.Plan, r reading) error {
		out := screen.NewStream(w, true)
		return out.Print(terminal.Tfcmt(report.Of(plan, report.Moment{Now: r.now}), terminal.Options{Full: r.full}, out))
	}},
	{name: "json", ending: ".json", begins: `{"format_version":`, values: true, write: func(w io.Writer, plan *plans.Plan, _ reading) error {
		return jsonview.Plan(w, plan)
	}},
}

// Outputs are the places to which a plan is written.
type Outputs struct {
	stdout *format // nil: the terminal
	files  []file
	full   bool
	// MarkdownLimit is the most bytes of a page of Markdown; zero: markdown.Budget, and no
	// limit with full values.
	MarkdownLimit int
}

type file struct {
	output files.Output
	format format
}

// To checks the name of a format, and the names of files: the ending of a file decides its
// format. A file that no plan was written to before is refused. With full, values are not
// shortened.
func To(format string, paths []string, full bool) (Outputs, error) {
	out := Outputs{full: full}
	if format != Terminal {
		names := []string{Terminal}
		for i := range formats {
			names = append(names, formats[i].name)
			if formats[i].name == format {
				out.stdout = &formats[i]
			}
		}
		if out.stdout == nil {
			return Outputs{}, failure.New(fmt.Sprintf("No format %q", format),
				strings.TrimSpace(words.DidYouMean(format, names)+" There are: "+strings.Join(names, ", ")+"."))
		}
	}
	for _, path := range paths {
		f, err := formatOf(path)
		if err != nil {
			return Outputs{}, err
		}
		output := files.Output{Path: path, Option: "-report", Content: "report of a plan", Ours: files.Begins(f.begins)}
		if err := output.Check(); err != nil {
			return Outputs{}, err
		}
		out.files = append(out.files, file{output, f})
	}
	return out, nil
}

// formatOf returns the format of a file.
func formatOf(path string) (format, error) {
	var endings []string
	for _, f := range formats {
		if f.ending != "" {
			endings = append(endings, fmt.Sprintf("%s (%s)", f.ending, f.name))
		}
		if f.ending != "" && strings.EqualFold(filepath.Ext(path), f.ending) {
			return f, nil
		}
	}
	return format{}, failure.New(fmt.Sprintf("The name %s says no format", path), "The ending of a file of -report decides its format: "+words.Sorted(endings)+".")
}

// Markdown reports whether the plan is written as Markdown.
func (o Outputs) Markdown() bool {
	return o.any(func(f format) bool { return f.name == markdownName })
}

// Stdout reports whether standard output gets the plan in a format.
func (o Outputs) Stdout() bool { return o.stdout != nil }

// Values reports whether a format needs the values of all objects; see plans.Plan.
func (o Outputs) Values() bool { return o.any(func(f format) bool { return f.values }) }

// any reports whether one of the formats has a property.
func (o Outputs) any(is func(format) bool) bool {
	return o.stdout != nil && is(*o.stdout) || slices.ContainsFunc(o.files, func(f file) bool { return is(f.format) })
}

// Write writes a plan to all places. A file has the whole report, or is as before. now is
// the time at which a saved plan is read, and zero for a new plan.
func (o Outputs) Write(stdout io.Writer, plan *plans.Plan, now time.Time) error {
	r := reading{now, o.full, o.MarkdownLimit}
	if o.stdout != nil {
		if err := o.stdout.write(stdout, plan, r); err != nil {
			return err
		}
	}
	for _, f := range o.files {
		var content bytes.Buffer
		if err := f.format.write(&content, plan, r); err != nil {
			return err
		}
		if err := f.output.Write(content.Bytes()); err != nil {
			return err
		}
	}
	return nil
}
