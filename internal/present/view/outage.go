package view

import (
	"time"

	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/present/view/screen"
)

// outage means that the server stopped answering.
type outage struct {
	since time.Time // zero: it answers
	cause string
}

// Unreachable says that the server no longer answers, and why: "connection refused". A live
// view shows the duration.
func (p *Printer) Unreachable(cause string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.outage = outage{since: time.Now(), cause: cause}
	say := screen.Styled(screen.Caution, "The API server does not answer ("+cause+"): trying again.")
	p.Events.Log(say.String())
	switch {
	case p.progress == nil:
		_ = p.Err.Print([]screen.Line{say})
	case p.progress.live == nil:
		p.progress.speak([]screen.Line{say})
		fallthrough
	default:
		p.progress.lacks(p.outage)
	}
}

// Waiting says why the server keeps a request waiting: "the API server cannot do it yet: REASON".
func (p *Printer) Waiting(reason string) {
	say := screen.Styled(screen.Caution, "Trying again: "+reason)
	p.Events.Log(say.String())
	p.tell([]screen.Line{say})
}

// Reachable says that the server answers again.
func (p *Printer) Reachable() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.outage.since.IsZero() {
		return
	}
	say := screen.Text("The API server answers again, after " + words.Duration(time.Since(p.outage.since).Truncate(time.Second)) + " (" + p.outage.cause + ").")
	p.outage = outage{}
	p.Events.Log(say.String())
	if p.progress == nil {
		_ = p.Err.Print([]screen.Line{say})
		return
	}
	p.progress.lacks(outage{})
	p.progress.speak([]screen.Line{say})
}

// lacks sets the outage, or ends it.
func (p *Progress) lacks(o outage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.outage = o
}

// row returns the line of the live view about the outage; nil without one.
func (o outage) row(now time.Time, width int) []screen.Line {
	if o.since.IsZero() {
		return nil
	}
	// Like all live rows it begins with blanks: Ctrl-C leaves ^C there.
	say := "  The API server does not answer (" + o.cause + "): trying again, " + words.Duration(now.Sub(o.since).Truncate(time.Second))
	return []screen.Line{screen.Styled(screen.Caution, screen.Truncate(foreign.Text(say), width-1, "…"))}
}
