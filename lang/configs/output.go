package configs

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// Output is the value of an output block of the root.
type Output struct {
	Name        string
	Description string
	// Value may have marks and parts that are known only after the apply.
	Value     cty.Value
	Sensitive bool
	Range     hcl.Range
}

// Check is the result of a check block.
type Check struct {
	Address  string // `check.spread`, `module.edge["west"].check.spread`
	Status   CheckStatus
	Problems []string // the messages of the assertions that do not hold
}

// CheckStatus is the status of a check in Terraform's words. The zero value is invalid.
type CheckStatus string

// Status of a check.
const (
	CheckPassed  CheckStatus = "pass"
	CheckFailed  CheckStatus = "fail"
	CheckUnknown CheckStatus = "unknown" // depends on values that are known after the apply
)
