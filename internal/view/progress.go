package view

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

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
	stream  Stream
	live    *live // nil: plain lines
	begun   time.Time
	total   int
	stop    chan struct{}
	ended   sync.WaitGroup
	events  *applying // nil: none are wanted

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
		events:  p.events.applying(),
		running: map[addrs.Object]*task{},
		denied:  map[string]addrs.Object{},
	}
	for _, a := range plan.Actions {
		if concerns(&a) {
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

// concerns reports whether an apply has anything to do about an action. An object
// that the plan leaves as it is can still have to be waited for, when others
// depend on it: that is mentioned only where it takes its time.
//
// What has moved has its action where it is now: that the old address is forgotten is no
// news.
func concerns(a *plans.Action) bool {
	return (a.Verb != plans.None || a.Pending) && a.MovedTo() == ""
}

// Close ends the live view. Nothing must be observed afterwards.
func (p *Progress) Close() {
	p.printer.mu.Lock()
	p.printer.progress = nil
	p.printer.mu.Unlock()
	p.events.close()
	close(p.stop)
	p.ended.Wait()
	if p.live != nil {
		p.live.close()
	}
}

// Observe takes note of an event, and shows it.
func (p *Progress) Observe(e plans.Event) {
	p.events.observe(e)
	p.speaking.Lock()
	defer p.speaking.Unlock()
	p.say(p.note(e))
}

// speak writes lines that have nothing to do with an action.
func (p *Progress) speak(lines []line) {
	p.speaking.Lock()
	defer p.speaking.Unlock()
	p.say(lines)
}

// say writes lines that stay. The caller holds speaking.
func (p *Progress) say(lines []line) {
	if len(lines) == 0 {
		return
	}
	stream := p.stream
	if p.live != nil {
		stream.Writer = p.live
	}
	_ = stream.print(lines) // there is nowhere to tell that telling failed
}

// note keeps account of an event, and gives the lines to say about it.
func (p *Progress) note(e plans.Event) []line {
	p.mu.Lock()
	defer p.mu.Unlock()
	address := e.Action.Address
	t := p.running[address]
	switch e.Kind {
	case plans.Started, plans.Waiting:
		if e.Kind == plans.Started && !concerns(e.Action) {
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
		if !concerns(e.Action) && (t == nil || !t.mentioned) {
			return nil
		}
		p.count(e.Action)
		return []line{p.finished(added, e, done(e)+" after "+duration(e.Elapsed))}
	case plans.Failed:
		p.count(e.Action)
		p.failed++
		delete(p.running, address)
		if !e.Begun {
			return nil // why is said at the end, once
		}
		return []line{p.finished(danger, e, fmt.Sprintf("FAILED after %s: %s", duration(e.Elapsed), p.failure(e)))}
	case plans.Interrupted:
		delete(p.running, address)
		if !e.Begun {
			return nil
		}
		return []line{p.finished(caution, e, "interrupted after "+duration(e.Elapsed)+", before it was ready")}
	case plans.Skipped:
		if !concerns(e.Action) || e.Because == (addrs.Object{}) {
			return nil // what was interrupted is summed up at the end
		}
		p.count(e.Action)
		return []line{p.finished(caution, e, "skipped because "+e.Because.String()+" failed")}
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
	if concerns(a) {
		p.over++
	}
}

// finished is the line about an action that is over, with how many are.
func (p *Progress) finished(s style, e plans.Event, outcome string) line {
	l := styled(bold, e.Action.Address.String()).then(text(": "), styled(s, outcome))
	if concerns(e.Action) {
		l = l.then(styled(faint, fmt.Sprintf("  [%d of %d]", p.over, p.total)))
	}
	return l
}

// done says what has been reached. What was waited for is more than written.
func done(e plans.Event) string {
	a, ready := e.Action, ""
	if e.Ready {
		ready = ", ready"
	}
	if a.OnlyMoves() {
		return "moved from " + a.MovedFrom() + ready
	}
	switch a.Verb {
	case plans.Create:
		return "created" + ready
	case plans.Update:
		return "updated" + ready
	case plans.Replace:
		return "replaced" + ready
	case plans.Delete:
		if a.Partial {
			return "released"
		}
		if a.Prunes() {
			return "pruned"
		}
		return "destroyed"
	case plans.Run:
		return "completed"
	case plans.Adopt:
		return "imported" + ready
	case plans.Forget:
		return "forgotten"
	case plans.Refresh:
		return "taken into the state"
	default:
		return "ready"
	}
}

// doing says what is being done.
func doing(a *plans.Action) string {
	if a.OnlyMoves() {
		return "moving"
	}
	switch a.Verb {
	case plans.Create:
		return "creating"
	case plans.Update:
		return "updating"
	case plans.Replace:
		return "replacing"
	case plans.Delete:
		if a.Prunes() {
			return "pruning"
		}
		return "destroying"
	case plans.Run:
		return "running"
	case plans.Adopt:
		return "importing"
	case plans.Forget:
		return "forgetting"
	case plans.Refresh:
		return "reading"
	default:
		return "waiting"
	}
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
func (p *Progress) overdue(now time.Time) []line {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []line
	for _, t := range p.inOrder() {
		address := styled(bold, t.action.Address.String())
		if !t.mentioned && now.Sub(t.begun) >= quietStart {
			t.mentioned = true
			out = append(out, address.then(text(": "+doing(t.action)+"...")))
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
			status = doing(t.action)
		}
		out = append(out, text("Still waiting for ").then(address, textf(": %s (%s)", status, duration(now.Sub(t.begun)))))
	}
	return out
}

// inOrder lists the running actions, the one that runs longest first.
func (p *Progress) inOrder() []*task {
	return slices.SortedFunc(maps.Values(p.running), func(a, b *task) int {
		return cmp.Or(a.begun.Compare(b.begun), a.action.Address.Compare(b.action.Address))
	})
}
