package removal

import (
	"fmt"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/internal/outcome"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// orphans warns of objects with the cloud's label that neither the state nor the
// configuration knows.
func orphans(inv *inventory.Inventory) []plans.Problem {
	var found []inventory.Unrecorded
	for _, u := range inventory.UnrecordedObjects(inv) {
		if inv.DeclarationByRef(u.Ref) == nil && u.Live.GetAnnotations()[providers.AnnotationAddress] != "" {
			found = append(found, u)
		}
	}
	if len(found) > outcome.MaxSeparateProblems { // the state was probably lost
		var names []string
		for _, u := range found {
			names = append(names, u.Ref.String())
		}
		return []plans.Problem{{
			Warning: true,
			Summary: fmt.Sprintf("%d objects are labelled as objects of this cloud, but neither the state nor the configuration knows them", len(found)),
			Detail: fmt.Sprintf("They are %s. They are left alone. "+outcome.RebuildAdvice+" Otherwise, if nothing needs them, delete them with kubectl.",
				words.Few(names, 6), "them"),
		}}
	}
	var warnings []plans.Problem
	for _, u := range found {
		warnings = append(warnings, plans.Problem{
			Warning: true,
			Address: u.Address,
			Summary: fmt.Sprintf("%s is labelled as an object of this cloud, but neither the state nor the configuration knows it", u.Ref),
			Detail:  "It is left alone. " + fmt.Sprintf(outcome.RebuildAdvice, "it") + " Otherwise, if nothing needs it, delete it with kubectl.",
		})
	}
	return warnings
}
