package plans

import (
	"time"

	"kolla.openstack.org/kolla/lang/addrs"
)

// Event is a step in the execution of an action.
type Event struct {
	Action  *Action
	Kind    EventKind
	Elapsed time.Duration // since the action started
	// Status says what a Waiting action waits for: "2 of 3 replicas ready", or a webhook that does
	// not answer; empty: for nothing any more. Of Done: what the object lacks, and the apply did not
	// wait for.
	Status string
	// Ready, of Done: the apply waited until the object was ready.
	Ready bool
	// Begun, of Failed and Interrupted: the action had begun; false: it was never tried.
	Begun bool
	// Err is the error of an action that Failed or was Interrupted.
	Err error
	// Because is the failed action that a Skipped action depends on; zero if the apply was
	// interrupted.
	Because addrs.Object
}

// EventKind is the kind of an event. The zero value is invalid.
type EventKind int

// The kinds of event. An action gets Started, any number of Waiting, and then Done, Failed or
// Interrupted; or it gets only Skipped.
const (
	_ EventKind = iota
	Started
	Waiting
	Done
	Failed
	Skipped
	Interrupted // the apply was interrupted before the action was done
)
