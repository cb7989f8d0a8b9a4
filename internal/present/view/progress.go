package view

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/present/jsonview"
	"kolla.openstack.org/kolla/internal/present/report/applied"
	"kolla.openstack.org/kolla/internal/present/view/screen"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

const (
	// quietStart is the duration of an action before its first line.
	quietStart = 2 * time.Second
	// patience is the time between two lines about a waiting action. It doubles up to
	// patienceLimit without news.
	patience      = 10 * time.Second
	patienceLimit = time.Minute
)

// Progress shows on standard output how a plan is carried out: on a terminal as a live view
// below the finished lines, otherwise as plain lines. Its methods may be called from
// several goroutines.
type Progress struct {
	printer *Printer
	stream  screen.Stream
	live    *live // nil: plain lines
	begun   time.Time
	total   int
	stop    chan struct{}
	ended   sync.WaitGroup
	events  *jsonview.Applying // nil: none are wanted

	// speaking is held while lines are written, so that they come in order. A holder of mu
	// must not lock it: the live view reads the fields below while it is written to.
	speaking sync.Mutex

	mu      sync.Mutex
	over    int // done, failed and skipped
	failed  int
	running map[addrs.Object]*task
	causes  causes
	outage  outage
}

// task is a running action.
type task struct {
	action    *plans.Action
	begun     time.Time
	status    string        // what the action waits for
	mentioned bool          // its start was printed
	told      string        // the status that was printed last
	toldAt    time.Time     // the time of the last line
	patience  time.Duration // the time until the next line
}

