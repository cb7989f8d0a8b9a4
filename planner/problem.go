package planner

import "kolla.openstack.org/kolla/lang"

// Problem is why a plan cannot be made for one object, or what an operator
// should know about it: something that the operator can decide or mend.
type Problem struct {
	Warning bool
	Address lang.Address
	Source  string // where the object is declared, "cloud.hcl:41"; may be empty
	Summary string // one line
	Detail  string // what was expected, and how to go on
}

// Notice is a warning of the server.
type Notice struct {
	Address lang.Address `json:"address,omitzero"` // of the object that it is about; zero: of none in the plan
	Text    string       `json:"text"`
}

// Problem is the notice as a problem, which stands in the way of nothing.
func (n Notice) Problem() Problem {
	return Problem{Warning: true, Address: n.Address, Summary: "The API server warns", Detail: n.Text}
}
