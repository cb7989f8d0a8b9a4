package view

import (
	"fmt"
	"sync"
	"time"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
)

// heartbeat is how often it is said that an action is still going on.
const heartbeat = 10 * time.Second

// hookEvent is what the events of an apply are about.
type hookEvent struct {
	Resource resourceJSON `json:"resource"`
	Action   string       `json:"action"`
	Elapsed  *int         `json:"elapsed_seconds,omitempty"`
	IDKey    string       `json:"id_key,omitempty"`
	IDValue  string       `json:"id_value,omitempty"`
	Kolla    *hookJSON    `json:"kolla,omitempty"`
}

// hookJSON is what kolla says beyond Terraform's hooks.
type hookJSON struct {
	Verb    plans.Verb `json:"verb"`
	Status  string     `json:"status,omitempty"`  // why the object is not ready yet
	Because string     `json:"because,omitempty"` // of what was skipped: the failed action
	Error   string     `json:"error,omitempty"`
}

// applying writes the events of an apply: each action's beginning, that it still
// goes on, its end.
type applying struct {
	*events
	stop  chan struct{}
	ended sync.WaitGroup

	mu      sync.Mutex
	running map[addrs.Object]*pulse
}

// pulse is when something was last said of a running action.
type pulse struct {
	action *plans.Action
	begun  time.Time
	said   time.Time
	status string
}

// applying begins to write; nil where no events are wanted. close must be called.
func (e *events) applying() *applying {
	if e == nil {
		return nil
	}
	a := &applying{events: e, stop: make(chan struct{}), running: map[addrs.Object]*pulse{}}
	a.ended.Go(a.beat)
	return a
}

func (a *applying) close() {
	if a == nil {
		return
	}
	close(a.stop)
	a.ended.Wait()
}

// beat says of what takes its time that it goes on.
func (a *applying) beat() {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-a.stop:
			return
		case now := <-ticker.C:
			a.overdue(now)
		}
	}
}

func (a *applying) overdue(now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, p := range a.running {
		if now.Sub(p.said) >= heartbeat {
			p.said = now
			a.goesOn(p, now)
		}
	}
}

// goesOn writes that an action is not done yet. The caller holds mu.
func (a *applying) goesOn(p *pulse, now time.Time) {
	elapsed := now.Sub(p.begun)
	a.hook("apply_progress", p.action, elapsed,
		fmt.Sprintf("Still %s... [%s elapsed]", doing(p.action), elapsed.Round(time.Second)), &hookJSON{Status: p.status})
}

// observe writes an event of the apply. What the plan leaves as it is, and is only
// looked at because others depend on it, is not worth one.
func (a *applying) observe(e plans.Event) {
	if a == nil || !concerns(e.Action) && e.Kind != plans.Failed {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	address, now := e.Action.Address, time.Now()
	switch e.Kind {
	case plans.Started:
		a.running[address] = &pulse{action: e.Action, begun: now, said: now}
		a.hook("apply_start", e.Action, -1, sentenceCase(doing(e.Action))+"...", &hookJSON{})
	case plans.Waiting:
		if p := a.running[address]; p != nil && p.status != e.Status {
			p.status, p.said = e.Status, now
			a.goesOn(p, now)
		}
	case plans.Done:
		delete(a.running, address)
		a.hook("apply_complete", e.Action, e.Elapsed, sentenceCase(done(e))+" after "+duration(e.Elapsed), &hookJSON{})
	case plans.Failed:
		delete(a.running, address)
		a.hook("apply_errored", e.Action, e.Elapsed, "Failed after "+duration(e.Elapsed), &hookJSON{Error: fmt.Sprint(e.Err)})
	case plans.Interrupted:
		delete(a.running, address)
		a.hook("apply_errored", e.Action, e.Elapsed, "Interrupted after "+duration(e.Elapsed), &hookJSON{Error: fmt.Sprint(e.Err)})
	case plans.Skipped:
		extra := &hookJSON{}
		message := "Skipped, because the apply was interrupted"
		if e.Because != (addrs.Object{}) {
			extra.Because = e.Because.String()
			message = "Skipped, because " + extra.Because + " failed"
		}
		a.hook("apply_skipped", e.Action, -1, message, extra)
	}
}

// hook writes one event of an action; elapsed is left out where negative.
func (a *applying) hook(kind string, action *plans.Action, elapsed time.Duration, message string, extra *hookJSON) {
	extra.Verb = action.Verb
	h := &hookEvent{Resource: resourceOf(action.Address), Action: uiAction(action), Kolla: extra}
	if elapsed >= 0 {
		seconds := int(elapsed.Round(time.Second).Seconds())
		h.Elapsed = &seconds
	}
	if action.Prior.UID != "" && action.Verb != plans.Replace {
		h.IDKey, h.IDValue = "uid", string(action.Prior.UID)
	}
	level := "info"
	if kind == "apply_errored" {
		level = "error"
	}
	a.write(event{Level: level, Type: kind, Message: action.Address.String() + ": " + message, Hook: h})
}
