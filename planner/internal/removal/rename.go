package removal

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/internal/objects"
	"kolla.openstack.org/kolla/planner/internal/outcome"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers/kinds"
)

// resemblance is the share of equal fields from which two objects look like one renamed
// object. The names and labels of another service explain most of the rest.
const resemblance = 0.6

// telling is how many values make an object distinctive. An object with fewer values has to be
// equal in all of them, and a user has to have written it.
const telling = 5

// ordinary is how many new objects of a kind may share a value before the value says nothing
// about a rename. The limit keeps the search in proportion to the number of objects.
const ordinary = 16

// renameHints warns if a removed object seems to appear again under another name. Either the
// rename was not declared, and generated values would be lost; or there can be no rename,
// because an object keeps its name. If several new objects are equally similar, such as
// clones, there is no warning.
func renameHints(inv *inventory.Inventory, outcomes []*outcome.Outcome, undeclared []candidate) []plans.Problem {
	var fresh newcomers
	var problems []plans.Problem
	var all []likeness
	for _, t := range undeclared {
		if t.live == nil || t.partial || t.nowIn != "" {
			continue
		}
		if fresh == nil {
			fresh = newcomersOf(outcomes)
		}
		for _, l := range fresh.lookalikes(t) {
			l.from, l.to = renaming(inv, t.address, l.is.Object.Address)
			all = append(all, l)
		}
	}
	told := map[string]bool{}
	hints := unambiguous(all)
	for _, l := range hints {
		if slices.ContainsFunc(hints, l.within) {
			continue
		}
		if inventory.Brought(l.was.address) {
			if !told[l.was.address.Block] {
				problems = append(problems, renamedObject(l.was, l.is))
			}
			told[l.was.address.Block] = true
			continue
		}
		problems = append(problems, renamedBlock(inv, l))
	}
	return problems
}

// likeness is how much a removed object and a new one have in common.
type likeness struct {
	was      candidate
	is       *outcome.Outcome
	share    float64
	from, to string // of the move that there might be
}

// within reports whether the likeness is about a part of a larger rename.
func (l likeness) within(whole likeness) bool {
	return !inventory.Brought(l.was.address) && (l.from != whole.from && isOf(l.from, whole.from) || l.to != whole.to && isOf(l.to, whole.to))
}

// unambiguous keeps the pairs that are each other's best match, in the order of the old
// objects. Several objects of one move count as one.
func unambiguous(all []likeness) []likeness {
	type move struct{ from, to string }
	best := map[move]likeness{}
	var moves []move
	for _, l := range all {
		m := move{l.from, l.to}
		known, there := best[m]
		if !there {
			moves = append(moves, m)
		}
		if !there || l.share > known.share {
			best[m] = l
		}
	}
	// The greatest share at each end of a move, and the number of moves with it.
	type end struct{ at, address string }
	ends := func(m move) []end { return []end{{"from", m.from}, {"to", m.to}} }
	greatest, rivals := map[end]float64{}, map[end]int{}
	for _, m := range moves {
		for _, e := range ends(m) {
			switch share := best[m].share; {
			case share > greatest[e]:
				greatest[e], rivals[e] = share, 1
			case share == greatest[e]:
				rivals[e]++
			}
		}
	}
	var out []likeness
	for _, m := range moves {
		alone := func(e end) bool { return best[m].share == greatest[e] && rivals[e] == 1 }
		if !slices.ContainsFunc(ends(m), func(e end) bool { return !alone(e) }) {
			out = append(out, best[m])
		}
	}
	return out
}

// renaming returns the rename that explains two addresses: of the object itself, its block, or
// a module with everything in it.
func renaming(inv *inventory.Inventory, was, is addrs.Object) (from, to string) {
	if inventory.Brought(was) {
		return was.String(), is.String()
	}
	from, to = was.Block, is.Block
	for {
		outer, other := addrs.SplitBlock(from).Module, addrs.SplitBlock(to).Module
		same := strings.TrimPrefix(from, outer) == strings.TrimPrefix(to, other)
		if !same || outer == "" || other == "" || outer == other || inventory.Declares(inv, outer) || knew(inv, other) {
			return from, to
		}
		from, to = outer, other
	}
}

// knew reports whether the state has objects of a block or module.
func knew(inv *inventory.Inventory, name string) bool {
	return slices.ContainsFunc(inv.Records, func(r inventory.Record) bool { return isOf(r.Address.Block, name) })
}

// isOf reports whether a block has the name, or is in the module with the name.
func isOf(block, name string) bool {
	return block == name || slices.Contains(addrs.Modules(addrs.SplitBlock(block).Module), name)
}

