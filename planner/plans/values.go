package plans

import (
	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/planner/extract"
)

// What stands for a value in a Change whose values are not kept.
const (
	// Masked is where there is a value that must not be seen.
	Masked = "(sensitive value)"
	// Unknown is where there will be a value that is only made at apply.
	Unknown = lang.KnownAfterApply
)

// Values is the object of an action before and after it, as far as kolla owns or changes
// it: parts of the live object and of the server's answer. Nothing in them was put
// together from paths. Secret values are masked.
type Values struct {
	// Before is part of the live object; nil: there is none.
	Before *extract.Part `json:"before,omitempty"`
	// After is part of what the object becomes; nil: it goes, or with the verbs None and
	// Refresh stays as it is.
	After *extract.Part `json:"after,omitempty"`
	// Written is Before without the changes that others made since kolla's last write; nil:
	// nobody made any.
	Written *extract.Part `json:"written,omitempty"`
}
