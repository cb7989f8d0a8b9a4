package planner

import (
	"fmt"
	"regexp"
	"strings"

	"kolla.openstack.org/kolla/providers"
)

// conflictPolicy says what becomes of fields that another manager owns, with other
// values than the declared ones.
type conflictPolicy struct {
	force bool // take everything
}

// outcome is what becomes of one field.
type outcome int

const (
	_      outcome = iota
	take           // kolla sets it, and says so
	refuse         // no plan until the operator decides
)

// people matches the field managers of tools that somebody works with by hand.
// What they leave behind is no decision that has to be respected, unlike the
// fields that a controller or another deployment tool looks after.
var people = regexp.MustCompile(`^(kubectl(-.*)?|k9s|rancher|Lens|lens|node-fetch|Mozilla|dashboard|before-first-apply)$`)

// outcome decides about one field. Taking is right from people's tools, and only
// where kolla has had the object before or is told to adopt it.
func (c conflictPolicy) outcome(conflict providers.Conflict, ours bool) outcome {
	if c.force || ours && people.MatchString(conflict.Manager) {
		return take
	}
	return refuse
}

// refused lists the conflicts that stand in the way.
func (c conflictPolicy) refused(conflicts []providers.Conflict, ours bool) []providers.Conflict {
	var refused []providers.Conflict
	for _, conflict := range conflicts {
		if c.outcome(conflict, ours) == refuse {
			refused = append(refused, conflict)
		}
	}
	return refused
}

// conflictProblem says who owns what, since when, and how to go on.
func conflictProblem(s *subject, conflicts []providers.Conflict) Problem {
	owners := ownershipOf(s.live, s.manager)
	var lines []string
	for _, conflict := range conflicts {
		line := fmt.Sprintf("%s is owned by %s", strings.TrimPrefix(conflict.Path, "."), conflict.Manager)
		if path, ok := owners.path(conflict.Manager, conflict.Path); ok {
			line = fmt.Sprintf("%s is owned by %s", pathText(path), conflict.Manager)
			if other, ok := owners.other(path); ok && !other.time.IsZero() {
				line += other.time.Format(", last written 2006-01-02 15:04 UTC")
			}
		}
		lines = append(lines, line)
	}
	summary := fmt.Sprintf("fields of %s belong to others", s.action.Ref)
	if len(conflicts) == 1 {
		summary = fmt.Sprintf("a field of %s belongs to %s", s.action.Ref, conflicts[0].Manager)
	}
	return problemOf(s.object, summary, strings.Join(lines, "\n")+
		"\nDo not declare what another tool looks after; or plan with -force-conflicts to take it from there.")
}
