package planner

import (
	"fmt"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers/kinds"
)

// fewDeletes is how many deletions need no permission in any case: to take a small
// thing out of a small cloud is ordinary work.
const fewDeletes = 3

// guard stops a plan that deletes more than it may. Without a limit of the
// operator's own, that is more than half of what the state knows: what happens in
// an empty directory, with the wrong variables, or after an accident with the
// configuration, and hardly ever on purpose. A destroy says what it is for.
//
// Old versions, jobs, and fields that are given up do not count: nothing is lost
// with them. Nor does, without a limit of the operator's own, what a moved block, or
// another name of its service, has made again elsewhere. A replacement counts, since the
// object is deleted for it, and so does what only a count has made again elsewhere.
func (p *planning) guard() {
	meant, recounted := map[addrs.Object]bool{}, map[addrs.Object]bool{}
	for i := range p.inv.Records {
		if r := &p.inv.Records[i]; p.MaxDeletes == nil && (r.Moved || r.Renamed) && !r.Recounted {
			meant[r.RecordedAddress()] = true
		}
		if r := &p.inv.Records[i]; r.Recounted {
			recounted[r.RecordedAddress()] = true
		}
	}
	var lost []string
	remedy := ""
	for i := range p.actions {
		if a := &p.actions[i]; a.Destroys() && !meant[a.Address] {
			lost = append(lost, a.Address.String())
			if recounted[a.Address] {
				remedy = " Some are made again under another name, by a count that came or went: the argument name of their block keeps the one that they have."
			}
		}
	}
	whole := 0
	for _, r := range p.inv.Records {
		if !r.State.Partial && r.Ref.GVK.GroupKind() != kinds.Job {
			whole++
		}
	}
	switch {
	case p.MaxDeletes != nil && len(lost) > *p.MaxDeletes:
	case p.MaxDeletes == nil && !p.Destroy && len(lost) > fewDeletes && 2*len(lost) > whole:
	default:
		return
	}
	slices.Sort(lost)
	limit := fmt.Sprintf("Without -max-deletes, that is not done when it is more than half of the %d that the state knows.", whole)
	if p.MaxDeletes != nil {
		limit = fmt.Sprintf("-max-deletes=%d allows fewer.", *p.MaxDeletes)
	}
	p.problems = append(p.problems, plans.Problem{
		Summary: fmt.Sprintf("the plan would delete %d objects of cloud %q", len(lost), p.Cloud),
		Detail: fmt.Sprintf("%s Is this the right directory, with the right variables?%s If all of these are to go, allow it with -max-deletes=%d:\n  %s",
			limit, remedy, len(lost), strings.Join(lost, "\n  ")),
	})
}
