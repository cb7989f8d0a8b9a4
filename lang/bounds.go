package lang

import "github.com/hashicorp/hcl/v2"

// How many things a configuration may come to. A few lines are enough to ask for more
// than any machine has.
const (
	maxInstances = 10_000 // of services and other blocks, and uses of modules
	maxGrown     = 20_000 // blocks that dynamic blocks stand for
	maxModules   = 1_000  // module blocks, those in modules included
)

// budget is how many blocks a configuration has become so far.
type budget struct {
	instances int
	grown     int
	modules   int
}

// spend counts things of which there can be only so many. The first that is too many is
// reported.
func (r *reporter) spend(on *int, n, most int, at hcl.Range, summary, detail string) bool {
	if *on > most {
		return false // it was reported
	}
	*on += n
	if *on <= most {
		return true
	}
	*on = most + 1
	r.error(at, summary, detail, most)
	return false
}
