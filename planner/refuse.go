package planner

import (
	"fmt"
	"strings"

	"kolla.openstack.org/kolla/planner/dryrun"
	"kolla.openstack.org/kolla/planner/plans"
)

// refuse names a problem of the subject.
func (s *subject) refuse(summary, detail string) {
	s.problems = append(s.problems, plans.ProblemOf(s.object, summary, detail))
}

// withdraw takes back what was decided, because of a problem.
func (s *subject) withdraw(summary, detail string) {
	s.action.Verb = ""
	s.refuse(summary, detail)
}

// reject says what the server has against the object: its causes where it gives
// any, since its message only strings them together.
//
// A missing permission is named in the same words for all that it keeps from being
// planned: it is one problem.
func (s *subject) reject(r dryrun.Refusal) {
	if r.Permission != nil {
		s.refuse(r.Permission.Error(), "A dry run needs this right; nothing is written by it.\n"+r.Permission.Advice())
		return
	}
	s.rejectBy("the cluster", r)
}

// rejectBy is reject, of something else that does not accept the object.
func (s *subject) rejectBy(who string, r dryrun.Refusal) {
	s.refuse(fmt.Sprintf("%s does not accept %s", who, s.action.Ref), strings.Join(r.Lines(), "\n"))
}

// warn tells the operator something about the subject that stands in nobody's way.
func (s *subject) warn(summary, detail string) {
	problem := plans.ProblemOf(s.object, summary, detail)
	problem.Warning = true
	s.problems = append(s.problems, problem)
}
