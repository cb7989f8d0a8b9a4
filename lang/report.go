package lang

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/internal/words"
)

// reporter collects diagnostics. One that was reported already, because the same
// definition was evaluated for two services, is kept once.
type reporter struct {
	diags hcl.Diagnostics
	seen  map[string]bool
	spent map[bound]int
	// hidden are the places of secrets that are written out.
	hidden []hcl.Range
}

func newReporter() *reporter {
	return &reporter{seen: map[string]bool{}, spent: map[bound]int{}}
}

func (r *reporter) add(diags ...*hcl.Diagnostic) {
	for _, d := range diags {
		key := d.Summary + "\n" + d.Detail
		if d.Subject != nil {
			key += "\n" + d.Subject.String()
		}
		if !r.seen[key] {
			r.seen[key] = true
			r.diags = append(r.diags, d)
		}
	}
}

func (r *reporter) error(subject hcl.Range, summary, detail string, args ...any) {
	r.report(hcl.DiagError, nil, subject, summary, fmt.Sprintf(detail, args...))
}

func (r *reporter) warn(subject hcl.Range, summary, detail string, args ...any) {
	r.report(hcl.DiagWarning, nil, subject, summary, fmt.Sprintf(detail, args...))
}

// alert is a warning that matters to whatever the configuration was read for; see Advice.
func (r *reporter) alert(subject hcl.Range, summary, detail string, args ...any) {
	r.report(hcl.DiagWarning, alerting{}, subject, summary, fmt.Sprintf(detail, args...))
}

// errorPlain reports an error that has no place in a file.
func (r *reporter) errorPlain(summary, detail string) {
	r.add(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: detail})
}

// alertPlain is alert for what has no place in a file.
func (r *reporter) alertPlain(summary, detail string) {
	r.add(&hcl.Diagnostic{Severity: hcl.DiagWarning, Summary: summary, Detail: detail, Extra: alerting{}})
}

// undeclared reports the name of a block that the definition does not have.
func (r *reporter) undeclared(at hcl.Range, noun, name string, known []string) {
	r.error(at, fmt.Sprintf("There is no %s %q", noun, name), "%s",
		trimJoin(words.DidYouMean(name, known), knownNames(noun, known)))
}

// report adds a diagnostic; extra is what is known of it besides, or nil.
func (r *reporter) report(severity hcl.DiagnosticSeverity, extra any, subject hcl.Range, summary, detail string) {
	r.add(&hcl.Diagnostic{Severity: severity, Summary: summary, Detail: detail, Subject: subject.Ptr(), Extra: extra})
}

// alerting is on warnings that are no advice.
type alerting struct{}

// Advice reports whether a diagnostic only says what is wrong with the cloud, or could be
// better: it is of no use to somebody who only looks something up.
func Advice(d *hcl.Diagnostic) bool {
	_, matters := hcl.DiagnosticExtra[alerting](d)
	return d.Severity == hcl.DiagWarning && !matters
}

// sorted gives the diagnostics in the order of the files and of the lines in
// them; those without a place come first.
func (r *reporter) sorted() hcl.Diagnostics {
	place := func(d *hcl.Diagnostic) hcl.Range {
		if d.Subject == nil {
			return hcl.Range{}
		}
		return *d.Subject
	}
	slices.SortStableFunc(r.diags, func(a, b *hcl.Diagnostic) int {
		x, y := place(a), place(b)
		return cmp.Or(
			cmp.Compare(x.Filename, y.Filename),
			cmp.Compare(x.Start.Byte, y.Start.Byte),
		)
	})
	return r.diags
}

// position gives "cloud.hcl:41".
func position(r hcl.Range) string { return fmt.Sprintf("%s:%d", r.Filename, r.Start.Line) }
