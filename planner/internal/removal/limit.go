package removal

import (
	"fmt"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers/kinds"
)

// fewDeletes is the number of deletions that never need permission: removing a small part of a
// small cloud is ordinary work.
const fewDeletes = 3

// LimitDeletes refuses a plan that deletes more objects than it may. Without a limit of the
// operator, the limit is half of the objects in the state. More deletions than that are hardly ever
// intended: they come from an empty directory, wrong variables, or an accident with the
// configuration. A destroy has no limit of its own.
//
// Old versions, Jobs, and fields that kolla gives up do not count, because nothing is lost with
// them. Objects that are created again because of a moved block or a renamed service, and objects
// that a removed block names, count only if the operator set a limit. Replacements count, because
// they delete the object.
func LimitDeletes(inv *inventory.Inventory, actions []plans.Action) []plans.Problem {
	in := &inv.Input
	meant := map[addrs.Object]bool{}
	for i := range inv.Records {
		r := &inv.Records[i]
		_, removed := inventory.RemovalOf(in.Removals, r.RecordedAddress())
		if in.MaxDeletes == nil && (r.Moved || r.Renamed || removed) {
			meant[r.RecordedAddress()] = true
		}
	}
	var lost []string
	for i := range actions {
		if a := &actions[i]; a.Destroys() && !meant[a.Address] {
			lost = append(lost, a.Address.String())
		}
	}
	whole := 0
	for _, r := range inv.Records {
		if !r.State.Partial && r.Ref.GVK.GroupKind() != kinds.Job {
			whole++
		}
	}
	switch {
	case in.MaxDeletes != nil && len(lost) > *in.MaxDeletes:
	case in.MaxDeletes == nil && !in.Destroy && len(lost) > fewDeletes && 2*len(lost) > whole:
	default:
		return nil
	}
	slices.Sort(lost)
	limit := fmt.Sprintf("Without -max-deletes, kolla does not delete more than half of the %d objects that the state knows.", whole)
	if in.MaxDeletes != nil {
		limit = fmt.Sprintf("-max-deletes=%d allows fewer.", *in.MaxDeletes)
	}
	return []plans.Problem{{
		Summary: fmt.Sprintf("the plan would delete %d objects of cloud %q", len(lost), in.Cloud),
		Detail: fmt.Sprintf("%s Is this the right directory, with the right variables? If all of these should be deleted, allow it with -max-deletes=%d:\n  %s",
			limit, len(lost), strings.Join(lost, "\n  ")),
	}}
}
