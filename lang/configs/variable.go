package configs

import "github.com/hashicorp/hcl/v2"

// Variable is the declaration of a variable, for whoever asks a person for its
// value.
type Variable struct {
	Name        string
	Description string
	Type        string // type constraint as it is written, "any" if there is none
	Sensitive   bool
	Refused     string // why the last answer was not taken; empty: it is asked for the first time
	Range       hcl.Range
}
