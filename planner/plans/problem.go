package plans

import (
	"cmp"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/providers"
)

// Problem says why no plan can be made for an object, or warns the operator. The operator
// can solve it or decide about it.
type Problem struct {
	Warning bool
	// Stays, of a warning: an object is not as declared, and no apply makes it so.
	Stays   bool
	Address addrs.Object
	Source  string // where the object is declared, "cloud.hcl:41"; may be empty
	Summary string // one line
	Detail  string // the expectation, and how to go on
	// DryRun: the object may be correct. Admission denied the dry run, and the operator did not
	// allow to write the object without one. The plan shows everything else, and cannot be
	// applied.
	DryRun bool
	Target string // a target that names no objects, as the operator gave it
}

// Notice is a warning of the server or of the planner, or an error, that belongs to the plan.
type Notice struct {
	Address addrs.Object `json:"address,omitzero"`  // of its object; zero: of no object in the plan
	Source  string       `json:"source,omitempty"`  // where the object is declared, "cloud.hcl:41"
	Summary string       `json:"summary,omitempty"` // one line; empty: the server says Text
	Text    string       `json:"text"`
	// Stays: an object is not as declared, and no apply makes it so.
	Stays bool `json:"stays,omitempty"`
}

// NoticeOf returns a notice with the planner's warning or error.
func NoticeOf(p Problem) Notice {
	return Notice{Address: p.Address, Source: p.Source, Summary: p.Summary, Text: p.Detail, Stays: p.Stays}
}

// Problem returns the notice as a warning.
func (n Notice) Problem() Problem {
	summary := cmp.Or(n.Summary, "The API server warns")
	return Problem{Warning: true, Address: n.Address, Source: n.Source, Summary: summary, Detail: n.Text}
}

// ProblemOf returns a problem of a declared object.
func ProblemOf(object *providers.Object, summary, detail string) Problem {
	return Problem{Address: object.Address, Source: object.Source, Summary: summary, Detail: detail}
}
