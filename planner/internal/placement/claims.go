package placement

import (
	"fmt"

	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/internal/outcome"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// MissingClaims warns of pods that mount a claim which neither exists nor is declared: they would not
// start.
func MissingClaims(inv *inventory.Inventory, outcomes []*outcome.Outcome) []plans.Problem {
	var warnings []plans.Problem
	for _, o := range outcomes {
		for _, name := range inventory.MountedClaims(o.Object.Manifest) {
			ref := providers.Ref{GVK: inventory.Claims, Namespace: o.Action.Ref.Namespace, Name: name}
			if len(o.Object.Deferred) > 0 || inv.Unread(ref) != nil || inv.Input.Snapshot.Get(ref) != nil || inv.DeclarationByRef(ref) != nil {
				continue
			}
			p := plans.ProblemOf(o.Object, fmt.Sprintf("The claim %s of %s does not exist", name, o.Action.Ref),
				fmt.Sprintf("Its pods start only when namespace %s has a PersistentVolumeClaim with this name. Correct the name, or create the claim.", ref.Namespace))
			p.Warning = true
			warnings = append(warnings, p)
		}
	}
	return warnings
}
