package report

import (
	"fmt"
	"slices"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
)

// ServiceChange is what a plan does to a block.
type ServiceChange int

// The changes, from the smallest to the greatest.
const (
	Unchanged   ServiceChange = iota // no object changes
	NotCompared                      // some objects could not be compared, and no other changes
	Modified                         // objects change, and no pod restarts
	Restarted                        // pods restart
	Created                          // all objects are new
	Deleted                          // all objects are deleted
)

// Service is a block in the picture of a cloud.
type Service struct {
	Block   string
	Change  ServiceChange
	Grave   bool   // something stops or is lost
	Summary string // the change in a few words: "restarts"
	// Needs are the blocks that it needs, in their order. Each of them is a Service too.
	Needs []string
}

// services returns the blocks of a plan by name, with their dependencies. They are without roles
// and the block of the cloud, which almost everything needs.
func services(plan *plans.Plan) []Service {
	actions := map[string][]*plans.Action{}
	for i := range plan.Actions {
		if a := &plan.Actions[i]; pictured(a.Address.Block) && a.MovedTo() == "" {
			actions[a.Address.Block] = append(actions[a.Address.Block], a)
		}
	}
	needs := map[string][]string{}
	need := func(from, to string) {
		if from != to && actions[from] != nil && actions[to] != nil {
			needs[from] = append(needs[from], to)
		}
	}
	for _, all := range actions {
		for _, a := range all {
			for _, on := range a.DependsOn {
				if a.Verb == plans.Delete { // a deletion depends on the deletions of the dependents
					need(on.Block, a.Address.Block)
				} else {
					need(a.Address.Block, on.Block)
				}
			}
		}
	}
	var out []Service
	for _, block := range sortedKeys(actions) {
		s := Service{Block: block, Change: changeOf(actions[block], effectsOn(plan, block))}
		s.Grave = slices.ContainsFunc(effectsOn(plan, block), func(e plans.Effect) bool { return e.Grave }) ||
			slices.ContainsFunc(actions[block], func(a *plans.Action) bool { return riskOf(a) == LosesData }) ||
			slices.ContainsFunc(plan.Losses, func(l plans.Loss) bool { return l.Address.Block == block && !l.Kept })
		s.Summary = summaryOf(s, plan.RefreshOnly)
		slices.Sort(needs[block])
		s.Needs = slices.Compact(needs[block])
		out = append(out, s)
	}
	return out
}

// pictured reports whether a block belongs to the picture.
func pictured(block string) bool {
	kind := addrs.TypeOf(block)
	return kind != "" && kind != "cloud" && kind != "role"
}

// effectsOn returns the effects on a block.
func effectsOn(plan *plans.Plan, block string) []plans.Effect {
	var out []plans.Effect
	for _, i := range plan.Impact {
		if i.Block == block {
			out = append(out, i.Effects...)
		}
	}
	return out
}

// changeOf returns the change of a block with these actions.
func changeOf(actions []*plans.Action, effects []plans.Effect) ServiceChange {
	all := func(is func(*plans.Action) bool) bool {
		return !slices.ContainsFunc(actions, func(a *plans.Action) bool { return !is(a) })
	}
	restarts := func(e plans.Effect) bool {
		return e.Kind == plans.EffectRecreate || e.Kind == plans.EffectRestart && e.Strategy != plans.OnRequest
	}
	switch {
	case all(func(a *plans.Action) bool { return a.Verb == plans.Delete && !a.Partial }):
		return Deleted
	case all(func(a *plans.Action) bool { return creates(a) && !a.Has(plans.ReasonGone) }):
		return Created
	case slices.ContainsFunc(effects, restarts):
		return Restarted
	case all((*plans.Action).Unchanged):
		return Unchanged
	case all(func(a *plans.Action) bool { return a.Unchanged() || a.NotCompared() }):
		return NotCompared
	}
	return Modified
}

// summaryOf returns the change of a service in words.
func summaryOf(s Service, refreshOnly bool) string {
	said := map[ServiceChange]string{
		Unchanged: "unchanged", NotCompared: "not compared", Modified: "changes", Restarted: "restarts", Created: "new", Deleted: "destroyed",
	}[s.Change]
	if refreshOnly && s.Change == Modified {
		said = "has changed"
	}
	if s.Grave {
		said += ", danger"
	}
	return said
}

// evidenceOf says how the plan knows the result of an action.
func evidenceOf(a *plans.Action) string {
	said := map[plans.EvidenceKind]string{
		plans.Fingerprint: "the object is as at the last check",
		plans.Ownership:   "kolla owns the declared fields, with the declared values",
		plans.DryRun:      "the API server calculated the result in a dry run",
		plans.Surrogate:   "the API server calculated the result in a dry run under a temporary name",
		plans.Schema:      "kolla calculated the result with a schema",
		plans.Recorded:    "the state says so",
		plans.Unverified:  "the server was not asked",
	}[a.Evidence.Kind]
	if said == "" || a.Evidence.Detail == "" {
		return said
	}
	return fmt.Sprintf("%s (%s)", said, a.Evidence.Detail)
}
