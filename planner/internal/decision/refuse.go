package decision

import (
	"fmt"
	"strings"

	"kolla.openstack.org/kolla/planner/dryrun"
	"kolla.openstack.org/kolla/planner/plans"
)

// refuse names a problem of the subject.
func (o *Outcome) refuse(summary, detail string) {
	o.Problems = append(o.Problems, plans.ProblemOf(o.Object, summary, detail))
}

// withdraw takes back what was decided, because of a problem.
func (o *Outcome) withdraw(summary, detail string) {
	o.Action.Verb = ""
	o.refuse(summary, detail)
}

// reject says what the server has against the object: its causes where it gives
// any, since its message only strings them together.
//
// A missing permission is named in the same words for all that it keeps from being
// planned: it is one problem.
func (o *Outcome) reject(r dryrun.Refusal) {
	if r.Permission != nil {
		o.refuse(r.Permission.Error(), "A dry run needs this right; nothing is written by it.\n"+r.Permission.Advice())
		return
	}
	o.rejectBy("the cluster", r)
}

// rejectBy is reject, of something else that does not accept the object.
func (o *Outcome) rejectBy(who string, r dryrun.Refusal) {
	o.refuse(fmt.Sprintf("%s does not accept %s", who, o.Action.Ref), strings.Join(r.Lines(), "\n"))
}

// warn tells the operator something about the subject that stands in nobody's way.
func (o *Outcome) warn(summary, detail string) {
	problem := plans.ProblemOf(o.Object, summary, detail)
	problem.Warning = true
	o.Problems = append(o.Problems, problem)
}
