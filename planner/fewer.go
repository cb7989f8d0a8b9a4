package planner

import (
	"fmt"
	"slices"

	"kolla.openstack.org/kolla/planner/internal/objects"
	"kolla.openstack.org/kolla/planner/plans"
)

// refuseFewer refuses to take pods away that have to leave in another way before, such as
// members of a cluster, which would count as members that are down.
func (p *planning) refuseFewer() {
	for _, s := range p.subjects {
		if s.object.ScaleDown == "" || s.live == nil || !slices.Contains([]plans.Verb{plans.Update, plans.Adopt, plans.Replace}, s.action.Verb) {
			continue
		}
		before, known := objects.Replicas(s.live)
		after, alsoKnown := objects.Replicas(s.after)
		if !known || !alsoKnown || after >= before {
			continue
		}
		s.withdraw(fmt.Sprintf("%s cannot go from %d pods to %d", s.action.Ref, before, after), s.object.ScaleDown)
	}
}
