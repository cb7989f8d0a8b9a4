package view

import (
	"fmt"

	"kolla.openstack.org/kolla/internal/report"
	"kolla.openstack.org/kolla/internal/view/screen"
)

// relocationHead is the line for all objects that move together.
func relocationHead(r report.Relocation) screen.Line {
	return screen.Text("  # ").Then(screen.Text(r.From+" has moved to "), screen.Styled(screen.Bold, r.To))
}

// relocated puts the objects of a block that only move into one item, where they are many.
// An item that says more of its object stays.
func (v *planView) relocated(items []item) []item {
	if v.options.Full {
		return items
	}
	count := map[report.Relocation]int{}
	for _, it := range items {
		if it.moves() {
			count[it.relocation]++
		}
	}
	var out []item
	told := map[report.Relocation]bool{}
	for _, it := range items {
		n := count[it.relocation]
		switch {
		case !it.moves() || n <= similar:
			out = append(out, it)
		case !told[it.relocation]:
			told[it.relocation] = true
			out = append(out, item{
				heads: []screen.Line{relocationHead(it.relocation)}, block: it.block, width: it.width,
				comments: comment(fmt.Sprintf("%d objects keep their names; -full lists them", n), it.width),
			})
		}
	}
	return out
}

// moves reports whether an item says of its object only that it moves.
func (it item) moves() bool {
	return it.relocation != (report.Relocation{}) && len(it.comments) == 0 && len(it.body) == 0
}
