package plans

import (
	"time"

	"kolla.openstack.org/kolla/state"
)

// Yield is a declared field that an action leaves to somebody else. Neither dry runs nor
// writes send it, so that kolla does not own it.
type Yield struct {
	Path    string    `json:"path"`              // in the form of Change.Path
	Manager string    `json:"manager,omitempty"` // the owner of the field; empty: nobody
	Time    time.Time `json:"time,omitzero"`     // when the owner last wrote
	// Field is the same path as a set in the form of managedFields. Path is text, and does
	// not show which fields form the key of an element.
	Field string `json:"field"`
	// Value is sent instead of the declared value if only kolla owns the field: without it,
	// the server would remove the field. It is the live value.
	Value any `json:"value,omitempty"`
	// Declared: a lifecycle block says so. Otherwise Manager is a controller.
	Declared bool `json:"declared,omitempty"`
	// Want is the declared value, which is not applied, and Live is the live value; nil:
	// there is none. Both are Masked for a secret value.
	Want any `json:"want,omitempty"`
	Live any `json:"live,omitempty"`
}

// Known returns the part of the yield that the state records.
func (y Yield) Known() state.Yield { return state.Yield{Path: y.Path, Manager: y.Manager} }
