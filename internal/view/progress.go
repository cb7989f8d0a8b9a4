package view

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"kolla.openstack.org/kolla/internal/jsonview"
	"kolla.openstack.org/kolla/internal/report"
	"kolla.openstack.org/kolla/internal/view/screen"
	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

const (
	// quietStart is how long an action may take before it is mentioned.
	quietStart = 2 * time.Second
	// patience is how long nothing is said about an action that is waited for. It
	// doubles up to patienceLimit as long as there is no news.
	patience      = 10 * time.Second
	patienceLimit = time.Minute
)

// Progress shows a plan being carried out, on standard output, as the plan before it and
// the closing line after it: on a terminal as a live view below the finished lines,
// otherwise as plain lines. Its methods may
// be called from several goroutines.
type Progress struct {
	printer *Printer
	stream  screen.Stream
	live    *live // nil: plain lines
	begun   time.Time
	total   int
	stop    chan struct{}
	ended   sync.WaitGroup
	events  *jsonview.Applying // nil: none are wanted

	// speaking is held while lines are written, so that they come in order. It is
	// never wanted by who holds mu: the live view reads the fields below while it
	// is written to.
	speaking sync.Mutex

	mu      sync.Mutex
	over    int // done, failed and skipped
	failed  int
	running map[addrs.Object]*task
	denied  map[string]addrs.Object // missing permissions, and who met each first
	outage  outage
}

// task is an action that is being carried out.
type task struct {
	action    *plans.Action
	begun     time.Time
	status    string        // what it waits for
	mentioned bool          // its beginning was
	told      string        // the status that was mentioned last
	toldAt    time.Time     // when
	patience  time.Duration // until it is mentioned again
}

// Progress begins to show how the plan is carried out. Close must be called.
func (p *Printer) Progress(plan *plans.Plan) *Progress {
	progress := &Progress{
		printer: p,
		stream:  p.Out,
		begun:   time.Now(),
		stop:    make(chan struct{}),
		events:  p.events.Applying(),
		running: map[addrs.Object]*task{},
		denied:  map[string]addrs.Object{},
	}
	for _, a := range plan.Actions {
		if report.Concerns(&a) {
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

// Close ends the live view. Nothing must be observed afterwards.
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

// Observe takes note of an event, and shows it.
func (p *Progress) Observe(e plans.Event) {
	p.events.Observe(e)
	p.speaking.Lock()
	defer p.speaking.Unlock()
	p.say(p.note(e))
}

// speak writes lines that have nothing to do with an action.
func (p *Progress) speak(lines []screen.Line) {
	p.speaking.Lock()
	defer p.speaking.Unlock()
	p.say(lines)
}

// say writes lines that stay. The caller holds speaking.
func (p *Progress) say(lines []screen.Line) {
	if len(lines) == 0 {
		return
	}
	stream := p.stream
	if p.live != nil {
		stream.Writer = p.live
	}
	_ = stream.Print(lines) // there is nowhere to tell that telling failed
}

// note keeps account of an event, and gives the lines to say about it.
func (p *Progress) note(e plans.Event) []screen.Line {
	p.mu.Lock()
	defer p.mu.Unlock()
	address := e.Action.Address
	t := p.running[address]
	switch e.Kind {
	case plans.Started, plans.Waiting:
		if e.Kind == plans.Started && !report.Concerns(e.Action) {
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
		if !report.Concerns(e.Action) && (t == nil || !t.mentioned) {
			return nil
		}
		p.count(e.Action)
		return []screen.Line{p.finished(screen.Added, e, report.Done(e)+" after "+words.Duration(e.Elapsed))}
	case plans.Failed:
		p.count(e.Action)
		p.failed++
		delete(p.running, address)
		if !e.Begun {
			return nil // why is said at the end, once
		}
		return []screen.Line{p.finished(screen.Danger, e, fmt.Sprintf("FAILED after %s: %s", words.Duration(e.Elapsed), p.failure(e)))}
	case plans.Interrupted:
		delete(p.running, address)
		if !e.Begun {
			return nil
		}
		return []screen.Line{p.finished(screen.Caution, e, "interrupted after "+words.Duration(e.Elapsed)+", before it was ready")}
	case plans.Skipped:
		if !report.Concerns(e.Action) || e.Because == (addrs.Object{}) {
			return nil // what was interrupted is summed up at the end
		}
		p.count(e.Action)
		return []screen.Line{p.finished(screen.Caution, e, "skipped because "+e.Because.String()+" failed")}
	default:
		return nil
	}
}

// failure is why an action failed. A permission that is lacking is named once, since
// its text is long: after that, only who met it first. The caller holds mu.
func (p *Progress) failure(e plans.Event) string {
	var permission *providers.PermissionError
	if !errors.As(e.Err, &permission) {
		return e.Err.Error()
	}
	lacking := permission.Error()
	if first, known := p.denied[lacking]; known {
		return "not allowed either, see " + first.String()
	}
	p.denied[lacking] = e.Action.Address
	return lacking
}

// count takes an action for over, if it is one of those that the apply is about.
func (p *Progress) count(a *plans.Action) {
	if report.Concerns(a) {
		p.over++
	}
}

// finished is the line about an action that is over, with how many are.
func (p *Progress) finished(s screen.Style, e plans.Event, outcome string) screen.Line {
	l := screen.Styled(screen.Bold, e.Action.Address.String()).Then(screen.Text(": "), screen.Styled(s, outcome))
	if report.Concerns(e.Action) {
		l = l.Then(screen.Styled(screen.Faint, fmt.Sprintf("  [%d of %d]", p.over, p.total)))
	}
	return l
}

// watch speaks up about what takes its time, where there is no live view to see
// it in.
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

// overdue gives a line for each action that nothing was said about for too long.
func (p *Progress) overdue(now time.Time) []screen.Line {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []screen.Line
	for _, t := range p.inOrder() {
		address := screen.Styled(screen.Bold, t.action.Address.String())
		if !t.mentioned && now.Sub(t.begun) >= quietStart {
			t.mentioned = true
			out = append(out, address.Then(screen.Text(": "+report.Doing(t.action)+"...")))
			continue
		}
		if t.status != t.told {
			t.patience = patience
		}
		if now.Sub(t.toldAt) < t.patience {
			continue
		}
		t.told, t.toldAt, t.patience = t.status, now, min(2*t.patience, patienceLimit)
		status := t.status
		if status == "" {
			status = report.Doing(t.action)
		}
		out = append(out, screen.Text("Still waiting for ").Then(address, screen.Textf(": %s (%s)", status, words.Duration(now.Sub(t.begun)))))
	}
	return out
}

// inOrder lists the running actions, the one that runs longest first.
func (p *Progress) inOrder() []*task {
	return slices.SortedFunc(maps.Values(p.running), func(a, b *task) int {
		return cmp.Or(a.begun.Compare(b.begun), a.action.Address.Compare(b.action.Address))
	})
}
