// Package diag collects diagnostics: errors and warnings about a configuration, each with its
// place in the source. A Reporter keeps each diagnostic once, counts things that a
// configuration may not have too many of, and remembers where secrets are written, so that
// output does not quote them.
package diag

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/internal/base/words"
)

// Reporter collects diagnostics. It keeps one of several equal diagnostics: a definition that
// two services use is evaluated twice.
type Reporter struct {
	all *findings
	// user is the place of diagnostics about files whose names begin with builtin.
	user    hcl.Range
	builtin string // empty: no diagnostic is moved
	// Secret gets the text of each sensitive value that is evaluated. May be nil.
	Secret func(text string)
}

// findings are what all Reporters of one configuration share.
type findings struct {
	diags  hcl.Diagnostics
	seen   map[string]bool
	kept   map[hcl.DiagnosticSeverity]int
	spent  map[Bound]int
	hidden []hcl.Range      // places of secrets in the source
	needs  map[string]*need // by kind, name and directory
}

// New makes a Reporter without diagnostics.
func New() *Reporter {
	return &Reporter{all: &findings{seen: map[string]bool{}, kept: map[hcl.DiagnosticSeverity]int{}, spent: map[Bound]int{}, needs: map[string]*need{}}}
}

// For returns a Reporter that adds its diagnostics to those of r. Diagnostics about built-in files,
// whose names begin with builtin, get the user's place instead: users can only change their own files.
func (r *Reporter) For(user hcl.Range, builtin string) *Reporter {
	out := *r
	out.user, out.builtin = user, builtin
	return &out
}

// atUser moves a diagnostic about a built-in file to the user's place.
func (r *Reporter) atUser(d *hcl.Diagnostic) *hcl.Diagnostic {
	if r.builtin == "" || d.Subject == nil || !strings.HasPrefix(d.Subject.Filename, r.builtin) {
		return d
	}
	moved := *d
	moved.Subject, moved.Context = &r.user, nil
	moved.Detail += fmt.Sprintf(" The place in the definition is %s.", Position(*d.Subject))
	return &moved
}

// maxKept is the maximum number of errors that are kept, and of warnings. Nobody reads more, and
// a few lines can have millions.
const maxKept = 1000

// Add adds diagnostics that it does not have yet, until it has too many.
func (r *Reporter) Add(diags ...*hcl.Diagnostic) {
	for _, d := range diags {
		if r.all.kept[d.Severity] > maxKept {
			continue
		}
		key := d.Summary + "\n" + d.Detail
		if d = r.atUser(d); d.Subject != nil {
			key += "\n" + d.Subject.String()
		}
		if r.all.seen[key] {
			continue
		}
		r.all.seen[key] = true
		if r.all.kept[d.Severity]++; r.all.kept[d.Severity] > maxKept {
			noun := "errors"
			if d.Severity == hcl.DiagWarning {
				noun = "warnings"
			}
			d = &hcl.Diagnostic{Severity: d.Severity, Summary: fmt.Sprintf("More than %d %s", maxKept, noun), Detail: "The first ones are shown, in the order in which they were found."}
		}
		r.all.diags = append(r.all.diags, d)
	}
}

// Full reports whether further errors are dropped.
func (r *Reporter) Full() bool { return r.all.kept[hcl.DiagError] > maxKept }

// Nowhere is the subject of a diagnostic without a place in a file.
var Nowhere hcl.Range

// Error reports an error. The detail is a format for args.
func (r *Reporter) Error(subject hcl.Range, summary, detail string, args ...any) {
	r.Report(hcl.DiagError, nil, subject, summary, fmt.Sprintf(detail, args...))
}

// Warn reports a warning about the configuration itself; see Advice.
func (r *Reporter) Warn(subject hcl.Range, summary, detail string, args ...any) {
	r.Report(hcl.DiagWarning, nil, subject, summary, fmt.Sprintf(detail, args...))
}

// Alert reports a warning that every command has to show; see Advice.
func (r *Reporter) Alert(subject hcl.Range, summary, detail string, args ...any) {
	r.Report(hcl.DiagWarning, alerting{}, subject, summary, fmt.Sprintf(detail, args...))
}

// Undeclared reports a name that is not declared. known are the declared names.
func (r *Reporter) Undeclared(at hcl.Range, noun, name string, known []string) {
	r.Error(at, fmt.Sprintf("There is no %s %q", noun, name), "%s",
		words.WithHint(words.DidYouMean(name, known), words.Known(noun, known)))
}

// Report adds a diagnostic. extra marks it, and may be nil.
func (r *Reporter) Report(severity hcl.DiagnosticSeverity, extra any, subject hcl.Range, summary, detail string) {
	d := &hcl.Diagnostic{Severity: severity, Summary: summary, Detail: detail, Extra: extra}
	if subject != Nowhere {
		d.Subject = &subject
	}
	r.Add(d)
}

// alerting marks warnings that are no advice.
type alerting struct{}

// Advice reports whether a diagnostic is a warning about the configuration itself: a command
// that only looks something up need not show it.
func Advice(d *hcl.Diagnostic) bool {
	_, matters := hcl.DiagnosticExtra[alerting](d)
	return d.Severity == hcl.DiagWarning && !matters
}

// All returns the diagnostics in the order in which they were reported.
func (r *Reporter) All() hcl.Diagnostics { return r.all.diags }

// Sorted returns the diagnostics in the order of their files and lines. Those without a place
// come first.
func (r *Reporter) Sorted() hcl.Diagnostics {
	place := func(d *hcl.Diagnostic) hcl.Range {
		if d.Subject == nil {
			return hcl.Range{}
		}
		return *d.Subject
	}
	slices.SortStableFunc(r.all.diags, func(a, b *hcl.Diagnostic) int {
		return Compare(place(a), place(b))
	})
	return r.all.diags
}

// Position returns a place in the form "cloud.hcl:41".
func Position(r hcl.Range) string { return fmt.Sprintf("%s:%d", r.Filename, r.Start.Line) }
