package plans

import (
	"cmp"

	"kolla.openstack.org/kolla/lang"
)

// Problem is why a plan cannot be made for one object, or what an operator
// should know about it: something that the operator can decide or mend.
type Problem struct {
	Warning bool
	Address lang.Address
	Source  string // where the object is declared, "cloud.hcl:41"; may be empty
	Summary string // one line
	Detail  string // what was expected, and how to go on
}

// Notice is a warning that is a part of the plan: what the server, or the planner,
// had to say while it was made.
type Notice struct {
	Address lang.Address `json:"address,omitzero"`  // of the object that it is about; zero: of none in the plan
	Source  string       `json:"source,omitempty"`  // where that is declared, "cloud.hcl:41"
	Summary string       `json:"summary,omitempty"` // one line; empty: the server says Text
	Text    string       `json:"text"`
}

// NoticeOf is a warning of the planner as a part of the plan.
func NoticeOf(p Problem) Notice {
	return Notice{Address: p.Address, Source: p.Source, Summary: p.Summary, Text: p.Detail}
}

// Problem is the notice as a problem, which stands in the way of nothing.
func (n Notice) Problem() Problem {
	summary := cmp.Or(n.Summary, "The API server warns")
	return Problem{Warning: true, Address: n.Address, Source: n.Source, Summary: summary, Detail: n.Text}
}
