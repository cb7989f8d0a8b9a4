package planner

import (
	"fmt"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// reach is the graph in which a selection is closed. Objects that stay need what
// is declared as their dependencies; objects that go need that what was recorded
// to depend on them goes, or is changed, before them.
type reach struct {
	goes       map[addrs.Object]bool           // what is to be deleted; everything else stays
	needs      map[addrs.Object][]addrs.Object // declared: dependencies
	dependants map[addrs.Object][]addrs.Object // recorded: who depends on it
}

// targeted closes a selection: what stays takes its dependencies with it, what
// goes its dependants.
func (r reach) targeted(start []addrs.Object) map[addrs.Object]bool {
	return closure(start, func(a addrs.Object) []addrs.Object {
		if r.goes[a] {
			return r.dependants[a]
		}
		return r.needs[a]
	})
}

// excluded closes what is left out: with an object, all that stays and needs it,
// and all that goes although the object still uses it. What needs the object and goes
// may go without it.
func (r reach) excluded(start []addrs.Object) map[addrs.Object]bool {
	needed, uses := inverse(r.needs), inverse(r.dependants)
	return closure(start, func(a addrs.Object) []addrs.Object {
		out := slices.DeleteFunc(slices.Clone(needed[a]), func(n addrs.Object) bool { return r.goes[n] })
		for _, used := range uses[a] {
			if r.goes[used] {
				out = append(out, used)
			}
		}
		return out
	})
}

// closure is everything that can be reached, start included.
func closure(start []addrs.Object, next func(addrs.Object) []addrs.Object) map[addrs.Object]bool {
	reached := map[addrs.Object]bool{}
	for queue := slices.Clone(start); len(queue) > 0; queue = queue[1:] {
		if !reached[queue[0]] {
			reached[queue[0]] = true
			queue = append(queue, next(queue[0])...)
		}
	}
	return reached
}

func inverse(edges map[addrs.Object][]addrs.Object) map[addrs.Object][]addrs.Object {
	out := map[addrs.Object][]addrs.Object{}
	for from, list := range edges {
		for _, to := range list {
			out[to] = append(out[to], from)
		}
	}
	return out
}

// candidate is an object that a plan could act on.
type candidate struct {
	address addrs.Object
	family  addrs.Object // zero: not versioned
}

// named reports whether an operator's address is that of the object, of its family, of
// its block, or of a module that it is in.
func (c candidate) named(t addrs.Target) bool {
	return t.Has(c.address) || c.family != (addrs.Object{}) && t.Object == c.family
}

// names are all texts that would name the candidate.
func (c candidate) names() []string {
	parts := addrs.SplitBlock(c.address.Block)
	names := []string{parts.All(), c.address.Block, c.address.String()}
	if c.family != (addrs.Object{}) {
		names = append(names, c.family.String())
	}
	return append(names, addrs.Modules(parts.Module)...)
}

// targetsOf reads the addresses of options. What is none names nothing.
func targetsOf(names []string) []addrs.Target {
	targets := make([]addrs.Target, len(names))
	for i, name := range names {
		target, err := addrs.ParseTarget(name)
		if err != nil {
			target = addrs.Target{Block: name}
		}
		targets[i] = target
	}
	return targets
}

// choose finds out what is selected, and refuses addresses that name nothing.
func (p *planning) choose() []plans.Problem {
	candidates := p.candidates()
	problems := slices.Concat(
		unknownNames("-target", p.Selection.Targets, candidates),
		unknownNames("-exclude", p.Selection.Excludes, candidates),
		p.checkReplace(candidates),
	)
	if len(problems) > 0 || !p.Selection.Restricts() {
		return problems
	}
	graph := p.reach(candidates)
	p.chosen = map[addrs.Object]bool{}
	for _, c := range candidates {
		p.chosen[c.address] = true
	}
	if len(p.Selection.Targets) > 0 {
		p.chosen = graph.targeted(matching(candidates, p.Selection.Targets))
	}
	for address := range graph.excluded(append(matching(candidates, p.Selection.Excludes), p.undecided(candidates)...)) {
		delete(p.chosen, address)
	}
	p.warnExcludedTargets(candidates)
	return p.checkReplaceChosen(candidates)
}

// warnExcludedTargets names the targets of which nothing is left.
func (p *planning) warnExcludedTargets(candidates []candidate) {
	for _, name := range p.Selection.Targets {
		matches := matching(candidates, []string{name})
		switch {
		case slices.ContainsFunc(matches, p.includes):
		case len(p.undecided(candidates)) > 0:
			p.problems = append(p.problems, plans.Problem{
				Warning: true,
				Summary: fmt.Sprintf("-target=%s has no effect yet", name),
				Detail:  "What it is depends on what is known only after the apply. Apply first what that depends on.",
			})
		default:
			p.problems = append(p.problems, plans.Problem{
				Warning: true,
				Summary: fmt.Sprintf("-target=%s has no effect: it is excluded", name),
				Detail:  fmt.Sprintf("%s leaves it out, because it is named there or depends on what is.", plans.Selection{Excludes: p.Selection.Excludes}),
			})
		}
	}
}

// checkReplaceChosen refuses a replacement of what is not selected.
func (p *planning) checkReplaceChosen(candidates []candidate) []plans.Problem {
	var problems []plans.Problem
	for _, name := range p.Replace {
		if !slices.ContainsFunc(matching(candidates, []string{name}), p.includes) {
			problems = append(problems, plans.Problem{
				Summary: fmt.Sprintf("-replace=%s is not selected", name),
				Detail:  fmt.Sprintf("The plan is restricted (%s) and leaves it out.", p.Selection),
			})
		}
	}
	return problems
}

func matching(candidates []candidate, names []string) []addrs.Object {
	var out []addrs.Object
	targets := targetsOf(names)
	for _, c := range candidates {
		if slices.ContainsFunc(targets, c.named) {
			out = append(out, c.address)
		}
	}
	return out
}

// candidates are the desired objects, those of the state, and, for a destroy,
// those that only their labels know.
func (p *planning) candidates() []candidate {
	var out []candidate
	for i := range p.Objects {
		out = append(out, candidate{p.Objects[i].Address, p.Objects[i].Family})
	}
	for _, r := range p.records {
		if p.desired[r.address] == nil {
			out = append(out, candidate{r.address, r.family})
		}
	}
	if p.Destroy {
		for _, t := range p.unrecorded() {
			out = append(out, candidate{address: t.address})
		}
	}
	return out
}

// reach is the graph of this plan. What is in a namespace that goes counts as
// depending on it.
func (p *planning) reach(candidates []candidate) reach {
	r := reach{goes: map[addrs.Object]bool{}, needs: map[addrs.Object][]addrs.Object{}, dependants: p.dependants()}
	for _, c := range candidates {
		r.goes[c.address] = p.Destroy || p.desired[c.address] == nil
	}
	for address, object := range p.desired {
		r.needs[address] = dependencies(object)
	}
	for i := range p.records {
		namespace := &p.records[i]
		if namespace.ref.GVK.GroupKind() != kinds.Namespace {
			continue
		}
		for _, inside := range p.records {
			if inside.ref.Namespace == namespace.ref.Name {
				r.dependants[namespace.address] = append(r.dependants[namespace.address], inside.address)
			}
		}
	}
	return r
}

// unknownNames refuses addresses that name no candidate.
func unknownNames(option string, given []string, candidates []candidate) []plans.Problem {
	var problems []plans.Problem
	for _, name := range given {
		target, err := addrs.ParseTarget(name)
		if err == nil && slices.ContainsFunc(candidates, func(c candidate) bool { return c.named(target) }) {
			continue
		}
		var known []string
		for _, c := range candidates {
			known = append(known, c.names()...)
		}
		slices.Sort(known)
		problems = append(problems, plans.Problem{
			Summary: fmt.Sprintf("%s=%s names no objects", option, name),
			Detail:  strings.TrimSpace(meantBy(name, slices.Compact(known)) + " " + whyNone(name, err)),
		})
	}
	return problems
}

// meantBy suggests an address: of the block of that name, or one that is spelt similarly.
func meantBy(name string, known []string) string {
	for _, address := range known {
		if strings.HasSuffix(address, "."+name) && !strings.Contains(address, "/") {
			return fmt.Sprintf("Did you mean %q?", address)
		}
	}
	return words.DidYouMean(name, known)
}

// whyNone says why an address names no objects. err is why it cannot be read.
func whyNone(name string, err error) string {
	if err != nil {
		return err.Error() + "."
	}
	if block, _, _ := strings.Cut(name, "."); slices.Contains([]string{"check", "data", "definition", "exposure", "local", "output", "role", "var", "variable"}, block) {
		return fmt.Sprintf("A %s has no objects of its own: name the cloud, a service, a manifest, a secret or a module.", block)
	}
	return "It takes the address of an object, such as service.keystone/Deployment/keystone-api, of a block, such as service.keystone, or of a module."
}

// includes reports whether the object is selected.
func (p *planning) includes(address addrs.Object) bool { return p.chosen == nil || p.chosen[address] }

// includesBlock reports whether every desired object of the block is selected.
func (p *planning) includesBlock(block string) bool {
	return !slices.ContainsFunc(p.Objects, func(o providers.Object) bool {
		return o.Address.Block == block && !p.includes(o.Address)
	})
}

// chosenObjects are the desired objects that are selected.
func (p *planning) chosenObjects() []*providers.Object {
	var out []*providers.Object
	for i := range p.Objects {
		if p.includes(p.Objects[i].Address) {
			out = append(out, &p.Objects[i])
		}
	}
	return out
}

// successor is the address by which it is decided what becomes of a record that is
// not declared under its own: that of the same object under its new address, or of
// the present member of its family.
func (p *planning) successor(r *record) addrs.Object {
	if address, moved := p.byRef[identify(r.ref)]; moved {
		return address
	}
	for i := range p.Objects {
		if r.family != (addrs.Object{}) && p.Objects[i].Family == r.family {
			return p.Objects[i].Address
		}
	}
	return r.address
}

// checkReplace refuses what cannot be replaced one by one.
func (p *planning) checkReplace(candidates []candidate) []plans.Problem {
	problems := unknownNames("-replace", p.Replace, candidates)
	for i, target := range p.replaced {
		if target.Whole() && slices.ContainsFunc(candidates, func(c candidate) bool { return target.Has(c.address) }) {
			problems = append(problems, plans.Problem{
				Summary: fmt.Sprintf("-replace=%s names a block", p.Replace[i]),
				Detail:  fmt.Sprintf("Name the one object that is to be made again, such as %s; the option may be repeated.", words.Option("-replace", target.Block+"/Deployment/NAME")),
			})
		}
	}
	return problems
}

// replaces reports whether the operator named the object with -replace.
func (p *planning) replaces(object *providers.Object) bool {
	return slices.ContainsFunc(p.replaced, candidate{object.Address, object.Family}.named)
}
