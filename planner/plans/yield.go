package plans

import (
	"time"

	"kolla.openstack.org/kolla/state"
)

// Yield is a declared field that an action leaves to somebody else: it is not
// sent, neither when the server is asked nor when the object is written, so that
// kolla owns it no more.
type Yield struct {
	Path    string    `json:"path"`              // as of a Change
	Manager string    `json:"manager,omitempty"` // who has the field; empty: nobody
	Time    time.Time `json:"time,omitzero"`     // when that manager last wrote
	// Field is the path once more, as a set of fields in the form of managedFields:
	// text does not say which fields the key of a list's element is made of.
	Field string `json:"field"`
	// Value is sent in place of the declared one where kolla alone owns the field:
	// one that is not sent would be gone. It is what the field has.
	Value any `json:"value,omitempty"`
	// Declared: a lifecycle block says so. Otherwise Manager is a controller.
	Declared bool `json:"declared,omitempty"`
	// Want is the declared value, which is not applied, and Live the one that is there;
	// nil: there is none. Of a secret, both are Masked.
	Want any `json:"want,omitempty"`
	Live any `json:"live,omitempty"`
}

// Known is what a state is to know of the yield.
func (y Yield) Known() state.Yield { return state.Yield{Path: y.Path, Manager: y.Manager} }
