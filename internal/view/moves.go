package view

import (
	"fmt"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
)

// relocation is that the objects of one block are those of another block now.
type relocation struct{ from, to string }

// relocationOf is what happens to an object that only moves, and keeps its kind and name;
// ok is false for any other action.
func relocationOf(a *plans.Action) (r relocation, ok bool) {
	if !a.OnlyMoves() {
		return r, false
	}
	from, err := addrs.ParseObject(a.MovedFrom())
	to := a.Address
	if err != nil || from.Kind != to.Kind || from.Name != to.Name || from.Namespace != to.Namespace {
		return r, false
	}
	return relocation{from.Block, to.Block}, true
}

// head is the line for all objects that move together.
func (r relocation) head() line {
	return text("  # ").then(text(r.from+" has moved to "), styled(bold, r.to))
}

// relocated puts the objects of a block that only move into one item, where they are many.
// An item that says more of its object stays.
func (v *planView) relocated(items []item) []item {
	if v.options.Full {
		return items
	}
	count := map[relocation]int{}
	for _, it := range items {
		if it.moves() {
			count[it.relocation]++
		}
	}
	var out []item
	told := map[relocation]bool{}
	for _, it := range items {
		n := count[it.relocation]
		switch {
		case !it.moves() || n <= similar:
			out = append(out, it)
		case !told[it.relocation]:
			told[it.relocation] = true
			out = append(out, item{
				heads: []line{it.relocation.head()}, block: it.block, width: it.width,
				comments: comment(fmt.Sprintf("%d objects keep their names; -full lists them", n), it.width),
			})
		}
	}
	return out
}

// moves reports whether an item says of its object only that it moves.
func (it item) moves() bool {
	return it.relocation != (relocation{}) && len(it.comments) == 0 && len(it.body) == 0
}
