package view

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/internal/report"
	"kolla.openstack.org/kolla/internal/view/screen"
	"kolla.openstack.org/kolla/internal/view/terminal"
	"kolla.openstack.org/kolla/planner/plans"
)

// show prints messages to standard error, the same message only once. Errors come last,
// because a screen shows the end.
func (p *Printer) show(messages []terminal.Message) {
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
		if m.Warning && p.CompactWarnings {
			m.Detail = ""
		}
		lines := m.Lines(p.Err.Inner(terminal.DetailIndent))
		if key := screen.PlainText(lines); !seen[key] {
			seen[key] = true
			out = append(out, lines...)
		}
	}
	p.tell(out)
}

// Diagnostics prints errors and warnings about a configuration with their source lines, in
// the order of the files. Files are by file name, as in configs.Config.Files. Other files are
// only named.
func (p *Printer) Diagnostics(diags hcl.Diagnostics, files map[string]*hcl.File) {
	sorted := report.InFileOrder(diags)
	p.events.Configuration(sorted, files)
	messages := make([]terminal.Message, len(sorted))
	for i, d := range sorted {
		messages[i] = terminal.Message{
			Warning: d.Severity == hcl.DiagWarning,
			Summary: d.Summary,
			Where:   source(d, files, p.Err.Width),
			Detail:  d.Detail,
		}
	}
	p.show(messages)
}

// Problems prints errors and warnings about a plan. A problem that several objects have is
// printed once, with all of them.
func (p *Printer) Problems(problems []plans.Problem) {
	p.events.Problems(problems)
	var messages []terminal.Message
	for _, m := range report.Messages(problems) {
		messages = append(messages, terminal.Problem(m))
	}
	p.show(messages)
}

// Failure prints an error without a place in the configuration and without an object.
func (p *Printer) Failure(summary, detail string) {
	p.alone(terminal.Message{Summary: summary, Detail: detail})
}

// Warn prints a warning without a place and without an object.
func (p *Printer) Warn(summary, detail string) {
	p.alone(terminal.Message{Warning: true, Summary: summary, Detail: detail})
}

// Reading says that an apply continues and reads data.
func (p *Printer) Reading(names []string) {
	message := "Reading " + strings.Join(names, ", ")
	p.events.Log(message)
	p.tell([]screen.Line{screen.Text(message)})
}

func (p *Printer) alone(m terminal.Message) {
	p.events.Message(m.Warning, m.Summary, m.Detail)
	p.show([]terminal.Message{m})
}

// Saved says where a plan was saved, and with which command it is carried out. Without a
// command, the plan has nothing to carry out. The error is that of writing.
func (p *Printer) Saved(path, command string) error {
	p.events.Log("Saved the plan to " + path)
	if command == "" {
		return p.Out.Print([]screen.Line{nil, screen.Text("Saved the plan to " + path + ". It has nothing to carry out.")})
	}
	return p.Out.Print([]screen.Line{nil, screen.Text("Saved the plan to " + path + ". To carry out exactly this:"), nil, screen.Text("  " + command)})
}
