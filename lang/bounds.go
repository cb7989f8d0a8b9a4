package lang

import "github.com/hashicorp/hcl/v2"

// bound is a limit on the size of a configuration. A few lines are enough to ask for more
// than any machine can hold.
type bound int

const (
	boundInstances bound = iota // of services and other blocks, and uses of modules
	boundBlocks                 // blocks that dynamic blocks stand for
	boundModules                // module blocks, including those in modules
)

// most is the limit of each bound.
var most = map[bound]int{boundInstances: 10_000, boundBlocks: 20_000, boundModules: 1_000}

// spend counts n more things against a bound, and reports whether the sum is within it. The
// first excess is reported; detail has a verb for the limit.
func (r *reporter) spend(on bound, n int, at hcl.Range, summary, detail string) bool {
	if r.spent[on] > most[on] {
		return false // it was reported
	}
	r.spent[on] += n
	if r.spent[on] <= most[on] {
		return true
	}
	r.spent[on] = most[on] + 1
	r.error(at, summary, detail, most[on])
	return false
}
