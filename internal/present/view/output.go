// Package view prints for people: plans, problems, progress and results. It decides nothing.
// internal/present/report says what a plan means, internal/present/view/terminal lays it out, and
// internal/present/view/screen prints lines. Below it, markdown and html are the formats for code
// review; package publish writes them.
//
// The rules of output, for all of kolla:
//
//   - Actions go to standard output, so that a log of it is in order: the plan, the progress
//     of an apply, its closing line. Errors, warnings and questions go to standard error.
//   - Colour needs a terminal, and no NO_COLOR, TERM=dumb or -no-color. It never carries a
//     meaning that the words do not carry.
//   - Lines that review bots look for ("Plan: ", "No changes.", "Error: ", "Warning: ",
//     "Apply complete!", "# ADDRESS will be ...") are Terraform's own: whole, alone on their
//     line and, but for the last, not indented.
//   - The sign of an object is on the line below its address. Such programs read the line
//     with the address from its start.
//   - Text of others stays text: it steers neither a terminal nor a CI system, and it never
//     begins a line; see internal/base/foreign. So running text that quotes others is indented
//     (terminal.Message, Stream.Quoting), and all output is made of lines.
//   - Secret values are never printed, whatever a caller passes.
package view

import (
	"io"
	"sync"
	"time"

	"kolla.openstack.org/kolla/internal/present/annotations"
	"kolla.openstack.org/kolla/internal/present/jsonview"
	"kolla.openstack.org/kolla/internal/present/view/screen"
)

// Printer prints plans, problems and results. Its output to standard error may come from
// several goroutines, also during a Progress: then it is above the live lines.
type Printer struct {
	Out screen.Stream // plans, progress and results
	Err screen.Stream // diagnostics
	// Zone is the time zone of all times; nil: the local one.
	Zone *time.Location
	// CompactWarnings omits the details of warnings.
	CompactWarnings bool
	// Events also gets all output, for programs. It is nil if no events are wanted.
	Events *jsonview.Events
	// Annotations also gets errors and warnings, for code review. It may be nil.
	Annotations *annotations.Log

	mu       sync.Mutex
	progress *Progress // the progress that is shown now
	outage   outage
}

// New makes a printer for the two streams of a process.
func New(stdout, stderr io.Writer, noColor bool) *Printer {
	return &Printer{Out: screen.NewStream(stdout, noColor), Err: screen.NewStream(stderr, noColor)}
}

// tell prints lines to standard error. A failure cannot be reported anywhere.
func (p *Printer) tell(lines []screen.Line) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.progress != nil && p.progress.live != nil && p.Err.Terminal {
		p.progress.speak(lines) // above the live lines on the same terminal
		return
	}
	_ = p.Err.Print(lines)
}
