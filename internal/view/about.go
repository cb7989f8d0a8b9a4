package view

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/internal/content"
	"kolla.openstack.org/kolla/internal/report"
	"kolla.openstack.org/kolla/internal/view/screen"
	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
)

// mostGrave is how many grave facts stand before a question: all of them have to be on
// the screen together with it.
const mostGrave = 12

// About says in a few lines what a plan is about, to standard error: where it would
// write, how much, and what is grave. It stands where somebody decides, after a plan that
// may be longer than the screen, or where a saved plan is carried out without being shown.
// server is the URL by which the cluster is reached, context the one of the kubeconfig;
// empty: there is none.
func (p *Printer) About(plan *plans.Plan, server, context string, options PlanOptions) {
	v := &planView{Printer: p, plan: plan, options: options, width: p.Err.ProseWidth()}
	cluster := server
	if context != "" {
		cluster += ", context " + context
	}
	cloud := plan.Cloud
	if plan.Namespace != "" {
		cloud += ", namespace " + plan.Namespace
	}
	rows := [][2]screen.Line{
		{screen.Text("  Cloud"), screen.Styled(screen.Bold, cloud)},
		{screen.Text("  Cluster"), screen.Styled(screen.Bold, cluster)},
	}
	if others := v.elsewhere(); others != "" {
		rows = append(rows, [2]screen.Line{screen.Text("  Outside"), screen.Text(others)})
	}
	counts := strings.TrimPrefix(report.Summary(plan), "Plan: ") + report.OutputCounts(plan)
	if options.Saved {
		made := fmt.Sprintf("%s, made %s", plan.ID, p.moment(plan.Created))
		if age := options.Now.Sub(plan.Created); age >= 0 {
			made += ", " + words.Ago(age)
		}
		rows = append(rows, [2]screen.Line{screen.Text("  Plan"), screen.Text(made)})
	}
	rows = append(rows, [2]screen.Line{screen.Text("  Changes"), screen.Text(counts)})
	for i, fact := range v.grave() {
		label := screen.Text("")
		if i == 0 {
			label = screen.Styled(screen.Danger, "  Grave")
		}
		rows = append(rows, [2]screen.Line{label, screen.Styled(screen.Danger, fact)})
	}
	out := []screen.Line{nil}
	const column = 11
	for _, row := range rows {
		for i, part := range screen.Wrap(row[1].String(), max(v.width-column, 40)) {
			if i > 0 {
				row[0], part = nil, "  "+part
			}
			out = append(out, row[0].Pad(column).Then(screen.Styled(row[1][0].Style, part)))
		}
	}
	if options.Saved {
		out = append(out, nil) // no question follows
	}
	p.tell(out)
}

// elsewhere counts the objects that the plan changes outside of the cloud's namespace.
func (v *planView) elsewhere() string {
	places := map[string]int{}
	global := 0
	for i := range v.plan.Actions {
		switch a := &v.plan.Actions[i]; {
		case report.RiskOf(a) == report.Leaves || a.Ref.Namespace != "" && a.Ref.Namespace == v.plan.Namespace:
		case a.Address.Kind == "Namespace" && a.Ref.Name == v.plan.Namespace:
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
	for _, namespace := range slices.Sorted(maps.Keys(places)) {
		out = append(out, fmt.Sprintf("%s in namespace %s", words.Count(places[namespace], "object"), namespace))
	}
	return strings.Join(out, ", ")
}

// grave is what stops for good, is lost, is taken from others, is a secret that others know,
// or weakens security.
func (v *planView) grave() []string {
	var out []string
	for _, row := range v.disturbances() {
		if row.grave {
			out = append(out, row.label()+": "+row.sentence())
		}
	}
	for _, a := range v.byRisk() {
		of := func(said string) bool { return strings.Contains(said, a.Ref.String()) }
		if report.RiskOf(a) == report.LosesData && !slices.ContainsFunc(out, of) {
			out = append(out, fmt.Sprintf("%s: %s is lost", a.Address, a.Holds))
		}
	}
	if all := v.withRisk(report.Takes); len(all) > 0 {
		out = append(out, "fields are taken from other managers by force: "+named(all))
	}
	if all := v.known(); len(all) > 0 {
		out = append(out, "taken over with values that others know: "+named(all))
	}
	if all := v.replacedSecrets(); len(all) > 0 {
		out = append(out, "somebody replaced generated values, which are kept: "+named(all))
	}
	if all := v.weakening(); len(all) > 0 {
		out = append(out, "with rights that weaken security: "+named(all))
	}
	if more := len(out) - mostGrave; more > 1 {
		out = append(out[:mostGrave:mostGrave], fmt.Sprintf("and %d more, see above", more))
	}
	return out
}

// withRisk are the addresses of all actions of a risk.
func (v *planView) withRisk(r report.Risk) []addrs.Object {
	var out []addrs.Object
	for _, a := range v.byRisk() {
		if report.RiskOf(a) == r {
			out = append(out, a.Address)
		}
	}
	return out
}

// known are the Secrets that are taken over although kolla would have made their values.
func (v *planView) known() []addrs.Object {
	return v.matching((*plans.Action).TakesKnownValues)
}

// replacedSecrets are the Secrets of which somebody replaced generated values.
func (v *planView) replacedSecrets() []addrs.Object {
	return v.matching(func(a *plans.Action) bool { return report.HasReason(a, plans.ReasonReplaced) })
}

// matching are the addresses of some actions.
func (v *planView) matching(is func(*plans.Action) bool) []addrs.Object {
	var out []addrs.Object
	for i := range v.plan.Actions {
		if a := &v.plan.Actions[i]; is(a) {
			out = append(out, a.Address)
		}
	}
	return out
}

// weakening are the objects that may do more than their work seems to need, if they are
// new, or if the configuration changes what they may do.
func (v *planView) weakening() []addrs.Object {
	return v.matching(func(a *plans.Action) bool {
		given := slices.ContainsFunc(a.Changes, func(c plans.Change) bool {
			return c.After != nil && !c.Drift && (content.Powers(c.Path) || !c.Sensitive && content.Powers(formatValue(c.After)))
		})
		if a.Object == nil || report.RiskOf(a) == report.Leaves || !report.Creates(a) && !given {
			return false
		}
		return slices.ContainsFunc(content.Of(a.Object, v.width), func(fact content.Line) bool { return fact.Weak })
	})
}

// named lists a few addresses.
func named(all []addrs.Object) string {
	var names []string
	for _, a := range all {
		names = append(names, a.String())
	}
	if more := len(names) - similar; more > 1 {
		names = append(names[:similar:similar], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}
