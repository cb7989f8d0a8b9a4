package placement

import (
	"cmp"
	"fmt"
	"strings"

	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/internal/outcome"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/podsecurity"
)

// RefusedPods warns of pods that a namespace will refuse after this plan has created it or
// changed its Pod Security level.
func RefusedPods(inv *inventory.Inventory, outcomes []*outcome.Outcome) []plans.Problem {
	changed := map[string]*providers.Object{}
	for _, o := range outcomes {
		if o.Action.Ref.GVK == inventory.Namespaces && podsecurity.Changes(o.Object.Manifest, o.Live) {
			changed[o.Action.Ref.Name] = o.Object
		}
	}
	if len(changed) == 0 {
		return nil
	}
	var warnings []plans.Problem
	for _, o := range outcomes {
		namespace := changed[o.Action.Ref.Namespace]
		if namespace == nil || o.Withheld || o.Finished() && o.Action.Verb == plans.None {
			continue
		}
		level := podsecurity.LevelOf(namespace.Manifest, inv.Input.Cluster.Version)
		if why := podsecurity.Refusal(cmp.Or(o.After, o.Object.Manifest), level); why != "" {
			warnings = append(warnings, refusedPods(o, namespace, why))
		}
	}
	return warnings
}

// refusedPods says which pods are refused, where the level comes from, and how to go on.
func refusedPods(o *outcome.Outcome, namespace *providers.Object, why string) plans.Problem {
	advice := fmt.Sprintf("correct the securityContext of the pods, or set another level in the label %s of %s", podsecurity.Label, namespace.Address)
	if strings.HasPrefix(namespace.Address.Block, "cloud.") {
		advice = "correct the securityContext of the pods, or set another pod_security in the cloud block"
	}
	if namespace.Source != "" {
		advice += fmt.Sprintf(" (%s)", namespace.Source)
	}
	problem := plans.ProblemOf(o.Object,
		fmt.Sprintf("the pods of %s will be refused: the namespace enforces %q", o.Action.Ref, namespace.Manifest.GetLabels()[podsecurity.Label]),
		fmt.Sprintf("%s.\nThey would never start. To go on, %s.", why, advice))
	problem.Warning = true
	return problem
}
