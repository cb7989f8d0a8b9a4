package operator

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/internal/run/engine"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
)

// messages is an engine.Reporter that keeps the errors and warnings of one look at a cloud.
type messages struct {
	mu       sync.Mutex
	errors   []string
	warnings []plans.Notice
}

var _ engine.Reporter = (*messages)(nil)

func (m *messages) add(warning bool, n plans.Notice) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if warning {
		m.warnings = append(m.warnings, n)
	} else {
		m.errors = append(m.errors, lineOf(n))
	}
}

// lineOf returns a message with its place.
func lineOf(n plans.Notice) string {
	text := n.Problem().Summary + ": " + n.Text
	if n.Address != (addrs.Object{}) {
		text = n.Address.String() + ": " + text
	}
	if n.Source != "" {
		text = n.Source + ": " + text
	}
	return text
}

// Diagnostics is part of engine.Reporter.
func (m *messages) Diagnostics(diags hcl.Diagnostics, _ map[string]*hcl.File) {
	for _, d := range diags {
		n := plans.Notice{Summary: d.Summary, Text: d.Detail}
		if d.Subject != nil && d.Subject.Filename != "" {
			n.Source = fmt.Sprintf("%s:%d", d.Subject.Filename, d.Subject.Start.Line)
		}
		m.add(d.Severity != hcl.DiagError, n)
	}
}

// Problems is part of engine.Reporter.
func (m *messages) Problems(problems []plans.Problem) {
	for _, p := range problems {
		m.add(p.Warning, plans.NoticeOf(p))
	}
}

// Warn is part of engine.Reporter.
func (m *messages) Warn(summary, detail string) {
	m.add(true, plans.Notice{Summary: summary, Text: detail})
}

// take returns the errors since the last call, and forgets everything.
func (m *messages) take() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	errors := m.errors
	m.errors, m.warnings = nil, nil
	return errors
}

// warned returns the warnings, and forgets them.
func (m *messages) warned() []plans.Notice {
	m.mu.Lock()
	defer m.mu.Unlock()
	warnings := m.warnings
	m.warnings = nil
	return warnings
}

// maxWarnings is the most warnings in a status.
const maxWarnings = 20

// warningsOf returns the warnings of a plan in lines for the status.
func warningsOf(plan *plans.Plan) []string {
	var out []string
	for _, n := range plan.Warnings {
		if line := short(lineOf(n)); !slices.Contains(out, line) {
			out = append(out, line)
		}
	}
	if len(out) > maxWarnings {
		out = append(out[:maxWarnings], fmt.Sprintf("%d more in the page of the CloudPlan", len(out)-maxWarnings))
	}
	return out
}

// maxMessage is the most bytes of a message in a condition. The API permits 32,768.
const maxMessage = 4096

// short makes a message fit into a condition.
func short(text string) string {
	text = strings.TrimSpace(text)
	if len(text) <= maxMessage {
		return text
	}
	return strings.ToValidUTF8(text[:maxMessage], "") + " ... (cut)"
}
