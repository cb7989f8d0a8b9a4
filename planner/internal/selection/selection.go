// Package selection decides which objects a plan with -target or -exclude may touch. The
// selection is closed, so that the partial plan can be applied on its own: with an object it
// contains everything that the object needs, and with an object that will be deleted everything
// that depends on it.
package selection

import (
	"fmt"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// Set maps each selected address to the selected address that added it, and an address that the
// operator named to itself. A nil Set contains all addresses.
type Set map[addrs.Object]addrs.Object

// Has reports whether the object with the address is selected.
func (s Set) Has(address addrs.Object) bool {
	_, selected := s[address]
	return s == nil || selected
}

// AddedBy returns the address of the object whose selection also selected this object. ok is
// false if the operator named the object.
func (s Set) AddedBy(address addrs.Object) (by addrs.Object, ok bool) {
	by, selected := s[address]
	return by, selected && by != address
}

// HasBlock reports whether all objects of the block are selected.
func (s Set) HasBlock(objects []providers.Object, block string) bool {
	return !slices.ContainsFunc(objects, func(o providers.Object) bool {
		return o.Address.Block == block && !s.Has(o.Address)
	})
}

// Objects returns the selected objects.
func (s Set) Objects(objects []providers.Object) []*providers.Object {
	var out []*providers.Object
	for i := range objects {
		if s.Has(objects[i].Address) {
			out = append(out, &objects[i])
		}
	}
	return out
}

// Of closes the selection of the input. It also refuses addresses of -target, -exclude and
// -replace that name no objects. If any problem is not a warning, there is no plan, and no
// warnings are returned.
func Of(inv *inventory.Inventory) (Set, []plans.Problem) {
	in := &inv.Input
	candidates := candidatesOf(inv)
	problems := slices.Concat(
		unknownNames("-target", in.Selection.Targets, candidates),
		unknownNames("-exclude", in.Selection.Excludes, candidates),
		checkReplace(in.Replace, candidates),
	)
	if len(problems) > 0 || !in.Selection.Restricts() {
		return nil, problems
	}
	g := graphOf(inv, candidates)
	set := Set{}
	for _, c := range candidates {
		set[c.Address] = c.Address
	}
	if len(in.Selection.Targets) > 0 {
		set = g.targeted(matching(candidates, in.Selection.Targets))
	}
	undecided := inventory.Undecided(inv, candidates)
	for address := range g.excluded(append(matching(candidates, in.Selection.Excludes), undecided...)) {
		delete(set, address)
	}
	for _, address := range g.after(inv, in.Selection.Until) {
		delete(set, address)
	}
	if problems := set.checkReplaced(in, candidates); len(problems) > 0 {
		return nil, problems
	}
	return set, set.excludedTargets(in, candidates, len(undecided) > 0)
}

// excludedTargets warns of targets without any selected object.
func (s Set) excludedTargets(in *inventory.Input, candidates []inventory.Candidate, undecided bool) []plans.Problem {
	var warnings []plans.Problem
	for _, name := range in.Selection.Targets {
		switch {
		case slices.ContainsFunc(matching(candidates, []string{name}), s.Has):
		case undecided:
			warnings = append(warnings, plans.Problem{
				Warning: true,
				Summary: fmt.Sprintf("-target=%s has no effect yet", name),
				Detail:  "Its objects depend on data that are known only after an apply. First apply the objects that this data comes from.",
			})
		default:
			warnings = append(warnings, plans.Problem{
				Warning: true,
				Summary: fmt.Sprintf("-target=%s has no effect: it is excluded", name),
				Detail:  fmt.Sprintf("%s excludes it: it is named there, or depends on an object that is named there.", plans.Selection{Excludes: in.Selection.Excludes, Until: in.Selection.Until}),
			})
		}
	}
	return warnings
}

// checkReplaced refuses to replace objects that are not selected.
func (s Set) checkReplaced(in *inventory.Input, candidates []inventory.Candidate) []plans.Problem {
	var problems []plans.Problem
	for _, name := range in.Replace {
		if !slices.ContainsFunc(matching(candidates, []string{name}), s.Has) {
			problems = append(problems, plans.Problem{
				Summary: fmt.Sprintf("-replace=%s is not selected", name),
				Detail:  fmt.Sprintf("The plan is restricted (%s) and leaves it out.", in.Selection),
			})
		}
	}
	return problems
}

// checkReplace refuses to replace a whole block at once.
func checkReplace(replace []string, candidates []inventory.Candidate) []plans.Problem {
	problems := unknownNames("-replace", replace, candidates)
	for i, target := range inventory.TargetsOf(replace) {
		if target.Whole() && slices.ContainsFunc(candidates, func(c inventory.Candidate) bool { return target.Has(c.Address) }) {
			problems = append(problems, plans.Problem{
				Summary: fmt.Sprintf("-replace=%s names a block", replace[i]),
				Detail:  fmt.Sprintf("Name the object to replace, such as %s; the option may be repeated.", words.Option("-replace", target.Block+"/Deployment/NAME")),
			})
		}
	}
	return problems
}

// candidatesOf returns the declared and recorded objects, and, for a destroy, the objects
// that only have the cloud's label.
func candidatesOf(inv *inventory.Inventory) []inventory.Candidate {
	var out []inventory.Candidate
	for i := range inv.Input.Objects {
		out = append(out, inventory.CandidateOf(&inv.Input.Objects[i]))
	}
	for _, r := range inv.Records {
		if inv.Declared[r.Address] == nil {
			out = append(out, inventory.Candidate{Address: r.Address, Family: r.Family})
		}
	}
	if inv.Input.Destroy {
		for _, u := range inventory.UnrecordedObjects(inv) {
			out = append(out, inventory.Candidate{Address: u.Address})
		}
	}
	return out
}

func matching(candidates []inventory.Candidate, names []string) []addrs.Object {
	var out []addrs.Object
	targets := inventory.TargetsOf(names)
	for _, c := range candidates {
		if c.NamedBy(targets...) {
			out = append(out, c.Address)
		}
	}
	return out
}

// unknownNames refuses addresses that name no candidate.
func unknownNames(option string, given []string, candidates []inventory.Candidate) []plans.Problem {
	var problems []plans.Problem
	for _, name := range given {
		target, err := addrs.ParseTarget(name)
		if err == nil && slices.ContainsFunc(candidates, func(c inventory.Candidate) bool { return c.NamedBy(target) }) {
			continue
		}
		var known []string
		for _, c := range candidates {
			known = append(known, c.Names()...)
		}
		slices.Sort(known)
		problem := plans.Problem{
			Summary: fmt.Sprintf("%s=%s names no objects", option, name),
			Detail:  strings.TrimSpace(similar(name, slices.Compact(known)) + " " + whyNone(name, err)),
		}
		if option == "-target" {
			problem.Target = name
		}
		problems = append(problems, problem)
	}
	return problems
}

// similar suggests the address of the block with this name, or an address with a similar spelling.
func similar(name string, known []string) string {
	for _, address := range known {
		if strings.HasSuffix(address, "."+name) && !strings.Contains(address, "/") {
			return fmt.Sprintf("Did you mean %q?", address)
		}
	}
	return words.DidYouMean(name, known)
}

// whyNone explains why an address names no objects. err is why it cannot be parsed.
func whyNone(name string, err error) string {
	if err != nil {
		return err.Error() + "."
	}
	if block, _, _ := strings.Cut(name, "."); slices.Contains([]string{"check", "data", "definition", "exposure", "local", "output", "role", "var", "variable"}, block) {
		return fmt.Sprintf("A %s has no objects of its own: name the cloud, a service, a manifest, a secret or a module.", block)
	}
	return "It takes the address of an object, such as service.keystone/Deployment/keystone-api, of a block, such as service.keystone, or of a module."
}
