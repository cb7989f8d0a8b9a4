package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
)

// moved is where an address of the state is to be found now, as moved blocks say, and
// where it is by a count that came or went.
func (p *planning) moved(address addrs.Object) addrs.Object {
	address = p.movedByBlocks(address)
	address.Block = p.recounted(address.Block)
	return address
}

func (p *planning) movedByBlocks(address addrs.Object) addrs.Object {
	for range p.Moves {
		i := slices.IndexFunc(p.Moves, func(m addrs.Move) bool {
			_, applies := m.Apply(address)
			return applies
		})
		if i < 0 {
			break
		}
		address, _ = p.Moves[i].Apply(address)
	}
	return address
}

// moveRecords gives the records the addresses that moved blocks give them, unless
// something else has come to have one already. Such a record stays where it is, where
// it is no longer declared, which is worth a warning; an apply that was killed half
// way leaves two records of the same object, which is not.
func (p *planning) moveRecords() {
	taken := map[addrs.Object]*record{}
	for i := range p.records {
		taken[p.records[i].address] = &p.records[i]
	}
	for i := range p.records {
		r := &p.records[i]
		to := p.moved(r.address)
		if to == r.address {
			continue
		}
		if other := taken[to]; other != nil {
			if !p.Destroy && identify(other.ref) != identify(r.ref) {
				p.problems = append(p.problems, blockedMove(r, to, other))
			}
			continue
		}
		delete(taken, r.address)
		taken[to] = r
		if r.family != (addrs.Object{}) {
			r.family = p.moved(r.family)
		}
		r.recounted = p.movedByBlocks(r.address) == r.address
		r.address = to
		r.moved = true
	}
}

// blockedMove warns that a moved block does nothing for a record.
func blockedMove(r *record, to addrs.Object, other *record) plans.Problem {
	return plans.Problem{
		Warning: true,
		Address: r.address,
		Summary: fmt.Sprintf("%s cannot move to %s, which is taken", r.address, to),
		Detail:  fmt.Sprintf("The state has %s there, applied as %s. So %s stays where it was, and is deleted where nothing declares it.", other.ref, other.Address, r.ref),
	}
}

// checkMoves refuses blocks about what the configuration or the cluster is not like.
func (p *planning) checkMoves() []plans.Problem {
	var problems []plans.Problem
	for _, m := range p.Moves {
		if p.desired[m.From.Object] != nil && !m.From.Whole() {
			problems = append(problems, p.blockProblem(m.Range, m.From.Object,
				fmt.Sprintf("%s is moved, and still declared", m.From), "Take the declaration away, or the moved block."))
		}
		if !m.To.Whole() && p.desired[m.To.Object] == nil {
			problems = append(problems, p.undeclared(m.Range, m.To.Object))
		}
	}
	for _, r := range p.Removals {
		if !r.From.Whole() && p.desired[r.From.Object] != nil {
			problems = append(problems, p.blockProblem(r.Range, r.From.Object,
				fmt.Sprintf("%s is removed, and still declared", r.From), "Take the declaration away, or the removed block."))
		}
	}
	return append(problems, p.checkImports()...)
}

// checkImports refuses imports that name no declared object, or not its name.
func (p *planning) checkImports() []plans.Problem {
	var problems []plans.Problem
	for _, i := range p.Imports {
		object := p.desired[i.To]
		if object == nil {
			problems = append(problems, p.undeclared(i.Range, i.To))
			continue
		}
		ref := object.Ref()
		id := ref.Name
		if ref.Namespace != "" {
			id = ref.Namespace + "/" + ref.Name
		}
		if i.ID != id {
			problems = append(problems, p.blockProblem(i.Range, i.To, fmt.Sprintf("%s is another object than %q", i.To, i.ID),
				fmt.Sprintf("It is declared as %s, so that its id is %q. An import cannot give an object in the cluster another name.", ref, id)))
		}
	}
	return problems
}

// checkImported refuses selected imports of what is not there. A refresh-only plan
// imports nothing.
func (p *planning) checkImported() {
	if p.RefreshOnly {
		return
	}
	for _, i := range p.Imports {
		if object := p.desired[i.To]; object != nil && p.includes(i.To) && p.Snapshot.Get(object.Ref()) == nil && p.whyUnread(object.Ref()) == nil {
			p.problems = append(p.problems, p.blockProblem(i.Range, i.To, fmt.Sprintf("%s does not exist", object.Ref()),
				"There is nothing to take over. Without the import block, it is created."))
		}
	}
}

// imported reports whether an import block names the object.
func (p *planning) imported(address addrs.Object) bool {
	return slices.ContainsFunc(p.Imports, func(i addrs.Import) bool { return i.To == address })
}

// released reports whether a removed block says to leave what had the address in
// the cluster. Of several that are about it the most special one counts.
func (p *planning) released(address addrs.Object) (by addrs.Removal, ok bool) {
	for _, r := range p.Removals {
		if r.From.Has(address) && len(r.From.String()) > len(by.From.String()) {
			by = r
		}
	}
	return by, by.From.Block != "" && !by.Destroy
}

func (p *planning) undeclared(at hcl.Range, address addrs.Object) plans.Problem {
	return p.undeclaredAs(place(at), address)
}

func (p *planning) undeclaredAs(source string, address addrs.Object) plans.Problem {
	var known []string
	for other := range p.desired {
		known = append(known, other.String())
	}
	slices.Sort(known)
	return plans.Problem{
		Address: address, Source: source, Summary: fmt.Sprintf("%s is not declared", address),
		Detail: strings.TrimSpace(words.DidYouMean(address.String(), known) + " `kolla render` shows what is declared, with its addresses."),
	}
}

// blockProblem is a problem with one of the blocks about addresses.
func (p *planning) blockProblem(at hcl.Range, address addrs.Object, summary, detail string) plans.Problem {
	return plans.Problem{Address: address, Source: place(at), Summary: summary, Detail: detail}
}

func place(r hcl.Range) string { return fmt.Sprintf("%s:%d", r.Filename, r.Start.Line) }

// renamed is the block that an object is of now, of one that goes under its old name and
// is made again under another: because it moved there, or because its service has
// another name. Empty: neither is so.
func (r *record) renamed() string {
	switch was := r.recordedAddress(); {
	case !r.moved && !r.anew:
		return ""
	case r.moved && (was.Name != r.address.Name || was.Kind != r.address.Kind):
		return fmt.Sprintf("moved to %s, which is another object: that one is made, this one goes", r.address)
	}
	return r.address.Block
}
