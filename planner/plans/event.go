package plans

import (
	"time"

	"kolla.openstack.org/kolla/lang"
)

// Event is something that happens to an action while a plan is carried out.
type Event struct {
	Action  *Action
	Kind    EventKind
	Elapsed time.Duration // since the action started
	// Status is what a Waiting action waits for: "2 of 3 replicas ready".
	Status string
	// Ready, of Done: it was waited for until it was ready.
	Ready bool
	// Begun: what Failed or was Interrupted had begun; the rest was never tried.
	Begun bool
	// Err is why an action Failed or was Interrupted.
	Err error
	// Because is the failed action that a Skipped one depended on; zero when the
	// apply was interrupted.
	Because lang.Address
}

// EventKind is what happened. The zero value is invalid.
type EventKind int

// The kinds of event. An action gets Started, any number of Waiting, then Done,
// Failed or Interrupted; or only Skipped.
const (
	_ EventKind = iota
	Started
	Waiting
	Done
	Failed
	Skipped
	Interrupted // the apply was, before the action was done
)
