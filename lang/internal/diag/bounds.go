package diag

import "github.com/hashicorp/hcl/v2"

// Bound is a limit on the size of a configuration. A few lines are enough to ask for more
// than any machine can hold.
type Bound int

// The bounds.
const (
	Instances Bound = iota // of services and other blocks, and uses of modules
	Blocks                 // blocks that dynamic blocks stand for
	Modules                // module blocks, including those in modules
)

// limits has the limit of each bound.
var limits = map[Bound]int{Instances: 10_000, Blocks: 20_000, Modules: 1_000}

// Spend counts n more things against a bound, and reports whether the sum is within it. The
// first excess is reported; detail has a verb for the limit.
func (r *Reporter) Spend(on Bound, n int, at hcl.Range, summary, detail string) bool {
	if r.all.spent[on] > limits[on] {
		return false // it was reported
	}
	r.all.spent[on] += n
	if r.all.spent[on] <= limits[on] {
		return true
	}
	r.all.spent[on] = limits[on] + 1
	r.Error(at, summary, detail, limits[on])
	return false
}
