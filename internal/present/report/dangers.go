package report

import (
	"fmt"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/present/content"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
)

// maxDangers is the largest number of dangers that are listed before a question. All of them have
// to fit on the screen together with it.
const maxDangers = 12

// elsewhere counts the objects that a plan changes outside of the cloud's namespace.
func elsewhere(plan *plans.Plan) string {
	places := map[string]int{}
	global := 0
	for i := range plan.Actions {
		switch a := &plan.Actions[i]; {
		case riskOf(a) == Leaves || a.Ref.Namespace != "" && a.Ref.Namespace == plan.Namespace:
		case a.Address.Kind == "Namespace" && a.Ref.Name == plan.Namespace:
		case a.Ref.Namespace == "":
			global++
		default:
			places[a.Ref.Namespace]++
		}
	}
	var out []string
	if global > 0 {
		out = append(out, words.Count(global, "cluster-wide object"))
	}
	for _, namespace := range sortedKeys(places) {
		out = append(out, fmt.Sprintf("%s in namespace %s", words.Count(places[namespace], "object"), namespace))
	}
	return strings.Join(out, ", ")
}

// Dangers returns the dangers of a plan in a few sentences: services that stop, lost data, fields
// taken from others, secrets that others know, weaker security, and other addresses. full is
// as in Disturbances.
func (p *Plan) Dangers(full bool) []string {
	var out []string
	for _, d := range p.Disturbances(full) {
		if d.Grave {
			out = append(out, d.Label()+": "+d.Sentence())
		}
	}
	disturbed := len(out)
	for i := range p.plan.Actions {
		a := &p.plan.Actions[i]
		of := func(said string) bool { return strings.Contains(said, a.Ref.String()) }
		if riskOf(a) == LosesData && !slices.ContainsFunc(out, of) {
			out = append(out, fmt.Sprintf("%s: %s is lost", a.Address, a.Holds))
		}
	}
	for _, part := range []struct {
		says string
		is   func(*plans.Action) bool
	}{
		{"fields are taken from other managers by force: ", func(a *plans.Action) bool { return riskOf(a) == Takes }},
		{"taken over with values that others know: ", (*plans.Action).TakesKnownValues},
		{"somebody replaced generated values, which are kept: ", func(a *plans.Action) bool { return a.Has(plans.ReasonReplaced) }},
		{"with rights that weaken security: ", Weakens},
		{"rights of accounts grow: ", (*plans.Action).GrowsRights},
		{"addresses that clients use change: ", Readdresses},
	} {
		if all := matching(p.plan, part.is); len(all) > 0 {
			out = append(out, part.says+named(all))
		}
	}
	if more := min(len(out)-maxDangers, disturbed); more > 1 { // the impact lists these
		out = slices.Replace(out, disturbed-more, disturbed, fmt.Sprintf("and %d more, see the impact", more))
	}
	return out
}

// Weakens reports whether an object gets rights that its work does not seem to need: it is
// new, or the configuration changes its rights.
func Weakens(a *plans.Action) bool {
	given := slices.ContainsFunc(a.Changes, func(c plans.Change) bool {
		return c.After != nil && !c.Drift && (content.Powers(c.Path) || !c.Sensitive && content.Powers(Value(c.After)))
	})
	if a.Object == nil || riskOf(a) == Leaves || !creates(a) && !given {
		return false
	}
	const width = 80 // any width, because the lines are not shown
	return slices.ContainsFunc(content.Of(a.Object, width), func(fact content.Line) bool { return fact.Weak })
}

// Readdresses reports whether the configuration changes the address of an existing service. It does
// not count services that are replaced, because the impact of the plan names them.
func Readdresses(a *plans.Action) bool {
	kind := a.Ref.GVK.Kind
	if !slices.Contains([]string{"Service", "Ingress", "Gateway", "HTTPRoute", "TLSRoute", "TCPRoute"}, kind) {
		return false
	}
	return a.Verb == plans.Update && slices.ContainsFunc(a.Changes, func(c plans.Change) bool {
		if c.Drift || kind == "Service" && strings.HasPrefix(c.Path, "spec.selector") {
			return false
		}
		return strings.HasPrefix(c.Path, "spec.")
	})
}

// named lists a few addresses.
func named(all []addrs.Object) string {
	var names []string
	for _, a := range all {
		names = append(names, a.String())
	}
	return strings.Join(words.First(names, Similar, ""), ", ")
}
