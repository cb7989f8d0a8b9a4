package view

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
)

// message is a box of the one look that all diagnostics have.
type message struct {
	warning bool
	summary string
	where   []line // the place: source lines, addresses
	detail  string
}

// detailIndent keeps what others say, in a detail, from the start of a line.
const detailIndent = 2

// lines renders the message; running text takes width columns, and is indented.
func (m message) lines(width int) []line {
	out := []line{styled(danger, "Error: ").then(styled(bold, headline(m.summary)))}
	if m.warning {
		out = []line{styled(caution, "Warning: ").then(styled(bold, headline(m.summary)))}
	}
	if len(m.where) > 0 {
		out = append(append(out, nil), m.where...)
	}
	if m.detail != "" {
		out = append(out, nil)
		for _, l := range wrap(m.detail, width) {
			out = append(out, text(l).indent(detailIndent))
		}
	}
	return append(out, nil)
}

// headline begins with a capital, whatever words the summary comes in. An address, an
// option or a file name stays as it is.
func headline(summary string) string {
	first, _, _ := strings.Cut(summary, " ")
	if strings.ContainsAny(first, "./-_=:@[") {
		return summary
	}
	return sentenceCase(summary)
}

// show prints messages to standard error: warnings first, so that the errors are
// what remains on the screen; messages that read the same only once.
func (p *Printer) show(messages []message) {
	slices.SortStableFunc(messages, func(a, b message) int {
		switch {
		case a.warning == b.warning:
			return 0
		case a.warning:
			return -1
		default:
			return 1
		}
	})
	seen := map[string]bool{}
	var out []line
	for _, m := range messages {
		if m.warning && p.CompactWarnings {
			m.detail = ""
		}
		lines := m.lines(p.Err.inner(detailIndent))
		if key := plainText(lines); !seen[key] {
			seen[key] = true
			out = append(out, lines...)
		}
	}
	p.tell(out)
}

// Diagnostics prints what is wrong with a configuration, with the source lines
// that are meant, in the order of the files. Files are by file name, as in
// configs.Config.Files; a file that is not among them is only named.
func (p *Printer) Diagnostics(diags hcl.Diagnostics, files map[string]*hcl.File) {
	p.files = files
	sorted := inFileOrder(diags)
	messages := make([]message, len(sorted))
	for i, d := range sorted {
		if p.events != nil {
			p.events.diagnostic(ofConfiguration(d, files))
		}
		messages[i] = message{
			warning: d.Severity == hcl.DiagWarning,
			summary: d.Summary,
			where:   source(d, files, p.Err.Width),
			detail:  d.Detail,
		}
	}
	p.show(messages)
}

// inFileOrder sorts diagnostics by their places; those without one come last.
func inFileOrder(diags hcl.Diagnostics) hcl.Diagnostics {
	sorted := slices.Clone(diags)
	slices.SortStableFunc(sorted, func(a, b *hcl.Diagnostic) int {
		if a.Subject == nil || b.Subject == nil {
			return cmp.Compare(boolToInt(a.Subject == nil), boolToInt(b.Subject == nil))
		}
		return cmp.Or(
			cmp.Compare(a.Subject.Filename, b.Subject.Filename),
			cmp.Compare(a.Subject.Start.Byte, b.Subject.Start.Byte),
		)
	})
	return sorted
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Problems prints what stands in the way of a plan, or should be known about it.
// A problem that several objects have is printed once, with all of them.
func (p *Printer) Problems(problems []plans.Problem) {
	if p.events != nil {
		for _, problem := range problems {
			p.events.diagnostic(p.ofProblem(problem))
		}
	}
	p.show(together(problems))
}

// together makes one message of a problem that several objects have.
func together(problems []plans.Problem) []message {
	var messages []message
	first := map[plans.Problem]int{}
	for _, problem := range problems {
		key := problem
		key.Address, key.Source = addrs.Object{}, ""
		at, ok := first[key]
		if !ok {
			at = len(messages)
			first[key] = at
			messages = append(messages, message{warning: problem.Warning, summary: problem.Summary, detail: problem.Detail})
		}
		if l := object(problem); l != nil {
			messages[at].where = append(messages[at].where, l)
		}
	}
	for i := range messages {
		messages[i].where = fewer(messages[i].where)
	}
	return messages
}

// fewer shortens a list of objects that have something in common.
func fewer(where []line) []line {
	if len(where) <= similar+1 {
		return where
	}
	return append(where[:similar:similar], textf("  and %d more, %d in all", len(where)-similar, len(where)))
}

// object says which object has the problem, and where it is declared.
func object(problem plans.Problem) line {
	if problem.Address == (addrs.Object{}) {
		if problem.Source == "" {
			return nil
		}
		return text("  at " + problem.Source)
	}
	l := text("  with ").then(styled(bold, problem.Address.String()))
	if problem.Source != "" {
		l = l.then(text(", declared at " + problem.Source))
	}
	return l
}

// Failure prints an error that belongs to no place in the configuration and to no
// object.
func (p *Printer) Failure(summary, detail string) { p.alone(message{summary: summary, detail: detail}) }

// Warn prints a warning of the same kind.
func (p *Printer) Warn(summary, detail string) {
	p.alone(message{warning: true, summary: summary, detail: detail})
}

// Reading says that an apply goes on with reading data.
func (p *Printer) Reading(names []string) {
	message := "Reading " + strings.Join(names, ", ")
	if p.events != nil {
		p.events.log(message)
	}
	p.tell([]line{text(message)})
}

func (p *Printer) alone(m message) {
	if p.events != nil {
		p.events.diagnostic(&diagnosticJSON{Severity: severity(m.warning), Summary: m.summary, Detail: m.detail})
	}
	p.show([]message{m})
}

// Saved says where a plan was saved, and with which command to go on; empty: there is
// nothing to carry out. The error is that of writing.
func (p *Printer) Saved(path, command string) error {
	if p.events != nil {
		p.events.log("Saved the plan to " + path)
	}
	if command == "" {
		return p.Out.print([]line{nil, text("Saved the plan to " + path + ". It has nothing to carry out.")})
	}
	return p.Out.print([]line{nil, text("Saved the plan to " + path + ". To carry out exactly this:"), nil, text("  " + command)})
}
