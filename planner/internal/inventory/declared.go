package inventory

import (
	"fmt"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// indexDeclared refuses two declarations of one object.
func indexDeclared(inv *Inventory) []plans.Problem {
	var problems []plans.Problem
	for i := range inv.Input.Objects {
		object := &inv.Input.Objects[i]
		other := inv.DeclarationByRef(object.Ref())
		if same := inv.Declared[object.Address]; same != nil {
			other = same
		}
		if other != nil {
			problems = append(problems, plans.ProblemOf(object,
				fmt.Sprintf("%s is declared twice", object.Ref()),
				fmt.Sprintf("It is also %s, %s. Remove one of them, or name it differently.", other.Address, sourceOf(other))))
			continue
		}
		inv.Declared[object.Address] = object
		inv.byIdentity[Identify(object.Ref())] = object
	}
	return problems
}

func sourceOf(object *providers.Object) string {
	if object.Source == "" {
		return "from the built-in catalogue"
	}
	return "at " + object.Source
}

// checkDependencies refuses dependencies on undeclared objects.
func checkDependencies(inv *Inventory) []plans.Problem {
	var problems []plans.Problem
	for i := range inv.Input.Objects {
		object := &inv.Input.Objects[i]
		for _, dependency := range object.DependsOn {
			if inv.Declared[dependency] == nil {
				problems = append(problems, plans.ProblemOf(object,
					fmt.Sprintf("%s depends on %s, which is not declared", object.Address, dependency),
					"Declare it, or take it out of depends_on."))
			}
		}
	}
	return problems
}

// checkAdopted refuses -adopt with anything but the address of one declared object. A block
// could contain objects that somebody put there on purpose.
func checkAdopted(inv *Inventory) []plans.Problem {
	var problems []plans.Problem
	for _, text := range inv.Input.Adopt {
		target, err := addrs.ParseTarget(text)
		switch {
		case err == nil && !target.Whole() && inv.Declared[target.Object] != nil:
		case err == nil && !target.Whole():
			problem := undeclared(inv, "", target.Object)
			problem.Summary = fmt.Sprintf("-adopt=%s: it is not declared", text)
			problems = append(problems, problem)
		default:
			problems = append(problems, plans.Problem{
				Summary: fmt.Sprintf("-adopt=%s names no object", text),
				Detail:  "It takes the address of one object, such as service.memcached/Service/memcached, and may be repeated. A plan without it lists the objects that are in the way, with their addresses.",
			})
		}
	}
	return problems
}

// TriggersOf returns the addresses in replace_triggered_by that count for an object. In a
// service they count for workloads only, in a manifest for all objects.
func TriggersOf(o *providers.Object) []string {
	if o.Lifecycle == nil || o.Partial || !kinds.RunsPods(o.Ref().GVK.GroupKind()) && !brought(o.Address) {
		return nil
	}
	return o.Lifecycle.ReplaceTriggeredBy
}

// brought reports whether a user wrote the object itself, in a manifest block.
func brought(address addrs.Object) bool { return addrs.SplitBlock(address.Block).Type == "manifest" }

// checkTriggers refuses a replace_triggered_by with the address of an undeclared object. The
// evaluation of the configuration has checked the addresses of blocks.
func checkTriggers(inv *Inventory) []plans.Problem {
	var problems []plans.Problem
	checked := map[string]bool{} // all objects of a service have the same ones
	for i := range inv.Input.Objects {
		o := &inv.Input.Objects[i]
		for _, text := range TriggersOf(o) {
			if checked[text] {
				continue
			}
			checked[text] = true
			target := TargetsOf([]string{text})[0]
			if target.Whole() || slices.ContainsFunc(inv.Input.Objects, func(o providers.Object) bool {
				return CandidateOf(&o).NamedBy(target)
			}) {
				continue
			}
			problem := undeclared(inv, o.Lifecycle.Source, target.Object)
			problem.Summary = fmt.Sprintf("replace_triggered_by names %s, which is not declared", target)
			problems = append(problems, problem)
		}
	}
	return problems
}

// undeclared returns the problem of a source that names an undeclared object.
func undeclared(inv *Inventory, source string, address addrs.Object) plans.Problem {
	var known []string
	for other := range inv.Declared {
		known = append(known, other.String())
	}
	slices.Sort(known)
	return plans.Problem{
		Address: address, Source: source, Summary: fmt.Sprintf("%s is not declared", address),
		Detail: strings.TrimSpace(words.DidYouMean(address.String(), known) + " `kolla render` shows what is declared, with its addresses."),
	}
}
