package planner

import (
	"slices"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers/kinds"
)

// checksFirst makes everything that a plan writes wait for the jobs that check an upgrade: if one of them fails,
// the plan ends there. Only what these jobs themselves need comes before them. The namespace does not, because
// it says which release is installed.
func checksFirst(actions []plans.Action) {
	byAddress := map[addrs.Object]*plans.Action{}
	var checks []addrs.Object
	for i := range actions {
		a := &actions[i]
		byAddress[a.Address] = a
		if a.Object != nil && a.Object.Stage == configs.StageChecks && a.Verb != plans.None {
			checks = append(checks, a.Address)
		}
	}
	if len(checks) == 0 {
		return
	}
	first := map[addrs.Object]bool{}
	var need func(addrs.Object)
	need = func(address addrs.Object) {
		a := byAddress[address]
		if a == nil || first[address] {
			return
		}
		first[address] = true
		var needed []addrs.Object
		for _, d := range a.DependsOn {
			if on := byAddress[d]; on == nil || on.Verb == plans.Create || on.Ref.GVK.GroupKind() != kinds.Namespace {
				needed = append(needed, d)
				need(d)
			}
		}
		a.DependsOn = needed
	}
	for _, check := range checks {
		need(check)
	}
	for i := range actions {
		if a := &actions[i]; a.Verb != plans.None && !first[a.Address] {
			a.DependsOn = slices.Concat(a.DependsOn, slices.DeleteFunc(slices.Clone(checks), func(check addrs.Object) bool { return slices.Contains(a.DependsOn, check) }))
		}
	}
}
