package operator

import (
	"fmt"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/internal/run/engine"
	"kolla.openstack.org/kolla/planner/plans"
)

// messages is an engine.Reporter that keeps the errors and warnings of one look at a cloud.
type messages struct {
	mu       sync.Mutex
	errors   []string
	warnings []string
}

var _ engine.Reporter = (*messages)(nil)

func (m *messages) add(warning bool, text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if warning {
		m.warnings = append(m.warnings, text)
	} else {
		m.errors = append(m.errors, text)
	}
}

// Diagnostics is part of engine.Reporter.
func (m *messages) Diagnostics(diags hcl.Diagnostics, _ map[string]*hcl.File) {
	for _, d := range diags {
		at := ""
		if d.Subject != nil && d.Subject.Filename != "" {
			at = fmt.Sprintf("%s:%d: ", d.Subject.Filename, d.Subject.Start.Line)
		}
		m.add(d.Severity != hcl.DiagError, at+d.Summary+": "+d.Detail)
	}
}

// Problems is part of engine.Reporter.
func (m *messages) Problems(problems []plans.Problem) {
	for _, p := range problems {
		at := ""
		if p.Source != "" {
			at = p.Source + ": "
		}
		m.add(p.Warning, at+p.Summary+": "+p.Detail)
	}
}

// Warn is part of engine.Reporter.
func (m *messages) Warn(summary, detail string) { m.add(true, summary+": "+detail) }

// take returns the errors since the last call, and forgets everything.
func (m *messages) take() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	errors := m.errors
	m.errors, m.warnings = nil, nil
	return errors
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
