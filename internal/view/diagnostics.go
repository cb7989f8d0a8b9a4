package view

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/internal/report"
	"kolla.openstack.org/kolla/internal/view/screen"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
)

// message is a box of the one look that all diagnostics have.
type message struct {
	warning bool
	summary string
	where   []screen.Line // the place: source lines, addresses
	detail  string
}

// detailIndent keeps what others say, in a detail, from the start of a line.
const detailIndent = 2

// lines renders the message; running text takes width columns, and is indented.
func (m message) lines(width int) []screen.Line {
	out := []screen.Line{screen.Styled(screen.Danger, "Error: ").Then(screen.Styled(screen.Bold, report.Headline(m.summary)))}
	if m.warning {
		out = []screen.Line{screen.Styled(screen.Caution, "Warning: ").Then(screen.Styled(screen.Bold, report.Headline(m.summary)))}
	}
	if len(m.where) > 0 {
		out = append(append(out, nil), m.where...)
	}
	if m.detail != "" {
		out = append(out, nil)
		for _, l := range screen.Wrap(m.detail, width) {
			out = append(out, screen.Text(l).Indent(detailIndent))
		}
	}
	return append(out, nil)
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
	var out []screen.Line
	for _, m := range messages {
		if m.warning && p.CompactWarnings {
			m.detail = ""
		}
		lines := m.lines(p.Err.Inner(detailIndent))
		if key := screen.PlainText(lines); !seen[key] {
			seen[key] = true
			out = append(out, lines...)
		}
	}
	p.tell(out)
}

// Diagnostics prints what is wrong with a configuration, with the source lines
// that are meant, in the order of the files. Files are by file name, as in
// lang.Config.Files; a file that is not among them is only named.
func (p *Printer) Diagnostics(diags hcl.Diagnostics, files map[string]*hcl.File) {
	sorted := report.InFileOrder(diags)
	p.events.Configuration(sorted, files)
	messages := make([]message, len(sorted))
	for i, d := range sorted {
		messages[i] = message{
			warning: d.Severity == hcl.DiagWarning,
			summary: d.Summary,
			where:   source(d, files, p.Err.Width),
			detail:  d.Detail,
		}
	}
	p.show(messages)
}

// Problems prints what stands in the way of a plan, or should be known about it.
// A problem that several objects have is printed once, with all of them.
func (p *Printer) Problems(problems []plans.Problem) {
	p.events.Problems(problems)
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
func fewer(where []screen.Line) []screen.Line {
	if len(where) <= similar+1 {
		return where
	}
	return append(where[:similar:similar], screen.Textf("  and %d more, %d in all", len(where)-similar, len(where)))
}

// object says which object has the problem, and where it is declared.
func object(problem plans.Problem) screen.Line {
	if problem.Address == (addrs.Object{}) {
		if problem.Source == "" {
			return nil
		}
		return screen.Text("  at " + problem.Source)
	}
	l := screen.Text("  with ").Then(screen.Styled(screen.Bold, problem.Address.String()))
	if problem.Source != "" {
		l = l.Then(screen.Text(", declared at " + problem.Source))
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
	p.events.Log(message)
	p.tell([]screen.Line{screen.Text(message)})
}

func (p *Printer) alone(m message) {
	p.events.Message(m.warning, m.summary, m.detail)
	p.show([]message{m})
}

// Saved says where a plan was saved, and with which command to go on; empty: there is
// nothing to carry out. The error is that of writing.
func (p *Printer) Saved(path, command string) error {
	p.events.Log("Saved the plan to " + path)
	if command == "" {
		return p.Out.Print([]screen.Line{nil, screen.Text("Saved the plan to " + path + ". It has nothing to carry out.")})
	}
	return p.Out.Print([]screen.Line{nil, screen.Text("Saved the plan to " + path + ". To carry out exactly this:"), nil, screen.Text("  " + command)})
}