// Progress begins to show how the plan is carried out. The caller must call Close.
func (p *Printer) Progress(plan *plans.Plan) *Progress {
	progress := &Progress{
		printer: p,
		stream:  p.Out,
		begun:   time.Now(),
		stop:    make(chan struct{}),
		events:  p.Events.Applying(),
		running: map[addrs.Object]*task{},
		causes:  causes{},
	}
	for _, a := range plan.Actions {
		if applied.Concerns(&a) {
			progress.total++
		}
	}
	if p.Out.Terminal {
		progress.live = newLive(progress)
	} else {
		progress.ended.Go(progress.watch)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.progress = progress
	return progress
}

// Close ends the live view. Observe must not be called afterwards.
func (p *Progress) Close() {
	p.printer.mu.Lock()
	p.printer.progress = nil
	p.printer.mu.Unlock()
	p.events.Close()
	close(p.stop)
	p.ended.Wait()
	if p.live != nil {
		p.live.close()
	}
}

// Observe shows an event.
func (p *Progress) Observe(e plans.Event) {
	p.events.Observe(e)
	p.speaking.Lock()
	defer p.speaking.Unlock()
	p.say(p.note(e))
}

// speak writes lines that belong to no action.
func (p *Progress) speak(lines []screen.Line) {
	p.speaking.Lock()
	defer p.speaking.Unlock()
	p.say(lines)
}

// say prints lines above the live view. The caller holds speaking.
func (p *Progress) say(lines []screen.Line) {
	if len(lines) == 0 {
		return
	}
	stream := p.stream
	if p.live != nil {
		stream.Writer = p.live
	}
	_ = stream.Print(lines) // there is no place to report this failure
}

// note records an event and returns the lines about it.
func (p *Progress) note(e plans.Event) []screen.Line {
	p.mu.Lock()
	defer p.mu.Unlock()
	address := e.Action.Address
	t := p.running[address]
	switch e.Kind {
	case plans.Started, plans.Waiting:
		if e.Kind == plans.Started && !applied.Concerns(e.Action) {
			return nil
		}
		if t == nil {
			begun := time.Now().Add(-e.Elapsed)
			t = &task{action: e.Action, begun: begun, toldAt: begun, patience: patience}
			p.running[address] = t
		}
		t.status = e.Status
		return nil
	case plans.Done:
		delete(p.running, address)
		if !applied.Concerns(e.Action) && (t == nil || !t.mentioned) {
			return nil
		}
		p.count(e.Action)
		outcome := applied.Done(e) + " after " + words.Duration(e.Elapsed)
		if e.Status != "" {
			outcome += "; " + e.Status
		}
		return []screen.Line{p.finished(screen.Added, e, outcome)}
	case plans.Failed:
		p.count(e.Action)
		p.failed++
		delete(p.running, address)
		if !e.Begun {
			return nil // the end of the apply prints the reason, once
		}
		reason := p.causes.failure(e)
		if reason == "" {
			return nil
		}
		return []screen.Line{p.finished(screen.Danger, e, fmt.Sprintf("FAILED after %s: %s", words.Duration(e.Elapsed), reason))}
	case plans.Interrupted:
		delete(p.running, address)
		if !e.Begun {
			return nil
		}
		return []screen.Line{p.finished(screen.Caution, e, "interrupted after "+words.Duration(e.Elapsed)+", before it was ready")}
	case plans.Skipped:
		if !applied.Concerns(e.Action) || e.Because == (addrs.Object{}) {
			return nil // the end of the apply sums up interrupted actions
		}
		p.count(e.Action)
		return []screen.Line{p.finished(screen.Caution, e, "skipped because "+e.Because.String()+" failed")}
	default:
		return nil
	}
}

// maxAlike limits the lines about actions that fail for the same reason.
const maxAlike = 20

// causes maps reasons of failures to the actions that failed.
type causes map[string]*cause

// cause describes the actions that failed for one reason.
type cause struct {
	first  addrs.Object // the first action
	failed int
}

// failure returns the text about the reason for a failure. Only the first failure quotes the
// reason, and later ones refer to the first. The text is empty after maxAlike failures: the end of
// the apply counts them.
func (c causes) failure(e plans.Event) string {
	reason, again := e.Err.Error(), "for the same reason as "
	var permission *providers.PermissionError
	if errors.As(e.Err, &permission) {
		reason, again = permission.Error(), "not allowed either, see "
	}
	known := c[reason]
	if known == nil {
		c[reason] = &cause{e.Action.Address, 1}
		return reason
	}
	known.failed++
	switch {
	case known.failed > maxAlike:
		return ""
	case known.failed == maxAlike:
		return again + known.first.String() + "; the end says how many more"
	}
	return again + known.first.String()
}

// count counts a finished action if the apply works on it.
func (p *Progress) count(a *plans.Action) {
	if applied.Concerns(a) {
		p.over++
	}
}

// finished returns the line about a finished action, with the number of finished actions.
func (p *Progress) finished(s screen.Style, e plans.Event, outcome string) screen.Line {
	l := screen.Styled(screen.Bold, e.Action.Address.String()).Then(screen.Text(": "), screen.Styled(s, outcome))
	if applied.Concerns(e.Action) {
		l = l.Then(screen.Styled(screen.Faint, fmt.Sprintf("  [%d of %d]", p.over, p.total)))
	}
	return l
}

// watch prints lines about slow actions if there is no live view.
func (p *Progress) watch() {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-p.stop:
			return
		case now := <-ticker.C:
			p.speaking.Lock()
			p.say(p.overdue(now))
			p.speaking.Unlock()
		}
	}
}

// overdue returns a line for each action that has had no line for too long.
func (p *Progress) overdue(now time.Time) []screen.Line {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []screen.Line
	for _, t := range longestFirst(p.running) {
		address := screen.Styled(screen.Bold, t.action.Address.String())
		if !t.mentioned && now.Sub(t.begun) >= quietStart {
			t.mentioned = true
			out = append(out, address.Then(screen.Text(": "+applied.Doing(t.action)+"...")))
			continue
		}
		if t.status != t.told {
			t.patience = patience
		}
		if now.Sub(t.toldAt) < t.patience {
			continue
		}
		t.told, t.toldAt, t.patience = t.status, now, min(2*t.patience, patienceLimit)
		status := cmp.Or(t.status, applied.Doing(t.action))
		out = append(out, screen.Text("Still waiting for ").Then(address, screen.Textf(": %s (%s)", status, words.Duration(now.Sub(t.begun)))))
	}
	return out
}

// longestFirst lists running actions, the oldest first.
func longestFirst(running map[addrs.Object]*task) []*task {
	return slices.SortedFunc(maps.Values(running), func(a, b *task) int {
		return cmp.Or(a.begun.Compare(b.begun), a.action.Address.Compare(b.action.Address))
	})
}
