package view

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/internal/present/report"
	"kolla.openstack.org/kolla/internal/present/view/screen"
	"kolla.openstack.org/kolla/internal/present/view/terminal"
	"kolla.openstack.org/kolla/planner/plans"
)

// arrange lays out messages, the same message only once. Errors come last, because a screen
// shows the end.
func arrange(messages []terminal.Message, s screen.Stream, compact bool) []screen.Line {
	slices.SortStableFunc(messages, func(a, b terminal.Message) int {
		switch {
		case a.Warning == b.Warning:
			return 0
		case a.Warning:
			return -1
		default:
			return 1
		}
	})
	seen := map[string]bool{}
	var out []screen.Line
	for _, m := range messages {
		if m.Warning && compact {
			m.Detail = ""
		}
		lines := m.Lines(s.Inner(terminal.DetailIndent))
		if key := screen.PlainText(lines); !seen[key] {
			seen[key] = true
			out = append(out, lines...)
		}
	}
	return out
}

// Diagnostics prints errors and warnings about a configuration with their source lines, in
// the order of the files. Files are by file name, as in configs.Config.Files. Other files are
// only named.
func (p *Printer) Diagnostics(diags hcl.Diagnostics, files map[string]*hcl.File) {
	sorted := report.InFileOrder(diags)
	p.Events.Configuration(sorted, files)
	p.Annotations.Configuration(sorted)
	messages := make([]terminal.Message, len(sorted))
	for i, d := range sorted {
		messages[i] = terminal.Message{
			Warning: d.Severity == hcl.DiagWarning,
			Summary: d.Summary,
			Where:   source(d, files, p.Err.Width),
			Detail:  d.Detail,
		}
	}
	p.tell(arrange(messages, p.Err, p.CompactWarnings))
}

// Problems prints errors and warnings about a plan. A problem that several objects have is
// printed once, with all of them.
func (p *Printer) Problems(problems []plans.Problem) {
	p.Events.Problems(problems)
	p.Annotations.Problems(problems)
	var messages []terminal.Message
	for _, m := range report.Messages(problems) {
		messages = append(messages, terminal.Problem(m))
	}
	p.tell(arrange(messages, p.Err, p.CompactWarnings))
}

// Failure prints an error without a place in the configuration and without an object.
func (p *Printer) Failure(summary, detail string) {
	p.Events.Message(false, summary, detail)
	p.Annotations.Failure(summary, detail)
	p.tell(terminal.Message{Summary: summary, Detail: detail}.Lines(p.Err.Inner(terminal.DetailIndent)))
}

// Warn prints a warning without a place and without an object.
func (p *Printer) Warn(summary, detail string) {
	p.Events.Message(true, summary, detail)
	p.tell(arrange([]terminal.Message{{Warning: true, Summary: summary, Detail: detail}}, p.Err, p.CompactWarnings))
}

// Reading says that an apply continues and reads data.
func (p *Printer) Reading(names []string) {
	message := "Reading " + strings.Join(names, ", ")
	p.Events.Log(message)
	p.tell([]screen.Line{screen.Text(message)})
}

// Saved says where a plan was saved, and with which command it is carried out. Without a
// command, the plan has nothing to carry out. An apply refuses a denied plan. The error is
// that of writing.
func Saved(out screen.Stream, path, command string, denied bool) error {
	if denied {
		return out.Print([]screen.Line{nil, screen.Text("Saved the plan to " + path + ". A policy denies it, so an apply refuses it.")})
	}
	if command == "" {
		return out.Print([]screen.Line{nil, screen.Text("Saved the plan to " + path + ". It has nothing to carry out.")})
	}
	return out.Print([]screen.Line{nil, screen.Text("Saved the plan to " + path + ". To carry out exactly this:"), nil, screen.Text("  " + command)})
}
