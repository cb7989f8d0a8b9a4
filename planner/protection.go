package planner

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/internal/objects"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// guarded is an object that no plan but a destroy leaves out for what it holds.
type guarded struct {
	target
	data string
}

// refuseLosses names the problems of data that would be lost: one for each block, since
// whoever takes a service away decides about all that it holds.
func (p *planning) refuseLosses() {
	blocks := map[string][]guarded{}
	var order []string
	for _, g := range p.guarded {
		block := g.address.Block
		if blocks[block] == nil {
			order = append(order, block)
		}
		blocks[block] = append(blocks[block], g)
	}
	for _, block := range order {
		slices.SortFunc(blocks[block], func(a, b guarded) int { return a.address.Compare(b.address) })
		p.problems = append(p.problems, p.lossOf(block, blocks[block]))
	}
}

// external reports whether a block is a service that is there already, and not deployed.
func (p *planning) external(block string) bool { return slices.Contains(p.External, block) }

// backAgain is how a service gets back what was deployed of it, before it was external.
const backAgain = "Take external out of the service again"

func (p *planning) lossOf(block string, all []guarded) plans.Problem {
	first := all[0]
	if p.Destroy {
		return p.destroyed(all)
	}
	external := p.external(block)
	if len(all) == 1 {
		what, back := fmt.Sprintf("%s is no longer declared, and holds %s", first.ref, first.data), "Put its declaration back"
		if external {
			what, back = fmt.Sprintf("%s is external now, and %s holds %s", block, first.ref, first.data), backAgain
		}
		return plans.Problem{
			Address: first.address,
			Summary: what,
			Detail: fmt.Sprintf("%s%s; or, to delete it with what it holds, plan with %s; or keep the object and have kolla forget it:\n\n%s",
				p.cutOffFirst(first.ref), back, words.Option("-delete-data", first.address.String()), forgetting(first.address)),
		}
	}
	what, back := fmt.Sprintf("%d objects of %s are no longer declared, and hold data", len(all), block), "Put the declaration back"
	switch {
	case external:
		what, back = fmt.Sprintf("%s is external now, and %d of its objects hold data", block, len(all)), backAgain
	case !slices.ContainsFunc(p.Objects, func(o providers.Object) bool { return o.Address.Block == block }):
		what = fmt.Sprintf("%s is no longer declared, and %d of its objects hold data", block, len(all))
	}
	var list strings.Builder
	for _, g := range all {
		fmt.Fprintf(&list, "  %s: %s\n%s", g.ref, g.data, p.cutOffBelow(g.ref, "    "))
	}
	return plans.Problem{
		Address: first.address,
		Summary: what,
		Detail: fmt.Sprintf("What would be lost:\n\n%s\n%s; or, to delete all of these, plan with %s; or keep them and have kolla forget each, as in:\n\n%s",
			list.String(), back, words.Option("-delete-data", block), forgetting(first.address)),
	}
}

