package outcome

import (
	"fmt"
	"slices"

	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/plans"
)

// HiddenRules explains why the server was asked about unchanged objects: the user may not
// list the webhooks and policies that could change them. Every plan then needs a request for
// each object.
func HiddenRules(inv *inventory.Inventory, outcomes []*Outcome) []plans.Problem {
	asked := slices.ContainsFunc(outcomes, func(o *Outcome) bool {
		return o.Action.Verb == plans.None && o.Action.Evidence.Kind == plans.DryRun
	})
	if !inv.Rules.Hidden() || !asked || inv.Input.VerifyAll {
		return nil
	}
	return []plans.Problem{{
		Warning: true,
		Summary: "kolla may not list the mutating webhooks and policies of the cluster",
		Detail:  `So it asks the server about every object, which is slow. Give the user a ClusterRole with this rule: apiGroups: ["admissionregistration.k8s.io"], resources: ["mutatingwebhookconfigurations", "mutatingadmissionpolicies", "mutatingadmissionpolicybindings"], verbs: ["list"].`,
	}}
}

// RefuseFewer refuses to remove pods that must first leave in another way, such as
// members of a cluster, which would count as members that are down.
func RefuseFewer(outcomes []*Outcome) {
	for _, o := range outcomes {
		if o.Object.ScaleDown == "" || o.Live == nil || !slices.Contains([]plans.Verb{plans.Update, plans.Adopt, plans.Replace}, o.Action.Verb) {
			continue
		}
		before, known := inventory.Replicas(o.Live)
		after, alsoKnown := inventory.Replicas(o.After)
		if known && alsoKnown && after < before {
			o.Refuse(plans.ProblemOf(o.Object, fmt.Sprintf("%s cannot go from %d pods to %d", o.Action.Ref, before, after), o.Object.ScaleDown))
		}
	}
}
