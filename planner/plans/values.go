package plans

import (
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/planner/extract"
)

// Texts in place of a value that a plan does not contain.
const (
	// Masked is written for a value that must not be seen.
	Masked = "(sensitive value)"
	// Unknown is written for a value that only the apply makes.
	Unknown = configs.KnownAfterApply
)

// Values is the object of an action before and after it: the fields that kolla owns or
// changes. They are parts of the live object and of the server's answer; nothing is
// composed from paths. Secret values are masked.
type Values struct {
	// Before is part of the live object; nil: there is none.
	Before *extract.Part `json:"before,omitempty"`
	// After is part of the resulting object; nil: it is deleted or, with the verbs None and
	// Refresh, does not change.
	After *extract.Part `json:"after,omitempty"`
	// Written is Before without the changes that others made since kolla's last write; nil:
	// there are no such changes.
	Written *extract.Part `json:"written,omitempty"`
}