// cutOffBelow says, in lines below what would go, what is cut off with it.
func (p *planning) cutOffBelow(ref providers.Ref, indent string) string {
	c := p.cutOffs[ref]
	if c == nil {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s:\n", indent, c.Title())
	for _, line := range c.Lines() {
		fmt.Fprintf(&b, "%s  %s\n", indent, line)
	}
	return b.String()
}

// cutOffFirst is the same as a paragraph of its own.
func (p *planning) cutOffFirst(ref providers.Ref) string {
	text := p.cutOffBelow(ref, "  ")
	if text == "" {
		return ""
	}
	return "On the nodes:\n\n" + text + "\n"
}

// destroyed is the problem of a destroy that would stop what others need. It is not left
// running as volumes are left there: what it mounts would go.
func (p *planning) destroyed(all []guarded) plans.Problem {
	var list strings.Builder
	for _, g := range all {
		fmt.Fprintf(&list, "  %s: %s\n%s", g.ref, g.data, p.cutOffBelow(g.ref, "    "))
	}
	name, what := all[0].address.String(), all[0].ref.String()
	if len(all) > 1 {
		name, what = all[0].address.Block, all[0].address.Block
	}
	return plans.Problem{
		Address: all[0].address,
		Summary: fmt.Sprintf("%s would be destroyed, and holds what others need", what),
		Detail: fmt.Sprintf("What would stop:\n\n%s\nTo destroy it as well, plan with %s; to leave its service as it is, with %s.",
			list.String(), words.Option("-delete-data", name), words.Option("-exclude", all[0].address.Block)),
	}
}

// prevention says who forbids that something is destroyed.
func prevention(block, source string) string {
	if source == "" {
		return fmt.Sprintf("prevent_destroy in the lifecycle of %s forbids to destroy it", block)
	}
	return fmt.Sprintf("prevent_destroy in the lifecycle of %s (%s) forbids to destroy it", block, source)
}

// prevented names the problem where an object must not be destroyed: as it is
// declared, or, where it is not any more, as it was when it was last applied. Of a whole
// block that is said in the same words of each object, so that it is one message.
func (p *planning) prevented(t target) bool {
	if object := p.inv.Declared[t.address]; object != nil {
		l := object.Lifecycle
		if l == nil || !l.PreventDestroy {
			return false
		}
		what := t.ref.String()
		if p.guardedAlike(t.address.Block, func(a addrs.Object, _ string) bool {
			other := p.inv.Declared[a]
			return other == nil || other.Lifecycle != nil && other.Lifecycle.PreventDestroy && other.Lifecycle.Source == l.Source
		}) {
			what = t.address.Block
		}
		p.problems = append(p.problems, plans.ProblemOf(object, fmt.Sprintf("%s must not be destroyed", what),
			prevention(t.address.Block, l.Source)+". Take that away first, if it is really meant."))
		return true
	}
	if t.guard == "" {
		return false
	}
	what, keep, from := t.ref.String(), "the object", strconv.Quote(t.address.String())
	if p.guardedAlike(t.address.Block, func(a addrs.Object, guard string) bool { return p.inv.Declared[a] == nil && guard == t.guard }) {
		what, keep, from = t.address.Block, "what it has", t.address.Block
	}
	is, back, away := "no longer declared", "Put its declaration back", "take it away"
	if p.external(t.address.Block) {
		is, back, away = "not deployed any more, because its service is external now", backAgain, "make it external"
	}
	p.problems = append(p.problems, plans.Problem{
		Address: t.address,
		Summary: fmt.Sprintf("%s is %s, and must not be destroyed", what, is),
		Detail: fmt.Sprintf("When it was last applied, %s. %s; to let it go, say prevent_destroy = false, apply, and then %s; or keep %s and have kolla forget it:\n\n%s",
			prevention(t.address.Block, t.guard), back, away, keep, forgettingFrom(from)),
	})
	return true
}

// guardedAlike reports whether what holds for an object holds for all of its block, with
// where prevent_destroy was said of each when it was last applied.
func (p *planning) guardedAlike(block string, alike func(address addrs.Object, guard string) bool) bool {
	return !slices.ContainsFunc(p.inv.Records, func(r inventory.Record) bool {
		was := r.RecordedAddress()
		return was.Block == block && !alike(was, r.State.Protected)
	})
}

// forgetting is the block by which kolla leaves an object to its operator.
func forgetting(address addrs.Object) string { return forgettingFrom(strconv.Quote(address.String())) }

func forgettingFrom(from string) string {
	return fmt.Sprintf("  removed {\n    from = %s\n    lifecycle {\n      destroy = false\n    }\n  }", from)
}

// protected says what would be lost with an object; empty: nothing, or the
// operator named it.
func (p *planning) protected(t target) string {
	if t.partial {
		return ""
	}
	if t.namespace() {
		if occupants := p.occupants(t.ref.Name); len(occupants) > 0 && !p.mayEmpty(t) {
			return "what is not deleted with it: " + words.Few(occupants, 4)
		}
		if p.Destroy {
			return ""
		}
	}
	holds := objects.Holds(t.live, t.holds)
	if _, lives := p.carried[t.ref]; lives {
		holds = ""
	}
	if holds == "" || p.inv.DeleteData.Covers(t.address) {
		return ""
	}
	return holds
}

// protect leaves an object in place: a destroy says so, any other plan is not
// made.
func (p *planning) protect(t target, holds string) {
	if p.Destroy && !(plans.Serves(t.ref) && t.holds != "") {
		kept := plans.Kept{Address: t.address, Ref: t.ref, Holds: holds, Alone: t.namespace() && p.inv.DeleteData.All()}
		if t.uid == "" && t.ref.GVK.GroupKind() == kinds.PersistentVolumeClaim { // the state does not have it yet
			kept.UID = t.live.GetUID()
		}
		p.kept = append(p.kept, kept)
		return
	}
	if !t.namespace() {
		p.guarded = append(p.guarded, guarded{t, holds})
		return
	}
	problem := p.lossOf(t.address.Block, []guarded{{t, holds}})
	if len(p.occupants(t.ref.Name)) > 0 {
		problem.Detail = p.occupiedRemedy(t)
	}
	p.problems = append(p.problems, problem)
}

// checkDeleteData warns of names that matched nothing: probably slips.
func (p *planning) checkDeleteData() {
	for _, name := range p.inv.DeleteData.Unused() {
		p.problems = append(p.problems, plans.Problem{
			Warning: true,
			Summary: fmt.Sprintf("-delete-data=%s has no effect", name),
			Detail:  strings.TrimSpace(words.DidYouMean(name, p.holders()) + " No object of that address holds data and would be deleted or replaced by this plan."),
		})
	}
}

// holders are the addresses of what this plan keeps, or loses, with data in it.
func (p *planning) holders() []string {
	var known []string
	for _, k := range p.kept {
		known = append(known, k.Address.String())
	}
	for _, a := range p.actions {
		if a.Holds != "" {
			known = append(known, a.Address.String())
		}
	}
	for _, problem := range p.problems {
		if problem.Address != (addrs.Object{}) {
			known = append(known, problem.Address.String())
		}
	}
	slices.Sort(known)
	return slices.Compact(known)
}

// occupants lists what is in a namespace and is not deleted by this plan.
func (p *planning) occupants(namespace string) []string {
	if inventory.SystemNamespace(namespace) {
		return []string{"what Kubernetes itself needs"}
	}
	contents := p.inv.Inside[namespace]
	var names []string
	for _, o := range contents.Occupants(plans.Going(p.actions)) {
		names = append(names, o.Ref.String())
	}
	for _, r := range p.inv.Records {
		if r.Ref.Namespace == namespace && p.inv.Unread(r.Ref) != nil {
			names = append(names, r.Ref.String())
		}
	}
	return append(names, plans.Unlisted(contents, p.actions)...)
}
