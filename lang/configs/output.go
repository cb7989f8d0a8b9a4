package configs

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// Output is a value that the configuration gives to whoever asks for it.
type Output struct {
	Name        string
	Description string
	// Value may hold marks, and what is known only after the apply.
	Value     cty.Value
	Sensitive bool
	Range     hcl.Range
}

// Check is what came of a check block.
type Check struct {
	Address  string // `check.spread`, `module.edge["west"].check.spread`
	Status   CheckStatus
	Problems []string // the messages of the assertions that do not hold
}

// CheckStatus is what is known of a check, in Terraform's words. The zero value is
// invalid.
type CheckStatus string

// What a check can come to.
const (
	CheckPassed  CheckStatus = "pass"
	CheckFailed  CheckStatus = "fail"
	CheckUnknown CheckStatus = "unknown" // it depends on what is known after the apply
)
