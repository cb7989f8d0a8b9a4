// Package policy collects the facts about a plan for the conditions of policies. It copies
// names, paths, numbers and kinds, and no value of a field.
package policy

import (
	"slices"

	"kolla.openstack.org/kolla/internal/present/report"
	"kolla.openstack.org/kolla/internal/run/upgrade"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/planner/plans"
)

// Facts returns the facts about a plan.
func Facts(plan *plans.Plan) configs.PlanFacts {
	c := plan.Counts()
	out := configs.PlanFacts{
		Cloud: plan.Cloud, Namespace: plan.Namespace, Destroy: plan.Destroy, RefreshOnly: plan.RefreshOnly, Restricted: plan.Selection.Restricts(),
		Counts: configs.PlanCounts{
			Add: c.Add, Change: c.Change, Destroy: c.Destroy, Import: c.Import, Forget: c.Forget, Move: c.Move, Prune: c.Prune, Deferred: c.Deferred,
		},
		Impact:  impact(plan),
		Upgrade: change(plan.Upgrade),
	}
	for i := range plan.Actions {
		a := &plan.Actions[i]
		if a.NotCompared() {
			out.NotCompared = append(out.NotCompared, a.Address.String())
		}
		out.Drift = append(out.Drift, drift(a.Address, a.Drift())...)
		if a.Verb != plans.None && a.MovedTo() == "" {
			out.Actions = append(out.Actions, action(a))
		}
		if a.GrowsRights() {
			out.Impact.Rights = append(out.Impact.Rights, a.Address.String())
		}
		if report.Readdresses(a) && !slices.ContainsFunc(out.Impact.Endpoints, func(e configs.EffectFacts) bool { return e.Kind == a.Ref.GVK.Kind && e.Name == a.Ref.Name }) {
			out.Impact.Endpoints = append(out.Impact.Endpoints, configs.EffectFacts{
				Block: a.Address.Block, Service: service(a.Address.Block), Effect: "address", Kind: a.Ref.GVK.Kind, Name: a.Ref.Name,
			})
		}
		if report.Weakens(a) {
			out.Impact.Powers = append(out.Impact.Powers, a.Address.String())
		}
	}
	for i := range plan.Foreign {
		f := &plan.Foreign[i]
		out.Drift = append(out.Drift, drift(f.Address, f.Drift())...)
	}
	return out
}

// change describes the change of the release; u is nil without one.
func change(u *plans.Upgrade) configs.UpgradeFacts {
	out := configs.UpgradeFacts{Supported: true}
	if u == nil {
		return out
	}
	out.From, out.To, out.Backward = u.From.Release, u.To.Release, u.Backward
	supported := func(from, to string) bool {
		ok, _ := upgrade.Supported(from, to)
		return ok || from == "" || to == ""
	}
	out.Supported = supported(out.From, out.To)
	for _, s := range u.Services {
		out.Services = append(out.Services, s.Name)
		out.Supported = out.Supported && supported(s.From.Release, s.To.Release)
	}
	return out
}

func action(a *plans.Action) configs.ActionFacts {
	out := configs.ActionFacts{
		Address: a.Address.String(), Block: a.Address.Block, Service: service(a.Address.Block),
		Kind: a.Ref.GVK.Kind, Namespace: a.Ref.Namespace, Name: a.Ref.Name,
		Verb: verb(a), Dangers: dangers(a), Evidence: string(a.Evidence.Kind),
	}
	for _, r := range a.Reasons {
		out.Reasons = append(out.Reasons, string(r.Kind))
	}
	for _, c := range a.Changes {
		out.Changes = append(out.Changes, c.Path)
	}
	return out
}

// service returns the label of a service block; empty for another block.
func service(block string) string {
	if parts := addrs.SplitBlock(block); parts.Type == "service" {
		return parts.Name
	}
	return ""
}

// verb returns the verb of an action. Only the deletion of an object with something to lose, or of
// a Job, counts as a delete: the deletion of an old version is a prune, and an object whose fields
// kolla gives up is updated.
func verb(a *plans.Action) string {
	switch {
	case a.Prunes():
		return "prune"
	case a.Verb == plans.Delete && a.Partial:
		return string(plans.Update)
	case a.OnlyMoves():
		return "move"
	}
	return string(a.Verb)
}

// dangers classify an action.
func dangers(a *plans.Action) []string {
	var out []string
	for _, danger := range []struct {
		name string
		is   bool
	}{
		{"data", a.Holds != ""},
		{"destroy", a.Destroys()},
		{"force", a.Force},
		{"rights", a.GrowsRights()},
		{"powers", report.Weakens(a)},
		{"addresses", report.Readdresses(a)},
		{"unverified", a.Evidence.Kind == plans.Unverified},
	} {
		if danger.is {
			out = append(out, danger.name)
		}
	}
	return out
}

// drift lists the fields of an object that others changed.
func drift(address addrs.Object, all []plans.Drift) []configs.DriftFacts {
	var out []configs.DriftFacts
	for _, d := range all {
		out = append(out, configs.DriftFacts{Address: address.String(), Path: d.Path, Manager: d.Manager})
	}
	return out
}

func impact(plan *plans.Plan) configs.ImpactFacts {
	var out configs.ImpactFacts
	for _, i := range plan.Impact {
		for _, e := range i.Effects {
			facts := effect(i.Block, e)
			switch e.Kind {
			case plans.EffectRestart, plans.EffectRecreate:
				out.Restarts = append(out.Restarts, facts)
			case plans.EffectStop, plans.EffectLeave, plans.EffectScaleDown:
				out.Stops = append(out.Stops, facts)
			case plans.EffectDataLost, plans.EffectDataDeleted, plans.EffectDataReplaced, plans.EffectValuesDropped:
				out.DataAtRisk = append(out.DataAtRisk, facts)
			case plans.EffectLoss:
				if e.Loss == nil || !e.Loss.Kept {
					out.DataAtRisk = append(out.DataAtRisk, facts)
				}
			case plans.EffectCutOff:
				out.CutOff = append(out.CutOff, facts)
			case plans.EffectPorts, plans.EffectPublicAddress, plans.EffectUnreachable:
				out.Endpoints = append(out.Endpoints, facts)
			case plans.EffectJob, plans.EffectJobAgain:
				out.Jobs = append(out.Jobs, facts)
			}
			if e.Downtime {
				out.Downtime = append(out.Downtime, facts)
			}
		}
	}
	return out
}

func effect(block string, e plans.Effect) configs.EffectFacts {
	out := configs.EffectFacts{
		Block: block, Service: service(block), Effect: string(e.Kind), Kind: e.Ref.GVK.Kind, Name: e.Name,
		Pods: e.Pods, EachNode: e.EachNode, Strategy: string(e.Strategy), AtATime: e.AtATime, Downtime: e.Downtime,
		Disruption: e.Data, Items: slices.Clone(e.Items), Grave: e.Grave,
	}
	if e.Kind == plans.EffectCutOff { // not its nodes
		out.Items = nil
	}
	for _, on := range e.Carried {
		out.Items = append(out.Items, on.Items...)
	}
	for _, c := range e.Causes {
		out.Causes = append(out.Causes, configs.CauseFacts{Kind: string(c.Kind), Name: c.Name, Before: c.Before, After: c.After, Settings: c.Settings})
	}
	return out
}
