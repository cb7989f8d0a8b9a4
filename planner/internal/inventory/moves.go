package inventory

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
)

// Moved returns the present address of an address in the state, by moved blocks.
func (inv *Inventory) Moved(address addrs.Object) addrs.Object {
	return addrs.ApplyMoves(inv.Input.Moves, address)
}

// moveRecords gives the records their addresses after all moves, and removes the namespace from the
// address of a cluster-scoped object. A record whose new address is taken keeps its old address.
// This causes a warning, unless an interrupted apply has left two records of the same object.
func moveRecords(inv *Inventory) (warnings []plans.Problem) {
	taken := map[addrs.Object]*Record{}
	for i := range inv.Records {
		taken[inv.Records[i].Address] = &inv.Records[i]
	}
	for i := range inv.Records {
		r := &inv.Records[i]
		to := inv.Moved(r.Address)
		if r.Ref.Namespace == "" && to.Namespace != "" { // see Scoped
			to.Namespace = ""
			to = inv.Moved(to)
		}
		if to == r.Address {
			continue
		}
		if other := taken[to]; other != nil {
			if !inv.Input.Destroy && Identify(other.Ref) != Identify(r.Ref) {
				warnings = append(warnings, blockedMove(r, to, other))
			}
			continue
		}
		delete(taken, r.Address)
		taken[to] = r
		if r.Family != (addrs.Object{}) {
			r.Family = inv.Moved(r.Family)
		}
		r.Address = to
		r.Moved = true
	}
	return warnings
}

// blockedMove warns of a moved block without an effect on a record.
func blockedMove(r *Record, to addrs.Object, other *Record) plans.Problem {
	return plans.Problem{
		Warning: true,
		Address: r.Address,
		Summary: fmt.Sprintf("%s cannot move to %s, which is taken", r.Address, to),
		Detail:  fmt.Sprintf("The state has %s there, applied as %s. So %s keeps its old address, and is deleted if nothing declares that address.", other.Ref, other.State.Address, r.Ref),
	}
}

// checkMoves refuses moved and removed blocks that contradict the declarations, and imports
// of other objects than the declared ones.
func checkMoves(inv *Inventory) []plans.Problem {
	var problems []plans.Problem
	for _, m := range inv.Input.Moves {
		if inv.Declared[m.From.Object] != nil && !m.From.Whole() {
			problems = append(problems, blockProblem(m.Range, m.From.Object,
				fmt.Sprintf("%s is moved, and still declared", m.From), "Remove either the declaration or the moved block."))
		}
		if !m.To.Whole() && inv.Declared[m.To.Object] == nil {
			problems = append(problems, undeclared(inv, Place(m.Range), m.To.Object))
		}
	}
	for _, r := range inv.Input.Removals {
		if !r.From.Whole() && inv.Declared[r.From.Object] != nil {
			problems = append(problems, blockProblem(r.Range, r.From.Object,
				fmt.Sprintf("%s is removed, and still declared", r.From), "Remove either the declaration or the removed block."))
		}
	}
	return append(problems, checkImports(inv)...)
}

// checkImports refuses imports of undeclared objects, and imports with another name than the
// declared one.
func checkImports(inv *Inventory) []plans.Problem {
	var problems []plans.Problem
	for _, i := range inv.Input.Imports {
		object := inv.Declared[i.To]
		if object == nil {
			problems = append(problems, undeclared(inv, Place(i.Range), i.To))
			continue
		}
		ref := object.Ref()
		id := ref.Name
		if ref.Namespace != "" {
			id = ref.Namespace + "/" + ref.Name
		}
		if i.ID != id {
			problems = append(problems, blockProblem(i.Range, i.To, fmt.Sprintf("%s is another object than %q", i.To, i.ID),
				fmt.Sprintf("It is declared as %s, so that its id is %q. An import cannot give an object in the cluster another name.", ref, id)))
		}
	}
	return problems
}

// CheckImported refuses selected imports of objects that do not exist. A refresh-only plan
// imports nothing.
func CheckImported(inv *Inventory, selected func(addrs.Object) bool) []plans.Problem {
	if inv.Input.RefreshOnly {
		return nil
	}
	var problems []plans.Problem
	for _, i := range inv.Input.Imports {
		if object := inv.Declared[i.To]; object != nil && selected(i.To) && inv.Input.Snapshot.Get(object.Ref()) == nil && inv.Unread(object.Ref()) == nil {
			problems = append(problems, blockProblem(i.Range, i.To, fmt.Sprintf("%s does not exist", object.Ref()),
				"There is nothing to take over. Without the import block, it is created."))
		}
	}
	return problems
}

// Imported reports whether an import block names the object.
func Imported(imports []addrs.Import, address addrs.Object) bool {
	return slices.ContainsFunc(imports, func(i addrs.Import) bool { return i.To == address })
}

// Released returns the removed block that leaves the object with the address in the cluster.
func Released(removals []addrs.Removal, address addrs.Object) (by addrs.Removal, ok bool) {
	by, ok = RemovalOf(removals, address)
	return by, ok && !by.Destroy
}

// RemovalOf returns the removed block about the object with the address. If several name the
// object, the one with the longest address decides.
func RemovalOf(removals []addrs.Removal, address addrs.Object) (by addrs.Removal, ok bool) {
	for _, r := range removals {
		if r.From.Has(address) && len(r.From.String()) > len(by.From.String()) {
			by = r
		}
	}
	return by, by.From.Block != ""
}

// blockProblem returns a problem of a moved, removed or import block.
func blockProblem(at hcl.Range, address addrs.Object, summary, detail string) plans.Problem {
	return plans.Problem{Address: address, Source: Place(at), Summary: summary, Detail: detail}
}

// Place returns file and line of a block.
func Place(r hcl.Range) string { return fmt.Sprintf("%s:%d", r.Filename, r.Start.Line) }
