// Package publish writes a plan for readers without a terminal: code review, programs.
package publish

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/renameio/v2"

	"kolla.openstack.org/kolla/internal/failure"
	"kolla.openstack.org/kolla/internal/files"
	"kolla.openstack.org/kolla/internal/jsonview"
	"kolla.openstack.org/kolla/internal/report"
	"kolla.openstack.org/kolla/internal/view/markdown"
	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/planner/plans"
)

// Terminal is the name of the format for people at a terminal. This package does not write it.
const Terminal = "terminal"

// format is a way to write a plan.
type format struct {
	name   string
	ending string // of files
	begins string // of each file; other files are not overwritten
	values bool   // the plan needs the values of all objects
	write  func(io.Writer, *plans.Plan, reading) error
}

// reading is how a plan is read.
type reading struct {
	now  time.Time // zero: when it is made
	full bool
}

var formats = []format{
	{name: "markdown", ending: ".md", begins: "<!-- kolla plan of ", write: func(w io.Writer, plan *plans.Plan, r reading) error {
		_, err := io.WriteString(w, markdown.Plan(report.Of(plan, report.Moment{Now: r.now}), markdown.Options{Full: r.full}))
		return err
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
}

type file struct {
	path   string
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
		out.files = append(out.files, file{path, f})
	}
	return out, nil
}

// formatOf is the format of a file.
func formatOf(path string) (format, error) {
	for _, f := range formats {
		if !strings.EqualFold(filepath.Ext(path), f.ending) {
			continue
		}
		if err := files.CheckTarget(path); err != nil {
			return format{}, unwritten(err)
		}
		ours, err := files.Begins(path, f.begins)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return format{}, unwritten(err)
		}
		if err == nil && !ours {
			return format{}, failure.New("There is another file of that name", fmt.Sprintf("%s is no report of a plan, and -report would overwrite it. Choose another name.", path))
		}
		return f, nil
	}
	return format{}, failure.New(fmt.Sprintf("The name %s says no format", path), "The ending of a file of -report decides how the plan is written: .md is Markdown, .json is JSON.")
}

func unwritten(err error) error {
	return failure.New("Cannot write the file of -report", failure.Sentence(err.Error())+".")
}

// Stdout reports whether standard output gets the plan in a format.
func (o Outputs) Stdout() bool { return o.stdout != nil }

// Values reports whether a format needs the values of all objects; see plans.Plan.
func (o Outputs) Values() bool {
	if o.stdout != nil && o.stdout.values {
		return true
	}
	for _, f := range o.files {
		if f.format.values {
			return true
		}
	}
	return false
}

// Write writes a plan to all places. A file has the whole report, or is as before. now is
// the time at which a saved plan is read, and zero for a new plan.
func (o Outputs) Write(stdout io.Writer, plan *plans.Plan, now time.Time) error {
	r := reading{now, o.full}
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
		if err := renameio.WriteFile(f.path, content.Bytes(), 0o644); err != nil {
			return unwritten(err)
		}
	}
	return nil
}
