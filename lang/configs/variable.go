package configs

import "github.com/hashicorp/hcl/v2"

// Variable is the declaration of a variable, for a prompt that asks for its value.
type Variable struct {
	Name        string
	Description string
	Type        string // type constraint in the source; "any" if there is none
	Sensitive   bool
	Refused     string // reason against the last answer; empty: first question
	Range       hcl.Range
}
