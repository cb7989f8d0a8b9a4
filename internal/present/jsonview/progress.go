package jsonview

import (
	"fmt"
	"sync"
	"time"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/present/report/applied"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
)

// heartbeat is the time between two events about an action in progress.
const heartbeat = 10 * time.Second

// hookEvent is the content of an event about an action.
type hookEvent struct {
	Resource resourceJSON `json:"resource"`
	Action   string       `json:"action"`
	Elapsed  *int         `json:"elapsed_seconds,omitempty"`
	IDKey    string       `json:"id_key,omitempty"`
	IDValue  string       `json:"id_value,omitempty"`
	Kolla    *hookJSON    `json:"kolla,omitempty"`
}

// hookJSON is kolla's addition to Terraform's hooks.
type hookJSON struct {
	Verb    plans.Verb `json:"verb"`
	Status  string     `json:"status,omitempty"`  // what the action waits for, and why
	Because string     `json:"because,omitempty"` // of what was skipped: the failed action
	Error   string     `json:"error,omitempty"`
}

// Applying writes the events of an apply: the beginning and the end of each action, and its
// progress.
type Applying struct {
	events *Events
	stop   chan struct{}
	ended  sync.WaitGroup

	mu      sync.Mutex
	running map[addrs.Object]*pulse
}

// pulse is a running action and the time of its last event.
type pulse struct {
	action *plans.Action
	begun  time.Time
	said   time.Time
	status string
}

// Applying begins to write; it returns nil for nil Events. The caller must call Close.
func (e *Events) Applying() *Applying {
	if e == nil {
		return nil
	}
	a := &Applying{events: e, stop: make(chan struct{}), running: map[addrs.Object]*pulse{}}
	a.ended.Go(a.beat)
	return a
}

// Close stops writing.
func (a *Applying) Close() {
	if a == nil {
		return
	}
	close(a.stop)
	a.ended.Wait()
}

// beat writes progress of slow actions until stop is closed.
func (a *Applying) beat() {
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

// overdue writes progress of actions without an event for a heartbeat.
func (a *Applying) overdue(now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, p := range a.running {
		if now.Sub(p.said) >= heartbeat {
			p.said = now
			a.goesOn(p, now)
		}
	}
}

// goesOn writes that an action is still running. The caller holds mu.
func (a *Applying) goesOn(p *pulse, now time.Time) {
	elapsed := now.Sub(p.begun)
	a.hook("apply_progress", p.action, elapsed,
		fmt.Sprintf("Still %s... [%s elapsed]", applied.Doing(p.action), elapsed.Round(time.Second)), &hookJSON{Status: p.status})
}

// Observe writes an event of the apply. Unchanged objects that others wait for have no
// events.
func (a *Applying) Observe(e plans.Event) {
	if a == nil || !applied.Concerns(e.Action) && e.Kind != plans.Failed {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	address, now := e.Action.Address, time.Now()
	switch e.Kind {
	case plans.Started:
		a.running[address] = &pulse{action: e.Action, begun: now, said: now}
		a.hook("apply_start", e.Action, -1, words.Capital(applied.Doing(e.Action))+"...", &hookJSON{})
	case plans.Waiting:
		if p := a.running[address]; p != nil && p.status != e.Status {
			p.status, p.said = e.Status, now
			a.goesOn(p, now)
		}
	case plans.Done:
		delete(a.running, address)
		a.hook("apply_complete", e.Action, e.Elapsed, words.Capital(applied.Done(e))+" after "+words.Duration(e.Elapsed), &hookJSON{Status: e.Status})
	case plans.Failed:
		delete(a.running, address)
		a.hook("apply_errored", e.Action, e.Elapsed, "Failed after "+words.Duration(e.Elapsed), &hookJSON{Error: fmt.Sprint(e.Err)})
	case plans.Interrupted:
		delete(a.running, address)
		a.hook("apply_errored", e.Action, e.Elapsed, "Interrupted after "+words.Duration(e.Elapsed), &hookJSON{Error: fmt.Sprint(e.Err)})
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

// hook writes one event of an action. A negative elapsed is left out.
func (a *Applying) hook(kind string, action *plans.Action, elapsed time.Duration, message string, extra *hookJSON) {
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
	a.events.write(event{Level: level, Type: kind, Message: action.Address.String() + ": " + message, Hook: h})
}
