package removal

import (
	"fmt"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// Refusals returns the problems that prevent a plan: it would lose data, or deletes more objects
// than it may. It also warns of names in -delete-data without an effect. problems are the problems
// of the plan so far.
func (r *Result) Refusals(inv *inventory.Inventory, problems []plans.Problem) []plans.Problem {
	refused := refuseLosses(inv, r.AtRisk)
	unused := r.unusedPermissions(inv, slices.Concat(problems, refused))
	return slices.Concat(refused, unused, LimitDeletes(inv, r.Actions))
}

// refuseLosses refuses the deletion of objects with data. It returns one problem for each block,
// because operators usually remove a whole service.
func refuseLosses(inv *inventory.Inventory, all []AtRisk) []plans.Problem {
	if inv.Input.Destroy && len(all) > 0 {
		return []plans.Problem{stopped(all)}
	}
	blocks := map[string][]AtRisk{}
	var order []string
	for _, g := range all {
		block := g.Address.Block
		if blocks[block] == nil {
			order = append(order, block)
		}
		blocks[block] = append(blocks[block], g)
	}
	var problems []plans.Problem
	for _, block := range order {
		slices.SortFunc(blocks[block], func(a, b AtRisk) int { return a.Address.Compare(b.Address) })
		problems = append(problems, refusalOf(inv, block, blocks[block]))
	}
	return problems
}

// renamed advises an operator who has renamed the block.
const renamed = " If you renamed the block, declare its new name in a moved block."

// refusalOf returns the problem of the objects with data of one block.
func refusalOf(inv *inventory.Inventory, block string, all []AtRisk) plans.Problem {
	first := all[0]
	isExternal := external(inv, block)
	if len(all) == 1 {
		what, back := fmt.Sprintf("%s is no longer declared, and holds %s", first.Ref, first.Data), "To keep it, put its declaration back."+renamed
		if isExternal {
			what, back = fmt.Sprintf("%s is external now, and %s holds %s", block, first.Ref, first.Data), "To keep it, take external out of the service again."
		}
		return plans.Problem{
			Address: first.Address,
			Summary: what,
			Detail:  fmt.Sprintf("%s To delete it with its data, plan with %s. A removed block can say the same: %s.%s", back, words.Option("-delete-data", first.Address.String()), permission(all), leftWith(removedBlock(first.Address), "it")),
		}
	}
	what, back := fmt.Sprintf("%d objects of %s are no longer declared, and hold data", len(all), block), "To keep them, put their declarations back."+renamed
	switch {
	case isExternal:
		what, back = fmt.Sprintf("%s is external now, and %d of its objects hold data", block, len(all)), "To keep them, take external out of the service again."
	case !slices.ContainsFunc(inv.Input.Objects, func(o providers.Object) bool { return o.Address.Block == block }):
		what = fmt.Sprintf("%s is no longer declared, and %d of its objects hold data", block, len(all))
	}
	return plans.Problem{
		Address: first.Address,
		Summary: what,
		Detail: fmt.Sprintf("What would be lost:\n\n%s\n%s To delete all of them, plan with %s. A removed block can say the same: %s. To leave them in the cluster without kolla, declare for each:\n\n%s",
			listOf(all), back, words.Option("-delete-data", block), permission(all), removedBlock(first.Address)),
	}
}

// permission returns the argument of a removed block that permits to delete objects with data.
func permission(all []AtRisk) string {
	data := addrs.AllData
	if !slices.ContainsFunc(all, func(g AtRisk) bool { return g.Ref.GVK.GroupKind() != kinds.Secret }) {
		data = addrs.GeneratedData
	}
	return fmt.Sprintf("delete_data = %q", data)
}

// listOf lists objects with their data.
func listOf(all []AtRisk) string {
	var list strings.Builder
	for _, g := range all {
		fmt.Fprintf(&list, "  %s: %s\n", g.Ref, g.Data)
	}
	return list.String()
}

// stopped returns the problem of a destroy that would stop workloads which others need. They
// cannot stay as volumes can, because the objects that they mount would be deleted.
func stopped(all []AtRisk) plans.Problem {
	summary, named := fmt.Sprintf("%s would be destroyed, and holds what others need", all[0].Ref), []string{words.Option("-delete-data", all[0].Address.String())}
	if len(all) > 1 {
		summary, named = fmt.Sprintf("%d workloads would be destroyed that hold what others need", len(all)), nil
	}
	var excluded []string
	for _, g := range all {
		option := words.Option("-exclude", g.Address.Block)
		if slices.Contains(excluded, option) {
			continue
		}
		excluded = append(excluded, option)
		if len(all) > 1 {
			named = append(named, words.Option("-delete-data", g.Address.Block))
		}
	}
	return plans.Problem{
		Address: all[0].Address,
		Summary: summary,
		Detail: fmt.Sprintf("What would stop:\n\n%s\nTo destroy everything and keep all data, add -keep-data. To destroy these as well, name them: %s. To leave their services as they are, add %s.",
			listOf(all), strings.Join(named, " "), strings.Join(excluded, " ")),
	}
}

// unusedPermissions warns of names in -delete-data without an effect. They are probably
// typing errors; the plan and its other problems have the names to suggest.
func (r *Result) unusedPermissions(inv *inventory.Inventory, problems []plans.Problem) []plans.Problem {
	var known []string
	for _, k := range r.Kept {
		known = append(known, k.Address.String())
	}
	for _, a := range r.Actions {
		if a.Holds != "" {
			known = append(known, a.Address.String())
		}
	}
	for _, problem := range problems {
		if problem.Address != (addrs.Object{}) {
			known = append(known, problem.Address.String())
		}
	}
	slices.Sort(known)
	known = slices.Compact(known)
	var warnings []plans.Problem
	for _, name := range inv.DeleteData.Unused() {
		warnings = append(warnings, plans.Problem{
			Warning: true,
			Summary: fmt.Sprintf("-delete-data=%s has no effect", name),
			Detail:  strings.TrimSpace(words.DidYouMean(name, known) + " No object of that address holds data and would be deleted or replaced by this plan."),
		})
	}
	return warnings
}