// renamedBlock says how to declare that a service, or a module, has another name.
func renamedBlock(inv *inventory.Inventory, l likeness) plans.Problem {
	return plans.Problem{
		Warning: true,
		Address: l.is.Object.Address,
		Source:  l.is.Object.Source,
		Summary: fmt.Sprintf("%s looks as if it was renamed to %s", l.from, l.to),
		Detail: fmt.Sprintf("%s and %s are the same in %d %% of their fields. If it is the same object, declare that: kolla then copies the values that it has generated. Objects get the names of their new block all the same%s.\n\n  moved {\n    from = %s\n    to   = %s\n  }",
			l.was.ref, l.is.Action.Ref, int(l.share*100), volumesStay(inv, l.from), l.from, l.to),
	}
}

// volumesStay says which volumes of a renamed block, or module, stay behind.
func volumesStay(inv *inventory.Inventory, name string) string {
	var names []string
	for i := range inv.Records {
		r := &inv.Records[i]
		if live := inv.Input.Snapshot.Get(r.Ref); live != nil && isOf(r.Address.Block, name) && r.Ref.GVK.GroupKind() == kinds.StatefulSet {
			for _, ref := range inventory.VolumesOf(inv.Input.Snapshot, live) {
				names = append(names, ref.Name)
			}
		}
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf(", and their volumes stay: %s. The new ones start EMPTY", words.Few(names, 4))
}

// renamedObject says that an object in a manifest cannot get another name.
func renamedObject(t candidate, best *outcome.Outcome) plans.Problem {
	detail := fmt.Sprintf("An object cannot be renamed in a cluster: %s would be deleted, and %s made", t.ref, best.Action.Ref)
	if holds := objects.Holds(t.live, t.holds); holds != "" {
		detail += fmt.Sprintf(", without %s", holds)
	}
	return plans.Problem{
		Warning: true,
		Address: best.Object.Address,
		Source:  best.Object.Source,
		Summary: fmt.Sprintf("%s looks as if it was renamed to %s", t.ref, best.Action.Ref.Name),
		Detail:  detail + fmt.Sprintf(". To keep the object, keep metadata.name = %q; the block may have any name.", t.ref.Name),
	}
}

// trait is a value in the objects of one kind, and its path.
type trait struct {
	kind        schema.GroupKind
	path, value string
}

// newcomers has the new objects by their traits.
type newcomers map[trait][]*newcomer

type newcomer struct {
	outcome *outcome.Outcome
	traits  map[trait]bool
}

// newcomersOf leaves out objects with so few values that many others are equal to them.
func newcomersOf(outcomes []*outcome.Outcome) newcomers {
	all := newcomers{}
	for _, s := range outcomes {
		if s.Action.Verb != plans.Create {
			continue
		}
		n := &newcomer{outcome: s, traits: traitsOf(s.Object.Manifest)}
		if len(n.traits) < 2 || len(n.traits) < telling && !inventory.Brought(s.Object.Address) {
			continue
		}
		for t := range n.traits {
			all[t] = append(all[t], n)
		}
	}
	return all
}

// lookalikes finds similar new objects in other blocks of the same type. It looks only at
// objects that share a rare trait.
func (n newcomers) lookalikes(t candidate) []likeness {
	traits := traitsOf(t.live)
	looked := map[*newcomer]bool{}
	var found []likeness
	for each := range traits {
		if len(n[each]) > ordinary {
			continue
		}
		for _, other := range n[each] {
			if looked[other] || !siblings(t.address, other.outcome.Object.Address) {
				continue
			}
			looked[other] = true
			like := other.share(traits)
			if like >= resemblance && (len(other.traits) >= telling || like == 1) {
				found = append(found, likeness{was: t, is: other.outcome, share: like})
			}
		}
	}
	slices.SortFunc(found, func(a, b likeness) int { return a.is.Object.Address.Compare(b.is.Object.Address) })
	return found
}

// share returns which part of the object's traits is among the given ones.
func (n *newcomer) share(traits map[trait]bool) float64 {
	same := 0
	for t := range n.traits {
		if traits[t] {
			same++
		}
	}
	return float64(same) / float64(len(n.traits))
}

// siblings reports whether two addresses are in different blocks of one type, or are different
// objects of one manifest.
func siblings(a, b addrs.Object) bool {
	kind, other := addrs.SplitBlock(a.Block).Type, addrs.SplitBlock(b.Block).Type
	return kind == other && (a.Block != b.Block || inventory.Brought(a))
}

// traitsOf returns all values of an object except its names and labels.
func traitsOf(u *unstructured.Unstructured) map[trait]bool {
	kind := u.GroupVersionKind().GroupKind()
	out := map[trait]bool{}
	var visit func(path string, v any)
	visit = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for key, field := range v {
				visit(path+"/"+key, field)
			}
		case []any:
			for i, item := range v {
				visit(path+"/"+strconv.Itoa(i), item)
			}
		default:
			out[trait{kind, path, fmt.Sprint(v)}] = true
		}
	}
	for key, field := range u.Object {
		if key != "metadata" && key != "status" && key != "apiVersion" {
			visit(key, field)
		}
	}
	return out
}
